// SPDX-License-Identifier: Apache-2.0
// Parts that came over MPI and wait for blocks of the server's segment.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "transport/mpi/room_wait.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::network {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t room_blocks = 16;
constexpr std::uint32_t reserved_blocks = 2;  ///< an eighth
constexpr std::uint64_t room_block_bytes = 16 << 10;

/// Ranks 0 and 1, which put frame 0. Rank 0 is behind: it has put nothing.
class RoomWaits : public ::testing::Test {
 protected:
  void SetUp() override {
    LinkSizes sizes;
    sizes.block_bytes = room_block_bytes;
    sizes.small_block_bytes = room_block_bytes;
    sizes.small_share = 0;
    sizes.memory_bytes = room_blocks * room_block_bytes;
    sizes.ring_bytes = 4 << 10;
    sizes.reply_bytes = 2 << 10;
    sizes.instances = 64;
    sizes.max_frames = 64;
    const shm::Geometry geometry = shm::make_geometry(sizes, 2).value();
    auto memory = shm::Mapping::create(geometry.total_bytes);
    ASSERT_TRUE(memory) << memory.error().message;
    segment_ =
        std::make_shared<shm::Segment>(shm::Segment::format(std::move(memory->mapping), geometry).value());
    pool_ = std::make_unique<shm::Pool>(segment_);
    ASSERT_TRUE(pool_->declare(std::vector<FrameDeclaration>{{room_block_bytes, {1}}}));
    pool_->publish(0, 0);
    pool_->publish(1, shm::order_of(1, 0));
  }

  static FrameSlot slot(std::uint64_t seq) { return {0, seq, room_block_bytes, 0, seq}; }
  [[nodiscard]] std::uint32_t waiters() const { return segment_->header().room_waiters.load(); }
  /// Rank 1 takes what it may have; returns the number of the first instance without a block.
  std::uint64_t fill() {
    std::uint64_t seq = 1;
    while (const auto view = pool_->try_acquire(slot(seq))) {
      held_.push_back(*view);
      ++seq;
    }
    return seq;
  }

  std::shared_ptr<shm::Segment> segment_;
  std::unique_ptr<shm::Pool> pool_;
  std::vector<FrameView> held_;
};

TEST_F(RoomWaits, without_room_the_wait_begins_once_and_ends_with_the_block) {
  RoomWait wait;
  ASSERT_TRUE(wait.acquire(*pool_, slot(0), 0, 1h));
  EXPECT_FALSE(wait.awaited());
  const std::uint64_t next = fill();
  for (std::uint64_t progress = 0; progress < 3; ++progress) {
    EXPECT_EQ(wait.acquire(*pool_, slot(next), progress, 1h).error(), shm::Refusal::slower_rank);
    ASSERT_TRUE(wait.awaited());
    EXPECT_EQ(wait.awaited()->order, shm::order_of(next, 0));
    EXPECT_EQ(wait.awaited()->seq, next);
    EXPECT_EQ(waiters(), 1u);
  }
  pool_->release(held_.front());
  EXPECT_TRUE(wait.acquire(*pool_, slot(next), 3, 1h));
  EXPECT_FALSE(wait.awaited());
  EXPECT_EQ(waiters(), 0u);
}

/// The slowest rank puts nothing for half of the deadline: its reserve is used, and no more.
TEST_F(RoomWaits, the_reserve_is_used_after_half_of_the_deadline_without_progress) {
  std::vector<RoomWait> waits(reserved_blocks + 1);
  const std::uint64_t next = fill();
  EXPECT_EQ(held_.size(), room_blocks - reserved_blocks);
  for (std::uint64_t i = 0; i <= reserved_blocks; ++i)
    EXPECT_EQ(waits[i].acquire(*pool_, slot(next + i), 7, 0ms).error(), shm::Refusal::slower_rank);
  EXPECT_EQ(waiters(), reserved_blocks + 1);
  for (std::uint64_t i = 0; i < reserved_blocks; ++i)
    EXPECT_TRUE(waits[i].acquire(*pool_, slot(next + i), 7, 0ms));
  EXPECT_EQ(waits.back().acquire(*pool_, slot(next + reserved_blocks), 7, 0ms).error(),
            shm::Refusal::no_block);
  EXPECT_EQ(waiters(), 1u);
}

/// The server works: the slowest rank may still come.
TEST_F(RoomWaits, progress_keeps_the_reserve_for_the_slowest_rank) {
  RoomWait wait;
  const std::uint64_t next = fill();
  for (std::uint64_t progress = 0; progress < 5; ++progress)
    EXPECT_EQ(wait.acquire(*pool_, slot(next), progress, 0ms).error(), shm::Refusal::slower_rank);
  for (std::size_t rank = 0; rank < 2; ++rank)
    pool_->publish(rank, shm::order_of(next, 0));  // nobody is behind
  EXPECT_TRUE(wait.acquire(*pool_, slot(next), 5, 0ms));
}

TEST_F(RoomWaits, a_part_that_is_given_up_waits_no_longer) {
  RoomWait wait;
  wait.end(*pool_);
  EXPECT_EQ(waiters(), 0u);
  const std::uint64_t next = fill();
  EXPECT_FALSE(wait.acquire(*pool_, slot(next), 0, 1h));
  wait.end(*pool_);
  wait.end(*pool_);
  EXPECT_FALSE(wait.awaited());
  EXPECT_EQ(waiters(), 0u);
}

}  // namespace
}  // namespace afterbay::transport::network
