// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/segment.hpp"

#include <new>
#include <utility>

namespace afterbay::transport::shm {
namespace {

constexpr std::uint64_t segment_magic = 0x5942'5245'5446'41ULL;  // "AFTERBY"
constexpr std::uint32_t segment_version = 5;

}  // namespace

Segment::Segment(Mapping mapping, const Geometry& geometry)
    : mapping_(std::move(mapping)), geometry_(geometry) {
  header_ = reinterpret_cast<SegmentHeader*>(base());
  marks_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base() + geometry_.marks_at);
  orders_ = reinterpret_cast<PeerOrder*>(base() + geometry_.orders_at);
  peers_ = reinterpret_cast<PeerSlot*>(base() + geometry_.peers_at);
  frames_ = reinterpret_cast<FrameRecord*>(base() + geometry_.frames_at);
  expected_ = reinterpret_cast<std::uint32_t*>(base() + geometry_.expected_at);
  table_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base() + geometry_.table_at);
  meta_ = reinterpret_cast<BlockMeta*>(base() + geometry_.meta_at);
}

Result<Segment> Segment::format(Mapping mapping, const Geometry& geometry) {
  Segment segment(std::move(mapping), geometry);
  AFTERBAY_TRY(segment.mapping_.allocate(
      {{0, geometry.rings_at}, {geometry.meta_at, geometry.blocks() * sizeof(BlockMeta)}}));
  SegmentHeader& header = *new (segment.header_) SegmentHeader;
  for (std::size_t i = 0; i < Marks::bytes_for(geometry.peers) / sizeof *segment.marks_; ++i)
    new (&segment.marks_[i]) std::atomic<std::uint64_t>(0);
  for (std::uint32_t i = 0; i < geometry.peers; ++i) {
    new (&segment.orders_[i]) PeerOrder;
    if (geometry.rings == geometry.peers) segment.give_ring(i, i);
  }
  for (std::uint32_t i = 0; i < geometry.rings; ++i) new (&segment.peers_[i]) PeerSlot;
  for (std::size_t c = 0; c < geometry.classes.size(); ++c) {
    const BlockClassGeometry& kind = geometry.classes[c];
    for (std::uint32_t i = 0; i < kind.count; ++i) new (&segment.meta_[kind.first + i]) BlockMeta;
    header.free[c].count.store(kind.count, std::memory_order_relaxed);
  }
  header.magic = segment_magic;
  header.version = segment_version;
  header.peers = geometry.peers;
  header.rings = geometry.rings;
  header.total_bytes = geometry.total_bytes;
  header.server = own_process();
  header.life.store(Life::present, std::memory_order_release);
  return segment;
}

Result<Segment> Segment::attach(Mapping mapping, const Geometry& geometry) {
  Segment segment(std::move(mapping), geometry);
  const SegmentHeader& header = segment.header();
  if (header.life.load(std::memory_order_acquire) != Life::present || header.magic != segment_magic)
    return fail(ErrorCode::internal, "the I/O server's shared memory is not ready");
  if (header.version != segment_version || header.total_bytes != geometry.total_bytes ||
      header.peers != geometry.peers)
    return fail(ErrorCode::conflict,
                "the I/O server's shared memory has version {}, {} bytes, {} model ranks; this rank expects "
                "{}, {}, {}: "
                "do all processes have the same configuration and the same library?",
                header.version, header.total_bytes, header.peers, segment_version, geometry.total_bytes,
                geometry.peers);
  return segment;
}

Result<void> Segment::allocate_rings(std::size_t peer_index) {
  return mapping_.allocate(
      {{geometry_.rings_at + ring_of(peer_index) * ring_pair_bytes(), ring_pair_bytes()}});
}

Result<void> Segment::allocate_frames(std::uint32_t first, std::uint64_t frames, std::uint32_t first_piece,
                                      std::uint64_t pieces, std::uint64_t first_place, std::uint64_t places) {
  return mapping_.allocate(
      {{geometry_.frames_at + first * sizeof(FrameRecord), frames * sizeof(FrameRecord)},
       {geometry_.expected_at + first_piece * sizeof(std::uint32_t), pieces * sizeof(std::uint32_t)},
       {geometry_.table_at + first_place * sizeof(std::uint64_t), places * sizeof(std::uint64_t)}});
}

Extent Segment::blocks_at(std::uint32_t first, std::uint32_t count) const noexcept {
  const BlockClassGeometry& kind = class_of(first);
  return {kind.at + (first - kind.first) * kind.stride(), count * kind.stride()};
}

Extent Segment::counters_at(std::uint32_t first, std::uint32_t count) const noexcept {
  const BlockClassGeometry& kind = class_of(first);
  const std::uint64_t bytes = kind.pieces * sizeof(std::uint32_t);
  return {kind.counters_at + (first - kind.first) * bytes, count * bytes};
}

Result<void> Segment::allocate_block(std::uint32_t number) {
  std::atomic<std::uint32_t>& allocated = meta_[number].allocated;
  if (allocated.load(std::memory_order_acquire) != 0) return {};
  AFTERBAY_TRY(mapping_.allocate({counters_at(number, 1), blocks_at(number, 1)}));
  allocated.store(1, std::memory_order_release);
  return {};
}

std::span<std::byte> Segment::up_ring(std::size_t peer_index) const noexcept {
  return {base() + geometry_.rings_at + ring_of(peer_index) * ring_pair_bytes(), geometry_.sizes.ring_bytes};
}

std::span<std::byte> Segment::down_ring(std::size_t peer_index) const noexcept {
  return {base() + geometry_.rings_at + ring_of(peer_index) * ring_pair_bytes() + geometry_.sizes.ring_bytes,
          geometry_.sizes.reply_bytes};
}

}  // namespace afterbay::transport::shm
