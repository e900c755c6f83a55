// SPDX-License-Identifier: Apache-2.0
// DeadlineWatch without a server: which waits end a session, and after how long. Times are given to
// each call.
#include "server/deadlines/deadline_watch.hpp"

#include <gtest/gtest.h>

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t second_ns = 1'000'000'000;

/// A deadline of 10 s, which begins at `start_`.
class ServerDeadlineWatch : public ::testing::Test {
 protected:
  ServerDeadlineWatch() { look(0); }
  bool look(std::uint64_t second, DeadlineWatch::Waits waits = {}) {
    return watch_.has_expired(waits, start_ + second * second_ns);
  }

  static constexpr DeadlineWatch::Waits for_others{.others = true};
  static constexpr DeadlineWatch::Waits for_room{.ranks_for_room = 2};
  static constexpr DeadlineWatch::Waits overdue{.overdue_ticket = true};

  DeadlineWatch watch_{10s};
  const std::uint64_t start_ = [this] {
    watch_.add_activity(1);  // the deadline begins when this is seen
    return now_ns() + second_ns;
  }();
};

TEST_F(ServerDeadlineWatch, IsDueAtIntervals) {
  EXPECT_TRUE(watch_.is_due(start_));
  EXPECT_FALSE(watch_.is_due(start_ + second_ns / 5));
  EXPECT_TRUE(watch_.is_due(start_ + second_ns / 4));
  EXPECT_FALSE(watch_.is_due(start_ + second_ns / 3));
}

TEST_F(ServerDeadlineWatch, ExpiresIfRanksWaitAndNothingArrives) {
  EXPECT_FALSE(look(9, for_others));
  EXPECT_TRUE(look(10, for_others));
}

TEST_F(ServerDeadlineWatch, NeverExpiresIfNobodyWaits) { EXPECT_FALSE(look(1000)); }

TEST_F(ServerDeadlineWatch, BeginsAgainWithEachActivity) {
  watch_.add_activity(3);
  EXPECT_FALSE(look(9, for_others));  // sees it
  EXPECT_FALSE(look(18, for_others));
  EXPECT_TRUE(look(19, for_others));
  EXPECT_TRUE(watch_.is_stalled(start_ + 20 * second_ns));
  watch_.add_activity(1);
  EXPECT_FALSE(watch_.is_stalled(start_ + 21 * second_ns));
}

TEST_F(ServerDeadlineWatch, RanksMayWaitForRoomAsLongAsTheDeadline) {
  EXPECT_FALSE(look(15, for_room));  // stalled for longer, but the wait begins here
  EXPECT_FALSE(look(25, for_room));
  EXPECT_TRUE(look(26, for_room));
}

TEST_F(ServerDeadlineWatch, AWaitForRoomThatEndedBeginsAnew) {
  EXPECT_FALSE(look(15, for_room));
  EXPECT_FALSE(look(20));
  EXPECT_FALSE(look(26, for_room));
  EXPECT_FALSE(look(36, for_room));
  EXPECT_TRUE(look(37, for_room));
}

TEST_F(ServerDeadlineWatch, AFullMemoryIsNoReasonWhileOthersMove) {
  EXPECT_FALSE(look(5, for_room));
  watch_.add_activity(1);
  EXPECT_FALSE(look(16, for_room));
}

TEST_F(ServerDeadlineWatch, AnOverdueTicketExpiresAlthoughOthersMove) {
  watch_.add_activity(1);
  EXPECT_TRUE(look(1, overdue));
}

TEST_F(ServerDeadlineWatch, WaitsForTheDisk) {
  EXPECT_FALSE(look(20, {.others = true, .writing = true}));
  EXPECT_FALSE(look(20, {.overdue_ticket = true, .writing = true}));
  EXPECT_FALSE(look(40, {.ranks_for_room = 1, .writing = true}));
}

}  // namespace
}  // namespace afterbay::server
