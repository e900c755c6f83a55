// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/geometry.hpp"

#include <algorithm>
#include <bit>

#include "base/rounding.hpp"
#include "transport/shm/marks.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::uint32_t most_blocks = (1u << 24) - 1;  // an entry of the frame table holds 24 bits
constexpr std::uint32_t most_frames = 1u << 24;        // as does a rank's place in the order
constexpr std::uint32_t pieces_per_frame = 16;         // room for expected counts, on average

Result<void> check(const LinkSizes& sizes, std::size_t peers) {
  const auto refuse = [](const char* name, std::uint64_t value, const char* must) {
    return fail(ErrorCode::invalid_argument, "transport size {} is {}, it must be {}", name, value, must);
  };
  if (peers == 0) return fail(ErrorCode::invalid_argument, "an I/O server needs at least one model rank");
  if (sizes.block_bytes == 0 || sizes.block_bytes % page_bytes != 0)
    return refuse("block_bytes", sizes.block_bytes, "a positive multiple of 4096");
  if (sizes.small_block_bytes == 0 || sizes.small_block_bytes % page_bytes != 0)
    return refuse("small_block_bytes", sizes.small_block_bytes, "a positive multiple of 4096");
  if (sizes.small_block_bytes > sizes.block_bytes)
    return refuse("small_block_bytes", sizes.small_block_bytes, "at most block_bytes");
  if (!(sizes.small_share >= 0.0 && sizes.small_share < 1.0))
    return fail(ErrorCode::invalid_argument, "transport size small_share is {}, it must be in [0, 1)",
                sizes.small_share);
  if (sizes.ring_bytes < 1024) return refuse("ring_bytes", sizes.ring_bytes, "at least 1024");
  if (sizes.reply_bytes < 1024) return refuse("reply_bytes", sizes.reply_bytes, "at least 1024");
  if (sizes.instances != 0 && !std::has_single_bit(sizes.instances))
    return refuse("instances", sizes.instances, "a power of two");
  if (sizes.max_frames == 0 || sizes.max_frames > most_frames)
    return refuse("max_frames", sizes.max_frames, "1 to 16777216");
  if (sizes.segments == 0) return refuse("segments", sizes.segments, "at least 1");
  if (sizes.credits == 0) return refuse("credits", sizes.credits, "at least 1");
  return {};
}

/// Number of piece counters in a block of `bytes`: one per 512 bytes.
std::uint32_t pieces_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / 512, 64));
}

Result<void> cut_memory(Geometry& geometry) {
  const LinkSizes& sizes = geometry.sizes;
  const auto for_small =
      static_cast<std::uint64_t>(static_cast<double>(sizes.memory_bytes) * sizes.small_share);
  const std::uint64_t small = for_small / sizes.small_block_bytes;
  const std::uint64_t large = (sizes.memory_bytes - small * sizes.small_block_bytes) / sizes.block_bytes;
  if (large == 0 || large + small > most_blocks)
    return fail(ErrorCode::invalid_argument,
                "a server's memory of {} bytes, {} of it in blocks of {} bytes, makes {} blocks of {} bytes: "
                "give it at "
                "least {} bytes, or larger blocks",
                sizes.memory_bytes, small * sizes.small_block_bytes, sizes.small_block_bytes, large,
                sizes.block_bytes, sizes.block_bytes + small * sizes.small_block_bytes);
  const auto set = [](BlockClassGeometry& kind, std::uint64_t count, std::uint64_t bytes,
                      std::uint32_t first) {
    kind.count = static_cast<std::uint32_t>(count);
    kind.first = first;
    kind.bytes = bytes;
    kind.pieces = pieces_in(bytes);
    kind.reserve = std::max(1u, kind.count / 8);
  };
  set(geometry.classes[large_blocks], large, sizes.block_bytes, 0);
  set(geometry.classes[small_blocks], small, sizes.small_block_bytes, static_cast<std::uint32_t>(large));
  return {};
}

/// For all frames: the minimum per frame, and the number that memory allows beyond it.
std::uint64_t places_in_table(const LinkSizes& sizes) {
  if (sizes.instances != 0) return std::uint64_t{sizes.max_frames} * sizes.instances;
  return std::uint64_t{sizes.max_frames} * LinkSizes::least_instances +
         sizes.memory_bytes / LinkSizes::places_share / sizeof(std::uint64_t);
}

}  // namespace

Result<Geometry> make_geometry(const LinkSizes& sizes, std::size_t peers, std::size_t rings) {
  AFTERBAY_TRY(check(sizes, peers));
  Geometry geometry;
  geometry.sizes = sizes;
  geometry.sizes.ring_bytes = std::bit_ceil(sizes.ring_bytes);
  geometry.sizes.reply_bytes = std::bit_ceil(sizes.reply_bytes);
  geometry.peers = static_cast<std::uint32_t>(peers);
  geometry.rings = static_cast<std::uint32_t>(rings);
  geometry.max_pieces = sizes.max_frames * pieces_per_frame;
  AFTERBAY_TRY(cut_memory(geometry));
  geometry.places = places_in_table(sizes);

  std::uint64_t at = 0;
  const auto take = [&at](std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t begin = rounded_up(at, alignment);
    at = begin + bytes;
    return begin;
  };
  take(sizeof(SegmentHeader), page_bytes);
  geometry.marks_at = take(Marks::bytes_for(peers), page_bytes);
  geometry.orders_at = take(peers * sizeof(PeerOrder), page_bytes);
  geometry.peers_at = take(rings * sizeof(PeerSlot), page_bytes);
  geometry.rings_at = take(rings * (geometry.sizes.ring_bytes + geometry.sizes.reply_bytes), page_bytes);
  geometry.frames_at = take(sizes.max_frames * sizeof(FrameRecord), page_bytes);
  geometry.expected_at = take(geometry.max_pieces * sizeof(std::uint32_t), page_bytes);
  geometry.table_at = take(geometry.places * sizeof(std::uint64_t), page_bytes);
  geometry.meta_at = take(geometry.blocks() * sizeof(BlockMeta), page_bytes);
  for (BlockClassGeometry& kind : geometry.classes)
    kind.counters_at = take(std::uint64_t{kind.count} * kind.pieces * sizeof(std::uint32_t), page_bytes);
  const std::uint64_t alignment = sizes.memory_bytes >= 8 * huge_page_bytes ? huge_page_bytes : page_bytes;
  for (BlockClassGeometry& kind : geometry.classes) kind.at = take(kind.count * kind.stride(), alignment);
  geometry.total_bytes = rounded_up(at, page_bytes);
  return geometry;
}

}  // namespace afterbay::transport::shm
