// SPDX-License-Identifier: Apache-2.0
// MappedBlocks: blocks that another process has allocated are mapped with few page faults, before
// they are written, and mapping neither changes nor allocates anything.
#include "transport/shm/mapped_blocks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "unit/transport/huge_pages.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20, page = 4096;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

LinkSizes sizes() {
  LinkSizes it;
  it.block_bytes = 4 * mib;
  it.small_block_bytes = 64 * kib;
  it.small_share = 0.25;
  it.memory_bytes = 32 * mib;
  it.ring_bytes = 4 * kib;
  it.reply_bytes = 2 * kib;
  it.max_frames = 64;
  return it;
}

/// The segment as its server and a rank map it; both in this process.
class TransportMappedBlocks : public ::testing::Test {
 protected:
  TransportMappedBlocks()
      : geometry_(make_geometry(sizes(), 1).value()),
        memory_(Mapping::create(geometry_.total_bytes).value()),
        server_(
            Segment::format(Mapping::open(memory_.door.address(), geometry_.total_bytes).value(), geometry_)
                .value()),
        rank_(Segment::attach(Mapping::open(memory_.door.address(), geometry_.total_bytes).value(), geometry_)
                  .value()) {}

  /// As by the server, or by another rank.
  void allocate(std::uint32_t block) {
    ASSERT_TRUE(server_.allocate_block(block));
    std::memset(server_.block(block), 7, server_.blocks_at(block, 1).bytes);
  }
  [[nodiscard]] std::uint32_t small(std::uint32_t index) const {
    return geometry_.classes[small_blocks].first + index;
  }
  [[nodiscard]] Extent part(std::uint32_t block, std::uint64_t at, std::uint64_t bytes) const {
    return {rank_.blocks_at(block, 1).at + at, bytes};
  }
  [[nodiscard]] std::uint64_t allocated_bytes() const {
    struct stat info {};
    EXPECT_EQ(::fstat(memory_.door.fd(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  /// Pages of a part that are in the page table of the rank (Linux, admin-guide/mm/pagemap: bit
  /// 63).
  [[nodiscard]] std::uint64_t mapped_pages(Extent part) {
    const auto first = reinterpret_cast<std::uintptr_t>(rank_.mapping().data() + part.at) / page;
    std::vector<std::uint64_t> entries(part.bytes / page);
    const int pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const std::size_t bytes = entries.size() * sizeof(std::uint64_t);
    EXPECT_EQ(::pread(pagemap, entries.data(), bytes, static_cast<off_t>(first * sizeof(std::uint64_t))),
              static_cast<ssize_t>(bytes));
    ::close(pagemap);
    return static_cast<std::uint64_t>(
        std::ranges::count_if(entries, [](std::uint64_t entry) { return (entry >> 63) != 0; }));
  }
  /// Linux skips pages that it is about to move at that moment.
  [[nodiscard]] bool is_mapped(Extent part) {
    return mapped_pages(part) >= part.bytes / page - part.bytes / page / 8;
  }
  static long page_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  }

  Geometry geometry_;
  SharedMemory memory_;
  Segment server_;
  Segment rank_;
};

TEST_F(TransportMappedBlocks, what_will_be_written_is_mapped_many_pages_at_a_time) {
  allocate(0);
  MappedBlocks blocks(rank_);
  const Extent half = part(0, mib + page, 2 * mib);
  ASSERT_EQ(mapped_pages(half), 0U);
  const long before = page_faults();
  blocks.will_write(half);
  EXPECT_LT(page_faults() - before, 512 / 4);
  EXPECT_TRUE(is_mapped(half));
  if (!huge_pages_are_permitted()) {
    EXPECT_EQ(mapped_pages(part(0, 3 * mib + 128 * kib, 512 * kib)), 0U);
  }
}

TEST_F(TransportMappedBlocks, blocks_that_are_allocated_later_are_mapped_whole) {
  MappedBlocks blocks(rank_);
  for (std::uint32_t index = 0; index < 16; ++index) {
    allocate(small(index));
    const Extent all = part(small(index), 0, 64 * kib);
    blocks.will_write(all);
    EXPECT_TRUE(is_mapped(all))
        << "neighbours lie in one window, which was first mapped without the later block";
  }
}

TEST_F(TransportMappedBlocks, ahead_are_mapped_the_parts_that_were_written_in_other_blocks) {
  for (std::uint32_t block = 0; block < 3; ++block) allocate(block);
  MappedBlocks blocks(rank_);
  EXPECT_FALSE(blocks.map_ahead(no_end));
  for (std::uint32_t block = 0; block < 3; ++block)
    EXPECT_EQ(mapped_pages(part(block, 0, 4 * mib)), 0U) << "this rank may never write";
  blocks.will_write(part(0, 512 * kib, 512 * kib));
  EXPECT_FALSE(blocks.map_ahead(no_end)) << "block 3 is not allocated";
  EXPECT_TRUE(is_mapped(part(1, 512 * kib, 512 * kib)));
  EXPECT_EQ(mapped_pages(part(1, 2 * mib, 512 * kib)), 0U);
  allocate(3);
  blocks.will_write(part(0, 2 * mib, 512 * kib));
  EXPECT_FALSE(blocks.map_ahead(no_end));
  EXPECT_TRUE(is_mapped(part(2, 2 * mib, 512 * kib)));
  EXPECT_TRUE(is_mapped(part(3, 512 * kib, 512 * kib)));
}

TEST_F(TransportMappedBlocks, parts_with_few_written_pages_are_mapped_ahead_only) {
  for (std::uint32_t block = 0; block < 2; ++block) allocate(block);
  MappedBlocks blocks(rank_);
  blocks.will_write(part(0, 512 * kib, 512 * kib), Writes::some_pages);
  EXPECT_EQ(mapped_pages(part(0, 0, 4 * mib)), 0U) << "they are left to page faults";
  EXPECT_FALSE(blocks.map_ahead(no_end));
  EXPECT_TRUE(is_mapped(part(1, 512 * kib, 512 * kib)));
  EXPECT_EQ(mapped_pages(part(1, 2 * mib, 512 * kib)), 0U);
}

TEST_F(TransportMappedBlocks, mapping_ahead_stops_and_continues) {
  for (std::uint32_t block = 0; block < 3; ++block) allocate(block);
  MappedBlocks blocks(rank_);
  blocks.will_write(part(0, 0, mib));
  EXPECT_TRUE(blocks.map_ahead(0));
  EXPECT_EQ(mapped_pages(part(2, 0, mib)), 0U);
  EXPECT_FALSE(blocks.map_ahead(no_end));
  EXPECT_TRUE(is_mapped(part(2, 0, mib)));
}

TEST_F(TransportMappedBlocks, contents_are_unchanged_and_nothing_is_allocated) {
  allocate(0);
  allocate(small(0));
  const std::uint64_t allocated = allocated_bytes();
  MappedBlocks blocks(rank_);
  blocks.will_write(part(0, 0, 4 * mib));
  blocks.will_write(part(small(0), 60 * kib, 8 * kib));
  EXPECT_FALSE(blocks.map_ahead(no_end));
  EXPECT_EQ(allocated_bytes(), allocated) << "no neighbours of the blocks either";
  const std::byte* const first = rank_.block(0);
  EXPECT_TRUE(std::all_of(first, first + 4 * mib, [](std::byte byte) { return byte == std::byte{7}; }));
}

TEST_F(TransportMappedBlocks, announcing_is_done_once_per_block) {
  MappedBlocks blocks(rank_), others(rank_);
  AnnouncedBlocks known;
  const std::uint64_t first = part(0, 0, 1).at, second = part(small(3), 0, 1).at;
  EXPECT_FALSE(blocks.is_announced(first, known));
  EXPECT_TRUE(blocks.is_announced(first, known));
  EXPECT_TRUE(blocks.is_announced(first + mib, known)) << "in the same block";
  EXPECT_FALSE(blocks.is_announced(second, known));
  EXPECT_FALSE(blocks.is_announced(part(small(2), 0, 1).at, known));
  EXPECT_TRUE(blocks.is_announced(second, known));
  EXPECT_FALSE(others.is_announced(second, known)) << "of another server";
}

// ---- page tables

/// VmPTE of this process (Linux, filesystems/proc), in bytes.
std::uint64_t page_table_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmPTE:") continue;
    std::uint64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * kib;
  }
  return 0;
}

class TransportPageTables : public ::testing::Test {
 protected:
  TransportPageTables() {
    for (std::uint32_t block = 0; block < geometry_.classes[large_blocks].count; ++block)
      EXPECT_TRUE(server_.allocate_block(block));
  }
  static LinkSizes large() {
    LinkSizes it = sizes();
    it.memory_bytes = 256 * mib;
    return it;
  }
  void write(MappedBlocks& blocks, std::uint32_t block, std::uint64_t at, std::uint64_t bytes, int value) {
    blocks.will_write({rank_.blocks_at(block, 1).at + at, bytes});
    std::memset(rank_.block(block) + at, value, bytes);
  }
  void expect(std::uint32_t block, std::uint64_t at, std::uint64_t bytes, int value) {
    const std::byte* const first = server_.block(block) + at;
    EXPECT_TRUE(std::all_of(first, first + bytes, [&](std::byte it) { return it == std::byte(value); }))
        << "block " << block;
  }

  Geometry geometry_ = make_geometry(large(), 4).value();
  SharedMemory memory_ = Mapping::create(geometry_.total_bytes).value();
  Segment server_ =
      Segment::format(Mapping::open(memory_.door.address(), geometry_.total_bytes).value(), geometry_)
          .value();
  Segment rank_ =
      Segment::attach(Mapping::open(memory_.door.address(), geometry_.total_bytes).value(), geometry_)
          .value();
};

TEST_F(TransportPageTables, are_dropped_when_they_exceed_their_share) {
  if (huge_pages_are_permitted()) GTEST_SKIP() << "huge pages need no page tables";
  const std::uint32_t count = geometry_.classes[large_blocks].count;
  const std::uint64_t before = page_table_bytes();
  MappedBlocks blocks(rank_, 12);
  std::uint64_t most = 0;
  for (int round = 1; round < 4; ++round)
    for (std::uint32_t block = 0; block < count; ++block) {
      write(blocks, block, 0, 4 * mib, round * 16 + static_cast<int>(block % 16));
      EXPECT_FALSE(blocks.map_ahead(no_end));
      most = std::max(most, page_table_bytes());
    }
  for (std::uint32_t block = 0; block < count; ++block)
    expect(block, 0, 4 * mib, 48 + static_cast<int>(block % 16));
  // All blocks take 4 KiB per 2 MiB, 384 KiB; the share is 48 KiB. The address sanitizer's shadow
  // has tables too.
  EXPECT_LE(most - before, 192 * kib);
}

TEST_F(TransportPageTables, what_was_announced_is_announced_again_after_they_were_dropped) {
  MappedBlocks blocks(rank_, 4);
  AnnouncedBlocks known;
  const auto at = [&](std::uint32_t block) { return rank_.blocks_at(block, 1).at; };
  EXPECT_FALSE(blocks.is_announced(at(0), known));
  write(blocks, 0, 0, mib, 1);
  EXPECT_TRUE(blocks.is_announced(at(0), known));
  for (std::uint32_t block = 1; block < 6; ++block) write(blocks, block, 0, mib, 1);
  EXPECT_FALSE(blocks.is_announced(at(0), known));
}

TEST_F(TransportPageTables, of_a_share_that_is_enough_stay) {
  if (huge_pages_are_permitted()) GTEST_SKIP() << "huge pages need no page tables";
  const std::uint32_t count = geometry_.classes[large_blocks].count;
  const std::uint64_t before = page_table_bytes();
  MappedBlocks blocks(rank_);  // 4 ranks, 192 MiB: 3 MiB of tables each
  for (std::uint32_t block = 0; block < count; ++block) write(blocks, block, 0, 4 * mib, 1);
  EXPECT_GE(page_table_bytes() - before, 300 * kib);
}

TEST(TransportMappedBlocksShare, of_page_tables_is_a_16th_of_the_memory_for_all_ranks) {
  LinkSizes it = sizes();
  it.small_share = 0;
  it.memory_bytes = 64ULL << 30;
  it.max_frames = 1 << 16;
  EXPECT_EQ(MappedBlocks::tables_of(make_geometry(it, 128).value()), (32 * mib) / page);
  EXPECT_EQ(MappedBlocks::tables_of(make_geometry(it, 100000, 16).value()), (256 * mib) / page)
      << "ranks of other nodes do not count";
  it.memory_bytes = 32 * mib;
  EXPECT_EQ(MappedBlocks::tables_of(make_geometry(it, 128).value()), mib / page) << "1 MiB at least";
}

TEST_F(TransportPageTables, are_dropped_while_threads_write) {
  const std::uint32_t count = geometry_.classes[large_blocks].count;
  MappedBlocks blocks(rank_, 3);
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 1; round < 6; ++round)
        for (std::uint32_t block = 0; block < count; ++block)
          write(blocks, block, thread * mib, mib, round * 4 + static_cast<int>(thread));
    });
  threads.clear();
  for (std::uint32_t block = 0; block < count; ++block)
    for (std::uint64_t thread = 0; thread < 4; ++thread)
      expect(block, thread * mib, mib, 20 + static_cast<int>(thread));
}

}  // namespace
}  // namespace afterbay::transport::shm
