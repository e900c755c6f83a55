// SPDX-License-Identifier: Apache-2.0
#include "server/input_room.hpp"

#include <gtest/gtest.h>

namespace afterbay::server {
namespace {

TEST(ServerInputRoom, parts_do_not_overlap_and_begin_on_pages) {
  InputRoom room(10 * 4096);
  EXPECT_EQ(room.take(1), 0u);
  EXPECT_EQ(room.take(4097), 4096u);
  EXPECT_EQ(room.take(7 * 4096), 3u * 4096);
  EXPECT_FALSE(room.take(1));
}

TEST(ServerInputRoom, neighbours_that_come_back_are_one_again) {
  InputRoom room(4 * 4096);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(room.take(4096), i * 4096);
  room.give_back(0, 4096);
  room.give_back(2 * 4096, 4096);
  EXPECT_FALSE(room.take(2 * 4096));  // there is as much, but apart
  room.give_back(4096, 4096);         // joins both
  EXPECT_EQ(room.take(3 * 4096), 0u);
  room.give_back(3 * 4096, 4096);
  room.give_back(0, 3 * 4096);
  EXPECT_EQ(room.take(4 * 4096), 0u);
}

TEST(ServerInputRoom, what_can_never_fit_is_not_given) {
  InputRoom room(4096);
  EXPECT_FALSE(room.take(4097));
  EXPECT_TRUE(room.take(4096));
}

}  // namespace
}  // namespace afterbay::server
