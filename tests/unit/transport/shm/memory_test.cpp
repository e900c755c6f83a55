// SPDX-License-Identifier: Apache-2.0
// Blocks that the system has no memory for: a limit on the size of files (RLIMIT_FSIZE) makes the
// kernel refuse the allocation of shared memory behind it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/free_memory.hpp"
#include "transport/shm/pool.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::uint32_t blocks = 32;
constexpr std::uint64_t block_bytes = 16 << 10;

LinkSizes link_sizes() {
  LinkSizes it;
  it.block_bytes = block_bytes;
  it.small_block_bytes = block_bytes;
  it.small_share = 0;
  it.memory_bytes = blocks * block_bytes;
  it.ring_bytes = 4 << 10;
  it.reply_bytes = 2 << 10;
  it.instances = 64;
  it.max_frames = 64;
  return it;
}

/// A segment whose file ends after the first `blocks_left` blocks and cannot grow.
class ScarceMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  void TearDown() override {
    lift();
    std::signal(SIGXFSZ, SIG_DFL);
  }
  void lift() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  std::shared_ptr<Segment> segment_with(std::uint32_t blocks_left) {
    const Geometry geometry = make_geometry(link_sizes(), 4).value();
    const Door file(::memfd_create("afterbay_test", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(file.fd(), static_cast<off_t>(geometry.total_bytes)), 0);
    auto mapping = Mapping::open(file.address(), geometry.total_bytes);
    auto segment = std::make_shared<Segment>(Segment::format(*std::move(mapping), geometry).value());
    const BlockClassGeometry& large = geometry.classes[large_blocks];
    const rlim_t end = large.at + blocks_left * large.stride();
    EXPECT_EQ(::ftruncate(file.fd(), static_cast<off_t>(end)), 0);
    rlimit limit = before_;
    limit.rlim_cur = end;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    return segment;
  }

  static FrameSlot slot(std::uint64_t seq) { return {0, seq, block_bytes, 0, seq}; }

 private:
  rlimit before_{};
};

TEST_F(ScarceMemory, what_is_there_is_used_and_the_rest_is_withdrawn) {
  Pool pool(segment_with(5));
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{block_bytes, {1}}}));
  EXPECT_EQ(pool.capacity_bytes(), blocks * block_bytes);
  EXPECT_EQ(pool.allocated_bytes(), 0u);
  std::vector<FrameView> taken;
  for (std::uint64_t seq = 0; seq < 5; ++seq) {
    const auto view = pool.try_acquire(slot(seq), Blocks::all);
    ASSERT_TRUE(view) << seq;
    std::ranges::fill(view->buffer, std::byte{7});
    taken.push_back(*view);
  }
  EXPECT_EQ(pool.memory_error(), 0);
  EXPECT_EQ(pool.try_acquire(slot(5), Blocks::all).error(), Refusal::no_block);
  EXPECT_EQ(pool.memory_error(), EFBIG);
  EXPECT_EQ(pool.capacity_bytes(), 5 * block_bytes);
  EXPECT_EQ(pool.used_bytes(), 5 * block_bytes);
  EXPECT_TRUE(pool.is_short());

  pool.release(taken[2]);
  EXPECT_EQ(pool.used_bytes(), 4 * block_bytes);
  ASSERT_TRUE(pool.try_acquire(slot(5), Blocks::all));
  EXPECT_EQ(pool.try_acquire(slot(6), Blocks::all).error(), Refusal::no_block);

  while (pool.allocate_ahead()) {  // faults existing blocks in
  }
  EXPECT_EQ(pool.capacity_bytes(), 5 * block_bytes);
  lift();
  const std::uint64_t end = now_ns() + 10'000'000'000;
  while (pool.memory_error() != 0 && now_ns() < end) {
    while (pool.is_short() && pool.allocate_ahead()) {
    }
    for (std::uint64_t seq = 6; seq < blocks; ++seq) (void)pool.try_acquire(slot(seq), Blocks::all);
  }
  EXPECT_EQ(pool.memory_error(), 0);
  EXPECT_EQ(pool.capacity_bytes(), blocks * block_bytes);
}

TEST_F(ScarceMemory, none_at_all_is_a_refusal) {
  Pool pool(segment_with(0));
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{block_bytes, {1}}}));
  EXPECT_EQ(pool.try_acquire(slot(0), Blocks::all).error(), Refusal::no_memory);
  EXPECT_EQ(pool.capacity_bytes(), 0u);
  EXPECT_EQ(pool.used_bytes(), 0u);
}

// Counts must be consistent whatever the order in which processes find that memory is exhausted.
TEST_F(ScarceMemory, threads_that_meet_the_end_of_memory_neither_hang_nor_lose_blocks) {
  for (int round = 0; round < 20; ++round) {
    auto segment = segment_with(6);
    Pool pool(segment);
    ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(4, FrameDeclaration{block_bytes, {1}})));
    std::atomic<int> held{0};
    std::atomic<int> most{0};
    std::array<std::atomic<int>, blocks> owners{};
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          FrameTable table(*segment, t);
          std::minstd_rand random(t + 1);
          std::vector<std::uint32_t> mine;
          for (std::uint64_t seq = 0; seq < 300; ++seq) {
            if (const auto block = table.acquire({t, seq, block_bytes, 0, seq}, Blocks::all)) {
              mine.push_back(*block);
              EXPECT_EQ(owners[*block]++, 0) << *block;
              const int now = ++held;
              for (int peak = most; now > peak && !most.compare_exchange_weak(peak, now);) {
              }
            }
            while (!mine.empty() && (random() % 2 == 0 || mine.size() > 3)) {
              --held;
              --owners[mine.back()];
              table.release(mine.back());
              mine.pop_back();
            }
          }
          for (const std::uint32_t block : mine) {
            --held;
            --owners[block];
            table.release(block);
          }
        });
      }
    }
    lift();
    EXPECT_LE(most, 6);
    EXPECT_EQ(pool.used_bytes(), 0u);
    if (pool.memory_error() == 0) continue;  // no more than six were needed at once
    EXPECT_EQ(pool.capacity_bytes(), 6 * block_bytes);
    for (std::uint64_t seq = 1000; seq < 1006; ++seq)
      EXPECT_TRUE(pool.try_acquire(slot(seq), Blocks::all)) << seq;
    EXPECT_FALSE(pool.try_acquire(slot(1006), Blocks::all));
  }
}

TEST(FreeMemory, is_known_here_and_less_than_all) {
  const auto free = free_memory();
  ASSERT_TRUE(free);
  EXPECT_GT(*free, 0u);
  EXPECT_LT(*free, static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace afterbay::transport::shm
