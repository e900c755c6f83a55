// SPDX-License-Identifier: Apache-2.0
#include "server/open_tickets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace afterbay::server {
namespace {

using Answers = std::vector<std::pair<std::size_t, std::uint64_t>>;

class ServerTickets : public ::testing::Test {
 protected:
  void answer_written() {
    tickets_.answer_written([this](const OpenTicket& ticket) { return written_.contains(ticket.strings); });
  }

  Answers answers_;
  std::set<std::uint64_t> written_;  ///< numbers of strings, which stand for any work here
  OpenTickets tickets_{
      [this](std::size_t peer, std::uint64_t number) { answers_.emplace_back(peer, number); }};
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

/// What OpenTickets did before they were indexed: the reference for its contents.
class PlainTickets {
 public:
  explicit PlainTickets(Answers& answers) : answers_(answers) {}
  void add(OpenTicket ticket) { open_.push_back(std::move(ticket)); }
  [[nodiscard]] bool has(std::size_t peer, std::uint64_t number) const {
    return std::ranges::any_of(open_,
                               [&](const OpenTicket& it) { return it.peer == peer && it.number == number; });
  }
  template <class IsWritten>
  void answer_written(const IsWritten& is_written) {
    std::erase_if(open_, [&](const OpenTicket& ticket) {
      if (!is_written(ticket)) return false;
      answer(ticket.peer, ticket.number);
      return true;
    });
  }
  void answer(std::size_t peer, std::uint64_t number) {
    answers_.emplace_back(peer, number);
    std::erase_if(waiters_, [&](const Waiter& it) { return it.peer == peer && it.number == number; });
  }
  void add_waiter(std::size_t peer, std::uint64_t number, std::uint64_t now_ns) {
    waiters_.push_back({peer, number, now_ns});
  }
  [[nodiscard]] std::size_t open() const { return open_.size(); }
  [[nodiscard]] std::size_t waiters() const { return waiters_.size(); }
  [[nodiscard]] bool waited_longer(std::uint64_t limit_ns, std::uint64_t now_ns) const {
    return std::ranges::any_of(waiters_,
                               [&](const Waiter& waiter) { return now_ns - waiter.since_ns > limit_ns; });
  }

 private:
  struct Waiter {
    std::size_t peer = 0;
    std::uint64_t number = 0;
    std::uint64_t since_ns = 0;
  };
  Answers& answers_;
  std::vector<OpenTicket> open_;
  std::vector<Waiter> waiters_;
};

/// Records of two collections and strings are written at random while ranks that are up to three
/// records apart ask, wait and are answered.
TEST(ServerTicketGroups, AnswerAsAPlainListDoes) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t n) {
      return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
    };
    Answers answers, expected;
    OpenTickets tickets([&](std::size_t peer, std::uint64_t number) { answers.emplace_back(peer, number); });
    PlainTickets plain(expected);
    std::uint64_t written[2] = {0, 0}, strings = 0, now_ns = 0, number = 0;
    std::set<std::uint64_t> published;
    const auto is_written = [&](const OpenTicket& ticket) {
      return ticket.strings <= strings &&
             std::ranges::all_of(ticket.files,
                                 [&](std::uint64_t file) { return published.contains(file); }) &&
             std::ranges::all_of(ticket.bounds,
                                 [&](const auto& it) { return it.second <= written[it.first]; });
    };
    for (int i = 0; i < 3000; ++i) {
      now_ns += below(10);
      const std::size_t peer = below(20);
      switch (below(8)) {
        case 0:
        case 1:
        case 2: {
          OpenTicket ticket{
              .peer = peer, .number = ++number, .bounds = {}, .files = {}, .strings = strings + below(3)};
          for (std::uint32_t collection = 0; collection < 2; ++collection)
            ticket.bounds.emplace_back(collection, written[collection] + below(3));
          if (below(4) == 0) ticket.files.push_back(below(50));
          tickets.add(ticket);
          plain.add(ticket);
          break;
        }
        case 3:
        case 4: {
          const std::uint64_t waited = below(number + 1);
          tickets.add_waiter(peer, waited, now_ns);
          plain.add_waiter(peer, waited, now_ns);
          break;
        }
        case 5: ++written[below(2)]; break;
        case 6: below(3) == 0 ? void(published.insert(below(50))) : void(++strings); break;
        default: {
          const std::uint64_t answered = below(number + 1);  // ticket of a close or an epoch
          tickets.answer(peer, answered);
          plain.answer(peer, answered);
        }
      }
      if (below(3) == 0) {
        tickets.answer_written(is_written);
        plain.answer_written(is_written);
      }
      ASSERT_EQ(answers, expected);
      ASSERT_EQ(tickets.open().size(), plain.open());
      ASSERT_EQ(tickets.waiters(), plain.waiters());
      const std::uint64_t asked = below(number + 1);
      ASSERT_EQ(tickets.has(peer, asked), plain.has(peer, asked));
      const std::uint64_t limit_ns = below(2000);
      ASSERT_EQ(tickets.waited_longer(limit_ns, now_ns), plain.waited_longer(limit_ns, now_ns));
    }
    EXPECT_GT(answers.size(), 100u);
  }
}

/// Counts comparisons of tickets.
struct CountingOrder {
  std::uint64_t* comparisons;
  template <class T>
  bool operator()(const T& a, const T& b) const {
    ++*comparisons;
    return TicketOrder{}(a, b);
  }
};

/// Before, each of the tickets was compared with all others, and tested in each pass.
TEST(ServerTicketGroups, OfAHundredThousandRanksCostLogarithmsAndOneTestPerGroup) {
  constexpr std::size_t ranks = 100'000;
  std::uint64_t comparisons = 0, tests = 0;
  TicketGroups<CountingOrder> groups(CountingOrder{&comparisons});
  for (std::size_t r = 0; r < ranks; ++r)
    groups.add({.peer = r, .number = 7, .bounds = {{0, 3 + r % 2}}, .files = {}, .strings = 0});
  for (std::size_t r = 0; r < ranks; ++r) ASSERT_TRUE(groups.has({r, 7}));
  EXPECT_EQ(groups.groups(), 2u);
  std::uint64_t written = 0;
  const auto is_written = [&](const OpenTicket& ticket) {
    ++tests;
    return ticket.bounds.front().second <= written;
  };
  std::size_t answered = 0;
  for (; written < 5; ++written) answered += groups.take_if(is_written).size();
  EXPECT_EQ(answered, ranks);
  EXPECT_TRUE(groups.empty());
  EXPECT_LE(tests, 2 * 5u);
  EXPECT_LT(static_cast<double>(comparisons), 8.0 * ranks * std::log2(ranks));
}

TEST(ServerTicketGroups, KeepTheFirstTicketAndTheOrderInWhichTheyWereAdded) {
  TicketGroups<> groups;
  groups.add({.peer = 4, .number = 1, .bounds = {}, .files = {}, .strings = 9});
  groups.add({.peer = 2, .number = 1, .bounds = {}, .files = {}, .strings = 5});
  groups.add({.peer = 1, .number = 1, .bounds = {}, .files = {}, .strings = 9});
  const auto has_strings = [](const OpenTicket& ticket) { return ticket.strings > 4; };
  ASSERT_NE(groups.first_of(has_strings), nullptr);
  EXPECT_EQ(groups.first_of(has_strings)->peer, 4u);
  EXPECT_EQ(groups.first_of([](const OpenTicket& ticket) { return ticket.strings > 9; }), nullptr);
  EXPECT_EQ(groups.all(), (std::vector<TicketId>{{4, 1}, {2, 1}, {1, 1}}));
  EXPECT_EQ(groups.take_if(has_strings), (std::vector<TicketId>{{4, 1}, {2, 1}, {1, 1}}));
  EXPECT_EQ(groups.first_of(has_strings), nullptr);
}

}  // namespace
}  // namespace afterbay::server
