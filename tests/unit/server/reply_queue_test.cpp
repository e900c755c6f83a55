// SPDX-License-Identifier: Apache-2.0
#include "server/reply_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace afterbay::server {
namespace {

using Queue = ReplyQueue<int>;
using Found = std::vector<std::pair<std::size_t, int>>;

/// Sends as many as it may, of `bytes` each.
Found send_all(Queue& queue, std::uint64_t bytes) {
  Found sent;
  while (const auto next = queue.next()) {
    queue.began(next->first, bytes);
    sent.push_back(*next);
  }
  return sent;
}

TEST(ServerReplyQueue, ranks_take_turns_and_each_gets_its_replies_in_order) {
  Queue queue({.bytes = 1000, .bytes_of_rank = 1000, .replies_of_rank = 100});
  for (const int reply : {1, 2, 3}) queue.add(7, reply);
  for (const int reply : {4, 5}) queue.add(2, reply);
  EXPECT_EQ(queue.waiting(), 5u);
  EXPECT_EQ(send_all(queue, 10), (Found{{7, 1}, {2, 4}, {7, 2}, {2, 5}, {7, 3}}));
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(queue.bytes_in_transit(), 50u);
}

TEST(ServerReplyQueue, a_rank_that_does_not_receive_holds_up_only_itself) {
  Queue queue({.bytes = 1000, .bytes_of_rank = 20, .replies_of_rank = 100});
  for (int reply = 0; reply < 5; ++reply) queue.add(0, reply);
  queue.add(1, 10);
  EXPECT_EQ(send_all(queue, 15), (Found{{0, 0}, {1, 10}, {0, 1}}));
  queue.sent(0, 15);
  EXPECT_EQ(send_all(queue, 15), (Found{{0, 2}}));
  queue.sent(1, 15);
  EXPECT_EQ(send_all(queue, 15), Found());
}

TEST(ServerReplyQueue, small_replies_are_limited_in_number) {
  Queue queue({.bytes = 1000, .bytes_of_rank = 1000, .replies_of_rank = 2});
  for (int reply = 0; reply < 3; ++reply) queue.add(0, reply);
  EXPECT_EQ(send_all(queue, 0), (Found{{0, 0}, {0, 1}}));
  queue.sent(0, 0);
  EXPECT_EQ(send_all(queue, 0), (Found{{0, 2}}));
}

TEST(ServerReplyQueue, a_reply_larger_than_all_limits_is_sent_alone) {
  Queue queue({.bytes = 10, .bytes_of_rank = 10, .replies_of_rank = 4});
  queue.add(0, 1);
  queue.add(1, 2);
  EXPECT_EQ(send_all(queue, 100), (Found{{0, 1}}));
  queue.sent(0, 100);
  EXPECT_EQ(send_all(queue, 100), (Found{{1, 2}}));
  EXPECT_EQ(queue.peak_bytes(), 100u);
}

TEST(ServerReplyQueue, a_reply_that_turned_out_to_be_an_error_takes_no_room) {
  Queue queue({.bytes = 10, .bytes_of_rank = 10, .replies_of_rank = 1});
  queue.add(0, 1);
  queue.add(0, 2);
  EXPECT_EQ(queue.next()->second, 1);
  EXPECT_EQ(queue.next()->second, 2);
}

/// MPI may never send what is in transit to a rank that has died.
TEST(ServerReplyQueue, what_is_in_transit_to_a_rank_that_is_gone_takes_nothing_from_others) {
  Queue queue({.bytes = 20, .bytes_of_rank = 100, .replies_of_rank = 4});
  for (int reply = 0; reply < 3; ++reply) queue.add(0, reply);
  for (int reply = 10; reply < 13; ++reply) queue.add(1, reply);
  EXPECT_EQ(send_all(queue, 10), (Found{{0, 0}, {1, 10}}));
  EXPECT_EQ(queue.bytes_in_transit(), 20u);
  std::vector<int> removed;
  queue.forget(0, [&](int reply) { removed.push_back(reply); });
  EXPECT_EQ(removed, (std::vector<int>{1, 2}));
  EXPECT_EQ(queue.bytes_in_transit(), 10u);
  EXPECT_EQ(send_all(queue, 10), (Found{{1, 11}})) << "with the share of the rank that is gone";
  queue.sent(0, 10);  // it arrived after all
  EXPECT_EQ(queue.bytes_in_transit(), 20u);
  EXPECT_EQ(send_all(queue, 10), Found());
  queue.sent(1, 10);
  EXPECT_EQ(send_all(queue, 10), (Found{{1, 12}}));
}

TEST(ServerReplyQueue, what_waits_for_a_rank_that_is_gone_is_removed) {
  Queue queue({.bytes = 100, .bytes_of_rank = 10, .replies_of_rank = 4});
  for (int reply = 0; reply < 3; ++reply) queue.add(0, reply);
  queue.add(1, 7);
  EXPECT_EQ(send_all(queue, 10), (Found{{0, 0}, {1, 7}}));
  std::vector<int> removed;
  queue.forget(0, [&](int reply) { removed.push_back(reply); });
  queue.forget(5, [&](int reply) { removed.push_back(reply); });
  EXPECT_EQ(removed, (std::vector<int>{1, 2}));
  queue.sent(0, 10);
  EXPECT_EQ(send_all(queue, 10), Found());
  EXPECT_EQ(queue.waiting(), 0u);
}

// Everything is sent in the end, in the order of each rank, and the sums stay within the limits.
TEST(ServerReplyQueue, random_replies_all_arrive_within_the_limits) {
  std::mt19937 random(1);
  Queue queue({.bytes = 300, .bytes_of_rank = 100, .replies_of_rank = 3});
  std::vector<std::pair<std::size_t, std::uint64_t>> in_transit;
  std::vector<int> last(9, -1);
  int added = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    if (added < 5000 && random() % 2 == 0) queue.add(random() % last.size(), added++);
    if (!in_transit.empty() && random() % 2 == 0) {
      std::swap(in_transit[random() % in_transit.size()], in_transit.back());
      queue.sent(in_transit.back().first, in_transit.back().second);
      in_transit.pop_back();
    }
    if (const auto next = queue.next()) {
      EXPECT_LT(last[next->first], next->second);
      last[next->first] = next->second;
      in_transit.emplace_back(next->first, random() % 60);
      queue.began(next->first, in_transit.back().second);
    }
    EXPECT_LT(queue.bytes_in_transit(), 300u + 60);
    EXPECT_LE(std::ranges::count(in_transit, std::size_t{0}, &std::pair<std::size_t, std::uint64_t>::first),
              3);
  }
  EXPECT_EQ(added, 5000);
  EXPECT_EQ(queue.waiting(), 0u);
}

}  // namespace
}  // namespace afterbay::server
