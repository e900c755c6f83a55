// SPDX-License-Identifier: Apache-2.0
// MappedBlocks: which pages of a server's blocks are in this process's page tables. Pages are
// mapped once, many at a time, rather than by one page fault per page. Mapping reads one byte: when
// a page is read, Linux maps the 16 pages around it (a window), writable if the mapping is; when a
// page is written, it maps that page only (design/0064-mapping-blocks.md). Page tables are bounded:
// a process that has used more of the blocks than its share of them covers drops them all, and
// begins again (design/0077-page-tables.md).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "transport/link.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

/// `will_write`: any thread; threads that map the same part do it twice. `map_ahead`: one thread.
/// Refers to the segment. Allocates nothing after its construction.
class MappedBlocks {
 public:
  /// `most_tables`: page tables of this process for the blocks, each for table_covers bytes.
  MappedBlocks(Segment& segment, std::uint64_t most_tables);
  explicit MappedBlocks(Segment& segment) : MappedBlocks(segment, tables_of(segment.geometry())) {}

  /// As ClientLink::is_announced, of what lies at that offset of the segment.
  [[nodiscard]] bool is_announced(std::uint64_t at, AnnouncedBlocks& known) const {
    const Block block = block_with(at);
    return known.note(generation_.load(std::memory_order_relaxed), geometry(block.kind).first + block.index);
  }
  /// Part of an allocated block that is about to be written; mapped if most of its pages are. For
  /// fewer, page faults of those that are written cost less.
  void will_write(Extent part, Writes pages = Writes::most_pages) noexcept;
  /// Maps, in all blocks that are allocated, the parts that this process has written in others of
  /// their class. Stops at `end_ns` (of now_ns); returns whether there is more.
  bool map_ahead(std::uint64_t end_ns) noexcept;

  static constexpr std::uint64_t window_bytes = 64 << 10;
  static constexpr std::uint64_t table_covers = 2 << 20;
  /// The share of one process: page tables of all processes of the node take at most a 16th of the
  /// segment's memory, or 1 MiB each.
  [[nodiscard]] static std::uint64_t tables_of(const Geometry& geometry) noexcept;
  /// The most memory that one object for such a segment takes on the heap.
  [[nodiscard]] static std::uint64_t heap_bytes(const Geometry& geometry) noexcept;

 private:
  /// A set of numbers. Asking for a range costs a few nanoseconds: every put does.
  class Parts {
   public:
    void resize(std::uint64_t size) { words_ = std::vector<std::atomic<std::uint64_t>>(words_for(size)); }
    [[nodiscard]] static std::uint64_t words_for(std::uint64_t size) noexcept { return (size + 63) / 64; }
    [[nodiscard]] bool contains(std::uint64_t i) const noexcept {
      return (words_[i / 64].load(std::memory_order_relaxed) >> i % 64 & 1) != 0;
    }
    /// All of [first, last].
    [[nodiscard]] bool contains(std::uint64_t first, std::uint64_t last) const noexcept;
    [[nodiscard]] bool empty() const noexcept;
    /// Whether it is new.
    bool add(std::uint64_t i) noexcept {
      const std::uint64_t bit = std::uint64_t{1} << i % 64;
      return (words_[i / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    }
    void clear() noexcept {
      for (auto& word : words_) word.store(0, std::memory_order_relaxed);
    }

   private:
    std::vector<std::atomic<std::uint64_t>> words_;
  };

  /// A block: its class, and its number in the class.
  struct Block {
    BlockClass kind;
    std::uint32_t index;
  };

  /// The numbers in `covered_`; `in_table`: see in_table_.
  [[nodiscard]] static std::uint64_t most_covered(const Geometry& geometry, std::uint64_t in_table) noexcept {
    return (in_table + geometry.total_bytes) / table_covers + 1;
  }
  /// The numbers in `written_` of that class; a block is in one window more.
  [[nodiscard]] static std::uint64_t units_of(const BlockClassGeometry& kind) noexcept {
    return kind.stride() / window_bytes + 1;
  }
  [[nodiscard]] const BlockClassGeometry& geometry(BlockClass kind) const noexcept {
    return segment_.geometry().classes[kind];
  }
  [[nodiscard]] Extent extent(Block block) const noexcept {
    return segment_.blocks_at(geometry(block.kind).first + block.index, 1);
  }
  [[nodiscard]] Block block_with(std::uint64_t at) const noexcept;
  void count_tables(Extent part) noexcept;
  void map(Block block, Extent part) noexcept;
  void map_written_parts(Block block) noexcept;

  Segment& segment_;
  std::uint64_t most_tables_;
  std::atomic<std::uint64_t> tables_{0};  ///< those that this process has
  std::atomic<bool> dropping_{false};
  std::atomic<std::uint64_t> generation_;  ///< another one in each object, and after page tables were dropped
  Parts covered_;                          ///< what these cover, in units of table_covers
  std::uint64_t in_table_;                 ///< offset of the segment's begin in the range that a table covers
  std::uint64_t shift_;  ///< windows begin at multiples of window_bytes in the address space
  std::array<std::uint64_t, 2> windows_{};  ///< by class: the most windows that a block can be in
  std::array<Parts, 2> mapped_;   ///< by class: for each block its windows, from the one in which it begins
  std::array<Parts, 2> written_;  ///< by class: units of window_bytes, from the begin of a block
  std::array<std::uint64_t, 2> units_{};                    ///< by class: units that a block can have
  std::array<std::atomic<std::uint32_t>, 2> next_ahead_{};  ///< by class: the next block for `map_ahead`
};

}  // namespace afterbay::transport::shm
