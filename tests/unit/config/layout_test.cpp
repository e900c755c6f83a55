// SPDX-License-Identifier: Apache-2.0
// Which ranks serve: all placements of servers, and the calculation in errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "config/layout.hpp"
#include "config/ranks_to_start.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

Config configured(const Settings& settings) {
  Sources sources = no_environment();
  sources.settings = settings;
  auto config = load(sources);
  EXPECT_TRUE(config) << (config ? "" : config.error().text());
  return config.value_or(Config());
}

/// `ranks` ranks on each of `count` nodes, one node after the other.
std::vector<int> nodes_of(int count, int ranks) {
  std::vector<int> nodes;
  for (int n = 0; n < count; ++n) nodes.insert(nodes.end(), static_cast<std::size_t>(ranks), n);
  return nodes;
}

/// One letter per rank: m model, s server, f frontend, - spare; upper case from the second pool on.
std::string letters(const Result<std::vector<RankAssignment>>& assignments) {
  if (!assignments) return assignments.error().text();
  std::string text;
  for (const RankAssignment& it : *assignments) {
    const char letter = "msf-"[static_cast<std::size_t>(it.kind)];
    text += it.pool > 0 && letter != '-' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return text;
}

std::string placed(const Settings& settings, const std::vector<int>& nodes) {
  return letters(assign_ranks(configured(settings), nodes));
}

TEST(ConfigLayout, TheLastRanksServeByDefault) {
  EXPECT_EQ(placed({}, nodes_of(2, 3)), "mmmmms");
  EXPECT_EQ(placed({{"servers", "4"}}, nodes_of(2, 3)), "mmssss");
}

TEST(ConfigLayout, ServersOnEveryNode) {
  EXPECT_EQ(placed({{"servers_per_node", "1"}}, nodes_of(3, 3)), "mmsmmsmms");
  EXPECT_EQ(placed({{"servers_per_node", "2"}}, {0, 1, 0, 1, 0, 1, 1}), "mmsmsss");
}

/// Ranks and remaining ranks, found by trying all totals.
std::optional<std::pair<int, int>> tried_out(const Config& config, const Settings& layout, int model,
                                             int per_node) {
  const bool whole = per_node > 0 && std::ranges::any_of(layout, [](const auto& it) {
                       return it.first.ends_with("isolate_nodes") && it.second == "on";
                     });
  std::optional<std::pair<int, int>> with_rest;
  for (int ranks = model; ranks <= 5 * model + 80; ++ranks) {
    if (whole && ranks % per_node != 0) continue;
    Config on_nodes = config;
    on_nodes.network.nodes = nodes_in_turn(ranks, per_node);
    const auto all = on_nodes.check_against(ranks);
    if (all && all->model_ranks == model) return std::pair(ranks, 0);
    on_nodes.servers.model_ranks = model;
    const auto some = on_nodes.check_against(ranks);
    if (some && some->model_ranks == model && !with_rest)
      with_rest = std::pair(ranks, all ? all->model_ranks - model : -1);
  }
  return with_rest;
}

/// Compared with a search through all totals.
TEST(ConfigLayout, TheLeastTotalForSoManyModelRanksIsFound) {
  const std::vector<Settings> layouts{
      {},
      {{"servers", "7"}},
      {{"servers_per_node", "2"}},
      {{"servers_per_node", "1"}, {"server_offset", "0"}},
      {{"servers_per_node", "2"}, {"server_offset", "1"}, {"server_spacing", "2"}},
      {{"servers", "2"}, {"server_spacing", "9"}},
      {{"server_nodes", "1"}, {"servers", "3"}},
      {{"server_nodes", "2"}},
      {{"servers", "16"}, {"servers_per_node", "2"}},
      {{"isolate_nodes", "on"}, {"servers", "2"}},
      {{"isolate_nodes", "on"}, {"server_nodes", "2"}},
      {{"isolate_nodes", "on"}, {"server_nodes", "1"}, {"servers_per_node", "3"}},
      {{"isolate_nodes", "on"}, {"server_nodes", "1"}, {"servers_per_node", "3"}, {"topology", "tiered"}},
      {{"topology", "tiered"}, {"servers", "2"}},
      {{"topology", "tiered"}, {"servers", "3"}},
      {{"topology", "tiered"}, {"servers_per_node", "1"}, {"frontends_per_node", "2"}},
      {{"pools.a.servers", "1"}, {"pools.b.servers", "3"}},
      {{"pools.a.isolate_nodes", "on"}, {"pools.a.server_nodes", "1"}, {"pools.b.servers_per_node", "1"}},
      {{"pools.a.isolate_nodes", "on"}, {"pools.a.servers", "5"}, {"pools.b.servers", "3"}},
      {{"topology", "inline"}}};
#if defined(__SANITIZE_ADDRESS__)
  constexpr int step = 7;  // the same code with other numbers
#else
  constexpr int step = 1;
#endif
  for (const Settings& layout : layouts) {
    const Config config = configured(layout);
    for (const int per_node : {0, 1, 4, 6})
      for (int model = 1; model <= 30; model += step) {
        const auto least = tried_out(config, layout, model, per_node);
        const auto found = ranks_for(config, model, per_node);
        std::string what;
        for (const auto& [name, value] : layout) what += name + " " + value + ", ";
        what += std::to_string(model) + " model ranks, " + std::to_string(per_node) + " on a node";
        EXPECT_EQ(found.has_value(), least.has_value()) << what << (found ? "" : found.error().text());
        if (!found || !least) continue;
        EXPECT_EQ(found->ranks, least->first) << what;
        EXPECT_EQ(found->left_over, least->second) << what;
      }
  }
}

/// PFIO's guide: ceil(n1 / n) * n + server nodes * n.
TEST(ConfigLayout, NodesAreWholeInTheTotalForIsolatedServers) {
  const Settings pfio{
      {"isolate_nodes", "on"}, {"server_nodes", "1"}, {"servers_per_node", "5"}, {"topology", "tiered"}};
  const auto total = ranks_for(configured(pfio), 28, 28);
  ASSERT_TRUE(total) << total.error().text();
  EXPECT_EQ(total->ranks, 56);
  EXPECT_EQ(total->left_over, 0);
  for (const int model : {1, 27, 28, 29, 100})
    EXPECT_EQ(ranks_for(configured(pfio), model, 28)->ranks, (model + 27) / 28 * 28 + 28) << model;
}

TEST(ConfigLayout, WhatIsLeftOverOfANodeIsSpareWithTheTotal) {
  Config config = configured({{"isolate_nodes", "on"}, {"servers", "2"}});
  const auto total = ranks_for(config, 20, 28);
  ASSERT_TRUE(total) << total.error().text();
  EXPECT_EQ(total->ranks, 56);
  EXPECT_EQ(total->left_over, 8);
  config.servers.model_ranks = 20;
  const auto set = ranks_for(config, 20, 28);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->ranks, 56);
}

TEST(ConfigLayout, ATotalForOtherModelRanksThanAreSetIsRefused) {
  const auto total = ranks_for(configured({{"model_ranks", "10"}}), 20, 0);
  ASSERT_FALSE(total);
  EXPECT_THAT(total.error().text(), HasSubstr("model_ranks is 10, but a number of ranks for 20 model ranks"));
}

TEST(ConfigLayout, TheLargestNumbersGiveATotalOrAreRefused) {
  const auto ranks = [](const Settings& settings, int per_node) {
    const auto total = ranks_for(configured(settings), most_model_ranks, per_node);
    return total ? total->ranks : -1;
  };
  EXPECT_EQ(ranks({}, 0), most_model_ranks + 1);
  EXPECT_EQ(ranks({{"servers_per_node", "2"}}, 130), most_model_ranks + 2 * (most_model_ranks / 128));
  EXPECT_EQ(ranks({{"servers_per_node", "65536"}, {"server_nodes", "65536"}}, 128), -1);
  EXPECT_EQ(ranks({{"servers", "65536"}, {"server_offset", "1048576"}, {"server_spacing", "65536"}}, 0), -1);
  const std::vector<int> one_node(8, 0);
  for (const Settings& settings : std::vector<Settings>{
           {{"servers_per_node", "65536"}, {"server_nodes", "65536"}},
           {{"servers", "65536"}, {"server_offset", "1048576"}, {"server_spacing", "65536"}},
           {{"servers", "65536"}, {"server_offset", "16777216"}, {"server_spacing", "16777216"}}})
    EXPECT_FALSE(assign_ranks(configured(settings), one_node));
}

/// Before, no number above 65 536 was accepted.
TEST(ConfigLayout, MoreThan65536ModelRanksCanBeSet) {
  const Config config = configured({{"model_ranks", "100000"}, {"servers", "1000"}});
  EXPECT_EQ(config.servers.model_ranks, 100'000);
  const std::vector<int> nodes = nodes_in_turn(101'024, 128);
  const auto assignments = assign_ranks(config, nodes);
  ASSERT_TRUE(assignments) << assignments.error().text();
  const auto count = [&](RankKind kind) {
    return std::ranges::count(*assignments, kind, &RankAssignment::kind);
  };
  EXPECT_EQ(count(RankKind::model), 100'000);
  EXPECT_EQ(count(RankKind::server), 1000);
  EXPECT_EQ(count(RankKind::spare), 24);
  const auto total = ranks_for(config, 100'000, 128);
  ASSERT_TRUE(total) << total.error().text();
  EXPECT_EQ(total->ranks, 101'000);
}

TEST(ConfigLayout, ServersOnTheLastNodes) {
  EXPECT_EQ(placed({{"server_nodes", "2"}}, nodes_of(3, 3)), "mmmmmsmms");
  EXPECT_EQ(placed({{"server_nodes", "1"}, {"servers_per_node", "2"}}, nodes_of(3, 3)), "mmmmmmmss");
  EXPECT_EQ(placed({{"server_nodes", "2"}, {"servers", "4"}}, nodes_of(3, 3)), "mmmmssmss");
  EXPECT_EQ(placed({{"servers_per_node", "2"}, {"servers", "4"}}, nodes_of(3, 3)), "mmmmssmss");
}

TEST(ConfigLayout, OffsetAndSpacingCountInTheNode) {
  EXPECT_EQ(
      placed({{"servers_per_node", "2"}, {"server_offset", "0"}, {"server_spacing", "2"}}, nodes_of(2, 4)),
      "smsmsmsm");
  EXPECT_EQ(placed({{"servers_per_node", "2"}, {"server_offset", "1"}}, nodes_of(2, 4)), "mssmmssm");
}

TEST(ConfigLayout, OffsetAndSpacingCountAmongAllRanksWhereNodesAreNotNamed) {
  EXPECT_EQ(placed({{"servers", "2"}, {"server_spacing", "4"}}, nodes_of(2, 4)), "smmmsmmm");
  EXPECT_EQ(placed({{"servers", "3"}, {"server_offset", "1"}, {"server_spacing", "3"}}, nodes_of(1, 8)),
            "msmmsmms");
}

TEST(ConfigLayout, IsolatedNodesHoldNoModelRanks) {
  EXPECT_EQ(placed({{"isolate_nodes", "on"}, {"server_nodes", "2"}}, nodes_of(4, 2)), "mmmmssss");
  EXPECT_EQ(placed({{"isolate_nodes", "on"}, {"servers", "3"}}, nodes_of(4, 2)), "mmmmss-s");
  EXPECT_EQ(
      placed({{"isolate_nodes", "on"}, {"server_nodes", "2"}, {"servers_per_node", "1"}}, nodes_of(3, 3)),
      "mmm--s--s");
}

TEST(ConfigLayout, ModelRanksBeyondTheirNumberAreSpare) {
  EXPECT_EQ(placed({{"model_ranks", "3"}, {"servers", "1"}}, nodes_of(2, 3)), "mmm--s");
}

TEST(ConfigLayout, FrontendsStandBesideModelRanks) {
  EXPECT_EQ(placed({{"topology", "tiered"}, {"servers", "1"}}, nodes_of(2, 3)), "mmfmfs");
  EXPECT_EQ(placed({{"topology", "tiered"}, {"servers_per_node", "1"}, {"frontends_per_node", "2"}},
                   nodes_of(2, 5)),
            "mmffsmmffs");
}

TEST(ConfigLayout, FrontendsShareTheNodesOfIsolatedServers) {
  EXPECT_EQ(
      placed(
          {{"topology", "tiered"}, {"isolate_nodes", "on"}, {"server_nodes", "2"}, {"servers_per_node", "1"}},
          nodes_of(4, 3)),
      "mmmmmmffsffs");
}

TEST(ConfigLayout, PoolsAreNumberedInTheirOrder) {
  EXPECT_EQ(placed({{"pools.a.servers", "2"}, {"pools.b.servers", "1"}}, nodes_of(2, 3)), "mmmssS");
  EXPECT_EQ(placed({{"pools.a.isolate_nodes", "on"}, {"pools.a.server_nodes", "1"}, {"pools.b.servers", "1"}},
                   nodes_of(3, 2)),
            "mmmSss");
  EXPECT_EQ(placed({{"pools.a.topology", "tiered"}, {"pools.a.servers", "1"}, {"pools.b.servers", "1"}},
                   nodes_of(1, 5)),
            "mmfsS");
}

TEST(ConfigLayout, EachNodeOfItsOwnPool) {
  EXPECT_EQ(placed({{"isolate_nodes", "on"},
                    {"server_nodes", "1"},
                    {"pools.a.placement", "slab"},
                    {"pools.b.placement", "slab"}},
                   nodes_of(3, 2)),
            "mmssSS");
}

void expect_refused(const Settings& settings, const std::vector<int>& nodes, const std::string& text) {
  const auto assignments = assign_ranks(configured(settings), nodes);
  ASSERT_FALSE(assignments) << letters(assignments);
  EXPECT_EQ(assignments.error().code, ErrorCode::conflict);
  EXPECT_THAT(assignments.error().text(), HasSubstr(text));
}

TEST(ConfigLayout, RefusesWithTheArithmetic) {
  expect_refused(
      {{"servers", "6"}}, nodes_of(2, 3),
      "servers is 6, but the communicator has 6 ranks, which leaves 0 for the model; start at least 7");
  expect_refused({{"servers", "6"}, {"servers_per_node", "2"}, {"server_nodes", "2"}}, nodes_of(3, 4),
                 "servers is 6, but servers_per_node 2 x server_nodes 2 = 4");
  expect_refused(
      {{"servers", "5"}, {"servers_per_node", "2"}}, nodes_of(3, 4),
      "servers is 5, which is not a multiple of servers_per_node 2: 2 nodes would hold 2 and one 1");
  expect_refused({{"servers", "5"}, {"server_nodes", "2"}}, nodes_of(3, 4), "5 / 2 leaves 1");
  expect_refused({{"servers_per_node", "4"}}, nodes_of(2, 3),
                 "4 servers requested on node 0, which has 3 ranks");
  expect_refused({{"server_nodes", "4"}}, nodes_of(3, 3),
                 "1 servers on each of 4 nodes are requested, but there are 9 ranks on 3 nodes (3 + 3 + 3)");
  expect_refused(
      {{"servers", "3"}, {"server_spacing", "4"}}, nodes_of(1, 8),
      "server 2 of 3 would be at server_offset 0 + 2 x server_spacing 4 = 8, but the communicator has the "
      "ranks 0 to 7 only");
  expect_refused({{"isolate_nodes", "on"}, {"server_nodes", "2"}}, nodes_of(2, 3),
                 "2 nodes of their own are requested, but there are 6 ranks on 2 nodes (3 + 3)");
  expect_refused(
      {{"model_ranks", "8"}, {"servers", "2"}}, nodes_of(1, 8),
      "model_ranks is 8, but of 8 ranks on 1 node (8) only 6 do not serve: 8 - 2 = 6; start 2 more ranks");
  expect_refused({{"servers_per_node", "3"}}, nodes_of(2, 3), "which leaves 0 for the model");
  expect_refused({{"topology", "tiered"}, {"frontends_per_node", "3"}}, nodes_of(1, 4),
                 "node 0 has 4 ranks, 3 of them free, which leaves 0 for the model");
  expect_refused({{"pools.a.servers", "2"}, {"pools.b.servers", "2"}}, nodes_of(1, 4),
                 "the I/O servers of the pool 'a'");
}

TEST(ConfigLayout, StartedServersAreDealtToThePoolsInOrder) {
  const std::vector<bool> serves{false, true, true, false, true};
  const auto started = [&](const Settings& settings) {
    return letters(assign_started_servers(configured(settings), serves, nodes_of(1, 5)));
  };
  EXPECT_EQ(started({}), "mssms");
  EXPECT_EQ(started({{"pools.a.servers", "1"}, {"pools.b.servers", "2"}}), "msSmS");
  EXPECT_EQ(started({{"topology", "tiered"}}), "mffms");
  EXPECT_THAT(started({{"servers", "2"}}),
              HasSubstr("3 of 5 ranks are server processes, but 'servers' is 2"));
  EXPECT_THAT(started({{"servers_per_node", "1"}}),
              HasSubstr("servers_per_node is set, but servers were started"));
}

TEST(ConfigLayout, IsToldInALineAKind) {
  const Config config = configured({{"pools.a.topology", "tiered"},
                                    {"pools.a.servers", "1"},
                                    {"pools.b.servers", "1"},
                                    {"model_ranks", "2"}});
  const auto assignments = assign_ranks(config, nodes_of(1, 6));
  ASSERT_TRUE(assignments) << assignments.error().text();
  EXPECT_EQ(text_of(config, *assignments),
            "model: ranks 0-1\nfrontends of the pool 'a': rank 3\nservers of the pool 'a': rank 4\n"
            "servers of the pool 'b': rank 5\nspare: rank 2\n");
}

}  // namespace
}  // namespace afterbay::config
