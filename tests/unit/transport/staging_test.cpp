// SPDX-License-Identifier: Apache-2.0
// Memory of segments: of a rank (Staging), of a server (ReceiveMemory), of a frontend (Channel).
#include "transport/mpi/staging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "transport/mpi/receive_memory.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport {
namespace {

using network::ReceiveMemory;
using network::segment_capacity;
using network::SegmentMemory;
using network::small_segment_bytes;
using network::Staging;
using relay::Channel;
using relay::channel_geometry;
using relay::ChannelEnd;
using ::testing::HasSubstr;

constexpr std::uint64_t kib = 1024;

LinkSizes sizes_with(std::uint32_t segments) {
  LinkSizes sizes;
  sizes.block_bytes = sizes.segment_bytes = 256 * kib;
  sizes.segments = segments;
  return sizes;
}

TEST(TransportStaging, memory_of_a_rank_does_not_depend_on_the_number_of_servers) {
  const LinkSizes sizes;  // the defaults
  const auto few = Staging::make(sizes, 1, true).value();
  const auto many = Staging::make(sizes, 1000, true).value();
  for (const auto& staging : {few, many}) {
    EXPECT_EQ(staging->segments(), sizes.segments);
    EXPECT_EQ(staging->allocated_bytes(), 0u);
    std::uint64_t taken = 0;
    while (const auto segment = staging->take({.bytes = 100})) {
      ASSERT_TRUE(staging->allocate(*segment, segment->capacity));
      std::memset(segment->data, 1, segment->capacity);
      taken += segment->capacity;
    }
    EXPECT_EQ(staging->allocated_bytes(), taken);
    EXPECT_LE(taken, std::uint64_t{50} << 20);
  }
}

TEST(TransportStaging, links_between_servers_take_kibibytes) {
  const auto staging = Staging::make(LinkSizes(), 1000, false).value();
  EXPECT_EQ(staging->capacity(), small_segment_bytes);
  EXPECT_FALSE(staging->take({.bytes = small_segment_bytes + 1}));
  std::uint64_t taken = 0;
  while (const auto segment = staging->take({.bytes = 1, .prefers_large = true})) taken += segment->capacity;
  EXPECT_LE(taken, std::uint64_t{16} << 20);
}

TEST(TransportStaging, segments_do_not_overlap_and_come_back) {
  const auto staging = Staging::make(sizes_with(3), 2, true).value();
  std::vector<SegmentMemory> taken;
  while (const auto segment = staging->take({.bytes = 1, .prefers_large = true})) {
    ASSERT_TRUE(staging->allocate(*segment, segment->capacity));
    std::memset(segment->data, static_cast<int>(taken.size() + 1), segment->capacity);
    taken.push_back(*segment);
  }
  ASSERT_EQ(taken.size(), 3u + 4u) << "three large ones, two small ones for each link";
  for (std::size_t i = 0; i < taken.size(); ++i)
    for (const std::size_t at : {std::uint64_t{0}, taken[i].capacity - 1})
      EXPECT_EQ(taken[i].data[at], std::byte(i + 1));
  for (const SegmentMemory& segment : taken) staging->give_back(segment);
  const std::uint64_t allocated = staging->allocated_bytes();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto again = staging->take({.bytes = 1, .prefers_large = true});
    ASSERT_TRUE(again && staging->allocate(*again, again->capacity));
  }
  EXPECT_EQ(staging->allocated_bytes(), allocated) << "memory is used again";
}

TEST(TransportStaging, small_data_take_small_segments_and_a_busy_link_leaves_the_last_large_one) {
  const auto staging = Staging::make(sizes_with(3), 2, true).value();
  EXPECT_FALSE(staging->take({.bytes = 100})->large);
  EXPECT_TRUE(staging->take({.bytes = small_segment_bytes + 1})->large);
  EXPECT_TRUE(staging->take({.bytes = 100, .prefers_large = true, .large_held = 1})->large);
  EXPECT_FALSE(staging->take({.bytes = small_segment_bytes + 1, .large_held = 2}));
  EXPECT_FALSE(staging->take({.bytes = 100, .prefers_large = true, .large_held = 2})->large);
  EXPECT_TRUE(staging->take({.bytes = small_segment_bytes + 1, .large_held = 1})->large);
  const auto alone = Staging::make(sizes_with(3), 1, true).value();
  for (std::size_t held = 0; held < 3; ++held)
    EXPECT_TRUE(alone->take({.bytes = small_segment_bytes + 1, .large_held = held}));
}

TEST(TransportReceiveMemory, large_buffers_are_bounded_and_used_again) {
  LinkSizes sizes = sizes_with(8);
  sizes.receive_bytes = 3 * segment_capacity(sizes) + 1;
  ReceiveMemory memory(sizes);
  ASSERT_EQ(memory.free_large(), 3u);
  std::vector<ReceiveMemory::Buffer> taken;
  while (memory.free_large() > 0) taken.push_back(memory.take(small_segment_bytes + 1));
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].capacity, segment_capacity(sizes));
  for (int i = 0; i < 100; ++i) memory.give_back(memory.take(100));
  const std::byte* const first = taken.back().data.get();
  memory.give_back(std::move(taken.back()));
  EXPECT_EQ(memory.free_large(), 1u);
  EXPECT_EQ(memory.take(small_segment_bytes + 1).data.get(), first);
  EXPECT_EQ(memory.allocated_bytes(), 3 * segment_capacity(sizes));
  sizes.receive_bytes = 1;
  EXPECT_EQ(ReceiveMemory::count(sizes), 2u) << "one is for the slowest rank";
}

TEST(TransportChannel, a_frontend_of_many_ranks_and_servers_starts_with_the_default) {
  const LinkSizes sizes;
  for (const std::size_t ranks : {1, 64, 65, 128})
    for (const std::size_t servers : {1, 16, 1000}) {
      const auto shares = relay::divide(0, ranks, servers, sizes);
      ASSERT_TRUE(shares) << shares.error().text();
      EXPECT_GE(shares->common, ranks / 2);
      EXPECT_GE(shares->small, 2u);
      const auto geometry = channel_geometry(ranks, servers, *shares, sizes);
      EXPECT_LE(geometry.total_bytes(), std::uint64_t{1} << 30)
          << ranks << " ranks, " << servers << " servers";
    }
}

TEST(TransportChannel, too_little_memory_is_refused_with_the_calculation) {
  const auto shares = relay::divide(std::uint64_t{1} << 30, 300, 2, LinkSizes());
  ASSERT_FALSE(shares);
  EXPECT_EQ(shares.error().code, ErrorCode::resources);
  EXPECT_THAT(shares.error().message, HasSubstr("for each of its 300 model ranks"));
  EXPECT_THAT(shares.error().message, HasSubstr("raise memory.frontend or frontends_per_node"));
}

/// The channel of two ranks, in this process.
class ChannelOfTwo : public ::testing::Test {
 protected:
  ChannelOfTwo() {
    const LinkSizes sizes = sizes_with(8);
    const auto geometry = channel_geometry(2, 3, {.small = 2, .common = 2}, sizes);
    channel_ = Channel::format(shm::Mapping::anonymous(geometry.total_bytes()).value(), geometry).value();
    for (std::size_t r = 0; r < 2; ++r)
      ends_.push_back(
          std::make_unique<ChannelEnd>(channel_, r, "the frontend", "host", std::chrono::milliseconds(1000)));
  }
  std::vector<SegmentMemory> take_all_large(std::size_t rank) {
    std::vector<SegmentMemory> taken;
    while (const auto it = ends_[rank]->take({.bytes = 100 * kib, .large_held = 0})) taken.push_back(*it);
    return taken;
  }
  [[nodiscard]] bool wants(std::size_t rank) const { return channel_->slot(rank).wants_segment.load() != 0; }

  std::shared_ptr<Channel> channel_;
  std::vector<std::unique_ptr<ChannelEnd>> ends_;
};

TEST_F(ChannelOfTwo, a_rank_that_takes_all_leaves_the_other_its_own_segment) {
  const auto first = take_all_large(0);
  EXPECT_EQ(first.size(), 3u) << "its own and both common ones";
  EXPECT_TRUE(wants(0)) << "the frontend wakes it for the next";
  const auto second = take_all_large(1);
  ASSERT_EQ(second.size(), 1u);
  std::set<std::byte*> memory;
  for (const auto& all : {first, second})
    for (const SegmentMemory& it : all) {
      memory.insert(it.data);
      ASSERT_TRUE(ends_[0]->allocate(it, it.capacity));
      std::memset(it.data, 1, it.capacity);
    }
  EXPECT_EQ(memory.size(), 4u);
  channel_->state(first[1].number).free();  // the frontend has sent it
  EXPECT_TRUE(ends_[0]->returned(first[1]));
  EXPECT_FALSE(ends_[0]->returned(first[2]));
  EXPECT_EQ(take_all_large(1).size(), 1u);
}

TEST_F(ChannelOfTwo, a_segment_that_comes_back_in_another_turn_counts_as_returned) {
  const auto one = ends_[0]->take({.bytes = 100 * kib}).value();
  const auto before = one;
  channel_->state(one.number).free();
  const auto again = ends_[1]->take({.bytes = 100 * kib});  // its own
  ASSERT_TRUE(again);
  EXPECT_NE(again->number, one.number);
  EXPECT_TRUE(ends_[0]->returned(before));
  const auto next = ends_[0]->take({.bytes = 100 * kib}).value();
  EXPECT_EQ(next.number, before.number);
  EXPECT_TRUE(ends_[0]->returned(before)) << "although the rank has the memory again, for another link";
  EXPECT_FALSE(ends_[0]->returned(next));
  EXPECT_TRUE(channel_->state(again->number).is_held_by(1));
  EXPECT_FALSE(channel_->may_use(0, again->number)) << "a note about another rank's segment is ignored";
  EXPECT_FALSE(channel_->may_use(0, 1000));
}

TEST_F(ChannelOfTwo, small_segments_are_the_ranks_own) {
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(ends_[rank]->take({.bytes = 100})->large);
    EXPECT_FALSE(ends_[rank]->take({.bytes = 100})->large);
    EXPECT_TRUE(ends_[rank]->take({.bytes = 100})->large) << "its small ones are in use";
  }
}

}  // namespace
}  // namespace afterbay::transport
