// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relay_sender.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/check.hpp"

namespace afterbay::transport::network {
namespace {

std::vector<int> ranks_of(const std::vector<RelayOptions::Server>& servers) {
  std::vector<int> ranks;
  for (const RelayOptions::Server& it : servers) ranks.push_back(it.rank);
  return ranks;
}

}  // namespace

RelaySender::RelaySender(std::shared_ptr<const mpi::Communicator> comm, const RelayOptions& options,
                         Parts parts)
    : comm_(std::move(comm)),
      parts_(std::move(parts)),
      joints_(comm_, ranks_of(options.servers), JointSegments::usual_most_bytes, options.sizes.prompt_bytes) {
}

void RelaySender::hold(std::size_t client, std::size_t server, RelayedSegment relayed) {
  figures_.bytes_in += relayed.bytes;
  figures_.held_bytes += relayed.bytes;
  figures_.peak_bytes = std::max(figures_.peak_bytes, figures_.held_bytes);
  parts_.lanes.hold(client, server, std::move(relayed));
}

void RelaySender::release(std::size_t client, RelayedSegment& relayed) {
  figures_.held_bytes -= relayed.bytes;
  parts_.give_back(client, relayed);
}

Result<bool> RelaySender::send() {
  bool any = false;
  Result<void> done;
  parts_.lanes.visit([&](std::size_t client, std::size_t server) {
    const Result<bool> did = push(client, server);
    if (!did && done) done = fail(did.error());
    any = any || (did && *did);
    return true;  // what answers the ranks removes it
  });
  AFTERBAY_TRY(std::move(done));
  AFTERBAY_TRY(joints_.flush_all());
  AFTERBAY_TRY(joints_.in_transit());
  return any;
}

Result<bool> RelaySender::push(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  AFTERBAY_TRY_ASSIGN(bool moved, complete(client, server));
  if (parts_.servers.is_gone(server)) {
    drop(client, server);
    joints_.drop(server);
    return moved;
  }
  AFTERBAY_TRY_ASSIGN(const bool words, send_words(client, server));
  moved = words || moved;
  while (it.credits > 0 && !it.waiting.empty()) {
    AFTERBAY_TRY(forward_first(client, server));
    moved = true;
  }
  tell_end(client, server);
  AFTERBAY_TRY_ASSIGN(const bool headers, send_headers(client, server));
  return headers || moved;
}

Result<bool> RelaySender::complete(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  bool moved = false;
  while (!it.sending.empty()) {
    RelayedSegment& relayed = it.sending.front();
    AFTERBAY_TRY_ASSIGN(const bool done, relayed.request.test_eagerly());
    if (!done) break;
    it.credits_due += relayed.segment ? 0 : 1;
    release(client, relayed);
    parts_.lanes.pop_sending(client, server);
    moved = true;
  }
  return moved;
}

/// The rank learns from its own pings that they were discarded.
void RelaySender::drop(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  while (!it.waiting.empty()) {
    release(client, it.waiting.front());
    parts_.lanes.pop_waiting(client, server);
  }
  it.headers.clear();
  it.words.clear();
}

Result<void> RelaySender::start(const void* data, std::uint64_t bytes, std::size_t client, std::size_t server,
                                mpi::Request& request) {
  return mpi::check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, parts_.servers.of(server).rank,
                              relay_tag(parts_.clients.of(client).peer), comm_->get(), request.handle()),
                    "MPI_Isend");
}

/// The first waiting segment. It keeps its place behind those that were joined.
Result<void> RelaySender::forward_first(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  RelayedSegment relayed = std::move(it.waiting.front());
  parts_.lanes.pop_waiting(client, server);
  it.order_sent = std::max(it.order_sent, read_header<SegmentHeader>(relayed.data).order);
  --it.credits;
  figures_.bytes += relayed.bytes;
  ++figures_.segments;
  AFTERBAY_TRY_ASSIGN(const bool joined,
                      joints_.add(server, parts_.clients.of(client).peer, {relayed.data, relayed.bytes}));
  const std::uint32_t number = it.forwarded++;
  if (joined) {
    if (joints_.counts(relayed.bytes)) {
      if (!it.joined) it.joined = std::make_unique<std::list<RelayLane::Joined>>();
      it.joined->push_back({number, static_cast<std::uint32_t>(relayed.bytes)});
    }
    it.credits_due += relayed.segment ? 0 : 1;
    release(client, relayed);
    return {};
  }
  AFTERBAY_TRY(joints_.flush(server));
  ++figures_.messages;
  RelayedSegment& sending = it.sending.emplace_back(std::move(relayed));
  parts_.lanes.note_sending();
  return start(sending.data, sending.bytes, client, server, sending.request);
}

void RelaySender::take_credits(std::size_t client, std::size_t server, const BatchHeader& batch) {
  RelayLane& it = parts_.lanes.of(client, server);
  it.credits += batch.credits;
  it.consumed += batch.credits;
  if (const std::uint32_t allowed = batch.flags >> BatchHeader::allowance_bits; allowed != 0)
    joints_.allow(server, allowed * JoinedMemory::unit_bytes);
  const auto is_consumed = [&](const RelayLane::Joined& first) {  // numbers may have begun again at 0
    return static_cast<std::int32_t>(it.consumed - first.number) > 0;
  };
  if (!it.joined) return;
  for (; !it.joined->empty() && is_consumed(it.joined->front()); it.joined->pop_front())
    joints_.consumed(server, it.joined->front().bytes);
}

Result<bool> RelaySender::send_words(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  AFTERBAY_TRY_ASSIGN(const bool left, it.word_request.test());
  if (!left || it.words.empty()) return false;
  it.word = std::move(it.words.front());
  it.words.pop_front();
  AFTERBAY_TRY(start(it.word.data(), it.word.size(), client, server, it.word_request));
  return true;
}

void RelaySender::tell_end(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  if (it.told_end) return;
  const RelayClients::Life life = parts_.clients.life(client);
  const bool died = life == RelayClients::Life::died;
  const bool ended = life == RelayClients::Life::ended || it.left;
  const bool all_sent = it.waiting.empty() && it.words.empty() && !parts_.holds_back(client);
  if (!died && !(ended && all_sent)) return;
  it.told_end = true;
  it.headers.push_back({died ? SegmentKind::died : SegmentKind::farewell, 0, 0, it.order_sent});
}

Result<bool> RelaySender::send_headers(std::size_t client, std::size_t server) {
  RelayLane& it = parts_.lanes.of(client, server);
  AFTERBAY_TRY_ASSIGN(const bool left, it.header_request.test());
  if (!left || it.headers.empty()) return false;
  AFTERBAY_TRY(joints_.flush(server));
  if (!it.header) it.header = std::make_unique<SegmentHeader>();
  *it.header = it.headers.front();
  it.headers.pop_front();
  AFTERBAY_TRY(start(it.header.get(), sizeof(SegmentHeader), client, server, it.header_request));
  return it.header->kind != SegmentKind::ping;
}

}  // namespace afterbay::transport::network
