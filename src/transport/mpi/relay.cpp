// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relay.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "base/polling.hpp"
#include "mpi/check.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t relay_watch_ns = 250'000'000;
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

}  // namespace

Relay::Relay(std::shared_ptr<const mpi::Communicator> comm, RelayOptions options)
    : comm_(std::move(comm)),
      options_(std::move(options)),
      lanes_(ends_of(options_.clients, &RelayOptions::Client::peer),
             ends_of(options_.servers, &RelayOptions::Server::number)),
      clients_(options_.clients.size()),
      servers_(options_.servers.size()),
      arrivals_(comm_, far_ranks(options_.clients), options_.far_common, 2 * lanes_.size()) {
  for (Lane& it : lanes_) it.credits = options_.sizes.credits;
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    const auto slot = options_.clients[c].slot;
    if (!slot) continue;
    relay::RankSlot& shared = options_.channel->slot(*slot);
    clients_[c].notes = std::make_unique<shm::RingReader>(shared.up, options_.channel->up_ring(*slot),
                                                          shared.up_is_full, shared.bell);
    clients_[c].down = std::make_unique<shm::RingWriter>(shared.down, options_.channel->down_ring(*slot));
  }
  for (std::size_t s = 0; s < servers_.size(); ++s)
    servers_[s].process = ProcessWatch(options_.servers[s].process);
  finished_ = clients_.empty();
}

Relay::~Relay() {
  const std::uint64_t end = now_ns() + nanoseconds_of(relay_farewell);
  const auto under_way = [this] {
    return std::ranges::any_of(lanes_, [](Lane& it) {
      for (Parcel& parcel : it.sending) (void)parcel.request.test();
      (void)it.header_request.test();
      (void)it.word_request.test();
      (void)it.batch_request.test();
      return it.header_request.active() || it.word_request.active() ||
             std::ranges::any_of(it.sending, [](Parcel& parcel) { return parcel.request.active(); });
    });
  };
  mpi::BackOff back_off;
  while (mpi::is_running() && !failure_ && under_way() && now_ns() < end) back_off.sleep();
  if (options_.channel) {
    options_.channel->header().life.store(shm::Life::ended, std::memory_order_seq_cst);
    for (const auto& client : options_.clients)
      if (client.slot) options_.channel->slot(*client.slot).bell.ring();
  }
  bool channel_in_use = false;
  for (Lane& it : lanes_) {  // MPI may still read data in transit
    for (Parcel& parcel : it.sending) {
      channel_in_use = channel_in_use || (parcel.request.active() && parcel.segment);
      if (parcel.request.active() && !parcel.segment) static_cast<void>(new Bytes(std::move(parcel.own)));
      parcel.request.abandon();
    }
    if (it.header_request.active()) static_cast<void>(it.header.release());
    it.header_request.abandon();
    if (it.word_request.active()) static_cast<void>(new Bytes(std::move(it.word)));
    it.word_request.abandon();
    if (it.batch_request.active()) static_cast<void>(new Bytes(std::move(it.batch)));
    it.batch_request.abandon();
  }
  if (channel_in_use) static_cast<void>(new std::shared_ptr<relay::Channel>(options_.channel));
}

void Relay::fail(Error error) {
  if (failure_) return;
  failure_ = std::move(error.add("while " + options_.label + " forwarded data"));
  failed_ns_ = now_ns();
}

void Relay::hold(std::size_t client, std::size_t server, Parcel parcel) {
  figures_.bytes_in += parcel.bytes;
  figures_.held_bytes += parcel.bytes;
  figures_.peak_bytes = std::max(figures_.peak_bytes, figures_.held_bytes);
  lanes_.hold(client, server, std::move(parcel));
}

// ---- from the ranks

bool Relay::take_notes() {
  bool any = false;
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    if (!clients_[c].notes) continue;
    while (const auto message = clients_[c].notes->front()) {
      relay::Note note;
      if (message->size() >= sizeof note) {
        std::memcpy(&note, message->data(), sizeof note);
        any = take_note(c, note, message->subspan(sizeof note)) || any;
      }
      clients_[c].notes->pop();
    }
  }
  return any;
}

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
  if (!options_.channel->may_use(*options_.clients[client].slot, note.segment) ||
      note.bytes > options_.channel->segment(note.segment).capacity)
    return false;
  Parcel parcel;
  parcel.segment = note.segment;
  parcel.data = options_.channel->segment(note.segment).data;
  parcel.bytes = note.bytes;
  hold(client, note.server, std::move(parcel));
  return true;
}

void Relay::take_segment(std::size_t client, std::size_t server, Bytes bytes) {
  if (bytes.size() == sizeof(SegmentHeader)) {
    take_header(client, server, read_header<SegmentHeader>(bytes.data()));
    return;
  }
  Parcel parcel;
  parcel.own = std::move(bytes);
  parcel.data = parcel.own.data();
  parcel.bytes = parcel.own.size();
  hold(client, server, std::move(parcel));
}

/// A ping overtakes segments that wait here, but does not confirm their contents.
void Relay::take_header(std::size_t client, std::size_t server, const SegmentHeader& header) {
  Lane& it = lane(client, server);
  lanes_.activate(client, server);
  if (header.kind == SegmentKind::farewell) {
    it.left = true;
    for (std::size_t s = 0; s < servers_.size(); ++s)
      if (!lane(client, s).left) return;
    clients_[client].life = Life::ended;
    lanes_.activate_client(client);
    return;
  }
  SegmentHeader passed = header;
  if (!it.waiting.empty() || arrivals_.holds_back(options_.clients[client].rank))
    passed.order = it.order_sent;
  it.headers.push_back(passed);
}

bool Relay::take_arrivals() {
  const auto looked = arrivals_.look(
      [this](int source, int tag, Bytes message) { arrived(source, tag, std::move(message)); });
  if (!looked) fail(looked.error());
  if (looked && looked->began) moved_ns_ = now_ns();  // each look makes it progress
  return looked && looked->delivered;
}

void Relay::arrived(int source, int tag, Bytes message) {
  const auto number = static_cast<std::size_t>(tag - first_relay_tag);
  if (const auto server = lanes_.server_at(source)) {
    servers_[*server].heard_ns = now_ns();
    servers_[*server].heard = true;
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

// ---- to the servers

/// The memory of a segment that was sent or dropped.
void Relay::release(std::size_t client, Parcel& parcel) {
  figures_.held_bytes -= parcel.bytes;
  if (parcel.segment)
    options_.channel->give_back(*parcel.segment, *options_.clients[client].slot);
  else
    arrivals_.give_back(options_.clients[client].rank, std::move(parcel.own));
}

/// A rank that is gone may have taken segments without leaving a note.
void Relay::reclaim(std::size_t client) {
  const std::size_t slot = *options_.clients[client].slot;
  std::vector<std::uint32_t> noted;
  for (std::size_t s = 0; s < servers_.size(); ++s)
    for (const auto* parcels : {&lane(client, s).waiting, &lane(client, s).sending})
      for (const Parcel& parcel : *parcels)
        if (parcel.segment) noted.push_back(*parcel.segment);
  for (std::uint32_t i = 0; i < options_.channel->geometry().segments(); ++i)
    if (options_.channel->state(i).is_held_by(slot) && std::ranges::find(noted, i) == noted.end())
      options_.channel->give_back(i, slot);
  clients_[client].reclaimed = true;
}

bool Relay::complete(std::size_t client, std::size_t server) {
  Lane& it = lane(client, server);
  bool moved = false;
  while (!it.sending.empty()) {
    Parcel& parcel = it.sending.front();
    const Result<bool> done = parcel.request.test();
    if (!done) fail(done.error());
    if (!done || !*done) break;
    it.credits_due += parcel.segment ? 0 : 1;
    release(client, parcel);
    lanes_.pop_sending(client, server);
    moved = true;
  }
  return moved;
}

bool Relay::send_headers(Lane& it, std::size_t client, std::size_t server) {
  const Result<bool> left = it.header_request.test();
  if (!left) fail(left.error());
  if (!left || !*left || it.headers.empty()) return false;
  if (!it.header) it.header = std::make_unique<SegmentHeader>();
  *it.header = it.headers.front();
  it.headers.pop_front();
  auto sent = mpi::check(MPI_Isend(it.header.get(), static_cast<int>(sizeof(SegmentHeader)), MPI_BYTE,
                                   options_.servers[server].rank, relay_tag(options_.clients[client].peer),
                                   comm_->get(), it.header_request.handle()),
                         "MPI_Isend");
  if (!sent) fail(std::move(sent).error());
  return it.header->kind != SegmentKind::ping;
}

bool Relay::send_words(Lane& it, std::size_t client, std::size_t server) {
  const Result<bool> left = it.word_request.test();
  if (!left) fail(left.error());
  if (!left || !*left || it.words.empty()) return false;
  it.word = std::move(it.words.front());
  it.words.pop_front();
  auto sent = mpi::check(
      MPI_Isend(it.word.data(), static_cast<int>(it.word.size()), MPI_BYTE, options_.servers[server].rank,
                relay_tag(options_.clients[client].peer), comm_->get(), it.word_request.handle()),
      "MPI_Isend");
  if (!sent) fail(std::move(sent).error());
  return true;
}

/// Discards data that can no longer reach the server. The rank learns this from its own pings.
void Relay::drop(std::size_t client, std::size_t server) {
  Lane& it = lane(client, server);
  while (!it.waiting.empty()) {
    release(client, it.waiting.front());
    lanes_.pop_waiting(client, server);
  }
  it.headers.clear();
  it.words.clear();
}

bool Relay::push(std::size_t client, std::size_t server) {
  Lane& it = lane(client, server);
  bool moved = complete(client, server);
  if (servers_[server].gone) {
    drop(client, server);
    return moved;
  }
  moved = send_words(it, client, server) || moved;
  while (it.credits > 0 && !it.waiting.empty()) {
    Parcel& parcel = it.sending.emplace_back(std::move(it.waiting.front()));
    it.waiting.pop_front();
    lanes_.note_sent();
    it.order_sent = std::max(it.order_sent, read_header<SegmentHeader>(parcel.data).order);
    --it.credits;
    figures_.bytes += parcel.bytes;
    ++figures_.segments;
    auto sent = mpi::check(
        MPI_Isend(parcel.data, static_cast<int>(parcel.bytes), MPI_BYTE, options_.servers[server].rank,
                  relay_tag(options_.clients[client].peer), comm_->get(), parcel.request.handle()),
        "MPI_Isend");
    if (!sent) fail(std::move(sent).error());
    moved = true;
  }
  const Life life = clients_[client].life;
  if (!it.told_end &&
      (life == Life::died || ((life == Life::ended || it.left) && it.waiting.empty() && it.words.empty() &&
                              !arrivals_.holds_back(options_.clients[client].rank)))) {
    it.told_end = true;
    it.headers.push_back(
        {life == Life::died ? SegmentKind::died : SegmentKind::farewell, 0, 0, it.order_sent});
  }
  return send_headers(it, client, server) || moved;
}

// ---- back to the ranks

void Relay::take_batch(std::size_t client, std::size_t server, Bytes batch) {
  if (batch.size() < sizeof(BatchHeader)) return;
  const auto header = read_header<BatchHeader>(batch.data());
  Lane& it = lane(client, server);
  lanes_.activate(client, server);
  it.credits += header.credits;
  it.progress = std::max(it.progress, header.progress);
  it.flags_due |= header.flags;
  if ((header.flags & (BatchHeader::failed | BatchHeader::ended)) != 0) servers_[server].failed = true;
  if (header.bytes != 0 && clients_[client].life == Life::present) it.batches.push_back(std::move(batch));
  if (!options_.clients[client].slot) return;
  const std::size_t slot = *options_.clients[client].slot;
  relay::PairState& pair = options_.channel->pair(slot, server);
  pair.progress.store(it.progress, std::memory_order_relaxed);
  pair.flags.fetch_or(std::exchange(it.flags_due, 0), std::memory_order_seq_cst);
  pair.changes.fetch_add(1, std::memory_order_seq_cst);
  for (; !it.batches.empty(); it.batches.pop_front()) {
    const auto number = static_cast<std::uint32_t>(server);
    Bytes with_server(sizeof number + it.batches.front().size());
    std::memcpy(with_server.data(), &number, sizeof number);
    std::memcpy(with_server.data() + sizeof number, it.batches.front().data(), it.batches.front().size());
    clients_[client].kept.push_back(std::move(with_server));
    lanes_.answering().add(client);
  }
  options_.channel->slot(slot).bell.ring();
}

bool Relay::answer_by_channel(std::size_t client) {
  ClientState& it = clients_[client];
  if (it.kept.empty()) return false;
  relay::RankSlot& slot = options_.channel->slot(*options_.clients[client].slot);
  bool moved = false;
  slot.down_is_full.store(1, std::memory_order_seq_cst);  // from now on the rank rings when it has
                                                          // read
  while (!it.kept.empty()) {
    const std::size_t before = std::exchange(it.kept_sent, it.down->write(it.kept.front(), it.kept_sent));
    moved = moved || it.kept_sent != before || it.down->message_done();
    if (!it.down->message_done()) break;
    it.kept.pop_front();
    it.kept_sent = 0;
  }
  if (it.kept.empty()) slot.down_is_full.store(0, std::memory_order_relaxed);
  if (moved) slot.bell.ring();
  return moved;
}

/// With messages it is a synchronous send, so that the network does not buffer data for a rank that
/// computes.
bool Relay::answer_by_mpi(std::size_t client, std::size_t server) {
  Lane& it = lane(client, server);
  const Result<bool> done = it.batch_request.test_eagerly();
  if (!done) fail(done.error());
  if (!done || !*done || clients_[client].life != Life::present) return false;
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
  auto sent = mpi::check(
      start(it.batch.data(), static_cast<int>(it.batch.size()), MPI_BYTE, options_.clients[client].rank,
            relay_tag(options_.servers[server].number), comm_->get(), it.batch_request.handle()),
      "MPI_Isend");
  if (!sent) fail(std::move(sent).error());
  return !only_a_pong;
}

// ---- the loop

/// Runs one part of a step and reports it if it did any work. `bytes`: the counter that it
/// increments.
template <class Part>
bool Relay::told(Work work, const std::uint64_t& bytes, Part part) {
  if (!listener_) return part();
  const std::uint64_t before = bytes, start_ns = now_ns();
  const bool did = part();
  if (did) listener_(work, start_ns, now_ns(), bytes - before);
  return did;
}

bool Relay::take_in() {
  const bool any = take_notes();
  return take_arrivals() || any;
}

bool Relay::send() {
  bool any = false;
  lanes_.visit([&](std::size_t client, std::size_t server) {
    any = push(client, server) || any;
    return true;  // `answer` removes it
  });
  return any;
}

bool Relay::answer() {
  bool any = false;
  lanes_.answering().visit([&](std::size_t client) {
    any = answer_by_channel(client) || any;
    return !clients_[client].kept.empty();
  });
  lanes_.visit([&](std::size_t client, std::size_t server) {
    const bool by_mpi = !clients_[client].down;
    if (by_mpi) any = answer_by_mpi(client, server) || any;
    return lane(client, server)
        .has_work(!servers_[server].gone, by_mpi && clients_[client].life == Life::present);
  });
  return any;
}

bool Relay::step() {
  if (finished_) return false;
  if (!begun_) begin(now_ns());
  if (options_.channel) options_.channel->header().turns.fetch_add(1, std::memory_order_relaxed);
  constexpr std::uint64_t no_bytes = 0;
  bool did = told(Work::take_in, figures_.bytes_in, [this] { return take_in(); });
  did = told(Work::send, figures_.bytes, [this] { return send(); }) || did;
  did = told(Work::answer, no_bytes, [this] { return answer(); }) || did;
  const std::uint64_t now = now_ns();
  if (did) moved_ns_ = now;
  watch_clients();
  if (now >= next_watch_ns_) {
    next_watch_ns_ = now + relay_watch_ns;
    watch_servers(now);
  }
  finish_if_done(now);
  return did;
}

std::chrono::nanoseconds Relay::pause(std::uint64_t now) const {
  const bool transferring =
      arrivals_.receiving() || lanes_.sending() > 0 || lanes_.any_active([](const Lane& it) {
        return it.batch_request.active() && it.batch.size() > sizeof(BatchHeader);
      });
  return pause_between_looks(std::chrono::nanoseconds(now - moved_ns_), transferring, relay_shortest_pause,
                             relay_longest_pause);
}

void Relay::wait(Millis most) {
  const auto time = std::min<std::chrono::nanoseconds>(most, pause(now_ns()));
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

}  // namespace afterbay::transport::network
