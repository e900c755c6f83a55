// SPDX-License-Identifier: Apache-2.0
// What a job needs, and what is refused before it opens.
#include "session/job_demand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/units.hpp"
#include "session/obstacles.hpp"
#include "unit/session/generous_system.hpp"

namespace afterbay::session {
namespace {

using testing::HasSubstr;

config::Config config_of(std::vector<std::pair<std::string, std::string>> settings) {
  config::Sources sources;
  sources.settings = std::move(settings);
  sources.environment.emplace();
  auto config = config::load(sources);
  EXPECT_TRUE(config) << config.error().text();
  return *config;
}

std::vector<NodeLoad> loads(const config::Config& config, int ranks, int ranks_per_node) {
  const std::vector<int> nodes = config::nodes_in_turn(ranks, ranks_per_node);
  if (config.topology == config::Topology::inline_)
    return loads_of(config, std::vector<config::RankAssignment>(nodes.size()), nodes);
  auto assignments = config::assign_ranks(config, nodes);
  EXPECT_TRUE(assignments) << assignments.error().text();
  return loads_of(config, *assignments, nodes);
}

TEST(JobDemand, counts_the_processes_of_each_node) {
  const auto config = config_of({{"topology", "tiered"}, {"servers", "2"}});
  const auto nodes = loads(config, 2 * 65 + 1, 65);  // two full nodes, and one with the last server
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].job.servers, 2u);
  EXPECT_EQ(nodes[0].job.models + nodes[0].job.frontends + nodes[0].job.servers, 131u);
  EXPECT_EQ(nodes[0].frontends, 1);
  EXPECT_TRUE(nodes[0].network);
  EXPECT_EQ(nodes[0].models(config.topology), 64u);
}

TEST(JobDemand, inline_a_node_has_one_server) {
  const auto config = config_of({{"topology", "inline"}});
  const auto nodes = loads(config, 128, 64);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].servers, 1);
  EXPECT_EQ(nodes[1].models(config.topology), 64u);
  EXPECT_EQ(nodes[1].job.servers, 2u);
  EXPECT_EQ(nodes[1].job.models, 128u);
}

TEST(JobDemand, a_node_with_shared_memory_only_needs_no_memory_for_the_network) {
  const auto config = config_of({{"servers", "1"}});
  const auto nodes = loads(config, 9, 0);
  const auto demand = demand_of(config, nodes.at(0)).value();
  for (const auto* process : {&demand.server, &demand.model})
    for (const Part& part : (*process)->parts) {
      EXPECT_NE(part.what, "memory.receive");
      EXPECT_NE(part.what, "memory.link");
    }
  EXPECT_EQ(demand.server->connections, 0u);
  EXPECT_EQ(demand.tags, 0);
}

/// The bounds for 100 000 ranks and 1000 servers, of the formulas; bench/scale.py measures them.
TEST(JobDemand, of_100_000_ranks_is_bounded) {
  const auto config = config_of({{"servers_per_node", "1"}});
  const auto nodes = loads(config, 101'000, 101);
  ASSERT_EQ(nodes.size(), 1000u);
  const auto demand = demand_of(config, nodes.front()).value();
  EXPECT_LE(demand.model->bytes(), 64 * MiB) << demand.model->text();
  EXPECT_LE(demand.server->bytes() - config.memory.server_bytes - config.memory.chunks_bytes, 256 * MiB)
      << demand.server->text();
  EXPECT_EQ(demand.model->connections, 999u + 17u);
}

/// Also what waits in small segments, and with `memory.receive` as small as it can be.
TEST(JobDemand, what_arrives_at_a_server_is_bounded_by_its_setting) {
  for (const char* receive : {"128MiB", "1GiB", "8MiB"}) {
    const auto config = config_of({{"servers_per_node", "1"}, {"memory.receive", receive}});
    for (const int nodes : {2, 10, 100, 1000}) {
      SCOPED_TRACE(nodes);
      const auto loads_of_nodes = loads(config, 101 * nodes, 101);
      const auto demand = demand_of(config, loads_of_nodes.front()).value();
      std::uint64_t arriving = 0;
      for (const Part& part : demand.server->parts)
        if (part.what == "memory.receive") arriving += part.bytes;
      EXPECT_GT(arriving, 0u);
      // Two large buffers are the least.
      EXPECT_LE(arriving, std::max(config.memory.receive_bytes, 9 * MiB + config.memory.receive_bytes / 2))
          << demand.server->text();
    }
  }
}

TEST(JobDemand, endpoints_count_if_their_memory_is_set_and_may_be_used) {
  const auto of_endpoints = [](std::vector<std::pair<std::string, std::string>> settings, int nodes) {
    const auto config = config_of(std::move(settings));
    const auto demand = demand_of(config, loads(config, 3 * nodes, 3).front()).value();
    std::uint64_t bytes = 0;
    for (const Part& part : demand.model->parts)
      if (part.what == "memory.endpoints") bytes += part.bytes;
    return bytes;
  };
  EXPECT_EQ(of_endpoints({{"servers", "1"}, {"memory.endpoints", "48MiB"}}, 2), 48 * MiB);
  EXPECT_EQ(of_endpoints({{"servers", "1"}}, 2), 0u);
  EXPECT_EQ(of_endpoints({{"servers", "1"}, {"memory.endpoints", "48MiB"}}, 1), 0u)  // all on one node
      << "they write into the server's memory";
  EXPECT_EQ(
      of_endpoints({{"topology", "tiered"}, {"servers_per_node", "1"}, {"memory.endpoints", "48MiB"}}, 2),
      48 * MiB);
}

TEST(JobDemand, a_frontend_of_128_ranks_is_bounded) {
  const auto config = config_of({{"topology", "tiered"}, {"servers", "1000"}});
  const NodeLoad load{0, 129, true, 1, 0, {100'000 + 1000 + 782, 100'000, 1000, 782}};
  const auto demand = demand_of(config, load).value();
  EXPECT_LE(demand.frontend->bytes(), GiB) << demand.frontend->text();
  EXPECT_EQ(demand.tags, 200'017);
}

// ---- what does not fit

TEST(JobDemand, memory_that_is_missing_is_refused_with_settings_that_fit) {
  const auto config = config_of({{"servers", "64"}});
  const auto nodes = loads(config, 192, 0);
  SystemFacts system = generous();
  system.free_memory = [] { return 20 * GiB; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, ErrorCode::resources);
  for (const char* part : {"20.0 GiB of memory are free on this node", "64 I/O servers",
                           "memory.server 512MiB", "set memory.server: "})
    EXPECT_THAT(found[0].message, HasSubstr(part));
  // With what it advises the same run fits.
  const auto advised = settings_that_fit(config, nodes.at(0), 20 * GiB);
  ASSERT_FALSE(advised.empty());
  std::vector<std::pair<std::string, std::string>> settings{{"servers", "64"}};
  for (const auto& [name, bytes] : advised) settings.emplace_back(name, print_bytes(bytes));
  EXPECT_TRUE(find_obstacles(config_of(settings), nodes.at(0), system).empty());
  // It is no less than needed.
  EXPECT_FALSE(settings_that_fit(config, nodes.at(0), 40 * GiB) == advised);
}

TEST(JobDemand, what_fits_with_no_setting_needs_other_nodes) {
  const auto config = config_of({{"topology", "inline"}});
  const auto nodes = loads(config, 10'000, 0);
  SystemFacts system = generous();
  system.free_memory = [] { return GiB; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("start fewer of them per node"));
}

TEST(JobDemand, model_ranks_and_frontends_of_nodes_without_servers_count_too) {
  const auto config = config_of({{"topology", "tiered"}, {"servers", "10"}});
  const NodeLoad load{0, 129, true, 1, 0, {1310, 1290, 10, 10}};
  SystemFacts system = generous();
  system.free_memory = [] { return 512 * MiB; };
  const auto found = find_obstacles(config, load, system);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"512.0 MiB of memory are free", "1 frontend", "memory.frontend"})
    EXPECT_THAT(found[0].message, HasSubstr(part));
}

TEST(JobDemand, files_that_are_missing_are_refused_with_the_limit_that_fits) {
  const auto config = config_of({{"servers", "1"}});
  const auto nodes = loads(config, 9, 0);
  SystemFacts system = generous();
  system.most_open_files = [] { return 100; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  const auto demand = demand_of(config, nodes.at(0)).value();
  EXPECT_THAT(found[0].message, HasSubstr("100 files open (ulimit -n)"));
  EXPECT_THAT(found[0].message, HasSubstr(fmt::format("raise the limit to {}", demand.server->descriptors)));
  system.most_open_files = [&] { return demand.server->descriptors; };
  EXPECT_TRUE(find_obstacles(config, nodes.at(0), system).empty());
}

TEST(JobDemand, sockets_that_are_missing_are_refused_with_the_topology_that_fits) {
  const auto config = config_of({{"servers_per_node", "1"}});
  const auto nodes = loads(config, 10'100, 101);
  SystemFacts system = generous();
  system.most_open_files = [] { return 4096; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"4096 files open", "9914 sockets, one for each process on other nodes",
                           "raise the limit to", "set topology: tiered"})
    EXPECT_THAT(found[0].message, HasSubstr(part));
  // Another network needs no sockets.
  system.by_sockets = [] { return false; };
  EXPECT_TRUE(find_obstacles(config, nodes.at(0), system).empty());
  // With frontends there are few.
  system.by_sockets = [] { return true; };
  const auto tiered = config_of({{"topology", "tiered"}, {"servers_per_node", "1"}, {"server_nodes", "100"}});
  EXPECT_TRUE(find_obstacles(tiered, loads(tiered, 10'200, 102).at(0), system).empty());
}

TEST(JobDemand, message_tags_that_are_missing_are_refused) {
  const auto config = config_of({{"topology", "tiered"}, {"servers", "10"}});
  const NodeLoad load{0, 129, true, 1, 0, {66'000 + 526, 66'000, 10, 516}};
  SystemFacts system = generous();
  system.most_tag = [] { return 65'535; };
  const auto found = find_obstacles(config, load, system);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("message tags up to 65535 only"));
  EXPECT_THAT(found[0].message, HasSubstr("use topology dedicated"));
}

/// Errors of the sizes themselves are those of `check`, too.
TEST(JobDemand, a_frontend_that_cannot_serve_its_ranks_is_refused) {
  const auto config = config_of({{"topology", "tiered"}, {"memory.frontend", "64MiB"}});
  const auto demand = demand_of(config, {0, 65, true, 1, 0, {66, 64, 1, 1}});
  ASSERT_FALSE(demand);
  EXPECT_THAT(demand.error().message, HasSubstr("raise memory.frontend"));
}

}  // namespace
}  // namespace afterbay::session
