// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/thread_end.hpp"

#include <algorithm>
#include <utility>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"

namespace afterbay::transport::shm {
namespace {

Blocks blocks_for(ThreadEnd::Turn turn) {
  switch (turn) {
    case ThreadEnd::Turn::oldest: return Blocks::by_order;
    case ThreadEnd::Turn::later: return Blocks::unreserved;
    case ThreadEnd::Turn::stalled: return Blocks::all;
  }
  return Blocks::unreserved;
}

}  // namespace

ShmThreadEnd::ShmThreadEnd(std::shared_ptr<Segment> segment, std::size_t peer, std::string server,
                           MappedBlocks* blocks)
    : segment_(std::move(segment)),
      header_(segment_->header()),
      table_(*segment_, peer),
      refusals_(*segment_, server),
      process_(header_.server),
      blocks_(blocks),
      server_(std::move(server)) {}

Result<std::byte*> ShmThreadEnd::reserve(const FrameSlot& slot, std::uint32_t piece, const TurnNow& who,
                                         Millis most) {
  if (table_.is_frame(slot.frame) && piece >= segment_->frame(slot.frame).pieces)
    return fail(ErrorCode::internal, "{}: frame {} has {} pieces, piece {} was asked for", server_,
                slot.frame, segment_->frame(slot.frame).pieces, piece);
  auto block = table_.acquire(slot, Blocks::unreserved);  // the turn matters only when memory is short
  if (!block && passes(block.error())) block = table_.acquire(slot, blocks_for(who.turn()));
  if (block) return segment_->block(*block) + slot.phase;
  if (!passes(block.error())) return fail(refusals_.error(block.error(), slot));
  AFTERBAY_TRY_ASSIGN(const std::uint32_t waited_for, wait_for_block(slot, who, most));
  return segment_->block(waited_for) + slot.phase;
}

/// As ShmClientLink::wait_for_block, but for threads that share nothing.
Result<std::uint32_t> ShmThreadEnd::wait_for_block(const FrameSlot& slot, const TurnNow& who, Millis most) {
  const std::uint64_t begin = now_ns();
  const std::uint64_t until = begin + static_cast<std::uint64_t>(most.count()) * 1'000'000;
  Result<std::uint32_t> result = fail(ErrorCode::internal, "not tried");
  header_.room_waiters.fetch_add(1, std::memory_order_seq_cst);
  header_.order_waiters.fetch_add(1, std::memory_order_seq_cst);
  ring();
  for (;;) {
    const std::uint32_t seen = header_.space.prepare();
    const auto block = table_.acquire(slot, blocks_for(who.turn()));
    const std::uint64_t now = now_ns();
    if (block || !passes(block.error()) || now >= until) {
      header_.space.cancel();
      if (block)
        result = *block;
      else if (!passes(block.error()))
        result = fail(refusals_.error(block.error(), slot));
      else if (auto good = check_server(); !good)
        result = fail(std::move(good).error());
      else
        result = fail(ErrorCode::would_block, "{}: no room now: {}", server_,
                      refusals_.reason(block.error(), slot));
      break;
    }
    header_.space.wait(seen, std::chrono::nanoseconds(until - now));
  }
  header_.room_waiters.fetch_sub(1, std::memory_order_relaxed);
  header_.order_waiters.fetch_sub(1, std::memory_order_seq_cst);
  if (most.count() > 0) waited_ns_.fetch_add(now_ns() - begin, std::memory_order_relaxed);
  return result;
}

Result<bool> ShmThreadEnd::make_room(std::span<const FrameSlot> slots) {
  bool room = table_.has_unreserved(slots);  // otherwise most of them would be taken in vain
  for (std::size_t i = 0; room && i < slots.size(); ++i) {
    const auto block = table_.acquire(slots[i], Blocks::unreserved);
    if (!block && !passes(block.error())) return fail(refusals_.error(block.error(), slots[i]));
    room = block.has_value();
  }
  if (room) return true;
  ring();
  AFTERBAY_TRY(check_server());
  return false;
}

Result<bool> ShmThreadEnd::count(const FrameSlot& slot, std::uint32_t piece) {
  const auto block = table_.find(slot.frame, slot.seq);
  if (!block)
    return fail(ErrorCode::internal, "{}: frame {} of record number {} is committed but not reserved",
                server_, slot.frame, said_index(slot.seq));
  const Counted counted = table_.count(*block, piece);
  if (counted.too_many) return fail(refusals_.counted_twice(slot, piece));
  return counted.frame_complete;
}

Result<void> ShmThreadEnd::check_server() const {
  if (header_.failed.load(std::memory_order_acquire) != 0)
    return fail(ErrorCode::bad_state, "{} has failed; its message says why", server_);
  if (header_.life.load(std::memory_order_acquire) == Life::ended)
    return fail(ErrorCode::peer_lost, "{} has ended; its own message says why", server_);
  if (!process_.running())
    return fail(ErrorCode::peer_lost,
                "{}, process {} on this node, has died; see its output and the kernel log (out of memory?)",
                server_, process_.pid());
  return {};
}

}  // namespace afterbay::transport::shm
