// SPDX-License-Identifier: Apache-2.0
// The number of records of a frame in memory: as many as there are blocks, and the size of their
// table.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "transport/shm/pool.hpp"
#include "transport/thread/hub.hpp"

namespace afterbay::transport::shm {
namespace {

// Before, 1024 was the maximum, however many blocks were free.
TEST(ThreadHubFrames, records_in_flight_are_bounded_by_memory_alone_beyond_a_thousand) {
  constexpr std::uint32_t blocks = 3000;
  LinkSizes sizes;
  sizes.small_share = 0;
  sizes.max_frames = 64;
  sizes.block_bytes = sizes.small_block_bytes = 4 << 10;
  sizes.memory_bytes = blocks * sizes.block_bytes;
  auto made = ThreadHub::make(1, {sizes, WaitPolicy{Millis(30'000)}, 0});
  ASSERT_TRUE(made) << made.error().text();
  ThreadHub hub = *std::move(made);
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{8, {1}}}));
  EXPECT_GE(pool.most_instances(), blocks);
  for (std::uint64_t seq = 0; seq < blocks; ++seq)
    ASSERT_TRUE(hub.clients[0]->reserve({0, seq, 8, 0, seq}, 0, 8, false)) << seq;
  EXPECT_EQ(pool.used_bytes(), pool.capacity_bytes());
  EXPECT_EQ(pool.older_refusals(), 0u);
  for (std::uint64_t seq = 0; seq < blocks; ++seq) ASSERT_TRUE(pool.find(0, seq)) << seq;
}

/// With 4 GiB there are 2944 blocks. A table of that many places for each of 65536 frames would be
/// disproportionately large.
TEST(TransportGeometry, the_table_of_records_takes_a_small_share_of_the_memory) {
  LinkSizes sizes;
  sizes.memory_bytes = std::uint64_t{4} << 30;
  const Geometry g = make_geometry(sizes, 2).value();
  EXPECT_EQ(g.blocks(), 2944u);
  EXPECT_EQ(g.places * 8, sizes.max_frames * 64 * 8 + (sizes.memory_bytes >> 6));
  auto memory = Mapping::anonymous(g.total_bytes);
  ASSERT_TRUE(memory);
  auto segment = std::make_shared<Segment>(Segment::format(*std::move(memory), g).value());
  Pool pool(segment);
  std::uint64_t end = 0;
  std::uint32_t known = 0;
  const auto declare = [&](std::size_t frames, std::uint64_t bytes) {
    ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(frames, FrameDeclaration{bytes, {1}})));
    for (std::size_t f = 0; f < frames; ++f, ++known) {
      EXPECT_EQ(segment->frame(known).first_place, end);
      end += segment->frame(known).places;
    }
  };
  declare(400, 8);
  EXPECT_EQ(segment->frame(known - 1).places, 4096u);
  declare(400, sizes.block_bytes);
  EXPECT_EQ(segment->frame(known - 1).places, 1024u) << "there are 896 large blocks";
  declare(2000, 8);
  EXPECT_EQ(segment->frame(known - 1).places, 1024u) << "half of what was left for 2000 frames";
  declare(sizes.max_frames - known, 8);
  EXPECT_EQ(segment->frame(known - 1).places, 64u);
  EXPECT_EQ(pool.most_instances(), 64u);
  EXPECT_LE(end, g.places);
}

}  // namespace
}  // namespace afterbay::transport::shm
