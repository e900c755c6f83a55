// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/mapped_blocks.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::array classes{small_blocks, large_blocks};

}  // namespace

MappedBlocks::MappedBlocks(Segment& segment)
    : segment_(segment), shift_(reinterpret_cast<std::uintptr_t>(segment.mapping().data()) % window_bytes) {
  for (const BlockClass kind : classes) {
    const std::uint64_t units = geometry(kind).stride() / window_bytes + 1;
    windows_[kind] = units + 1;
    mapped_[kind].resize(geometry(kind).count * windows_[kind]);
    written_[kind].resize(units);
  }
}

MappedBlocks::Block MappedBlocks::block_with(std::uint64_t at) const noexcept {
  const BlockClassGeometry& small = geometry(small_blocks);
  const BlockClass kind = small.count > 0 && at >= small.at ? small_blocks : large_blocks;
  return {kind, static_cast<std::uint32_t>((at - geometry(kind).at) / geometry(kind).stride())};
}

void MappedBlocks::will_write(Extent part) noexcept {
  if (part.bytes == 0) return;
  const Block block = block_with(part.at);
  Parts& written = written_[block.kind];
  const std::uint64_t begin = part.at - extent(block).at;
  for (std::uint64_t unit = begin / window_bytes; unit <= (begin + part.bytes - 1) / window_bytes; ++unit) {
    if (written[unit]) continue;
    written[unit] = true;
    next_ahead_[block.kind] = 0;
  }
  map(block, part);
}

/// A window in which two blocks lie is mapped for each of them: the pages of one may not have
/// existed when those of the other were mapped.
void MappedBlocks::map(Block block, Extent part) noexcept {
  Parts& mapped = mapped_[block.kind];
  const std::uint64_t row = block.index * windows_[block.kind];
  const std::uint64_t first = (shift_ + extent(block).at) / window_bytes;
  const std::uint64_t last = (shift_ + part.at + part.bytes - 1) / window_bytes;
  for (std::uint64_t window = (shift_ + part.at) / window_bytes; window <= last; ++window) {
    const std::uint64_t bit = row + window - first;
    if (mapped[bit]) continue;
    mapped[bit] = true;
    const std::uint64_t at = std::max(shift_ + part.at, window * window_bytes) - shift_;
    const auto* const byte = reinterpret_cast<const volatile std::uint8_t*>(segment_.mapping().data() + at);
    (void)__atomic_load_n(byte, __ATOMIC_RELAXED);
  }
}

bool MappedBlocks::map_ahead(std::uint64_t end_ns) noexcept {
  for (const BlockClass kind : classes) {
    const BlockClassGeometry& blocks = geometry(kind);
    if (std::ranges::find(written_[kind], true) == written_[kind].end()) continue;
    for (std::uint32_t& next = next_ahead_[kind]; next < blocks.count; ++next) {
      if (segment_.meta(blocks.first + next).allocated.load(std::memory_order_acquire) == 0) break;
      if (now_ns() >= end_ns) return true;
      map_written_parts({kind, next});
    }
  }
  return false;
}

void MappedBlocks::map_written_parts(Block block) noexcept {
  const Extent all = extent(block);
  const Parts& written = written_[block.kind];
  for (std::uint64_t unit = 0; unit < written.size(); ++unit) {
    const std::uint64_t begin = unit * window_bytes;
    if (written[unit]) map(block, {all.at + begin, std::min(window_bytes, all.bytes - begin)});
  }
}

}  // namespace afterbay::transport::shm
