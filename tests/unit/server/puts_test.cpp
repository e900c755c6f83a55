// SPDX-License-Identifier: Apache-2.0
// Puts without a server: when everything that a rank put before a ticket is written.
#include "server/puts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class ServerPuts : public ::testing::Test {
 protected:
  ServerPuts() {
    Puts::Host host;
    host.answer = [this](std::size_t peer, std::uint64_t ticket) { answers_.emplace_back(peer, ticket); };
    host.closed_files = [this](std::size_t peer) {
      return peer == 1 ? std::vector<std::uint64_t>(open_.begin(), open_.end())
                       : std::vector<std::uint64_t>{};
    };
    host.is_open = [this](std::uint64_t file) { return open_.contains(file); };
    host.has_other_ticket = [](std::size_t peer, std::uint64_t ticket) { return peer == 0 && ticket == 99; };
    puts_.emplace(catalog_, 1000, std::move(host));
  }

  config::Config config_;
  Catalog catalog_{{10, 11}, config_};
  std::set<std::uint64_t> open_;  ///< files, all closed by rank 1
  std::vector<std::pair<std::size_t, std::uint64_t>> answers_;
  std::optional<Puts> puts_;
};

TEST_F(ServerPuts, ATicketWaitsForStrings) {
  const std::uint64_t first = puts_->strings().add(100);
  puts_->flush(0, {.ticket = 5, .strings = 1});
  puts_->flush(1, {.ticket = 6, .strings = 2});  // the second put has not arrived
  puts_->answer_written();
  EXPECT_THAT(answers_, IsEmpty());
  puts_->strings().written(first);
  puts_->answer_written();
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 5)));
  puts_->strings().written(puts_->strings().add(1));
  puts_->answer_written();
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 5), Pair(1, 6)));
}

TEST_F(ServerPuts, ATicketWaitsForTheFilesThatItsRankHasClosed) {
  open_ = {7, 8};
  puts_->flush(0, {.ticket = 1});
  puts_->flush(1, {.ticket = 1});
  puts_->answer_written();
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 1)));
  open_ = {8, 9};
  puts_->answer_written();
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 1)));
  open_ = {9};  // closed after the ticket
  puts_->answer_written();
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 1), Pair(1, 1)));
}

TEST_F(ServerPuts, ATicketWaitsForOlderRecords) {
  puts_->records().of(3)[5];
  const OpenTicket ticket{0, 1, {{3, 5}, {4, 1}}, {}, 0};
  EXPECT_TRUE(puts_->is_written(ticket));
  puts_->records().of(3)[4];
  EXPECT_FALSE(puts_->is_written(ticket));
  puts_->records().erase(3, 4);
  EXPECT_TRUE(puts_->is_written(ticket));
}

TEST_F(ServerPuts, OnlyRanksWhoseTicketIsOpenWait) {
  puts_->note_waiter(0, {.ticket = 5});  // answered while the message was in transit
  EXPECT_EQ(puts_->tickets().waiters(), 0u);
  puts_->note_waiter(0, {.ticket = 99});  // ticket of an epoch
  EXPECT_EQ(puts_->tickets().waiters(), 1u);
  puts_->flush(1, {.ticket = 5});
  puts_->note_waiter(1, {.ticket = 5});
  EXPECT_EQ(puts_->tickets().waiters(), 2u);
  puts_->answer_written();
  EXPECT_EQ(puts_->tickets().waiters(), 1u);
}

}  // namespace
}  // namespace afterbay::server
