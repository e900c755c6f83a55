// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/geometry.hpp"

#include <algorithm>
#include <bit>

#include "model/cutting.hpp"
#include "transport/shm/marks.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::uint32_t most_parts = (1u << 24) - 1;  // an entry of the frame table holds 24 bits
constexpr std::uint32_t most_frames = 1u << 24;       // as does a rank's place in the order
constexpr std::uint32_t pieces_per_frame = 16;        // room for expected counts, on average
constexpr std::uint32_t most_reserved_parts = 16;  // of a block of the reserve, for frames of all small sizes

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

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

/// Number of piece counters of a part of `bytes`: one per 512 bytes.
std::uint32_t pieces_in(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / 512, 64));
}

/// Halves and thirds of a block, halves and thirds of its halves, and so on, as far as there are
/// numbers for all parts: at most a third of a part is left empty.
void make_cuts(Geometry& geometry) {
  const LinkSizes& sizes = geometry.sizes;
  geometry.block_stride = sizes.block_bytes + model::block_spare_bytes(sizes.block_bytes);
  const auto add = [&](std::uint64_t bytes) {
    const auto parts = static_cast<std::uint32_t>(geometry.block_stride / (bytes + page_bytes));
    if (bytes < sizes.small_block_bytes || parts <= geometry.slots || geometry.cuts == most_cuts ||
        std::uint64_t{parts} * geometry.blocks > most_parts)
      return;
    geometry.cut[geometry.cuts++] = {parts, pieces_in(bytes), bytes};
    geometry.slots = parts;
    geometry.block_pieces = std::max(geometry.block_pieces, parts * pieces_in(bytes));
  };
  add(sizes.block_bytes);
  for (std::uint64_t part = 2; part * sizes.small_block_bytes <= sizes.block_bytes; part *= 2) {
    add(sizes.block_bytes / part / page_bytes * page_bytes);
    const std::uint64_t third = geometry.block_stride / (part / 2 * 3) / page_bytes * page_bytes;
    add(third - std::min(third, page_bytes));
  }
}

Result<void> cut_memory(Geometry& geometry) {
  const LinkSizes& sizes = geometry.sizes;
  const std::uint64_t blocks = sizes.memory_bytes / sizes.block_bytes;
  if (blocks == 0 || blocks > most_parts)
    return fail(ErrorCode::invalid_argument,
                "a server's memory of {} bytes makes {} blocks of {} bytes: give it at least {} bytes, or "
                "larger blocks",
                sizes.memory_bytes, blocks, sizes.block_bytes, sizes.block_bytes);
  geometry.blocks = static_cast<std::uint32_t>(blocks);
  make_cuts(geometry);
  geometry.reserve = geometry.reserve_of(geometry.blocks);
  while (geometry.reserve_cut + 1 < geometry.cuts &&
         geometry.cut[geometry.reserve_cut + 1].parts <= most_reserved_parts)
    ++geometry.reserve_cut;
  return {};
}

/// For all frames: the minimum per frame, and the number that memory allows beyond it.
std::uint64_t places_in_table(const LinkSizes& sizes) {
  if (sizes.instances != 0) return std::uint64_t{sizes.max_frames} * sizes.instances;
  return std::uint64_t{sizes.max_frames} * LinkSizes::least_instances +
         sizes.memory_bytes / LinkSizes::places_share / sizeof(std::uint64_t);
}

}  // namespace

std::uint32_t Geometry::cut_for(std::uint64_t bytes, std::uint64_t pieces) const noexcept {
  for (std::uint32_t c = cuts; c-- > 0;)
    if (bytes <= cut[c].bytes && pieces <= cut[c].pieces) return c;
  return cuts;
}

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
    const std::uint64_t begin = round_up(at, alignment);
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
  geometry.states_at = take(geometry.blocks * sizeof(BlockState), page_bytes);
  geometry.meta_at = take(std::uint64_t{geometry.blocks} * geometry.slots * sizeof(PartMeta), page_bytes);
  geometry.counters_at =
      take(std::uint64_t{geometry.blocks} * geometry.block_pieces * sizeof(std::uint32_t), page_bytes);
  const std::uint64_t alignment = sizes.memory_bytes >= 8 * huge_page_bytes ? huge_page_bytes : page_bytes;
  geometry.blocks_at = take(geometry.blocks * geometry.block_stride, alignment);
  geometry.total_bytes = round_up(at, page_bytes);
  return geometry;
}

}  // namespace afterbay::transport::shm
