// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/caller_terms.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::transport::shm {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds slice{100};     // between two checks whether the server is alive
constexpr milliseconds idle_slice{2};  // the same with a server inside this rank, which must also
                                       // run
constexpr std::uint64_t most_ready_bytes = 16u << 20;  // complete frames before the server is woken
constexpr std::uint64_t most_mapping_ns = 500'000;     // before each sleep
constexpr milliseconds mapping_slice{1};               // the longest sleep while there is more to map
constexpr milliseconds moving_slice{1};                // the same if other links of this rank must be polled

}  // namespace

ShmClientLink::ShmClientLink(std::shared_ptr<Segment> segment, ClientOptions options)
    : segment_(std::move(segment)),
      options_(std::move(options)),
      header_(segment_->header()),
      self_(segment_->peer(options_.peer)),
      table_(*segment_, options_.peer),
      refusals_(*segment_, options_.server),
      up_(self_.up, segment_->up_ring(options_.peer)),
      down_(self_.down, segment_->down_ring(options_.peer), self_.down_is_full, header_.doorbell),
      server_(header_.server),
      shares_mapping_(header_.server.pid == own_process().pid),
      blocks_(*segment_),
      thread_end_(segment_, options_.peer, options_.server, shares_mapping_ ? nullptr : &blocks_),
      bell_seen_(self_.bell.count()) {
  self_.process = own_process();
  self_.life.store(Life::present, std::memory_order_release);
  options_.rank_links->add(*this);
}

ShmClientLink::~ShmClientLink() {
  options_.rank_links->remove(*this);
  table_.publish(order_end);
  self_.life.store(Life::ended, std::memory_order_seq_cst);
  header_.doorbell.ring();
}

template <class Attempt, class What>
Result<void> ShmClientLink::wait_until(EventCount& event, Attempt attempt, What what) {
  const std::uint64_t begin = now_ns();
  ring();  // other ranks may have left it asleep although frames are complete
  const auto moved = [this] { return progress() + header_.space.count(); };
  const milliseconds patience = options_.policy.patience(never_heard().empty());
  StallClock stall(patience, moved());
  Result<void> result;
  while (result) {
    const std::uint32_t seen = event.prepare();
    const Result<Step> step = attempt(stall.stalled_ns(moved()));
    if (!step || *step == Step::done) {
      event.cancel();
      if (!step) result = fail(step.error());
      break;
    }
    if (idle_ && idle_())
      event.cancel();
    else {
      const milliseconds longest = slice_of_sleep();  // first: it moves the rank's other links
      event.wait(seen, std::min({longest, patience, map_ahead() ? mapping_slice : slice}));
    }
    result = check_server();
    if (result && stall.expired(moved()))
      result = fail(ErrorCode::timed_out, "{}: no progress for {} ms while {}{}", options_.server,
                    patience.count(), what(), note_of_silence(never_heard()));
  }
  waited_ns_ += now_ns() - begin;
  return result;
}

std::size_t ShmClientLink::write(std::span<const std::byte> message, std::size_t from) {
  const std::size_t sent = up_.write(message, from);
  if (sent != from || up_.message_done()) segment_->marks().set(options_.peer);
  return sent;
}

Result<void> ShmClientLink::send(std::span<const std::byte> message, Wake wake) {
  std::size_t sent = write(message, 0);
  ++messages_;
  if (!up_.message_done()) {
    self_.up_is_full.store(1, std::memory_order_seq_cst);
    auto done = wait_until(
        self_.bell,
        [&](std::uint64_t) -> Result<Step> {
          const std::size_t before = sent;
          sent = write(message, sent);
          if (sent != before) header_.doorbell.ring();
          return up_.message_done() ? Step::done : Step::again;
        },
        [&] {
          return fmt::format(
              "waiting for room for a message of {} bytes in a ring of {} bytes; is the server stuck?",
              message.size(), segment_->geometry().sizes.ring_bytes);
        });
    self_.up_is_full.store(0, std::memory_order_relaxed);
    AFTERBAY_TRY(std::move(done));
  }
  if (wake == Wake::now || wake == Wake::on_node) ring();
  if (wake == Wake::with_flush) ring_on_flush_ = true;
  return {};
}

void ShmClientLink::ring() {
  header_.doorbell.ring();
  ring_on_flush_ = false;
  ready_bytes_ = 0;
}

Result<void> ShmClientLink::flush() {
  catch_up(options_.rank_links->position());
  if (ring_on_flush_) ring();
  return {};
}

bool ShmClientLink::map_ahead() { return !shares_mapping_ && blocks_.map_ahead(now_ns() + most_mapping_ns); }

bool ShmClientLink::is_announced(const std::byte* from, AnnouncedBlocks& known) {
  return shares_mapping_ ||
         blocks_.is_announced(static_cast<std::uint64_t>(from - segment_->mapping().data()), known);
}

void ShmClientLink::will_write(const std::byte* from, std::uint64_t bytes, Writes pages) {
  if (shares_mapping_) return;
  blocks_.will_write({static_cast<std::uint64_t>(from - segment_->mapping().data()), bytes}, pages);
}

Landing ShmClientLink::landing(std::uint32_t block, const FrameSlot& slot) const {
  return Landing{segment_->block(block) + slot.phase, false};
}

Result<Landing> ShmClientLink::reserve(const FrameSlot& slot, std::uint32_t piece,
                                       std::uint64_t /*packed_bytes*/, bool may_wait) {
  options_.rank_links->note(slot.position);
  publish(order_of(slot.position, slot.frame));
  if (table_.is_frame(slot.frame) && piece >= segment_->frame(slot.frame).pieces)
    return fail(ErrorCode::internal, "{}: frame {} has {} pieces, piece {} was asked for", options_.server,
                slot.frame, segment_->frame(slot.frame).pieces, piece);
  const auto block = table_.acquire(slot);
  if (block) return landing(*block, slot);
  const Refusal refusal = block.error();
  if (!passes(refusal)) return fail(refusals_.error(refusal, slot));
  if (!may_wait) {
    ring();  // so that there is room when the caller asks again
    AFTERBAY_TRY(check_server());
    return fail(ErrorCode::would_block, "{}: no room now: {}", options_.server,
                refusals_.reason(refusal, slot));
  }
  AFTERBAY_TRY_ASSIGN(const std::uint32_t waited_for, wait_for_block(slot));
  return landing(waited_for, slot);
}

Result<bool> ShmClientLink::make_room(std::span<const FrameSlot> slots, std::uint64_t /*packed_bytes*/,
                                      RoomFor use) {
  options_.rank_links->note(slots.empty() ? 0 : slots.front().position);
  const bool lent = use == RoomFor::slot;
  bool room = !lent || table_.has_unreserved(slots);  // otherwise most of them would be taken in
                                                      // vain
  for (std::size_t i = 0; room && i < slots.size(); ++i) {
    const FrameSlot& slot = slots[i];
    // The frames before it exist and wait for this rank.
    publish(order_of(slot.position, slot.frame));
    const auto block = table_.acquire(slot, lent ? Blocks::unreserved : Blocks::by_order);
    if (!block && !passes(block.error())) return fail(refusals_.error(block.error(), slot));
    room = block.has_value();
  }
  if (room) return true;
  ring();  // so that there is room when the caller asks again
  AFTERBAY_TRY(check_server());
  return false;
}

Result<std::uint32_t> ShmClientLink::wait_for_block(const FrameSlot& slot) {
  std::uint32_t block = 0;
  Refusal last = Refusal::no_block;
  bool in_order_queue = false;
  const std::uint64_t patience_ns = static_cast<std::uint64_t>(options_.policy.deadline.count()) * 500'000;
  header_.room_waiters.fetch_add(1, std::memory_order_seq_cst);  // before the server is woken, see commit
  auto done = wait_until(
      header_.space,
      [&](std::uint64_t stalled_ns) -> Result<Step> {
        // A rank that is behind, but puts nothing for half the deadline, no longer reserves the
        // last blocks.
        auto got = table_.acquire(slot, stalled_ns > patience_ns ? Blocks::all : Blocks::by_order);
        if (!got && got.error() == Refusal::slower_rank && !in_order_queue) {
          in_order_queue = true;
          header_.order_waiters.fetch_add(1, std::memory_order_seq_cst);
          got = table_.acquire(slot);
        }
        if (got) {
          block = *got;
          return Step::done;
        }
        last = got.error();
        if (!passes(last)) return fail(refusals_.error(last, slot));
        return Step::again;
      },
      [&] { return "waiting for room: " + refusals_.reason(last, slot); });
  header_.room_waiters.fetch_sub(1, std::memory_order_relaxed);
  if (in_order_queue) header_.order_waiters.fetch_sub(1, std::memory_order_seq_cst);
  AFTERBAY_TRY(std::move(done));
  return block;
}

Result<void> ShmClientLink::commit(const FrameSlot& slot, std::uint32_t piece) {
  const auto block = table_.find(slot.frame, slot.seq);
  if (!block)
    return fail(ErrorCode::internal, "{}: frame {} of record number {} is committed but not reserved",
                options_.server, slot.frame, said_index(slot.seq));
  const Counted counted = table_.count(*block, piece);
  if (counted.too_many) return fail(refusals_.counted_twice(slot, piece));
  return counted.frame_complete ? frame_is_complete(slot) : Result<void>();
}

Result<void> ShmClientLink::frame_is_complete(const FrameSlot& slot) {
  ready_bytes_ += slot.bytes;
  wire::encode(wire::FrameReady{slot.frame, slot.seq}, encoded_);
  AFTERBAY_TRY(send(encoded_, ready_bytes_ < most_ready_bytes ? Wake::with_flush : Wake::now));
  // Ranks that began to wait before this message was sent have not woken the server for it.
  if (header_.room_waiters.load(std::memory_order_seq_cst) != 0) ring();
  return {};
}

void ShmClientLink::set_position(std::uint64_t position) {
  options_.rank_links->note(position);
  publish(order_of(position, 0));
}

bool ShmClientLink::catch_up(std::uint64_t position) {
  publish(order_of(position, 0));
  return false;
}

milliseconds ShmClientLink::slice_of_sleep() {
  if (options_.rank_links->keep_moving(*this)) return moving_slice;
  return idle_ ? idle_slice : slice;
}

Result<std::optional<Bytes>> ShmClientLink::receive() {
  if (const auto message = down_.front()) {
    Bytes bytes(message->begin(), message->end());
    down_.pop();
    return bytes;
  }
  return std::nullopt;
}

void ShmClientLink::wait(Millis most) {
  if (idle_ && idle_()) return;
  catch_up(options_.rank_links->position());
  const milliseconds longest = slice_of_sleep();
  const std::uint32_t count = self_.bell.prepare();
  if (count != bell_seen_ || down_.front())
    self_.bell.cancel();
  else
    self_.bell.wait(count, std::min({most, longest, map_ahead() ? mapping_slice : slice}));
  bell_seen_ = self_.bell.count();
}

std::uint64_t ShmClientLink::progress() const { return header_.progress.load(std::memory_order_relaxed); }

Result<void> ShmClientLink::check_alive() {
  if (header_.life.load(std::memory_order_acquire) == Life::ended)
    return fail(ErrorCode::peer_lost, "{} has ended; its own message says why", options_.server);
  if (!server_.running())
    return fail(ErrorCode::peer_lost,
                "{}, process {} on this node, has died; see its output and the kernel log (out of memory?)",
                options_.server, server_.pid());
  return {};
}

Result<void> ShmClientLink::check_server() {
  if (header_.failed.load(std::memory_order_acquire) != 0)
    return fail(ErrorCode::bad_state, "{} has failed; its message says why", options_.server);
  return check_alive();
}

}  // namespace afterbay::transport::shm
