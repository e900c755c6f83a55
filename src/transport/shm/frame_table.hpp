// SPDX-License-Identifier: Apache-2.0
// The frame table and the blocks: which instance (frame, seq) lies in which block. Lock-free;
// used by model ranks and by the server at once, on the same segment.
//
// Order and progress. Every request has a place in an order that all ranks follow: position of the
// put, then frame. A rank publishes its place before it asks, and never asks for anything before
// it. The last blocks of a class (an eighth, at least one) are given only to a rank that no other
// rank is behind. So ranks that run ahead cannot take the block that the slowest one needs to
// complete their frames. A block that is not allocated yet counts as a free one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "transport/link.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

/// Why there is no instance.
enum class Refusal : std::uint32_t {
  older_instance,  ///< the table's entry still holds an older one
  no_block,
  no_memory,       ///< the system has no memory for any block that is large enough
  slower_rank,     ///< the blocks left are for ranks that are behind
  newer_instance,  ///< the instance was given back already: asked too late
  unknown_frame,
  too_large,
};

/// Which blocks a request may have.
enum class Blocks {
  unreserved,  ///< those that are not kept for the slowest rank
  by_order,    ///< these too if no rank is behind
  all
};

/// A place in the order of requests.
[[nodiscard]] constexpr std::uint64_t order_of(std::uint64_t position, std::uint32_t frame) noexcept {
  return position << 24 | frame;
}
inline constexpr std::uint64_t order_end = ~std::uint64_t{0};

struct Counted {
  bool frame_complete = false;
  bool too_many = false;  ///< more contributions than the piece needs
};

class FrameTable {
 public:
  static constexpr std::size_t nobody = ~std::size_t{0};

  /// For the rank `self`, or for the server (nobody).
  explicit FrameTable(Segment& segment, std::size_t self = nobody)
      : segment_(segment), header_(segment.header()), self_(self) {}

  /// The block of the instance, made if need be. Never waits.
  tl::expected<std::uint32_t, Refusal> acquire(const FrameSlot& slot, Blocks from = Blocks::by_order);
  /// Whether there are unreserved blocks now for those instances of `slots` that are not made. Takes none.
  [[nodiscard]] bool has_unreserved(std::span<const FrameSlot> slots) const noexcept;
  /// The block of the instance, if it exists.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t frame, std::uint64_t seq) const noexcept;
  /// Counts a contribution to a piece; what was written before is visible to who sees it counted.
  Counted count(std::uint32_t block, std::uint32_t piece) noexcept;
  [[nodiscard]] PieceState state(std::uint32_t block, std::uint32_t piece) const noexcept;
  /// Ends the instance in `block` and frees the block. Once an instance.
  void release(std::uint32_t block) noexcept;
  /// Says that this rank, or `peer`, will ask for nothing before `order`.
  void publish(std::uint64_t order) noexcept { publish(self_, order); }
  void publish(std::size_t peer, std::uint64_t order) noexcept;

  [[nodiscard]] bool is_frame(std::uint32_t frame) const noexcept {
    return frame < header_.frames.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept;
  /// What a Refusal::no_memory is about.
  [[nodiscard]] Error no_memory(const std::string& server) const;
  /// Of all blocks, without those that are withdrawn.
  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept;
  /// Of blocks that were in use or are allocated ahead.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;
  /// Tries to allocate one of the blocks that are withdrawn. For the server.
  bool restore_block() noexcept;
  /// Whether no large block is left but those that are kept for the slowest rank. What fits into small blocks
  /// gets large ones too.
  [[nodiscard]] bool is_short() const noexcept;

 private:
  tl::expected<std::uint32_t, Refusal> make(const FrameSlot& slot, std::atomic<std::uint64_t>& entry,
                                            Blocks from);
  [[nodiscard]] bool fits(const FrameSlot& slot, BlockClass kind) const noexcept;
  /// A small block for what fits into one, else a large one; a large one too when the small ones are used up,
  /// but never one of its reserve.
  tl::expected<std::uint32_t, Refusal> take_for(const FrameSlot& slot, Blocks from) noexcept;
  tl::expected<std::uint32_t, Refusal> take(BlockClass kind, bool reserve_too) noexcept;
  /// A free block, for who has taken one off the count.
  tl::expected<std::uint32_t, Refusal> take_counted(BlockClass kind) noexcept;
  std::optional<std::uint32_t> pop(FreeBlocks& free) noexcept;
  /// There is no memory for fresh blocks any more.
  void withdraw_fresh(BlockClass kind) noexcept;
  void give_back(std::uint32_t block) noexcept;
  [[nodiscard]] std::uint32_t blocks_of(BlockClass kind) const noexcept;
  [[nodiscard]] std::uint32_t reserve_of(BlockClass kind) const noexcept;
  [[nodiscard]] std::uint32_t unreserved(BlockClass kind) const noexcept;
  [[nodiscard]] bool nobody_before(std::uint64_t order) const noexcept;
  void note_peak() noexcept;

  Segment& segment_;
  SegmentHeader& header_;
  std::size_t self_;
};

}  // namespace afterbay::transport::shm
