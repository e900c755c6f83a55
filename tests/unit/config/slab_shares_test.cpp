// SPDX-License-Identifier: Apache-2.0
#include "config/slab_shares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace afterbay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Nodes = std::vector<int>;

/// The node of each rank, with so many ranks on node 0, 1, ...
Nodes ranks_on(const std::vector<int>& counts) {
  Nodes nodes;
  for (std::size_t n = 0; n < counts.size(); ++n) nodes.insert(nodes.end(), counts[n], static_cast<int>(n));
  return nodes;
}

TEST(ConfigSlabShares, are_equal_on_one_node_and_without_ranks_near_the_servers) {
  EXPECT_THAT(slab_shares(ranks_on({4}), Nodes{0, 0}), IsEmpty());
  EXPECT_THAT(slab_shares(ranks_on({4}), Nodes{1, 2}), IsEmpty());
  EXPECT_THAT(slab_shares(ranks_on({4, 4}), Nodes{1}), IsEmpty());
}

TEST(ConfigSlabShares, follow_the_ranks_of_each_node) {
  EXPECT_THAT(slab_shares(ranks_on({3, 5}), Nodes{0, 1}), ElementsAre(6, 10));
  EXPECT_THAT(slab_shares(ranks_on({4, 4}), Nodes{0, 1}), ElementsAre(8, 8)) << "not empty: slabs are near";
  EXPECT_THAT(slab_shares(ranks_on({3, 5, 4}), Nodes{0, 1, 2}), ElementsAre(9, 15, 12));
  EXPECT_THAT(slab_shares(ranks_on({3, 5}), Nodes{0, 0, 1, 1}), ElementsAre(6, 6, 10, 10));
  EXPECT_THAT(slab_shares(ranks_on({2, 6}), Nodes{0, 1, 1, 1}), ElementsAre(8, 8, 8, 8));
}

TEST(ConfigSlabShares, no_server_gets_more_than_one_and_a_half_equal_shares_or_less_than_half) {
  EXPECT_THAT(slab_shares(ranks_on({1, 19}), Nodes{0, 1}), ElementsAre(10, 30));
  EXPECT_THAT(slab_shares(ranks_on({10}), Nodes{0, 1}), ElementsAre(15, 5)) << "no rank on node 1";
}

TEST(ConfigSlabShares, a_boundary_does_not_move_over_ranks_of_nodes_without_servers) {
  // The servers are on the last two of six nodes.
  EXPECT_THAT(slab_shares(ranks_on({4, 4, 4, 4, 4, 4}), Nodes{4, 5}), ElementsAre(24, 24));
}

TEST(ConfigSlabShares, ranks_in_turn_on_the_nodes_allow_little_nearness) {
  const Nodes models{0, 1, 0, 1, 0, 1, 0, 1};
  const auto shares = slab_shares(models, Nodes{0, 1});
  EXPECT_DOUBLE_EQ(far_part_of_slabs(models, Nodes{0, 1}, shares), 0.375);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_NEAR(static_cast<double>(shares[0]), 8, 2);
}

TEST(ConfigSlabShares, far_parts_are_those_that_counting_finds) {
  EXPECT_DOUBLE_EQ(far_part_of_slabs(ranks_on({3, 5}), Nodes{0, 1}, {}), 1.0 / 8);
  EXPECT_DOUBLE_EQ(far_part_of_slabs(ranks_on({3, 5}), Nodes{0, 1}, std::vector<std::uint64_t>{6, 10}), 0);
  EXPECT_DOUBLE_EQ(far_part_of_slabs(ranks_on({8}), Nodes{1}, {}), 1);
  EXPECT_DOUBLE_EQ(far_part_of_files(ranks_on({3, 5}), Nodes{0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(far_part_of_files(ranks_on({3, 5}), Nodes{1}), 3.0 / 8);
}

/// In random jobs the shares add up to all data, and no larger part of the data goes to other nodes
/// than with equal shares.
TEST(ConfigSlabShares, cover_all_data_and_are_no_farther_than_equal_shares) {
  std::mt19937 random(5);
  for (int n = 0; n < 2000; ++n) {
    Nodes models(1 + random() % 40), servers(2 + random() % 6);
    const unsigned nodes = 1 + random() % 6;
    for (int& node : models) node = static_cast<int>(random() % nodes);
    for (int& node : servers) node = static_cast<int>(random() % nodes);
    if (random() % 4 != 0) {
      std::ranges::sort(models);
      std::ranges::sort(servers);
    }
    const auto shares = slab_shares(models, servers);
    if (shares.empty()) continue;
    ASSERT_EQ(shares.size(), servers.size());
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}),
              models.size() * servers.size());
    if (!std::ranges::is_sorted(models) || !std::ranges::is_sorted(servers)) continue;
    EXPECT_LE(far_part_of_slabs(models, servers, shares), far_part_of_slabs(models, servers, {}) + 1e-9)
        << testing::PrintToString(models) << testing::PrintToString(servers);
  }
}

TEST(ConfigSlabShares, a_hundred_thousand_ranks_on_a_thousand_nodes_are_all_near) {
  std::vector<int> counts(1000, 100);
  for (std::size_t n = 0; n < counts.size(); ++n) counts[n] += n % 2 == 0 ? 20 : -20;
  Nodes servers(1000);
  std::iota(servers.begin(), servers.end(), 0);
  const Nodes models = ranks_on(counts);
  EXPECT_DOUBLE_EQ(far_part_of_slabs(models, servers, slab_shares(models, servers)), 0);
}

TEST(ConfigSlabShares, of_a_pool_are_those_of_its_servers) {
  const std::vector<std::uint64_t> all{6, 10, 0, 0};
  EXPECT_THAT(slab_shares_of(std::vector<std::size_t>{0, 1}, all), ElementsAre(6, 10));
  EXPECT_THAT(slab_shares_of(std::vector<std::size_t>{2, 3}, all), IsEmpty());
  EXPECT_THAT(slab_shares_of(std::vector<std::size_t>{0, 1}, {}), IsEmpty());
}

}  // namespace
}  // namespace afterbay::config
