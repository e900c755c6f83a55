// SPDX-License-Identifier: Apache-2.0
// MappedBlocks: which pages of a server's blocks are in this process's page tables. Pages are mapped
// once, many at a time, rather than by one page fault per page. Mapping reads one byte: when a page
// is read, Linux maps the 16 pages around it (a window), writable if the mapping is; when a page is
// written, it maps that page only (design/0064-mapping-blocks.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

/// Used by one thread. Refers to the segment. Allocates nothing after its construction.
class MappedBlocks {
 public:
  explicit MappedBlocks(Segment& segment);

  /// Maps a part of an allocated block that is about to be written.
  void will_write(Extent part) noexcept;
  /// Maps, in all blocks that are allocated, the parts that this process has written in others of
  /// their class. Stops at `end_ns` (of now_ns); returns whether there is more.
  bool map_ahead(std::uint64_t end_ns) noexcept;

  static constexpr std::uint64_t window_bytes = 64 << 10;

 private:
  /// Parts of a block, by number.
  using Parts = std::vector<bool>;

  /// A block: its class, and its number in the class.
  struct Block {
    BlockClass kind;
    std::uint32_t index;
  };

  [[nodiscard]] const BlockClassGeometry& geometry(BlockClass kind) const noexcept {
    return segment_.geometry().classes[kind];
  }
  [[nodiscard]] Extent extent(Block block) const noexcept {
    return segment_.blocks_at(geometry(block.kind).first + block.index, 1);
  }
  [[nodiscard]] Block block_with(std::uint64_t at) const noexcept;
  void map(Block block, Extent part) noexcept;
  void map_written_parts(Block block) noexcept;

  Segment& segment_;
  std::uint64_t shift_;  ///< windows begin at multiples of window_bytes in the address space
  std::array<std::uint64_t, 2> windows_{};  ///< by class: the most windows that a block can be in
  std::array<Parts, 2> mapped_;   ///< by class: for each block its windows, from the one in which it begins
  std::array<Parts, 2> written_;  ///< by class: units of window_bytes, from the begin of a block
  std::array<std::uint32_t, 2> next_ahead_{};  ///< by class: the next block for `map_ahead`
};

}  // namespace afterbay::transport::shm
