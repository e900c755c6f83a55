// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/frame_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace afterbay::server {
namespace {

class ServerFrameOrder : public ::testing::Test {
 protected:
  using Begun = std::pair<std::uint32_t, std::uint64_t>;  ///< number of the frame, record

  ServerFrameOrder() { assert_role(ingest_thread); }

  void add(std::uint32_t collection, std::uint32_t number, std::uint64_t seq) {
    assert_role(ingest_thread);
    order_.add({collection, number}, seq, [this, number, seq] { begun_.emplace_back(number, seq); });
  }
  std::vector<Begun> take() { return std::exchange(begun_, {}); }

  FrameOrder order_;
  std::vector<Begun> begun_;
};

TEST_F(ServerFrameOrder, TasksOfAFrameRunOneAfterTheOther) {
  assert_role(ingest_thread);
  order_.allow(1, 9);
  add(1, 0, 3);
  add(1, 0, 4);
  add(1, 5, 3);
  EXPECT_EQ(take(), (std::vector<Begun>{{0, 3}, {5, 3}}));
  order_.done({1, 0});
  EXPECT_EQ(take(), (std::vector<Begun>{{0, 4}}));
  order_.done({1, 0});
  order_.done({1, 5});
  EXPECT_TRUE(take().empty());
  EXPECT_TRUE(order_.is_idle(1));
}

TEST_F(ServerFrameOrder, ATaskWaitsUntilThoseOfEarlierRecordsMayHaveBeenAdded) {
  assert_role(ingest_thread);
  add(1, 0, 2);
  add(1, 0, 1);
  EXPECT_TRUE(take().empty()) << "record 0 may still get a task";
  EXPECT_FALSE(order_.is_idle(1));
  order_.allow(1, 1);
  EXPECT_EQ(take(), (std::vector<Begun>{{0, 1}}));
  order_.done({1, 0});
  EXPECT_TRUE(take().empty()) << "record 1 may get another task";
  add(1, 0, 1);
  EXPECT_EQ(take(), (std::vector<Begun>{{0, 1}}));
  order_.allow(1, 2);
  EXPECT_TRUE(take().empty()) << "one at a time";
  order_.done({1, 0});
  EXPECT_EQ(take(), (std::vector<Begun>{{0, 2}}));
}

TEST_F(ServerFrameOrder, CollectionsDoNotWaitForEachOther) {
  assert_role(ingest_thread);
  add(1, 0, 5);
  add(2, 0, 5);
  order_.allow(2, 5);
  EXPECT_EQ(take().size(), 1u);
  EXPECT_FALSE(order_.is_idle(1));
  order_.done({2, 0});
  EXPECT_TRUE(order_.is_idle(2));
  order_.allow(2, 3);  // never falls
  add(2, 0, 4);
  EXPECT_EQ(take(), (std::vector<Begun>{{0, 4}}));
}

}  // namespace
}  // namespace afterbay::server
