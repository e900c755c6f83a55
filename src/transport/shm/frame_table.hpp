// SPDX-License-Identifier: Apache-2.0
// The frame table and the blocks: which instance (frame, seq) lies in which block. Lock-free; used
// concurrently by model ranks and the server, on the same segment.
//
// Order and progress. Every request has a place in an order that is the same on all ranks: position
// of the put, then frame. A rank publishes its place before it requests a block, and never requests
// anything before that place. The last blocks of a class (an eighth, at least one) are reserved for
// a rank that no other rank is behind. Ranks that run ahead therefore cannot take the block that
// the slowest rank needs to complete their frames. A block that is not allocated yet counts as
// free.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/link.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

/// Why there is no instance.
enum class Refusal : std::uint32_t {
  older_instance,  ///< the table's entry still holds an older instance
  no_block,
  no_memory,       ///< the system has no memory for any block that is large enough
  slower_rank,     ///< the remaining blocks are reserved for ranks that are behind
  newer_instance,  ///< the instance has already been returned: requested too late
  unknown_frame,
  too_large,
};

/// Which blocks a request may use.
enum class Blocks {
  unreserved,  ///< blocks that are not reserved for the slowest rank
  by_order,    ///< reserved blocks too, if no rank is behind
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

  /// The block of the instance, created if necessary. Never waits.
  tl::expected<std::uint32_t, Refusal> acquire(const FrameSlot& slot, Blocks from = Blocks::by_order);
  /// Whether there are unreserved blocks now for those instances of `slots` that do not exist yet.
  /// Takes none.
  [[nodiscard]] bool has_unreserved(std::span<const FrameSlot> slots) const noexcept;
  /// The block of the instance, if it exists.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t frame, std::uint64_t seq) const noexcept;
  /// Counts a contribution to a piece; data written before are visible to any process that sees the
  /// count.
  Counted count(std::uint32_t block, std::uint32_t piece) noexcept;
  [[nodiscard]] PieceState state(std::uint32_t block, std::uint32_t piece) const noexcept;
  /// Ends the instance in `block` and frees the block. Once per instance.
  void release(std::uint32_t block) noexcept;
  /// States that this rank, or `peer`, will request nothing before `order`.
  void publish(std::uint64_t order) noexcept { publish(self_, order); }
  void publish(std::size_t peer, std::uint64_t order) noexcept;

  [[nodiscard]] bool is_frame(std::uint32_t frame) const noexcept {
    return frame < header_.frames.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept;
  /// The error for Refusal::no_memory.
  [[nodiscard]] Error no_memory(const std::string& server) const;
  /// Bytes of all blocks except those that are withdrawn.
  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept;
  /// Bytes of blocks that were in use or are allocated ahead.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;
  /// Tries to allocate one of the withdrawn blocks. For the server.
  bool restore_block() noexcept;
  /// Whether only large blocks that are reserved for the slowest rank are left. Frames that fit
  /// into small blocks may get large ones too.
  [[nodiscard]] bool is_short() const noexcept;

  /// Whether no other rank has published an order before this one.
  [[nodiscard]] bool nobody_before(std::uint64_t order) const noexcept;

 private:
  tl::expected<std::uint32_t, Refusal> make(const FrameSlot& slot, std::atomic<std::uint64_t>& entry,
                                            Blocks from);
  [[nodiscard]] bool fits(const FrameSlot& slot, BlockClass kind) const noexcept;
  /// A small block for frames that fit into one, otherwise a large one. If small blocks are used
  /// up, a large one, but never one of the reserve.
  tl::expected<std::uint32_t, Refusal> take_for(const FrameSlot& slot, Blocks from) noexcept;
  tl::expected<std::uint32_t, Refusal> take(BlockClass kind, bool reserve_too) noexcept;
  /// A free block, for a caller that has taken one off the count.
  tl::expected<std::uint32_t, Refusal> take_counted(BlockClass kind) noexcept;
  std::optional<std::uint32_t> pop(FreeBlocks& free) noexcept;
  /// There is no more memory for fresh blocks.
  void withdraw_fresh(BlockClass kind) noexcept;
  void give_back(std::uint32_t block) noexcept;
  [[nodiscard]] std::uint32_t blocks_of(BlockClass kind) const noexcept;
  [[nodiscard]] std::uint32_t reserve_of(BlockClass kind) const noexcept;
  [[nodiscard]] std::uint32_t unreserved(BlockClass kind) const noexcept;
  void note_peak() noexcept;

  Segment& segment_;
  SegmentHeader& header_;
  std::size_t self_;
  /// A rank that was behind when this end last asked, and probably still is.
  mutable std::atomic<std::uint32_t> behind_{0};
};

}  // namespace afterbay::transport::shm
