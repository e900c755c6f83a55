// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/frame_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

namespace afterbay::transport::shm {
namespace {

constexpr std::uint64_t part_bits = 24;
constexpr std::uint64_t part_mask = (std::uint64_t{1} << part_bits) - 1;

constexpr std::uint64_t entry_of(std::uint64_t seq, std::uint32_t part) {
  return (seq + 1) << part_bits | (part + 1);
}
constexpr std::uint64_t seq_plus_one(std::uint64_t entry) { return entry >> part_bits; }
constexpr std::uint32_t part_in(std::uint64_t entry) {
  return static_cast<std::uint32_t>((entry & part_mask) - 1);
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
  if (seq_plus_one(held) == slot.seq + 1) return part_in(held);
  if (held == 0) return make(slot, entry, from);
  if (seq_plus_one(held) > slot.seq + 1) return tl::unexpected(Refusal::newer_instance);
  header_.older_refusals.fetch_add(1, std::memory_order_relaxed);
  return tl::unexpected(Refusal::older_instance);
}

tl::expected<std::uint32_t, Refusal> FrameTable::make(const FrameSlot& slot,
                                                      std::atomic<std::uint64_t>& entry, Blocks from) {
  const auto part = take_for(slot, from);
  if (!part) return part;
  PartMeta& meta = segment_.meta(*part);
  meta.frame = slot.frame;
  meta.seq = slot.seq;
  meta.bytes = slot.bytes;
  meta.phase = slot.phase;
  std::uint64_t nothing = 0;
  if (entry.compare_exchange_strong(nothing, entry_of(slot.seq, *part), std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
    header_.space.notify();  // ranks that found no room for this instance are waiting for it
    return part;
  }
  give_back(*part);  // another rank created it first
  if (seq_plus_one(nothing) == slot.seq + 1) return part_in(nothing);
  return tl::unexpected(seq_plus_one(nothing) > slot.seq + 1 ? Refusal::newer_instance
                                                             : Refusal::older_instance);
}

std::optional<std::uint32_t> FrameTable::cut_for(const FrameSlot& slot) const noexcept {
  const Geometry& geometry = segment_.geometry();
  const std::uint32_t cut = geometry.cut_for(slot.bytes, segment_.frame(slot.frame).pieces);
  return cut == geometry.cuts || slot.phase >= page_bytes ? std::nullopt : std::optional(cut);
}

tl::expected<std::uint32_t, Refusal> FrameTable::take_for(const FrameSlot& slot, Blocks from) noexcept {
  const std::optional<std::uint32_t> cut = cut_for(slot);
  if (!cut) return tl::unexpected(Refusal::too_large);
  if (const auto part = take_part(*cut, false)) return *part;
  const auto block = take(reserve());
  if (block) return first_of(*block, *cut, false);
  for (std::uint32_t larger = *cut; larger-- > uncut;)
    if (const auto part = take_part(larger, false)) return *part;
  if (block.error() == Refusal::no_memory || from == Blocks::unreserved) return block;
  if (from == Blocks::by_order && !nobody_before(order_of(slot.position, slot.frame)))
    return tl::unexpected(Refusal::slower_rank);
  return take_reserved(*cut);
}

/// One block of the reserve is for small frames and one for others: the slowest rank may have begun
/// several small ones, of several variables each, and completes them only later. The small ones get
/// parts of one size, so that a block serves all of them.
tl::expected<std::uint32_t, Refusal> FrameTable::take_reserved(std::uint32_t cut) noexcept {
  const std::uint32_t smallest = segment_.geometry().reserve_cut;
  const std::uint32_t reserved_cut = std::min(cut, smallest);
  if (const auto part = take_part(reserved_cut, true)) return *part;
  const bool two_kinds = smallest != uncut && reserve() > 1;
  std::atomic<std::uint32_t>& for_small = header_.reserve_for_small;
  const bool small = smallest != uncut && reserved_cut == smallest;
  const bool is_there = (small ? for_small.fetch_add(1, std::memory_order_seq_cst)
                               : for_small.load(std::memory_order_seq_cst)) != 0;
  // One block is left for small frames as long as they have none; if they have one, they leave one.
  const auto block = take(two_kinds && is_there == small ? 1 : 0);
  if (block) return first_of(*block, reserved_cut, true);
  if (small) {
    for_small.fetch_sub(1, std::memory_order_seq_cst);
    return block;
  }
  for (std::uint32_t larger = reserved_cut; larger-- > uncut;)
    if (const auto part = take_part(larger, true)) return *part;
  return block;
}

std::optional<std::uint32_t> FrameTable::take_part(std::uint32_t cut, bool reserved) noexcept {
  if (cut == uncut) return std::nullopt;
  FreeParts& free = free_parts(cut, reserved);
  std::uint32_t count = free.count.load(std::memory_order_seq_cst);
  do {
    if (count == 0) return std::nullopt;
  } while (!free.count.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst));
  const std::uint32_t part = pop_part(free);
  note_used(cut);
  return part;
}

std::uint32_t FrameTable::first_of(std::uint32_t block, std::uint32_t cut, bool reserved) noexcept {
  BlockState& state = segment_.state(block);
  const std::uint32_t first = segment_.first_part(block);
  state.cut.store(cut, std::memory_order_relaxed);
  state.reserved.store(reserved ? 1 : 0, std::memory_order_relaxed);
  note_used(cut);
  if (cut == uncut) return first;
  const std::uint32_t others = segment_.geometry().cut[cut].parts - 1;
  state.free_parts.store(others, std::memory_order_relaxed);
  for (std::uint32_t i = 1; i < others; ++i)
    segment_.meta(first + i).next.store(first + i + 2, std::memory_order_relaxed);
  FreeParts& free = free_parts(cut, reserved);
  push_parts(free, first + 1, first + others);
  free.count.fetch_add(others, std::memory_order_seq_cst);
  return first;
}

tl::expected<std::uint32_t, Refusal> FrameTable::take(std::uint32_t left) noexcept {
  if (blocks() == 0) return tl::unexpected(Refusal::no_memory);
  FreeBlocks& free = header_.free;
  std::uint32_t count = free.count.load(std::memory_order_seq_cst);
  do {
    if (count == 0) return tl::unexpected(Refusal::no_block);
    if (count <= left) return tl::unexpected(Refusal::slower_rank);
  } while (!free.count.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst));
  return take_counted();
}

/// Terminates: see FreeBlocks, for each count there is a block or a debt.
tl::expected<std::uint32_t, Refusal> FrameTable::take_counted() noexcept {
  FreeBlocks& free = header_.free;
  for (;;) {
    if (const auto block = pop_block()) return *block;
    std::uint64_t fresh = free.fresh.load(std::memory_order_seq_cst);
    const std::uint32_t next = blocks_in(fresh);
    if (next == segment_.geometry().blocks) {
      if (pay(free)) return tl::unexpected(blocks() == 0 ? Refusal::no_memory : Refusal::no_block);
    } else if (const auto allocated = segment_.allocate_block(next); !allocated) {
      header_.memory_error.store(allocated.error().native, std::memory_order_relaxed);
      withdraw_fresh();
    } else if (free.fresh.compare_exchange_strong(fresh, fresh + 1, std::memory_order_seq_cst)) {
      return next;
    }
  }
}

Error FrameTable::no_memory(const std::string& server) const {
  const int code = header_.memory_error.load(std::memory_order_relaxed);
  return make_error(ErrorCode::no_space,
                    "{}: the system has no memory for a single block of {} bytes ({}), of {} bytes that are "
                    "configured (memory.server): give the job more memory per node",
                    server, segment_.geometry().sizes.block_bytes, std::strerror(code),
                    segment_.geometry().block_memory_bytes())
      .with_native(code);
}

void FrameTable::withdraw_fresh() noexcept {
  FreeBlocks& free = header_.free;
  const std::uint32_t all = segment_.geometry().blocks;
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
  const std::uint32_t withdrawn = header_.free.withdrawn.load(std::memory_order_seq_cst);
  if (withdrawn == 0) return false;
  const std::uint32_t block = segment_.geometry().blocks - withdrawn;
  if (!segment_.allocate_block(block)) return false;
  header_.free.withdrawn.fetch_sub(1, std::memory_order_seq_cst);
  give_back_block(block);
  return true;
}

std::uint32_t FrameTable::blocks() const noexcept {
  return segment_.geometry().blocks - header_.free.withdrawn.load(std::memory_order_seq_cst);
}

std::uint32_t FrameTable::reserve() const noexcept {
  if (header_.free.withdrawn.load(std::memory_order_relaxed) == 0) return segment_.geometry().reserve;
  return std::max(1U, segment_.geometry().reserve_of(blocks()));
}

std::uint32_t FrameTable::unreserved() const noexcept {
  const std::uint32_t free = header_.free.count.load(std::memory_order_relaxed);
  return free - std::min(free, reserve());
}

bool FrameTable::has_unreserved(std::span<const FrameSlot> slots) const noexcept {
  const Geometry& geometry = segment_.geometry();
  std::array<std::uint32_t, most_cuts> parts{};
  for (std::uint32_t cut = uncut + 1; cut < geometry.cuts; ++cut)
    parts[cut] = header_.parts[cut].count.load(std::memory_order_relaxed);
  std::uint32_t free = unreserved();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const FrameSlot& slot = slots[i];
    if (i > 0 && slot.frame == slots[i - 1].frame) continue;  // several pieces lie in it
    if (!is_frame(slot.frame) || find(slot.frame, slot.seq)) continue;
    const std::uint32_t cut = cut_for(slot).value_or(uncut);
    if (parts[cut] == 0) {
      if (free-- == 0) return false;
      parts[cut] = geometry.cut[cut].parts;
    }
    --parts[cut];
  }
  return true;
}

std::optional<std::uint32_t> FrameTable::pop_block() noexcept {
  FreeBlocks& free = header_.free;
  std::uint64_t head = free.head.load(std::memory_order_acquire);
  for (;;) {
    if (static_cast<std::uint32_t>(head) == 0) return std::nullopt;
    const std::uint32_t block = static_cast<std::uint32_t>(head) - 1;
    const std::uint64_t next = segment_.state(block).next.load(std::memory_order_relaxed);
    const std::uint64_t tag = (head >> 32) + 1;
    if (free.head.compare_exchange_weak(head, tag << 32 | next, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      return block;
  }
}

void FrameTable::give_back_block(std::uint32_t block) noexcept {
  FreeBlocks& free = header_.free;
  std::uint64_t head = free.head.load(std::memory_order_relaxed);
  do {
    segment_.state(block).next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
  } while (!free.head.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | (block + 1),
                                            std::memory_order_acq_rel, std::memory_order_relaxed));
  if (!pay(free)) free.count.fetch_add(1, std::memory_order_seq_cst);
  header_.space.notify();
}

/// For a caller that has taken one off the count: there is a part on the stack.
std::uint32_t FrameTable::pop_part(FreeParts& free) noexcept {
  std::uint64_t head = free.head.load(std::memory_order_acquire);
  for (;;) {
    const std::uint32_t part = static_cast<std::uint32_t>(head) - 1;
    const std::uint64_t next = segment_.meta(part).next.load(std::memory_order_relaxed);
    const std::uint64_t tag = (head >> 32) + 1;
    if (!free.head.compare_exchange_weak(head, tag << 32 | next, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
      continue;
    BlockState& state = segment_.state(segment_.block_of(part));
    if (state.free_parts.fetch_sub(1, std::memory_order_acq_rel) == segment_.parts_beside(part))
      header_.empty_blocks.fetch_sub(1, std::memory_order_relaxed);
    return part;
  }
}

/// A chain of parts, from first to last, each of which has the next one.
void FrameTable::push_parts(FreeParts& free, std::uint32_t first, std::uint32_t last) noexcept {
  std::uint64_t head = free.head.load(std::memory_order_relaxed);
  do {
    segment_.meta(last).next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
  } while (!free.head.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | (first + 1),
                                            std::memory_order_acq_rel, std::memory_order_relaxed));
}

void FrameTable::give_back(std::uint32_t part) noexcept {
  const std::uint32_t cut = segment_.cut_of(part);
  header_.used_bytes.fetch_sub(segment_.geometry().share_bytes(cut), std::memory_order_relaxed);
  cut == uncut ? give_back_block(segment_.block_of(part)) : give_back_part(part);
}

/// The part is counted in its block first: who finds it on the stack finds the count, too.
void FrameTable::give_back_part(std::uint32_t part) noexcept {
  BlockState& state = segment_.state(segment_.block_of(part));
  FreeParts& free = free_parts(segment_.cut_of(part), state.reserved.load(std::memory_order_relaxed) != 0);
  if (state.free_parts.fetch_add(1, std::memory_order_acq_rel) + 1 == segment_.parts_beside(part))
    header_.empty_blocks.fetch_add(1, std::memory_order_relaxed);
  push_parts(free, part, part);
  free.count.fetch_add(1, std::memory_order_seq_cst);
  header_.space.notify();
}

bool FrameTable::join_parts() noexcept {
  if (empty_blocks() == 0 || unreserved() != 0) return false;
  bool done = false;
  const Geometry& geometry = segment_.geometry();
  for (std::uint32_t cut = uncut + 1; cut < geometry.cuts; ++cut)
    for (const bool reserved : {false, true})
      if (FreeParts& free = free_parts(cut, reserved);
          free.count.load(std::memory_order_relaxed) >= geometry.cut[cut].parts)
        done |= join_parts(free, geometry.cut[cut].parts);
  return done;
}

/// Takes all parts that are free, and gives back blocks that are complete, and the other parts.
bool FrameTable::join_parts(FreeParts& free, std::uint32_t parts_of_block) noexcept {
  std::vector<std::uint32_t> parts(free.count.exchange(0, std::memory_order_seq_cst));
  for (std::uint32_t& part : parts) part = pop_part(free);
  std::ranges::sort(parts, std::greater<>());  // the first ones are used first
  bool done = false;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    const std::uint32_t block = segment_.block_of(parts[begin]);
    while (end < parts.size() && segment_.block_of(parts[end]) == block) ++end;
    if (end - begin == parts_of_block) {
      if (&free == &header_.reserved_parts[segment_.geometry().reserve_cut])
        header_.reserve_for_small.fetch_sub(1, std::memory_order_seq_cst);
      segment_.state(block).cut.store(uncut, std::memory_order_relaxed);
      give_back_block(block);
      done = true;
    } else {
      for (std::size_t i = begin; i < end; ++i) give_back_part(parts[i]);
    }
  }
  return done;
}

std::uint32_t FrameTable::empty_blocks() const noexcept {
  return static_cast<std::uint32_t>(std::max(0, header_.empty_blocks.load(std::memory_order_relaxed)));
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

void FrameTable::note_used(std::uint32_t cut) noexcept {
  const std::uint64_t share = segment_.geometry().share_bytes(cut);
  const std::uint64_t used = header_.used_bytes.fetch_add(share, std::memory_order_relaxed) + share;
  std::uint64_t peak = header_.peak_bytes.load(std::memory_order_relaxed);
  while (used > peak && !header_.peak_bytes.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

std::uint64_t FrameTable::used_bytes() const noexcept {
  return header_.used_bytes.load(std::memory_order_relaxed);
}

std::uint64_t FrameTable::capacity_bytes() const noexcept {
  return blocks() * segment_.geometry().sizes.block_bytes;
}

std::uint64_t FrameTable::allocated_bytes() const noexcept {
  const FreeBlocks& free = header_.free;
  const std::uint32_t allocated = std::max(blocks_in(free.fresh.load(std::memory_order_relaxed)),
                                           free.allocated.load(std::memory_order_relaxed));
  return std::min(allocated, blocks()) * segment_.geometry().sizes.block_bytes;
}

bool FrameTable::is_short() const noexcept {
  return header_.free.count.load(std::memory_order_relaxed) + empty_blocks() <= reserve();
}

std::optional<std::uint32_t> FrameTable::find(std::uint32_t frame, std::uint64_t seq) const noexcept {
  if (!is_frame(frame)) return std::nullopt;
  const std::uint64_t held = segment_.entry(frame, seq).load(std::memory_order_acquire);
  if (seq_plus_one(held) != seq + 1) return std::nullopt;
  return part_in(held);
}

Counted FrameTable::count(std::uint32_t part, std::uint32_t piece) noexcept {
  PartMeta& meta = segment_.meta(part);
  const FrameRecord& frame = segment_.frame(meta.frame);
  const std::uint32_t expected = segment_.expected(frame)[piece];
  const std::uint32_t counted = segment_.counters(part)[piece].fetch_add(1, std::memory_order_acq_rel) + 1;
  if (counted != expected) return {false, counted > expected};
  return {meta.done.fetch_add(1, std::memory_order_acq_rel) + 1 == frame.goal, false};
}

PieceState FrameTable::state(std::uint32_t part, std::uint32_t piece) const noexcept {
  const FrameRecord& frame = segment_.frame(segment_.meta(part).frame);
  const std::uint32_t counted = segment_.counters(part)[piece].load(std::memory_order_acquire);
  if (counted == 0) return PieceState::untouched;
  return counted < segment_.expected(frame)[piece] ? PieceState::partial : PieceState::complete;
}

void FrameTable::release(std::uint32_t part) noexcept {
  PartMeta& meta = segment_.meta(part);
  const FrameRecord& frame = segment_.frame(meta.frame);
  std::atomic<std::uint32_t>* const counters = segment_.counters(part);
  for (std::uint32_t piece = 0; piece < frame.pieces; ++piece)
    counters[piece].store(0, std::memory_order_relaxed);
  meta.done.store(0, std::memory_order_relaxed);
  segment_.entry(meta.frame, meta.seq).store(0, std::memory_order_release);
  give_back(part);
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
