// SPDX-License-Identifier: Apache-2.0
// The formulas of what a server notes of model ranks, against what the objects take; and the
// tickets of closes.
#include "server/rank_tables.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <numeric>
#include <set>

#include "server/epochs/epoch_keeper.hpp"
#include "server/files/close_tickets.hpp"
#include "server/open_tickets.hpp"
#include "server/records.hpp"
#include "server/telemetry/server_totals.hpp"
#include "unit/allocation_count.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class ServerRankTables : public ::testing::Test {
 protected:
  static constexpr std::size_t ranks = 20'000;
  static constexpr std::uint32_t variables = 50;

  static std::uint64_t heap_bytes() {
    const auto info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  /// The formula is an upper bound, and not much more than what the heap grew by since `before`.
  static void expect_bound(std::uint64_t formula, std::uint64_t before) {
    const std::uint64_t taken = heap_bytes() - before;
    constexpr std::uint64_t rounding = 8 * 4096;  // large allocations take whole pages
    EXPECT_LE(taken, formula + rounding);
    EXPECT_GE(static_cast<double>(taken), 0.7 * static_cast<double>(formula));
  }
  void SetUp() override {
    if (!test::allocations()) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  }
  static std::vector<int> numbers() {
    std::vector<int> of_ranks(ranks);
    std::iota(of_ranks.begin(), of_ranks.end(), 0);
    return of_ranks;
  }
  void define(Catalog& catalog) {
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      wire::DefineCollection message;
      message.id = 3;
      message.name = "history";
      if (peer == 0) {
        wire::CollectionDefinition& it = message.definition.emplace();
        it.format = Format::cdf5;
        it.servers = {0};
        it.decompositions.assign(variables, -1);
        it.schema.dimension("time", unlimited);
        for (std::uint32_t v = 0; v < variables; ++v)
          it.schema.variable(fmt::format("v{}", v), Type::float64, {"time"});
      }
      ASSERT_TRUE(catalog.add(peer, message));
    }
    for (std::size_t peer = 0; peer < ranks; ++peer) ASSERT_TRUE(catalog.end(peer, {.serial = 1}));
    ASSERT_TRUE(catalog.complete(frames_));
  }

  config::Config config_;
  test::FakeFrames frames_;
  const RankTables tables_{ranks};
};

TEST_F(ServerRankTables, of_the_session_and_of_a_collection) {
  const std::uint64_t before = heap_bytes();
  const std::vector<int> identity = numbers();
  Catalog catalog(numbers(), config_);
  Records records(catalog);
  ServerTotals totals(ranks);
  EpochKeeper::Host host;
  host.ranks = ranks;
  EpochKeeper epochs(std::move(host));
  wire::EndEpoch epoch;
  epoch.number = 1;
  ASSERT_TRUE(epochs.reach(epoch, OpenTicket()));
  ServedCollection collection;
  model::HandoverLayout layout;
  layout.variables.resize(1);
  collection.layout = std::make_shared<const model::HandoverLayout>(layout);
  records.put_strings(0, collection, {});
  expect_bound(tables_.always(), before);
  const std::uint64_t of_session = heap_bytes();
  records.end(0, 3, 1, true);
  expect_bound(tables_.of_collection(), of_session);
}

TEST_F(ServerRankTables, of_an_open_record) {
  Catalog catalog(numbers(), config_);
  define(catalog);
  Records records(catalog);
  ASSERT_TRUE(records.begin(7, {3, 0, 0, 0}));
  ASSERT_TRUE(records.put(7, {3, 0, 0}));  // the first put notes more, of_the_session
  records.end(7, 3, 1, true);
  ASSERT_TRUE(records.begin(7, {3, 1, 0, 1}));
  records.erase(3, 1);
  const std::uint64_t before = heap_bytes();
  ASSERT_TRUE(records.begin(7, {3, 1, 0, 1}));
  for (std::uint32_t v = 0; v < variables; ++v) ASSERT_TRUE(records.put(7, {3, 1, v}));
  records.end(7, 3, 2, true);
  expect_bound(tables_.of_open_record(variables), before);
}

TEST_F(ServerRankTables, of_a_file_that_all_ranks_close) {
  const std::uint64_t before = heap_bytes();
  CloseTickets closes(ranks);
  for (std::size_t peer = 0; peer < ranks; ++peer) ASSERT_TRUE(closes.add(peer, 9));
  EXPECT_TRUE(closes.by_all());
  expect_bound(tables_.of_open_file(), before);
}

TEST_F(ServerRankTables, of_ranks_that_wait_for_a_flush) {
  const std::uint64_t before = heap_bytes();
  OpenTickets tickets([](std::size_t, std::uint64_t) {});
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    tickets.add({peer, 4, {{3, 5}}, {}, 0});
    tickets.add_waiter(peer, 4, peer);
  }
  expect_bound(tables_.of_waiting_ranks(), before);
}

std::vector<std::pair<std::size_t, std::uint64_t>> tickets_of(const CloseTickets& closes) {
  std::vector<std::pair<std::size_t, std::uint64_t>> all;
  closes.for_each([&](std::size_t peer, std::uint64_t ticket) { all.emplace_back(peer, ticket); });
  return all;
}

TEST(ServerCloseTickets, are_those_of_the_ranks_also_if_they_differ) {
  CloseTickets closes(4);
  EXPECT_FALSE(closes.has(0, 0)) << "nobody has closed it";
  EXPECT_TRUE(closes.add(2, 7));
  EXPECT_TRUE(closes.add(0, 7));
  EXPECT_TRUE(closes.add(1, 8));
  EXPECT_FALSE(closes.add(2, 9)) << "it has closed the file before, and waits for an answer again";
  EXPECT_FALSE(closes.by_all());
  EXPECT_EQ(closes.count(), 3u);
  EXPECT_EQ(closes.not_closed(), std::vector<int>{3});
  EXPECT_THAT(tickets_of(closes), ElementsAre(Pair(0, 7), Pair(2, 7), Pair(1, 8), Pair(2, 9)));
  for (const auto& [peer, ticket] : tickets_of(closes)) EXPECT_TRUE(closes.has(peer, ticket));
  EXPECT_FALSE(closes.has(1, 7));
  EXPECT_FALSE(closes.has(3, 7));
  EXPECT_TRUE(closes.add(3, 7));
  EXPECT_TRUE(closes.by_all());
}

}  // namespace
}  // namespace afterbay::server
