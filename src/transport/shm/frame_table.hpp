// SPDX-License-Identifier: Apache-2.0
// The frame table and the blocks: which instance (frame, seq) lies in which part of a block.
// Lock-free; used concurrently by model ranks and the server, on the same segment.
//
// A frame that needs less than a block takes a part of one that is cut. Who finds no free part cuts
// another block; the server joins the parts of blocks that are empty when there is no other block
// (design/0096-blocks-cut-into-parts.md).
//
// Order and progress. Every request has a place in an order that is the same on all ranks: position
// of the put, then frame. A rank publishes its place before it requests a block, and never requests
// anything before that place. The last blocks (an eighth, at least two if blocks are cut) and their
// parts are reserved for a rank that no other rank is behind. Ranks that run ahead therefore cannot
// take the memory that the slowest rank needs to complete their frames. A frame with pieces of
// several variables is complete when the last of these is put: the slowest rank may need room for
// other frames before that. A block that is not allocated yet counts as free.
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
  no_memory,       ///< the system has no memory for any block
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

  /// The part with the instance, created if necessary. Never waits.
  tl::expected<std::uint32_t, Refusal> acquire(const FrameSlot& slot, Blocks from = Blocks::by_order);
  /// Whether there are unreserved blocks now for those instances of `slots` that do not exist yet.
  /// Takes none.
  [[nodiscard]] bool has_unreserved(std::span<const FrameSlot> slots) const noexcept;
  /// The part with the instance, if it exists.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t frame, std::uint64_t seq) const noexcept;
  /// Counts a contribution to a piece; data written before are visible to any process that sees the
  /// count.
  Counted count(std::uint32_t part, std::uint32_t piece) noexcept;
  [[nodiscard]] PieceState state(std::uint32_t part, std::uint32_t piece) const noexcept;
  /// Ends the instance in `part` and frees the part. Once per instance.
  void release(std::uint32_t part) noexcept;
  /// If there is no unreserved block, makes blocks of parts that are all free; returns whether
  /// there were any. For the server, one thread at a time. Meanwhile others may be refused parts
  /// that are free.
  bool join_parts() noexcept;
  /// States that this rank, or `peer`, will request nothing before `order`.
  void publish(std::uint64_t order) noexcept { publish(self_, order); }
  void publish(std::size_t peer, std::uint64_t order) noexcept;

  [[nodiscard]] bool is_frame(std::uint32_t frame) const noexcept {
    return frame < header_.frames.load(std::memory_order_acquire);
  }
  /// Of parts that hold frames: their shares of blocks.
  [[nodiscard]] std::uint64_t used_bytes() const noexcept;
  /// The error for Refusal::no_memory.
  [[nodiscard]] Error no_memory(const std::string& server) const;
  /// Bytes of all blocks except those that are withdrawn.
  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept;
  /// Bytes of blocks that were in use or are allocated ahead.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;
  /// Tries to allocate one of the withdrawn blocks. For the server.
  bool restore_block() noexcept;
  /// Whether only blocks that are reserved for the slowest rank are left. Parts of others may be
  /// free.
  [[nodiscard]] bool is_short() const noexcept;

  /// Whether no other rank has published an order before this one.
  [[nodiscard]] bool nobody_before(std::uint64_t order) const noexcept;

 private:
  tl::expected<std::uint32_t, Refusal> make(const FrameSlot& slot, std::atomic<std::uint64_t>& entry,
                                            Blocks from);
  /// nullopt: the frame is too large.
  [[nodiscard]] std::optional<std::uint32_t> cut_for(const FrameSlot& slot) const noexcept;
  /// A part of the cut that wastes least, of a block that is cut for it if necessary; otherwise a
  /// larger part; otherwise, if the caller may use it, a part of the reserve.
  tl::expected<std::uint32_t, Refusal> take_for(const FrameSlot& slot, Blocks from) noexcept;
  tl::expected<std::uint32_t, Refusal> take_reserved(std::uint32_t cut) noexcept;
  std::optional<std::uint32_t> take_part(std::uint32_t cut, bool reserved) noexcept;
  /// Cuts a block that the caller has taken, and takes its first part.
  std::uint32_t first_of(std::uint32_t block, std::uint32_t cut, bool reserved) noexcept;
  /// Leaves so many blocks.
  tl::expected<std::uint32_t, Refusal> take(std::uint32_t left) noexcept;
  /// A free block, for a caller that has taken one off the count.
  tl::expected<std::uint32_t, Refusal> take_counted() noexcept;
  std::optional<std::uint32_t> pop_block() noexcept;
  void give_back_block(std::uint32_t block) noexcept;
  [[nodiscard]] FreeParts& free_parts(std::uint32_t cut, bool reserved) const noexcept {
    return reserved ? header_.reserved_parts[cut] : header_.parts[cut];
  }
  std::uint32_t pop_part(FreeParts& free) noexcept;
  void push_parts(FreeParts& free, std::uint32_t first, std::uint32_t last) noexcept;
  void give_back_part(std::uint32_t part) noexcept;
  bool join_parts(FreeParts& free, std::uint32_t parts_of_block) noexcept;
  void give_back(std::uint32_t part) noexcept;
  /// There is no more memory for fresh blocks.
  void withdraw_fresh() noexcept;
  [[nodiscard]] std::uint32_t blocks() const noexcept;  ///< without those that are withdrawn
  [[nodiscard]] std::uint32_t reserve() const noexcept;
  [[nodiscard]] std::uint32_t unreserved() const noexcept;
  [[nodiscard]] std::uint32_t empty_blocks() const noexcept;
  void note_used(std::uint32_t cut) noexcept;

  Segment& segment_;
  SegmentHeader& header_;
  std::size_t self_;
  /// A rank that was behind when this end last asked, and probably still is.
  mutable std::atomic<std::uint32_t> behind_{0};
};

}  // namespace afterbay::transport::shm
