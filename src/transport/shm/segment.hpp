// SPDX-License-Identifier: Apache-2.0
// Segment: the memory that a server shares with its model ranks, as typed parts. Parts that several
// sides write are atomics; the rest is published through one of them (release/acquire).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/futex.hpp"
#include "base/process_watch.hpp"
#include "transport/shm/geometry.hpp"
#include "transport/shm/mapping.hpp"
#include "transport/shm/marks.hpp"

namespace afterbay::transport::shm {

enum class Life : std::uint32_t { absent = 0, present = 1, ended = 2 };

/// The free blocks of a class: those that were in use before, as a stack (tag << 32 | block + 1),
/// followed by those that were never used, from `fresh` on. Blocks that were never used need not be
/// allocated yet: the process that takes one allocates it, unless the server has done so ahead.
///
/// `count` is the number of both. It is decremented before a block is taken and incremented after
/// one was pushed, so that there is a block for each process that holds a count. If there is no
/// memory for a fresh block, all remaining ones are withdrawn: `fresh` jumps to the end, and an
/// equal number of counts, the debt, is cancelled when processes encounter it.
struct FreeBlocks {
  alignas(64) std::atomic<std::uint64_t> head{0};
  alignas(64) std::atomic<std::uint32_t> count{0};
  alignas(64) std::atomic<std::uint64_t> fresh{0};  ///< debt << 32 | blocks that have been in use
  std::atomic<std::uint32_t> allocated{0};          ///< number of allocated blocks, from the first
                                                    ///< on
  std::atomic<std::uint32_t> withdrawn{0};          ///< number of withdrawn blocks, at the end
};

struct SegmentHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t peers = 0;
  std::uint32_t rings = 0;
  std::uint64_t total_bytes = 0;
  ProcessId server;
  std::atomic<Life> life{Life::absent};
  std::atomic<std::uint32_t> failed{0};  ///< waiting for room is pointless

  alignas(64) std::atomic<std::uint64_t> progress{0};  ///< counts the server's work
  alignas(64) EventCount doorbell;                     ///< wakes the server
  alignas(64) EventCount space;                        ///< wakes ranks that wait for a block
  std::atomic<std::uint32_t> order_waiters{0};         ///< number of ranks that wait for slower ranks
  std::atomic<std::uint32_t> room_waiters{0};          ///< ranks that wait for a block, here or over MPI
  alignas(64) std::atomic<std::uint32_t> frames{0};    ///< declared so far
  std::atomic<std::uint64_t> peak_bytes{0};
  std::atomic<std::uint64_t> older_refusals{0};  ///< see FramePool
  std::atomic<std::int32_t> memory_error{0};     ///< errno of the last block that could not be
                                                 ///< allocated
  FreeBlocks free[2];
};

/// One direction's position in a ring: total bytes written and read.
struct RingCursor {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
};

/// One per rank, whether it uses the segment or sends by MPI.
struct PeerOrder {
  alignas(64) std::atomic<std::uint64_t> order{0};  ///< the rank will request nothing before this
  std::atomic<std::uint32_t> ring{no_ring};         ///< number of its PeerSlot and its rings
  static constexpr std::uint32_t no_ring = ~std::uint32_t{0};
};

/// A rank that uses the segment.
struct PeerSlot {
  alignas(64) std::atomic<Life> life{Life::absent};
  ProcessId process;
  EventCount bell;                             ///< wakes the rank: a message, or room in its ring
  std::atomic<std::uint32_t> up_is_full{0};    ///< the rank waits for room
  std::atomic<std::uint32_t> down_is_full{0};  ///< the server holds messages back
  RingCursor up;
  RingCursor down;
};

/// A declared frame.
struct FrameRecord {
  std::uint64_t bytes = 0;
  std::uint32_t first_piece = 0;  ///< index in the table of expected counts
  std::uint32_t pieces = 0;
  std::uint32_t goal = 0;         ///< pieces that some rank holds
  std::uint32_t places = 1;       ///< instances at a time, a power of two
  std::uint64_t first_place = 0;  ///< in the frame table
};

/// A block, free or holding a frame's instance.
struct BlockMeta {
  alignas(64) std::atomic<std::uint32_t> next{0};  ///< in the free stack, + 1
  std::atomic<std::uint32_t> done{0};              ///< complete pieces
  std::uint32_t frame = 0;
  std::uint64_t seq = 0;
  std::uint64_t bytes = 0;
  std::uint64_t phase = 0;
  std::atomic<std::uint32_t> allocated{0};  ///< the block's memory and counters are allocated
};

class Segment {
 public:
  /// Creates a segment in a new mapping of at least `geometry.total_bytes`. Allocates the common
  /// parts; the others at their first use: rings by `allocate_rings`, frames when they are
  /// declared, blocks when they are taken.
  static Result<Segment> format(Mapping mapping, const Geometry& geometry);
  /// Uses a segment that its server has formatted; fails if its geometry differs.
  static Result<Segment> attach(Mapping mapping, const Geometry& geometry);

  [[nodiscard]] const Geometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] Mapping& mapping() noexcept { return mapping_; }
  /// By the server, before ranks attach: the rank uses the segment. At most Geometry::rings ranks,
  /// in any order. If all ranks do, `format` has given them their rings.
  void give_ring(std::size_t peer_index, std::uint32_t ring) noexcept {
    orders_[peer_index].ring.store(ring, std::memory_order_release);
  }
  [[nodiscard]] bool has_ring(std::size_t peer_index) const noexcept {
    return ring_of(peer_index) < geometry_.rings;
  }
  /// The rings of a rank that maps the segment.
  Result<void> allocate_rings(std::size_t peer_index);
  /// Allocates the entries of `frames` frames from `first`, of `pieces` counts from `first_piece`,
  /// and of `places` in the frame table from `first_place`.
  Result<void> allocate_frames(std::uint32_t first, std::uint64_t frames, std::uint32_t first_piece,
                               std::uint64_t pieces, std::uint64_t first_place, std::uint64_t places);
  /// Allocates a block and its counters, if they are not allocated.
  Result<void> allocate_block(std::uint32_t number);
  /// The positions of blocks and their counters in the mapping.
  [[nodiscard]] Extent blocks_at(std::uint32_t first, std::uint32_t count) const noexcept;
  [[nodiscard]] Extent counters_at(std::uint32_t first, std::uint32_t count) const noexcept;
  [[nodiscard]] SegmentHeader& header() const noexcept { return *header_; }
  /// The ranks that have written to their rings.
  [[nodiscard]] Marks marks() const noexcept { return {marks_, geometry_.peers}; }
  [[nodiscard]] std::atomic<std::uint64_t>& order(std::size_t peer_index) const noexcept {
    return orders_[peer_index].order;
  }
  /// Only of a rank that uses the segment.
  [[nodiscard]] PeerSlot& peer(std::size_t index) const noexcept { return peers_[ring_of(index)]; }
  [[nodiscard]] PeerSlot& slot(std::uint32_t ring) const noexcept { return peers_[ring]; }
  [[nodiscard]] FrameRecord& frame(std::uint32_t number) const noexcept { return frames_[number]; }
  /// The number of contributions that each piece needs.
  [[nodiscard]] std::uint32_t* expected(const FrameRecord& frame) const noexcept {
    return expected_ + frame.first_piece;
  }
  /// The table's entry of a declared frame: 0, or (seq + 1) << 24 | block + 1.
  [[nodiscard]] std::atomic<std::uint64_t>& entry(std::uint32_t frame, std::uint64_t seq) const noexcept {
    const FrameRecord& record = frames_[frame];
    return table_[record.first_place + (seq & (record.places - 1))];
  }
  [[nodiscard]] BlockMeta& meta(std::uint32_t block) const noexcept { return meta_[block]; }
  [[nodiscard]] const BlockClassGeometry& class_of(std::uint32_t block) const noexcept {
    return geometry_.classes[block < geometry_.classes[0].count ? large_blocks : small_blocks];
  }
  [[nodiscard]] std::byte* block(std::uint32_t number) const noexcept {
    const BlockClassGeometry& kind = class_of(number);
    return base() + kind.at + (number - kind.first) * kind.stride();
  }
  [[nodiscard]] std::atomic<std::uint32_t>* counters(std::uint32_t block_number) const noexcept {
    const BlockClassGeometry& kind = class_of(block_number);
    return reinterpret_cast<std::atomic<std::uint32_t>*>(base() + kind.counters_at) +
           static_cast<std::uint64_t>(block_number - kind.first) * kind.pieces;
  }
  /// The bytes of a rank's ring, to the server (up) and back.
  [[nodiscard]] std::span<std::byte> up_ring(std::size_t peer_index) const noexcept;
  [[nodiscard]] std::span<std::byte> down_ring(std::size_t peer_index) const noexcept;

 private:
  Segment(Mapping mapping, const Geometry& geometry);
  [[nodiscard]] std::byte* base() const noexcept { return mapping_.data(); }
  [[nodiscard]] std::uint32_t ring_of(std::size_t peer_index) const noexcept {
    return orders_[peer_index].ring.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t ring_pair_bytes() const noexcept {
    return geometry_.sizes.ring_bytes + geometry_.sizes.reply_bytes;
  }

  Mapping mapping_;
  Geometry geometry_;
  SegmentHeader* header_ = nullptr;
  std::atomic<std::uint64_t>* marks_ = nullptr;
  PeerOrder* orders_ = nullptr;
  PeerSlot* peers_ = nullptr;
  FrameRecord* frames_ = nullptr;
  std::uint32_t* expected_ = nullptr;
  std::atomic<std::uint64_t>* table_ = nullptr;
  BlockMeta* meta_ = nullptr;
};

}  // namespace afterbay::transport::shm
