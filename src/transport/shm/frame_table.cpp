// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/frame_table.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace afterbay::transport::shm {
namespace {

// ThreadSanitizer sees the accesses of one process. If a block comes back to it by way of another
// process, which released it or took it for its next instance, what orders the accesses happened
// there. These two say that whoever gets a block comes after all who were done with it before.
#if defined(__SANITIZE_THREAD__)
void tell_done_with(BlockMeta& meta) noexcept { __tsan_release(&meta); }
void tell_got(BlockMeta& meta) noexcept { __tsan_acquire(&meta); }
#else
void tell_done_with(BlockMeta& /*meta*/) noexcept {}
void tell_got(BlockMeta& /*meta*/) noexcept {}
#endif

constexpr std::uint64_t block_bits = 24;
constexpr std::uint64_t block_mask = (std::uint64_t{1} << block_bits) - 1;

constexpr std::uint64_t entry_of(std::uint64_t seq, std::uint32_t block) {
  return (seq + 1) << block_bits | (block + 1);
}
constexpr std::uint64_t seq_plus_one(std::uint64_t entry) { return entry >> block_bits; }
constexpr std::uint32_t block_in(std::uint64_t entry) {
  return static_cast<std::uint32_t>((entry & block_mask) - 1);
}

// FreeBlocks::fresh
constexpr std::uint64_t one_debt = std::uint64_t{1} << 32;
constexpr std::uint32_t blocks_in(std::uint64_t fresh) { return static_cast<std::uint32_t>(fresh); }
constexpr std::uint32_t debt_in(std::uint64_t fresh) { return static_cast<std::uint32_t>(fresh >> 32); }

/// Cancels one count of the debt; false: there is none.
bool pay(FreeBlocks& free) noexcept {
  std::uint64_t fresh = free.fresh.load(std::memory_order_seq_cst);
  while (debt_in(fresh) != 0)
    if (free.fresh.compare_exchange_weak(fresh, fresh - one_debt, std::memory_order_seq_cst)) return true;
  return false;
}

}  // namespace

tl::expected<std::uint32_t, Refusal> FrameTable::acquire(const FrameSlot& slot, Blocks from) {
  if (!is_frame(slot.frame)) return tl::unexpected(Refusal::unknown_frame);
  std::atomic<std::uint64_t>& entry = segment_.entry(slot.frame, slot.seq);
  const std::uint64_t held = entry.load(std::memory_order_acquire);
  if (seq_plus_one(held) == slot.seq + 1) {
    tell_got(segment_.meta(block_in(held)));
    return block_in(held);
  }
  if (held == 0) return make(slot, entry, from);
  if (seq_plus_one(held) > slot.seq + 1) return tl::unexpected(Refusal::newer_instance);
  header_.older_refusals.fetch_add(1, std::memory_order_relaxed);
  return tl::unexpected(Refusal::older_instance);
}

tl::expected<std::uint32_t, Refusal> FrameTable::make(const FrameSlot& slot,
                                                      std::atomic<std::uint64_t>& entry, Blocks from) {
  const auto block = take_for(slot, from);
  if (!block) return block;
  BlockMeta& meta = segment_.meta(*block);
  tell_got(meta);
  meta.frame = slot.frame;
  meta.seq = slot.seq;
  meta.bytes = slot.bytes;
  meta.phase = slot.phase;
  std::uint64_t nothing = 0;
  if (entry.compare_exchange_strong(nothing, entry_of(slot.seq, *block), std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
    note_peak();
    header_.space.notify();  // ranks that found no block for this instance are waiting for one
    return block;
  }
  give_back(*block);  // another rank created it first
  if (seq_plus_one(nothing) == slot.seq + 1) {
    tell_got(segment_.meta(block_in(nothing)));
    return block_in(nothing);
  }
  return tl::unexpected(seq_plus_one(nothing) > slot.seq + 1 ? Refusal::newer_instance
                                                             : Refusal::older_instance);
}

bool FrameTable::fits(const FrameSlot& slot, BlockClass kind) const noexcept {
  const BlockClassGeometry& blocks = segment_.geometry().classes[kind];
  return blocks.count != 0 && (blocks_of(kind) != 0 || kind == large_blocks) && slot.bytes <= blocks.bytes &&
         slot.phase < page_bytes && segment_.frame(slot.frame).pieces <= blocks.pieces;
}

tl::expected<std::uint32_t, Refusal> FrameTable::take_for(const FrameSlot& slot, Blocks from) noexcept {
  const bool small = fits(slot, small_blocks);
  const bool large = fits(slot, large_blocks);
  if (!small && !large) return tl::unexpected(Refusal::too_large);
  const BlockClass kind = small ? small_blocks : large_blocks;
  auto block = take(kind, false);
  if (block) return block;
  if (block.error() == Refusal::slower_rank && from != Blocks::unreserved &&
      (from == Blocks::all || nobody_before(order_of(slot.position, slot.frame))))
    block = take(kind, true);
  if (block || !small || !large) return block;
  const auto spare = take(large_blocks, false);
  return spare ? spare : block;
}

tl::expected<std::uint32_t, Refusal> FrameTable::take(BlockClass kind, bool reserve_too) noexcept {
  if (blocks_of(kind) == 0) return tl::unexpected(Refusal::no_memory);
  FreeBlocks& free = header_.free[kind];
  const std::uint32_t reserve = reserve_of(kind);
  std::uint32_t count = free.count.load(std::memory_order_seq_cst);
  do {
    if (count == 0) return tl::unexpected(Refusal::no_block);
    if (count <= reserve && !reserve_too) return tl::unexpected(Refusal::slower_rank);
  } while (!free.count.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst));
  return take_counted(kind);
}

/// Terminates: see FreeBlocks, for each count there is a block or a debt.
tl::expected<std::uint32_t, Refusal> FrameTable::take_counted(BlockClass kind) noexcept {
  FreeBlocks& free = header_.free[kind];
  const BlockClassGeometry& blocks = segment_.geometry().classes[kind];
  for (;;) {
    if (const auto block = pop(free)) return *block;
    std::uint64_t fresh = free.fresh.load(std::memory_order_seq_cst);
    const std::uint32_t next = blocks_in(fresh);
    if (next == blocks.count) {
      if (pay(free)) return tl::unexpected(blocks_of(kind) == 0 ? Refusal::no_memory : Refusal::no_block);
    } else if (const auto allocated = segment_.allocate_block(blocks.first + next); !allocated) {
      header_.memory_error.store(allocated.error().native, std::memory_order_relaxed);
      withdraw_fresh(kind);
    } else if (free.fresh.compare_exchange_strong(fresh, fresh + 1, std::memory_order_seq_cst)) {
      return blocks.first + next;
    }
  }
}

Error FrameTable::no_memory(const std::string& server) const {
  const int code = header_.memory_error.load(std::memory_order_relaxed);
  return make_error(ErrorCode::no_space,
                    "{}: the system has no memory for a single block of {} bytes ({}), of {} bytes that are "
                    "configured (memory.server): give the job more memory per node",
                    server, segment_.geometry().classes[large_blocks].bytes, std::strerror(code),
                    segment_.geometry().block_memory_bytes())
      .with_native(code);
}

void FrameTable::withdraw_fresh(BlockClass kind) noexcept {
  FreeBlocks& free = header_.free[kind];
  const std::uint32_t all = segment_.geometry().classes[kind].count;
  std::uint64_t fresh = free.fresh.load(std::memory_order_seq_cst);
  std::uint32_t left = 0;
  do {
    left = all - blocks_in(fresh);
    if (left == 0) return;  // another process has withdrawn them
  } while (!free.fresh.compare_exchange_weak(fresh, (debt_in(fresh) + std::uint64_t{left}) << 32 | all,
                                             std::memory_order_seq_cst));
  free.withdrawn.fetch_add(left, std::memory_order_seq_cst);
  std::uint32_t count = free.count.load(std::memory_order_seq_cst);
  while (count != 0) {
    if (!free.count.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst)) continue;
    if (!pay(free)) {
      free.count.fetch_add(1, std::memory_order_seq_cst);
      break;
    }
    --count;
  }
  header_.doorbell.ring();  // the server reports it
}

bool FrameTable::restore_block() noexcept {
  for (const BlockClass kind : {large_blocks, small_blocks}) {
    FreeBlocks& free = header_.free[kind];
    const std::uint32_t withdrawn = free.withdrawn.load(std::memory_order_seq_cst);
    if (withdrawn == 0) continue;
    const BlockClassGeometry& blocks = segment_.geometry().classes[kind];
    const std::uint32_t block = blocks.first + blocks.count - withdrawn;
    if (!segment_.allocate_block(block)) return false;
    free.withdrawn.fetch_sub(1, std::memory_order_seq_cst);
    give_back(block);
    return true;
  }
  return false;
}

std::uint32_t FrameTable::blocks_of(BlockClass kind) const noexcept {
  return segment_.geometry().classes[kind].count -
         header_.free[kind].withdrawn.load(std::memory_order_seq_cst);
}

std::uint32_t FrameTable::reserve_of(BlockClass kind) const noexcept {
  if (header_.free[kind].withdrawn.load(std::memory_order_relaxed) == 0)
    return segment_.geometry().classes[kind].reserve;
  return std::max(1u, blocks_of(kind) / 8);
}

std::uint32_t FrameTable::unreserved(BlockClass kind) const noexcept {
  const std::uint32_t free = header_.free[kind].count.load(std::memory_order_relaxed);
  return free - std::min(free, reserve_of(kind));
}

bool FrameTable::has_unreserved(std::span<const FrameSlot> slots) const noexcept {
  std::uint64_t small = 0;
  std::uint64_t large = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const FrameSlot& slot = slots[i];
    if (i > 0 && slot.frame == slots[i - 1].frame) continue;  // several pieces lie in it
    if (is_frame(slot.frame) && !find(slot.frame, slot.seq)) ++(fits(slot, small_blocks) ? small : large);
  }
  const std::uint64_t free_small = unreserved(small_blocks);
  return large + (small - std::min(small, free_small)) <= unreserved(large_blocks);
}

std::optional<std::uint32_t> FrameTable::pop(FreeBlocks& free) noexcept {
  std::uint64_t head = free.head.load(std::memory_order_acquire);
  for (;;) {
    if (static_cast<std::uint32_t>(head) == 0) return std::nullopt;
    const std::uint32_t block = static_cast<std::uint32_t>(head) - 1;
    const std::uint64_t next = segment_.meta(block).next.load(std::memory_order_relaxed);
    const std::uint64_t tag = (head >> 32) + 1;
    if (free.head.compare_exchange_weak(head, tag << 32 | next, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      return block;
  }
}

void FrameTable::give_back(std::uint32_t block) noexcept {
  FreeBlocks& free = header_.free[block < segment_.geometry().classes[0].count ? large_blocks : small_blocks];
  BlockMeta& meta = segment_.meta(block);
  tell_done_with(meta);
  std::uint64_t head = free.head.load(std::memory_order_relaxed);
  do {
    meta.next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
  } while (!free.head.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | (block + 1),
                                            std::memory_order_acq_rel, std::memory_order_relaxed));
  if (!pay(free)) free.count.fetch_add(1, std::memory_order_seq_cst);
  header_.space.notify();
}

bool FrameTable::nobody_before(std::uint64_t order) const noexcept {
  const std::uint32_t first = behind_.load(std::memory_order_relaxed);
  for (std::uint32_t n = 0, i = first; n < header_.peers; ++n, i = i + 1 < header_.peers ? i + 1 : 0) {
    if (i == self_ || segment_.order(i).load(std::memory_order_seq_cst) >= order) continue;
    if (i != first) behind_.store(i, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void FrameTable::note_peak() noexcept {
  const std::uint64_t used = used_bytes();
  std::uint64_t peak = header_.peak_bytes.load(std::memory_order_relaxed);
  while (used > peak && !header_.peak_bytes.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

std::uint64_t FrameTable::used_bytes() const noexcept {
  std::uint64_t used = 0;
  for (const BlockClass kind : {large_blocks, small_blocks}) {
    const FreeBlocks& free = header_.free[kind];
    const std::uint32_t debt = debt_in(free.fresh.load(std::memory_order_relaxed));
    const std::uint32_t count = free.count.load(std::memory_order_relaxed);
    const std::uint32_t of_all = blocks_of(kind) + debt;
    used += (of_all - std::min(of_all, count)) * segment_.geometry().classes[kind].bytes;
  }
  return used;
}

std::uint64_t FrameTable::capacity_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const BlockClass kind : {large_blocks, small_blocks})
    bytes += blocks_of(kind) * segment_.geometry().classes[kind].bytes;
  return bytes;
}

std::uint64_t FrameTable::allocated_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const BlockClass kind : {large_blocks, small_blocks}) {
    const FreeBlocks& free = header_.free[kind];
    const std::uint32_t blocks = std::max(blocks_in(free.fresh.load(std::memory_order_relaxed)),
                                          free.allocated.load(std::memory_order_relaxed));
    bytes += std::min(blocks, blocks_of(kind)) * segment_.geometry().classes[kind].bytes;
  }
  return bytes;
}

bool FrameTable::is_short() const noexcept {
  return header_.free[large_blocks].count.load(std::memory_order_relaxed) <= reserve_of(large_blocks);
}

std::optional<std::uint32_t> FrameTable::find(std::uint32_t frame, std::uint64_t seq) const noexcept {
  if (!is_frame(frame)) return std::nullopt;
  const std::uint64_t held = segment_.entry(frame, seq).load(std::memory_order_acquire);
  if (seq_plus_one(held) != seq + 1) return std::nullopt;
  tell_got(segment_.meta(block_in(held)));
  return block_in(held);
}

Counted FrameTable::count(std::uint32_t block, std::uint32_t piece) noexcept {
  BlockMeta& meta = segment_.meta(block);
  const FrameRecord& frame = segment_.frame(meta.frame);
  const std::uint32_t expected = segment_.expected(frame)[piece];
  tell_done_with(meta);
  const std::uint32_t counted = segment_.counters(block)[piece].fetch_add(1, std::memory_order_acq_rel) + 1;
  if (counted != expected) return {false, counted > expected};
  return {meta.done.fetch_add(1, std::memory_order_acq_rel) + 1 == frame.goal, false};
}

PieceState FrameTable::state(std::uint32_t block, std::uint32_t piece) const noexcept {
  const FrameRecord& frame = segment_.frame(segment_.meta(block).frame);
  const std::uint32_t counted = segment_.counters(block)[piece].load(std::memory_order_acquire);
  if (counted == 0) return PieceState::untouched;
  return counted < segment_.expected(frame)[piece] ? PieceState::partial : PieceState::complete;
}

void FrameTable::release(std::uint32_t block) noexcept {
  BlockMeta& meta = segment_.meta(block);
  const FrameRecord& frame = segment_.frame(meta.frame);
  for (std::uint32_t piece = 0; piece < frame.pieces; ++piece)
    segment_.counters(block)[piece].store(0, std::memory_order_relaxed);
  meta.done.store(0, std::memory_order_relaxed);
  segment_.entry(meta.frame, meta.seq).store(0, std::memory_order_release);
  give_back(block);
  header_.progress.fetch_add(1, std::memory_order_relaxed);
}

void FrameTable::publish(std::size_t peer, std::uint64_t order) noexcept {
  std::atomic<std::uint64_t>& mine = segment_.order(peer);
  std::uint64_t before = mine.load(std::memory_order_relaxed);
  do {
    if (before >= order) return;
  } while (!mine.compare_exchange_weak(before, order, std::memory_order_seq_cst));  // threads of a rank
  if (header_.order_waiters.load(std::memory_order_seq_cst) != 0) header_.space.ring();
}

}  // namespace afterbay::transport::shm
