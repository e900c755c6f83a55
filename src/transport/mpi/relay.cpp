// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relay.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/polling.hpp"
#include "mpi/check.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t relay_watch_ns = 250'000'000;
constexpr std::uint64_t relay_hear_ns = 50'000'000;
constexpr std::chrono::nanoseconds relay_shortest_pause = std::chrono::microseconds(50);
constexpr std::chrono::nanoseconds relay_longest_pause = std::chrono::milliseconds(10);
constexpr Millis relay_farewell{500};  // for data in transit when it ends

std::uint64_t nanoseconds_of(Millis time) { return static_cast<std::uint64_t>(time.count()) * 1'000'000; }

/// Ranks and numbers of clients or servers.
template <class End>
std::vector<std::pair<int, std::size_t>> ends_of(const std::vector<End>& ends, std::size_t End::*number) {
  std::vector<std::pair<int, std::size_t>> list;
  for (const End& it : ends) list.emplace_back(it.rank, it.*number);
  return list;
}

/// The clients that send by MPI.
std::vector<int> far_ranks(const std::vector<RelayOptions::Client>& clients) {
  std::vector<int> ranks;
  for (const RelayOptions::Client& it : clients)
    if (!it.slot) ranks.push_back(it.rank);
  return ranks;
}

std::vector<RelayedData::Client> data_clients(const std::vector<RelayOptions::Client>& clients) {
  std::vector<RelayedData::Client> list;
  for (const RelayOptions::Client& it : clients) list.push_back({it.rank, it.slot});
  return list;
}

/// Whether it is a data message that went through the ring because it had to.
bool is_large_data(const Bytes& answer) {
  return answer.size() > sizeof(relay::Answer) + small_segment_bytes &&
         read_header<relay::Answer>(answer.data()).kind == relay::Answer::Kind::data;
}

std::vector<std::size_t> numbers_of(const std::vector<RelayOptions::Server>& servers) {
  std::vector<std::size_t> numbers;
  for (const RelayOptions::Server& it : servers) numbers.push_back(it.number);
  return numbers;
}

}  // namespace

Relay::Relay(std::shared_ptr<const mpi::Communicator> comm, RelayOptions options)
    : comm_(std::move(comm)),
      options_(std::move(options)),
      lanes_(ends_of(options_.clients, &RelayOptions::Client::peer),
             ends_of(options_.servers, &RelayOptions::Server::number)),
      clients_(options_),
      servers_(options_),
      arrivals_(comm_, far_ranks(options_.clients), options_.far_common),
      sender_(comm_, options_,
              {lanes_, clients_, servers_,
               [this](std::size_t client, RelayedSegment& relayed) { give_back(client, relayed); },
               [this](std::size_t client) { return arrivals_.holds_back(clients_.of(client).rank); }}),
      data_(comm_, options_.channel, data_clients(options_.clients), numbers_of(options_.servers),
            {[this](std::size_t client) { return clients_.is_present(client); },
             [this](std::size_t client) { return clients_.kept(client); },
             [this](std::size_t client, Bytes message) { clients_.keep(client, std::move(message)); }}) {
  for (RelayLane& it : lanes_) it.credits = options_.sizes.credits;
  finished_ = options_.clients.empty();
}

Relay::~Relay() {
  const std::uint64_t end = now_ns() + nanoseconds_of(relay_farewell);
  const auto under_way = [this] {
    const Result<bool> joints = sender_.joints().in_transit();
    return (joints && *joints) || std::ranges::any_of(lanes_, &RelayLane::still_sending);
  };
  mpi::BackOff back_off;
  while (mpi::is_running() && !failure_ && under_way() && now_ns() < end) back_off.sleep();
  if (options_.channel) {
    options_.channel->header().life.store(shm::Life::ended, std::memory_order_seq_cst);
    for (const auto& client : options_.clients)
      if (client.slot) options_.channel->slot(*client.slot).bell.ring();
  }
  bool channel_in_use = false;
  for (RelayLane& it : lanes_) channel_in_use = it.leave_behind() || channel_in_use;
  if (channel_in_use) static_cast<void>(new std::shared_ptr<relay::Channel>(options_.channel));
}

void Relay::fail(Error error) {
  if (failure_) return;
  failure_ = std::move(error.add("while " + options_.label + " forwarded data"));
  times_.failed_ns = now_ns();
}

/// The memory of a segment that was sent or dropped.
void Relay::give_back(std::size_t client, RelayedSegment& relayed) {
  if (relayed.segment)
    options_.channel->give_back(*relayed.segment, *clients_.of(client).slot);
  else
    arrivals_.give_back(clients_.of(client).rank, std::move(relayed.own));
}

/// A rank that is gone may have taken segments without leaving a note.
void Relay::reclaim(std::size_t client) {
  const std::size_t slot = *clients_.of(client).slot;
  std::vector<std::uint32_t> noted;
  for (std::size_t s = 0; s < servers_.size(); ++s)
    for (const auto* segments : {&lane(client, s).waiting, &lane(client, s).sending})
      for (const RelayedSegment& relayed : *segments)
        if (relayed.segment) noted.push_back(*relayed.segment);
  for (std::uint32_t i = 0; i < options_.channel->geometry().segments(); ++i)
    if (options_.channel->state(i).is_held_by(slot) && !data_.uses(i) &&
        std::ranges::find(noted, i) == noted.end())
      options_.channel->give_back(i, slot);
}

// ---- from the ranks

/// Pings do not count as work.
bool Relay::take_note(std::size_t client, const relay::Note& note, std::span<const std::byte> message) {
  if (note.server >= servers_.size()) return false;
  if (note.header.kind == SegmentKind::word && note.segment == relay::Note::header_only) {
    lane(client, note.server).words.push_back(make_word(message, lane(client, note.server).order_sent));
    lanes_.activate(client, note.server);
    return true;
  }
  if (note.segment == relay::Note::header_only) {
    take_header(client, note.server, note.header);
    return note.header.kind != SegmentKind::ping;
  }
  if (!options_.channel->may_use(*clients_.of(client).slot, note.segment) ||
      note.bytes > options_.channel->segment(note.segment).capacity)
    return false;
  RelayedSegment relayed;
  relayed.segment = note.segment;
  relayed.data = options_.channel->segment(note.segment).data;
  relayed.bytes = note.bytes;
  sender_.hold(client, note.server, std::move(relayed));
  return true;
}

void Relay::take_segment(std::size_t client, std::size_t server, Bytes bytes) {
  if (bytes.size() == sizeof(SegmentHeader)) {
    take_header(client, server, read_header<SegmentHeader>(bytes.data()));
    return;
  }
  RelayedSegment relayed;
  relayed.own = std::move(bytes);
  relayed.data = relayed.own.data();
  relayed.bytes = relayed.own.size();
  sender_.hold(client, server, std::move(relayed));
}

/// A ping overtakes segments that wait here, but does not confirm their contents.
void Relay::take_header(std::size_t client, std::size_t server, const SegmentHeader& header) {
  RelayLane& it = lane(client, server);
  lanes_.activate(client, server);
  if (header.kind == SegmentKind::farewell) {
    it.left = true;
    for (std::size_t s = 0; s < servers_.size(); ++s)
      if (!lane(client, s).left) return;
    clients_.end(client);
    lanes_.activate_client(client);
    return;
  }
  SegmentHeader passed = header;
  if (!it.waiting.empty() || arrivals_.holds_back(clients_.of(client).rank)) passed.order = it.order_sent;
  it.headers.push_back(passed);
}

bool Relay::take_arrivals() {
  const auto found_data = [this](int source, int tag, std::size_t bytes, MPI_Message message) {
    const auto server = lanes_.server_at(source);
    const auto client = lanes_.client_of(number_of_relay_tag(tag));
    if (!server || !client)
      return fail(make_error(ErrorCode::internal, "rank {} sent data that cannot be forwarded", source));
    servers_.note_message(*server, now_ns());
    data_.arrived(*client, *server, bytes, message);
  };
  const auto looked = arrivals_.look(
      [this](int source, int tag, Bytes message) { arrived(source, tag, std::move(message)); }, found_data);
  if (!looked) fail(looked.error());
  if (looked && looked->began) times_.moved_ns = now_ns();  // each look makes it progress
  return looked && looked->delivered;
}

void Relay::arrived(int source, int tag, Bytes message) {
  const std::size_t number = number_of_relay_tag(tag);
  if (const auto server = lanes_.server_at(source)) {
    servers_.note_message(*server, now_ns());
    if (const auto client = lanes_.client_of(number)) take_batch(*client, *server, std::move(message));
    return;
  }
  const auto client = lanes_.client_at(source);
  const auto server = lanes_.server_of(number);
  if (!client || !server) {
    fail(make_error(ErrorCode::internal, "rank {} sent a segment that cannot be forwarded", source));
    return;
  }
  if (message.size() > sizeof(SegmentHeader) &&
      read_header<SegmentHeader>(message.data()).kind == SegmentKind::word) {
    lane(*client, *server).words.push_back(std::move(message));
    lanes_.activate(*client, *server);
  } else {
    take_segment(*client, *server, std::move(message));
  }
  if (lane(*client, *server).left) lanes_.activate_client(*client);  // this may have been the last
}

// ---- back to the ranks

void Relay::take_batch(std::size_t client, std::size_t server, Bytes batch) {
  if (batch.size() < sizeof(BatchHeader)) return;
  const auto header = read_header<BatchHeader>(batch.data());
  RelayLane& it = lane(client, server);
  lanes_.activate(client, server);
  sender_.take_credits(client, server, header);
  it.progress = std::max(it.progress, header.progress);
  it.flags_due |= header.flags & ((1U << BatchHeader::allowance_bits) - 1);
  if ((header.flags & (BatchHeader::failed | BatchHeader::ended)) != 0) servers_.note_failure(server);
  if (header.bytes != 0 && clients_.is_present(client)) it.batches.push_back(std::move(batch));
  if (!clients_.is_near(client)) return;
  const std::size_t slot = *clients_.of(client).slot;
  relay::PairState& pair = options_.channel->pair(slot, server);
  pair.progress.store(it.progress, std::memory_order_relaxed);
  pair.flags.fetch_or(std::exchange(it.flags_due, 0), std::memory_order_seq_cst);
  pair.changes.fetch_add(1, std::memory_order_seq_cst);
  for (; !it.batches.empty(); it.batches.pop_front()) {
    const relay::Answer answer{relay::Answer::Kind::batch, static_cast<std::uint32_t>(server), 0, 0, 0, 0};
    Bytes message(sizeof answer + it.batches.front().size());
    std::memcpy(message.data(), &answer, sizeof answer);
    std::memcpy(message.data() + sizeof answer, it.batches.front().data(), it.batches.front().size());
    clients_.keep(client, std::move(message));
  }
  options_.channel->slot(slot).bell.ring();
}

/// With messages it is a synchronous send, so that the network does not buffer data for a rank that
/// computes.
bool Relay::answer_by_mpi(std::size_t client, std::size_t server) {
  RelayLane& it = lane(client, server);
  const Result<bool> done = it.batch_request.test_eagerly();
  if (!done) fail(done.error());
  if (!done || !*done || !clients_.is_present(client)) return false;
  if (it.batches.empty() && it.credits_due == 0 && it.flags_due == 0) return false;
  const bool only_a_pong = it.batches.empty() && it.credits_due == 0;
  if (it.batches.empty()) {
    it.batch.assign(sizeof(BatchHeader), std::byte{0});
  } else {
    it.batch = std::move(it.batches.front());
    it.batches.pop_front();
  }
  auto header = read_header<BatchHeader>(it.batch.data());
  header.credits = std::exchange(it.credits_due, 0);
  header.flags = std::exchange(it.flags_due, 0);
  header.progress = it.progress;
  header.bytes = it.batch.size() - sizeof header;
  std::memcpy(it.batch.data(), &header, sizeof header);
  const auto start = header.bytes != 0 ? MPI_Issend : MPI_Isend;
  auto sent =
      mpi::check(start(it.batch.data(), static_cast<int>(it.batch.size()), MPI_BYTE, clients_.of(client).rank,
                       relay_tag(servers_.of(server).number), comm_->get(), it.batch_request.handle()),
                 "MPI_Isend");
  if (!sent) fail(std::move(sent).error());
  return !only_a_pong;
}

// ---- the loop

/// Runs one part of a step and reports it if it did any work. `bytes`: the counter that it
/// increments.
template <class Part>
bool Relay::note_work(Work work, const std::uint64_t& bytes, Part part) {
  if (!listener_) return part();
  const std::uint64_t before = bytes, start_ns = now_ns();
  const bool did = part();
  if (did) listener_(work, start_ns, now_ns(), bytes - before);
  return did;
}

bool Relay::take_in() {
  const bool any = clients_.take_notes(
      [this](std::size_t client, const relay::Note& note, std::span<const std::byte> message) {
        return take_note(client, note, message);
      });
  return take_arrivals() || any;
}

bool Relay::send() {
  const auto sent = sender_.send();
  if (!sent) fail(sent.error());
  return sent && *sent;
}

bool Relay::answer() {
  const auto relayed = data_.advance();
  if (!relayed) fail(relayed.error());
  bool any = relayed && *relayed;
  any = clients_.write_answers([this](const Bytes& answer) {
    if (is_large_data(answer)) data_.large_answer_left();
  }) || any;
  lanes_.visit([&](std::size_t client, std::size_t server) {
    const bool by_mpi = !clients_.is_near(client);
    if (by_mpi) any = answer_by_mpi(client, server) || any;
    return lane(client, server).has_work(!servers_.is_gone(server), by_mpi && clients_.is_present(client));
  });
  return any;
}

bool Relay::step() {
  if (finished_) return false;
  if (!std::exchange(begun_, true)) {
    times_.moved_ns = now_ns();
    servers_.begin(times_.moved_ns);
  }
  if (options_.channel) options_.channel->header().turns.fetch_add(1, std::memory_order_relaxed);
  constexpr std::uint64_t no_bytes = 0;
  bool did = note_work(Work::take_in, sender_.figures().bytes_in, [this] { return take_in(); });
  did = note_work(Work::send, sender_.figures().bytes, [this] { return send(); }) || did;
  did = note_work(Work::answer, no_bytes, [this] { return answer(); }) || did;
  const std::uint64_t now = now_ns();
  if (did) times_.moved_ns = now;
  watch(now);
  finish_if_done(now);
  return did;
}

void Relay::watch(std::uint64_t now) {
  clients_.watch([this](std::size_t client) { lanes_.activate_client(client); },
                 [this](std::size_t client) { reclaim(client); });
  if (now < times_.next_watch_ns) return;
  times_.next_watch_ns = now + relay_watch_ns;
  servers_.watch(
      now,
      [this](std::size_t server) {
        RelayLane& first = lane(0, server);
        lanes_.activate(0, server);
        if (first.headers.empty()) first.headers.push_back({SegmentKind::ping, 0, 0, first.order_sent});
      },
      [this](std::size_t server, Error why) {
        lanes_.activate_server(server);
        fail(std::move(why));
      });
}

void Relay::wait(Millis most) {
  const bool transferring = arrivals_.receiving() || data_.transferring() || lanes_.sending() > 0 ||
                            sender_.joints().any_in_transit() || lanes_.any_active([](const RelayLane& it) {
                              return it.batch_request.active() && it.batch.size() > sizeof(BatchHeader);
                            });
  const std::chrono::nanoseconds idle(now_ns() - times_.moved_ns);
  const auto time = std::min<std::chrono::nanoseconds>(
      most, pause_between_looks(idle, transferring, relay_shortest_pause, relay_longest_pause));
  if (!options_.channel) {
    std::this_thread::sleep_for(time);  // MPI can only be polled
    return;
  }
  EventCount& bell = options_.channel->header().doorbell;
  const std::uint32_t count = bell.prepare();
  if (count == bell_seen_)
    bell.wait(count, time);
  else
    bell.cancel();
  bell_seen_ = bell.count();
}

Relay::Figures Relay::figures() const {
  const RelaySender::Figures& sent = sender_.figures();
  Figures now;
  now.bytes_in = sent.bytes_in;
  now.bytes = sent.bytes;
  now.segments = sent.segments;
  now.messages = sent.messages + sender_.joints().messages();
  now.held_bytes = sent.held_bytes;
  now.peak_bytes = sent.peak_bytes;
  now.data_bytes = data_.figures().bytes;
  now.data_peak_bytes = data_.figures().peak_bytes;
  const std::uint64_t large = segment_capacity(options_.sizes);
  now.limit_bytes = options_.far_common * large;
  if (options_.channel)
    now.limit_bytes +=
        options_.channel->geometry().total_bytes() - options_.channel->geometry().segments_at();
  now.ranks = clients_.size();
  now.ranks_ended = clients_.gone();
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    const auto slot = clients_.of(c).slot;
    if (!slot) now.limit_bytes += large;
    if (!clients_.is_present(c)) continue;
    if (slot ? options_.channel->slot(*slot).wants_segment.load(std::memory_order_relaxed) != 0
             : arrivals_.holds_back(clients_.of(c).rank))
      ++now.ranks_full;
  }
  return now;
}

Relay::Awaited Relay::waits_for() const {
  if (lanes_.sending() > 0) return Awaited::transfers;
  return lanes_.waiting() > 0 ? Awaited::credits : Awaited::data;
}

// ---- its end

bool Relay::drained() {
  return !sender_.joints().any_in_transit() &&
         lanes_.drained([this](const RelayLane& it, std::size_t server) {
           return servers_.is_gone(server) || it.is_drained();
         });
}

/// MPI may need several looks to receive messages that servers sent long ago.
bool Relay::hear_failure() {
  const mpi::BackOff back_off;
  const std::uint64_t end = now_ns() + relay_hear_ns;
  while (!server_failed() && now_ns() < end)
    if (!take_arrivals()) back_off.sleep();
  return server_failed();
}

void Relay::tell(std::span<const std::byte> to_servers, std::span<const std::byte> to_ranks) {
  const Bytes batch = make_batch({0, BatchHeader::failed, 0, 0}, to_ranks);
  for (std::size_t c = 0; c < clients_.size(); ++c)
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      if (c == 0) lane(c, s).words.push_back(make_word(to_servers, lane(c, s).order_sent));
      lanes_.activate(c, s);
      take_batch(c, s, batch);
    }
}

void Relay::let_go() {
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    if (!clients_.is_present(c)) continue;
    clients_.end(c);
    lanes_.activate_client(c);
    for (std::size_t s = 0; s < servers_.size(); ++s) sender_.drop(c, s);
  }
}

void Relay::finish_if_done(std::uint64_t now) {
  const bool all = clients_.gone() == clients_.size();
  if (all && drained()) {
    finished_ = true;
    for (std::size_t c = 0; c < clients_.size(); ++c)
      if (clients_.life(c) == RelayClients::Life::died)
        fail(make_error(ErrorCode::peer_lost, "{} has died", clients_.of(c).label));
    for (std::size_t s = 0; s < servers_.size(); ++s)
      if (servers_.has_failed(s))
        fail(make_error(ErrorCode::peer_lost, "{} has failed; its own message says why",
                        servers_.of(s).label));
    return;
  }
  const std::uint64_t patience = 2 * nanoseconds_of(options_.policy.patience(true));
  const bool over = failure_ && now - times_.failed_ns > patience;
  const bool stuck = now - times_.moved_ns > patience && (clients_.gone() > 0 || server_failed());
  if (stuck && !all)
    fail(make_error(ErrorCode::peer_lost, "{} did not end the session, while others did",
                    clients_.names_of_present()));
  else if (stuck)
    fail(make_error(ErrorCode::timed_out, "data from model ranks that have ended could not be forwarded"));
  finished_ = stuck || over;
}

}  // namespace afterbay::transport::network
