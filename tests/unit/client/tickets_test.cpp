// SPDX-License-Identifier: Apache-2.0
#include "client/tickets.hpp"

#include <gtest/gtest.h>

namespace afterbay::client {
namespace {

using Servers = std::set<std::size_t>;

std::vector<std::string> first_files(const Tickets& tickets) {
  std::vector<std::string> files;
  tickets.for_each_first_file([&](const std::string& file) { files.push_back(file); });
  return files;
}

TEST(ClientTickets, are_complete_once_every_server_has_answered) {
  Tickets tickets;
  EXPECT_EQ(tickets.last(), 0U);
  const std::uint64_t both = tickets.add({0, 2}, {"a.nc"});
  const std::uint64_t one = tickets.add({1}, {});
  EXPECT_EQ(both, 1U);
  EXPECT_EQ(tickets.last(), one);
  tickets.answer(both, 2);
  tickets.answer(both, 2);
  tickets.answer(both, 1);
  EXPECT_FALSE(tickets.is_complete(both));
  EXPECT_EQ(tickets.unanswered(both), (Servers{0}));
  tickets.answer(one, 1);
  EXPECT_TRUE(tickets.is_complete(one));
  EXPECT_FALSE(tickets.is_complete(both));
  tickets.answer(both, 0);
  EXPECT_TRUE(tickets.is_complete(both));
  EXPECT_EQ(tickets.unanswered(both), Servers{});
  tickets.answer(both, 0);
  tickets.answer(99, 0);
  EXPECT_EQ(tickets.last(), one);
}

TEST(ClientTickets, that_were_never_given_out_are_refused) {
  Tickets tickets;
  EXPECT_FALSE(tickets.check(Ticket{0}));
  EXPECT_FALSE(tickets.check(Ticket{1}));
  const std::uint64_t number = tickets.add({0}, {});
  EXPECT_TRUE(tickets.check(Ticket{number}));
  tickets.answer(number, 0);
  EXPECT_TRUE(tickets.check(Ticket{number})) << "complete, but given out";
  const auto refused = tickets.check(Ticket{number + 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(ClientTickets, name_the_files_that_they_wait_for) {
  Tickets tickets;
  EXPECT_EQ(tickets.all_files().text(), "");
  const std::uint64_t first = tickets.add({0}, {"a.nc"});
  const std::uint64_t second = tickets.add({0}, {"b.nc", 3});
  const std::uint64_t again = tickets.add({0, 1}, {"a.nc"});
  tickets.add({0}, {});
  EXPECT_EQ(tickets.files_of(first).text(), " (a.nc)");
  EXPECT_EQ(tickets.files_of(second).text(), " (b.nc and 3 more)");
  EXPECT_EQ(tickets.all_files().text(), " (a.nc and 2 more)");
  EXPECT_EQ(first_files(tickets), (std::vector<std::string>{"a.nc", "b.nc", "a.nc"}));
  EXPECT_EQ(tickets.last_of("a.nc"), again);
  EXPECT_EQ(tickets.last_of("c.nc"), 0U);
  tickets.answer(second, 0);
  EXPECT_EQ(tickets.files_of(second).text(), "");
  EXPECT_EQ(tickets.last_of("b.nc"), 0U);
}

TEST(ClientTickets, return_each_function_once_after_completion_in_order_of_tickets) {
  Tickets tickets;
  std::string called;
  const std::uint64_t first = tickets.add({0}, {});
  const std::uint64_t second = tickets.add({0}, {});
  tickets.on_complete(second, [&] { called += "c"; });
  tickets.on_complete(first, [&] { called += "a"; });
  tickets.on_complete(first, [&] { called += "b"; });
  EXPECT_TRUE(tickets.take_due().empty());
  tickets.answer(second, 0);
  tickets.answer(first, 0);
  for (const auto& function : tickets.take_due()) function();
  EXPECT_EQ(called, "abc");
  EXPECT_TRUE(tickets.take_due().empty());
  tickets.on_complete(first, [&] { called += "d"; });
  EXPECT_EQ(tickets.take_due().size(), 1U) << "of a ticket that is complete already";
}

}  // namespace
}  // namespace afterbay::client
