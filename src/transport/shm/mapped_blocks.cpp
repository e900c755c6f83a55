// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/mapped_blocks.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::array classes{small_blocks, large_blocks};

std::uint64_t next_generation() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

bool MappedBlocks::Parts::contains(std::uint64_t first, std::uint64_t last) const noexcept {
  for (std::uint64_t i = first; i <= last; i = (i / 64 + 1) * 64) {
    const std::uint64_t count = std::min(last - i + 1, 64 - i % 64);
    const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << i % 64;
    if ((words_[i / 64].load(std::memory_order_relaxed) & mask) != mask) return false;
  }
  return true;
}

bool MappedBlocks::Parts::empty() const noexcept {
  return std::ranges::all_of(words_,
                             [](const auto& word) { return word.load(std::memory_order_relaxed) == 0; });
}

std::uint64_t MappedBlocks::tables_of(const Geometry& geometry) noexcept {
  constexpr std::uint64_t share = 16, least_bytes = 1 << 20;
  const std::uint64_t bytes = geometry.block_memory_bytes() / share / std::max(geometry.rings, 1U);
  return std::max(bytes, least_bytes) / page_bytes;
}

std::uint64_t MappedBlocks::heap_bytes(const Geometry& geometry) noexcept {
  constexpr std::uint64_t allocation = 16;  // malloc's header, with rounding
  const auto set = [](std::uint64_t size) { return Parts::words_for(size) * 8 + allocation; };
  std::uint64_t bytes = set(most_covered(geometry, table_covers - 1));
  for (const BlockClassGeometry& kind : geometry.classes)
    bytes += set(kind.count * (units_of(kind) + 1)) + set(units_of(kind));
  return bytes;
}

MappedBlocks::MappedBlocks(Segment& segment, std::uint64_t most_tables)
    : segment_(segment),
      most_tables_(most_tables),
      generation_(next_generation()),
      in_table_(reinterpret_cast<std::uintptr_t>(segment.mapping().data()) % table_covers),
      shift_(reinterpret_cast<std::uintptr_t>(segment.mapping().data()) % window_bytes) {
  covered_.resize(most_covered(segment.geometry(), in_table_));
  for (const BlockClass kind : classes) {
    const std::uint64_t units = units_of(geometry(kind));
    windows_[kind] = units + 1;
    mapped_[kind].resize(geometry(kind).count * windows_[kind]);
    units_[kind] = units;
    written_[kind].resize(units);
  }
}

MappedBlocks::Block MappedBlocks::block_with(std::uint64_t at) const noexcept {
  const BlockClassGeometry& small = geometry(small_blocks);
  const BlockClass kind = small.count > 0 && at >= small.at ? small_blocks : large_blocks;
  return {kind, static_cast<std::uint32_t>((at - geometry(kind).at) / geometry(kind).stride())};
}

void MappedBlocks::will_write(Extent part, Writes pages) noexcept {
  if (part.bytes == 0) return;
  const Block block = block_with(part.at);
  Parts& written = written_[block.kind];
  const std::uint64_t begin = part.at - extent(block).at;
  const std::uint64_t first = begin / window_bytes, last = (begin + part.bytes - 1) / window_bytes;
  if (!written.contains(first, last)) {
    for (std::uint64_t unit = first; unit <= last; ++unit) written.add(unit);
    next_ahead_[block.kind].store(0, std::memory_order_relaxed);
  }
  count_tables(part);
  if (pages == Writes::most_pages) map(block, part);
}

/// What other threads do meanwhile with parts that are dropped is right, but may map pages one by
/// one.
void MappedBlocks::count_tables(Extent part) noexcept {
  const std::uint64_t first = (in_table_ + part.at) / table_covers;
  const std::uint64_t last = (in_table_ + part.at + part.bytes - 1) / table_covers;
  if (covered_.contains(first, last)) return;
  std::uint64_t added = 0;
  for (std::uint64_t i = first; i <= last; ++i) added += covered_.add(i) ? 1 : 0;
  if (tables_.fetch_add(added, std::memory_order_relaxed) + added <= most_tables_) return;
  if (dropping_.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t begin = extent({geometry(large_blocks).count > 0 ? large_blocks : small_blocks, 0}).at;
  segment_.mapping().forget_pages({begin, segment_.geometry().total_bytes - begin});
  for (const BlockClass kind : classes) mapped_[kind].clear();
  covered_.clear();
  tables_.store(0, std::memory_order_relaxed);
  generation_.store(next_generation(), std::memory_order_relaxed);
  dropping_.store(false, std::memory_order_release);
}

/// A window in which two blocks lie is mapped for each of them: the pages of one may not have
/// existed when those of the other were mapped.
void MappedBlocks::map(Block block, Extent part) noexcept {
  Parts& mapped = mapped_[block.kind];
  const std::uint64_t row = block.index * windows_[block.kind];
  const std::uint64_t first = (shift_ + extent(block).at) / window_bytes;
  const std::uint64_t begin = (shift_ + part.at) / window_bytes;
  const std::uint64_t last = (shift_ + part.at + part.bytes - 1) / window_bytes;
  if (mapped.contains(row + begin - first, row + last - first)) return;
  for (std::uint64_t window = begin; window <= last; ++window) {
    const std::uint64_t bit = row + window - first;
    if (mapped.contains(bit)) continue;
    mapped.add(bit);
    const std::uint64_t at = std::max(shift_ + part.at, window * window_bytes) - shift_;
    const auto* const byte = reinterpret_cast<const volatile std::uint8_t*>(segment_.mapping().data() + at);
    (void)__atomic_load_n(byte, __ATOMIC_RELAXED);
  }
}

bool MappedBlocks::map_ahead(std::uint64_t end_ns) noexcept {
  for (const BlockClass kind : classes) {
    const BlockClassGeometry& blocks = geometry(kind);
    if (written_[kind].empty()) continue;
    std::uint32_t next = next_ahead_[kind].load(std::memory_order_relaxed);
    for (; next < blocks.count; ++next) {
      if (segment_.meta(blocks.first + next).allocated.load(std::memory_order_acquire) == 0) break;
      // Ahead, half of the tables: the other half is for what is written.
      if (tables_.load(std::memory_order_relaxed) >= most_tables_ / 2) return false;
      if (now_ns() >= end_ns) return true;
      map_written_parts({kind, next});
      // Fails if another thread has noted a new part meanwhile: then it begins again.
      std::uint32_t before = next;
      if (!next_ahead_[kind].compare_exchange_strong(before, next + 1, std::memory_order_relaxed))
        return true;
    }
  }
  return false;
}

void MappedBlocks::map_written_parts(Block block) noexcept {
  const Extent all = extent(block);
  const Parts& written = written_[block.kind];
  for (std::uint64_t unit = 0; unit < units_[block.kind]; ++unit) {
    const std::uint64_t begin = unit * window_bytes;
    if (!written.contains(unit)) continue;
    const Extent part{all.at + begin, std::min(window_bytes, all.bytes - begin)};
    count_tables(part);
    map(block, part);
  }
}

}  // namespace afterbay::transport::shm
