// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/server.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/caller_terms.hpp"
#include "mpi/check.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_slowest = 16;  // equally slow ranks among which a free one is looked for

bool passes(shm::Refusal refusal) {
  return refusal == shm::Refusal::older_instance || refusal == shm::Refusal::no_block ||
         refusal == shm::Refusal::slower_rank;
}

}  // namespace

Result<void> Frontend::check_alive() {
  if (!process.running())
    return fail(ErrorCode::peer_lost, "{}, process {} on this machine, has died", label, process.pid());
  const std::uint64_t now = now_ns();
  if (awaited_ns == 0) awaited_ns = now;
  const std::uint64_t silent_ns = now - std::max(heard_ns, awaited_ns);
  if (silent_ns < static_cast<std::uint64_t>(policy.patience(heard_ns != 0).count()) * 1'000'000) return {};
  if (heard_ns == 0)
    return fail(ErrorCode::peer_lost, "waited {} ms for {};{}", silent_ns / 1'000'000, label,
                note_of_silence(label + " on host " + host));
  return fail(ErrorCode::peer_lost, "{} has not been heard of for {} ms; is it stuck, or the network down?",
              label, silent_ns / 1'000'000);
}

MpiPeer::MpiPeer(const std::shared_ptr<const mpi::Communicator>& comm, shm::Port& port,
                 std::atomic<std::uint64_t>& progress, MpiPeerOptions options)
    : port_(port),
      progress_(progress),
      peer_(options.peer),
      name_(options.name),
      deadline_(options.policy.deadline),
      frontend_(std::move(options.frontend)),
      process_(options.process),
      answers_(comm, {options.rank, options.down_tag, options.data_tag}, options.reply_bytes, progress) {}

MpiPeer::~MpiPeer() {
  room_.end(port_.pool());
  for (Incoming& incoming : incoming_) {
    if (incoming.request.active()) static_cast<void>(new ReceiveMemory::Buffer(std::move(incoming.buffer)));
    incoming.request.abandon();
  }
}

bool MpiPeer::leave() {
  if (!mpi::is_running() || failure_ || end_.unreachable) return true;
  if (!std::exchange(end_.left, true) && !end_.forgotten) answers_.add_flags(BatchHeader::ended);
  flush_now();
  return failure_ || !(answers_.batch_in_transit() || answers_.is_due());
}

void MpiPeer::note_failure(Error error) {
  if (failure_) return;
  failure_ = std::make_unique<Error>(std::move(error.add("on the connection with " + name_.text())));
  port_.activate(peer_);
}

void MpiPeer::broken(const char* what, std::uint64_t value) {
  note_failure(make_error(ErrorCode::internal, "{} sent {} {}, which is invalid", name_.text(), what, value));
}

Result<void> MpiPeer::take(MPI_Message message, std::size_t bytes, ReceiveMemory& memory) {
  memory_ = &memory;
  Incoming& incoming = incoming_.emplace_back();
  incoming.bytes = bytes;
  incoming.message = message;
  if (memory.kind_of(bytes) == ReceiveMemory::Kind::large) return {};
  port_.activate(peer_);
  return incoming.receive(memory, name_);
}

Result<void> MpiPeer::take(std::span<const std::byte> segment, ReceiveMemory& memory) {
  memory_ = &memory;
  AFTERBAY_TRY_ASSIGN(ReceiveMemory::Buffer buffer, memory.take_joined(segment.size()));
  Incoming& incoming = incoming_.emplace_back();
  incoming.bytes = segment.size();
  incoming.buffer = std::move(buffer);
  std::memcpy(incoming.buffer.data.get(), segment.data(), segment.size());
  port_.activate(peer_);
  return {};
}

Result<void> MpiPeer::receive_next(ReceiveMemory& memory) {
  const auto next =
      std::ranges::find_if(incoming_, [](const Incoming& it) { return it.message != MPI_MESSAGE_NULL; });
  port_.activate(peer_);
  return next == incoming_.end() ? Result<void>() : next->receive(memory, name_);
}

Result<void> MpiPeer::Incoming::receive(ReceiveMemory& memory, const PeerName& sender) {
  buffer = memory.take(bytes);
  if (bytes > buffer.capacity)
    return afterbay::fail(ErrorCode::internal, "{} sent a segment of {} bytes, more than the {} of any",
                          sender.text(), bytes, buffer.capacity);
  return mpi::check(
      MPI_Imrecv(buffer.data.get(), static_cast<int>(bytes), MPI_BYTE, &message, request.handle()),
      "MPI_Imrecv");
}

bool MpiPeer::complete_receives() {
  bool moved = false;
  bool any_word = false;
  bool awaits_word = false;  // words stay in order: a request may rely on the word before it
  for (Incoming& incoming : incoming_) {
    if (incoming.arrived || incoming.message != MPI_MESSAGE_NULL) continue;
    const bool is_word = incoming.bytes > sizeof(SegmentHeader) && !holds_items(incoming.bytes);
    if (is_word && awaits_word) continue;
    const Result<bool> done = incoming.request.test_eagerly();
    if (!done) note_failure(done.error());
    if (!done || !*done) {
      awaits_word = awaits_word || is_word;
      continue;
    }
    incoming.arrived = true;
    if (incoming.bytes < sizeof(SegmentHeader)) continue;  // reported in its turn
    const auto header = read_header<SegmentHeader>(incoming.buffer.data.get());
    const SegmentKind kind = header.kind;
    if (kind == SegmentKind::ping) answers_.add_flags(BatchHeader::pong);
    end_.died = end_.died || kind == SegmentKind::died;
    moved = moved || kind != SegmentKind::ping;
    if (kind != SegmentKind::word) continue;
    if (header.bytes > incoming.bytes - sizeof header) continue;  // reported in its turn
    const std::byte* const message = incoming.buffer.data.get() + sizeof header;
    messages_.add_word({message, header.bytes});
    memory_->give_back(std::move(incoming.buffer));
    incoming.is_word = any_word = true;
  }
  if (any_word) std::erase_if(incoming_, [](const Incoming& incoming) { return incoming.is_word; });
  return moved;
}

bool MpiPeer::begin_segment() {
  if (incoming_.empty() || !incoming_.front().arrived) return false;
  const std::span<const std::byte> bytes(incoming_.front().buffer.data.get(), incoming_.front().bytes);
  if (bytes.size() >= sizeof(SegmentHeader)) segment_ = read_header<SegmentHeader>(bytes.data());
  const bool data = segment_.kind == SegmentKind::data;
  const bool is_word = bytes.size() >= sizeof(SegmentHeader) && segment_.kind == SegmentKind::word;
  if (bytes.size() < sizeof(SegmentHeader) || is_word ||
      (data && bytes.size() != alignment + segment_.bytes)) {
    broken("a segment of bytes", bytes.size());
    return false;
  }
  items_ = data ? bytes.subspan(alignment) : std::span<const std::byte>{};
  in_segment_ = true;
  return true;
}

void MpiPeer::end_segment() {
  port_.pool().publish(peer_, segment_.order);
  if (segment_.kind == SegmentKind::data) {
    answers_.add_credit();
    ++handled_;
    progress_.fetch_add(1, std::memory_order_relaxed);
  }
  memory_->give_back(std::move(incoming_.front().buffer));
  end_.closed = end_.closed || segment_.kind == SegmentKind::farewell;
  incoming_.pop_front();
  in_segment_ = false;
}

bool MpiPeer::work() {
  bool moved = false;
  while (!messages_.has_message() && !failure_) {
    if (!in_segment_ && !begin_segment()) break;
    if (items_.empty())
      end_segment();
    else if (!next_item())
      break;
    moved = moved || segment_.kind == SegmentKind::data;
  }
  return moved;
}

bool MpiPeer::next_item() {
  if (items_.size() < alignment) {
    broken("an item of bytes", items_.size());
    return false;
  }
  const auto item = read_header<ItemHeader>(items_.data());
  if (item.bytes > items_.size() - alignment || item_bytes(item.bytes) > items_.size()) {
    broken("an item of bytes", item.bytes);
    return false;
  }
  const auto payload = items_.subspan(alignment, item.bytes);
  if (item.kind == ItemKind::contribution) {
    if (!contribute(item, payload)) return false;
  } else {
    messages_.add(item.kind, payload);
  }
  items_ = items_.subspan(item_bytes(item.bytes));
  return true;
}

/// False: not now, or not at all.
bool MpiPeer::contribute(const ItemHeader& item, std::span<const std::byte> packed) {
  const FrameSlot& slot = item.slot;
  if (!port_.pool().is_piece(slot.frame, item.piece)) {
    broken("a part of the unknown frame", slot.frame);
    return false;
  }
  port_.pool().publish(peer_, shm::order_of(slot.position, slot.frame));
  const std::uint64_t moved = progress_.load(std::memory_order_relaxed);
  const auto view = room_.acquire(port_.pool(), slot, moved, deadline_);
  if (!view) {
    if (view.error() == shm::Refusal::no_memory)
      note_failure(port_.pool().no_memory("this I/O server"));
    else if (!passes(view.error()))
      note_failure(
          make_error(ErrorCode::bad_state,
                     "{} sent a part of frame {} of record number {}, which was given up or does not fit",
                     name_.text(), slot.frame, said_index(slot.seq)));
    return false;
  }
  if (!port_.scatter() ||
      !port_.scatter()(peer_, slot, item.piece, packed, view->buffer.data() + slot.phase)) {
    broken("an unreadable part of frame", slot.frame);
    return false;
  }
  if (port_.pool().contribute(*view, item.piece)) {
    messages_.set_own(wire::encode(wire::FrameReady{slot.frame, slot.seq}));
  }
  return true;
}

std::optional<std::span<const std::byte>> MpiPeer::peek() {
  if (!incoming_.empty()) {
    complete_receives();
    if (!messages_.has_message()) work();
  }
  return messages_.next();
}

void MpiPeer::pop() {
  ++handled_;
  progress_.fetch_add(1, std::memory_order_relaxed);
  if (messages_.pop() && in_segment_ && items_.empty()) end_segment();
}

void MpiPeer::send(std::span<const std::byte> message) {
  answers_.keep(message);
  ++handled_;
  flush_answers();
}

void MpiPeer::send_data(std::span<const std::byte> message, OutgoingData data) {
  ++handled_;
  if (auto sent = answers_.send_data(message, std::move(data)); !sent) note_failure(std::move(sent).error());
}

/// True: did something.
bool MpiPeer::flush_answers(SendTurn& turn) {
  auto moved = answers_.flush(turn);
  if (!moved) note_failure(std::move(moved).error());
  const bool is_due = answers_.is_due();
  if (answers_.is_slow() && turns_ != nullptr && !std::exchange(is_listed_[is_due], true))
    turns_->list(is_due).add(*this);
  return moved && *moved;
}

bool MpiPeer::flush_answers() {
  SendTurn unlimited;
  return flush_answers(turns_ != nullptr ? turns_->turn : unlimited);
}

mpi::Request* MpiPeer::awaited_batch(const AnswerTurns::Slow& list) noexcept {
  const bool is_due = &list == &turns_->due;
  if (answers_.is_slow() && answers_.is_due() == is_due && !failure_) return &answers_.batch();
  is_listed_[is_due] = false;
  return nullptr;
}

void MpiPeer::flush_now() {
  SendTurn unlimited;
  flush_answers(unlimited);
}

bool MpiPeer::pump() {
  if (failure_) return false;
  bool moved = complete_receives();
  moved = work() || moved;
  auto arrived = answers_.complete_data();
  if (!arrived) note_failure(std::move(arrived).error());
  moved = (arrived && *arrived) || moved;
  return flush_answers() || moved;
}

PeerNeeds MpiPeer::needs() const {
  PeerNeeds needs;
  needs.message = !messages_.empty();
  needs.check = !end_.forgotten && (failure_ || end_.died || end_.closed);
  if (failure_) return needs;
  const bool receiving = std::ranges::any_of(
      incoming_, [](const Incoming& it) { return !it.arrived && it.message == MPI_MESSAGE_NULL; });
  const bool working =
      !incoming_.empty() && incoming_.front().arrived && !messages_.has_message() && !room_.awaited();
  // A batch that the rank does not receive is looked at by the network; what is due waits for it.
  const bool answering = !(answers_.is_slow() && is_listed_[answers_.is_due()]) &&
                         (answers_.batch_in_transit() || answers_.is_due());
  needs.pump = receiving || working || answers_.sends_data() || answering;
  needs.transferring = receiving || answers_.transferring();
  needs.sending = sending();
  needs.room = room_.awaited();
  return needs;
}

Result<void> MpiPeer::check_alive() {
  if (end_.forgotten || messages_.has_message()) return {};
  if (failure_) return afterbay::fail(*failure_);
  if (end_.died)
    return afterbay::fail(ErrorCode::peer_lost, "{} has died, says {}", name_.text(),
                          frontend_ ? frontend_->label : "its node");
  if (frontend_)
    if (auto alive = frontend_->check_alive(); !alive) {
      end_.unreachable = true;
      return afterbay::fail(std::move(alive).error().add("through which " + name_.text() + " sends"));
    }
  if (process_.running() || peek()) {
    if (!end_.closed || peek()) return {};
    return afterbay::fail(ErrorCode::peer_lost, "{} has ended without finalizing its session", name_.text());
  }
  return afterbay::fail(
      ErrorCode::peer_lost,
      "{}, process {} on this machine, has died; see its output and the kernel log (out of memory?)",
      name_.text(), process_.pid());
}

void MpiPeer::forget() {
  end_.forgotten = true;
  answers_.stop_credits();
  port_.pool().publish(peer_, shm::order_end);
}

void MpiPeer::fail() {
  answers_.add_flags(BatchHeader::failed);
  flush_now();
}

Result<bool> MpiNetwork::take_one() {
  int any = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  const int tag = frontends_.empty() ? up_tag : MPI_ANY_TAG;
  AFTERBAY_TRY(
      mpi::check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_->get(), &any, &message, &status), "MPI_Improbe"));
  if (any == 0) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  const int rank = status.MPI_SOURCE;
  const JointArrivals::Found found{status.MPI_TAG, static_cast<std::size_t>(bytes), message};
  if (found.bytes > sizeof(SegmentHeader)) moved_ = true;
  const auto relayed = frontends_.find(rank);
  if (relayed != frontends_.end()) relayed->second.frontend->heard_ns = now_ns();
  if (relayed == frontends_.end() || (found.tag != joint_tag && relayed->second.arrivals.empty())) {
    AFTERBAY_TRY(take(rank, found));
    return true;
  }
  if (relayed->second.arrivals.empty()) incomplete_.push_back(rank);
  AFTERBAY_TRY(relayed->second.arrivals.add(found));
  return true;
}

Result<MpiPeer*> MpiNetwork::peer_at(int rank, int tag) const {
  // Through a frontend the tag tells the model rank, which must be one of that frontend.
  const bool is_direct = tag == up_tag;
  const auto& peers = is_direct ? direct_ : relayed_;
  const std::size_t at = is_direct ? static_cast<std::size_t>(rank) : number_of_relay_tag(tag);
  MpiPeer* const peer = at < peers.size() ? peers[at] : nullptr;
  if (peer == nullptr || peer->rank() != rank || (!is_direct && tag != relay_tag(at)))
    return fail(ErrorCode::internal, "rank {} sent a segment but is no model rank over MPI", rank);
  return peer;
}

Result<void> MpiNetwork::take(int rank, const JointArrivals::Found& found) {
  AFTERBAY_TRY_ASSIGN(MpiPeer* const peer, peer_at(rank, found.tag));
  AFTERBAY_TRY(peer->take(found.message, found.bytes, memory_));
  if (memory_.kind_of(found.bytes) != ReceiveMemory::Kind::large) return {};
  waiting_.add(*peer);
  const auto relayed = frontends_.find(rank);
  if (relayed == frontends_.end() || found.bytes > most_joined_bytes) return {};
  const std::uint64_t share = joined_memory_.raise(relayed->second.share);
  if (share != std::exchange(relayed->second.share, share)) peer->tell_share(share);
  return {};
}

Result<void> MpiNetwork::deliver(int rank, Relayed& relayed) {
  const auto joint = [&](std::span<const std::byte> message) -> Result<void> {
    const auto parts = parts_of_joint(message);
    if (!parts)
      return fail(ErrorCode::internal, "{} sent {} bytes of small segments, which are invalid",
                  relayed.frontend->label, message.size());
    for (const JointPart& part : *parts) {
      AFTERBAY_TRY_ASSIGN(MpiPeer* const peer, peer_at(rank, relay_tag(part.peer)));
      if (auto taken = peer->take(part.segment, memory_); !taken)
        return fail(std::move(taken).error().add("sent by " + relayed.frontend->label));
    }
    return {};
  };
  return relayed.arrivals.deliver(joint,
                                  [&](const JointArrivals::Found& found) { return take(rank, found); });
}

/// The rank with the earliest order first. The last buffer is for the slowest rank of all, whose
/// data others may wait for while they fill all other buffers. A segment that is not prompt holds
/// parts of one frame, and the slowest rank always gets room for it: so the last buffer becomes
/// free again. For the same reason it is not for a segment behind others, after which the rank may
/// no longer be the slowest.
bool MpiNetwork::receive_waiting() {
  bool any = false;
  while (!waiting_.empty() && memory_.free_large() > 0) {
    const bool last = memory_.free_large() == 1;
    MpiPeer* const peer = waiting_.take_first_that(
        [&](const MpiPeer& it) { return !last || (it.next_is_first() && pool_.nobody_before(it.order())); },
        most_slowest);
    if (peer == nullptr) break;
    if (auto begun = peer->receive_next(memory_); !begun) peer->note_failure(std::move(begun).error());
    any = true;
  }
  return any;
}

void MpiNetwork::broken(const Error& error) {
  if (std::exchange(failed_, true)) return;
  for (const auto* peers : {&direct_, &relayed_})
    for (MpiPeer* const peer : *peers)
      if (peer != nullptr) peer->note_failure(error);
}

bool MpiNetwork::progress() {
  moved_ = false;
  turns_.turn = {};
  for (;;) {
    const Result<bool> took = take_one();
    if (!took) broken(took.error());
    if (!took || !*took) break;
  }
  std::erase_if(incomplete_, [this](int rank) {
    Relayed& relayed = frontends_.at(rank);
    if (auto delivered = deliver(rank, relayed); !delivered) broken(delivered.error());
    return relayed.arrivals.empty();
  });
  if (joint_memory_.free == 0 && !incomplete_.empty())
    std::rotate(incomplete_.begin(), incomplete_.begin() + 1, incomplete_.end());
  for (const bool is_due : {true, false}) {
    const auto received = turns_.list(is_due).look();
    if (!received) broken(received.error());
    moved_ = (received && *received) || moved_;
  }
  return receive_waiting() || moved_;
}

bool MpiNetwork::sending() const {
  const auto sends = [](const MpiPeer& peer) { return peer.sending(); };
  return turns_.slow.any_of(sends) || turns_.due.any_of(sends);
}

}  // namespace afterbay::transport::network
