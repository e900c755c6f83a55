// SPDX-License-Identifier: Apache-2.0
#include "server/tickets.hpp"

#include <gtest/gtest.h>

#include <set>

namespace afterbay::server {
namespace {

using Answers = std::vector<std::pair<std::size_t, std::uint64_t>>;

class ServerTickets : public ::testing::Test {
 protected:
  void answer_written() {
    tickets_.answer_written([this](const Ticket& ticket) { return written_.contains(ticket.strings); });
  }

  Answers answers_;
  std::set<std::uint64_t> written_;  ///< numbers of strings, which stand for any work here
  Tickets tickets_{[this](std::size_t peer, std::uint64_t number) { answers_.emplace_back(peer, number); }};
};

TEST_F(ServerTickets, AreAnsweredOnceWhatWasPutBeforeIsWritten) {
  tickets_.add({.peer = 2, .number = 5, .bounds = {}, .files = {}, .strings = 10});
  tickets_.add({.peer = 1, .number = 9, .bounds = {}, .files = {}, .strings = 11});
  answer_written();
  EXPECT_EQ(answers_, Answers{});
  written_ = {11};
  answer_written();
  EXPECT_EQ(answers_, (Answers{{1, 9}}));
  EXPECT_TRUE(tickets_.has(2, 5));
  EXPECT_FALSE(tickets_.has(1, 9));
  EXPECT_FALSE(tickets_.has(2, 9));
  written_ = {10, 11};
  answer_written();
  answer_written();
  EXPECT_EQ(answers_, (Answers{{1, 9}, {2, 5}}));
  EXPECT_TRUE(tickets_.open().empty());
}

TEST_F(ServerTickets, AnAnswerEndsTheWaitOfThatRankForThatTicketOnly) {
  tickets_.add_waiter(0, 1, 100);
  tickets_.add_waiter(0, 2, 100);
  tickets_.add_waiter(3, 1, 100);
  tickets_.answer(0, 1);
  EXPECT_EQ(tickets_.waiters(), 2u);
  EXPECT_EQ(answers_, (Answers{{0, 1}}));
}

TEST_F(ServerTickets, KnowHowLongTheyAreWaitedFor) {
  EXPECT_FALSE(tickets_.waited_longer(0, 1000));
  tickets_.add_waiter(0, 1, 100);
  tickets_.add_waiter(1, 1, 500);
  EXPECT_FALSE(tickets_.waited_longer(400, 500));
  EXPECT_TRUE(tickets_.waited_longer(400, 501));
  tickets_.answer(0, 1);
  EXPECT_FALSE(tickets_.waited_longer(400, 501));
}

TEST_F(ServerTickets, OfAFailedSessionAreForgotten) {
  tickets_.add({.peer = 2, .number = 5, .bounds = {}, .files = {}, .strings = 10});
  tickets_.add_waiter(2, 5, 1);
  tickets_.clear();
  written_ = {10};
  answer_written();
  EXPECT_EQ(answers_, Answers{});
  EXPECT_EQ(tickets_.waiters(), 0u);
}

}  // namespace
}  // namespace afterbay::server
