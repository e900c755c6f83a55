// SPDX-License-Identifier: Apache-2.0
// What a job needs, and what is refused before it opens.
#include "session/job_demand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>

#include "base/units.hpp"
#include "session/obstacles.hpp"
#include "unit/session/generous_system.hpp"

namespace afterbay::session {
namespace {

using testing::AllOf;
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
  if (config.servers.topology == config::Topology::inline_)
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
  EXPECT_EQ(nodes[0].models(config.servers.topology), 64u);
}

TEST(JobDemand, inline_a_node_has_one_server) {
  const auto config = config_of({{"topology", "inline"}});
  const auto nodes = loads(config, 128, 64);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].servers, 1);
  EXPECT_EQ(nodes[1].models(config.servers.topology), 64u);
  EXPECT_EQ(nodes[1].job.servers, 2u);
  EXPECT_EQ(nodes[1].job.models, 128u);
}

TEST(JobDemand, a_node_with_shared_memory_only_needs_no_memory_for_the_network) {
  const auto config = config_of({{"servers", "1"}});
  const auto nodes = loads(config, 9, 0);
  const auto demand = demand_of(config, nodes.at(0)).value();
  for (const auto* process : {&demand.server, &demand.model})
    for (const MemoryPart& part : (*process)->parts) {
      EXPECT_NE(part.what, "memory.receive");
      EXPECT_NE(part.what, "memory.link");
    }
  EXPECT_EQ(demand.server->far.all(), 0u);
  EXPECT_EQ(demand.tags, 0);
}

/// The bounds for 100 000 ranks and 1000 servers, of the formulas; bench/scale.py measures them.
/// memory.chunks is a setting of its own, like memory.server.
TEST(JobDemand, of_100_000_ranks_is_bounded) {
  using Settings = std::vector<std::pair<std::string, std::string>>;
  for (const Settings& settings :
       {Settings{}, Settings{{"placement", "slab"}}, Settings{{"topology", "tiered"}},
        Settings{{"topology", "tiered"}, {"placement", "slab"}}}) {
    auto all = settings;
    all.emplace_back("servers_per_node", "1");
    const auto config = config_of(all);
    const bool tiered = config.servers.topology == config::Topology::tiered;
    SCOPED_TRACE((tiered ? "tiered, servers that talk: " : "dedicated, servers that talk: ") +
                 std::to_string(config.servers_talk()));
    const int per_node = tiered ? 102 : 101;
    const auto nodes = loads(config, 1000 * per_node, per_node);
    ASSERT_EQ(nodes.size(), 1000u);
    ASSERT_EQ(nodes.front().job.models, 100'000u);
    const auto demand = demand_of(config, nodes.front()).value();
    EXPECT_LE(demand.model->bytes(), 64 * MiB) << demand.model->text();
    EXPECT_LE(demand.server->bytes() - config.memory.server_bytes - config.memory.chunks_bytes, 256 * MiB)
        << demand.server->text();
    for (const MemoryPart& part : demand.server->parts) {
      if (part.what != "memory.receive") continue;
      EXPECT_LE(part.bytes, config.memory.receive_bytes);
    }
    EXPECT_EQ(demand.model->far.all(), tiered ? 17u : 999u + 17u);
  }
}

/// All that a process may take is in a part: entries of frames, page tables of shared memory.
TEST(JobDemand, counts_frames_and_page_tables) {
  const auto part_of = [](const ProcessDemand& process, std::string_view what) {
    std::uint64_t bytes = 0;
    for (const MemoryPart& part : process.parts)
      if (part.what == what) bytes += part.bytes;
    return bytes;
  };
  const auto demand_with = [](std::vector<std::pair<std::string, std::string>> settings) {
    settings.emplace_back("servers", "1");
    const auto config = config_of(std::move(settings));
    return demand_of(config, loads(config, 9, 0).at(0)).value();
  };
  const auto usual = demand_with({});
  const auto few = demand_with({{"memory.frames", "1024"}});
  EXPECT_GT(part_of(*usual.server, "frames (memory.frames)"), 65'536u * 600);
  EXPECT_LT(part_of(*few.server, "frames (memory.frames)"), 1024u * 650 + 8 * MiB);
  EXPECT_GE(part_of(*usual.server, "page tables"), MiB) << "of 512 MiB";
  EXPECT_GE(part_of(*usual.model, "page tables"), MiB);
  EXPECT_LE(part_of(*usual.model, "page tables"), 2 * MiB);
  // A 16th of the memory for all ranks together.
  const auto large = demand_with({{"memory.server", "64GiB"}});
  EXPECT_GE(part_of(*large.model, "page tables"), 64 * GiB / 512);
  EXPECT_LE(part_of(*large.model, "page tables"), 136 * MiB);
  EXPECT_GE(part_of(*large.model, "pairs"), part_of(*usual.model, "pairs") + 100 * KiB)
      << "what it notes about pages";
  const auto tiered = demand_with({{"topology", "tiered"}});
  EXPECT_GE(part_of(*tiered.model, "page tables"), part_of(*tiered.frontend, "memory.frontend") / 512);
}

/// Formulas of what a server notes of ranks: per collection, open record and open file.
TEST(JobDemand, tables_of_model_ranks_are_printed) {
  const auto config = config_of({{"servers_per_node", "1"}});
  const auto nodes = loads(config, 101'000, 101);
  EXPECT_THAT(text_of(config, nodes),
              AllOf(HasSubstr("in addition: 1.5 MiB per collection, 24.5 KiB per open file"),
                    HasSubstr("V x 12.3 KiB per open record of V variables (2.4 MiB with 200)")));
}

/// Also what waits in small segments, and with `memory.receive` as small as it can be.
TEST(JobDemand, what_arrives_at_a_server_is_bounded_by_its_setting) {
  for (const auto& [receive, placement, topology] : {std::tuple{"96MiB", "collection", "dedicated"},
                                                     {"128MiB", "slab", "dedicated"},
                                                     {"1GiB", "slab", "tiered"},
                                                     {"8448KiB", "collection", "dedicated"},
                                                     {"8448KiB", "collection", "tiered"},
                                                     {"11MiB", "slab", "tiered"},
                                                     {"16MiB", "slab", "dedicated"},
                                                     {"24MiB", "slab", "tiered"}}) {
    const auto config = config_of({{"servers_per_node", "1"},
                                   {"memory.receive", receive},
                                   {"placement", placement},
                                   {"topology", topology}});
    for (const int nodes : {2, 10, 100, 1000}) {
      SCOPED_TRACE(fmt::format("{} {} {} {}", receive, placement, topology, nodes));
      const auto loads_of_nodes = loads(config, 102 * nodes, 102);
      const auto demand = demand_of(config, loads_of_nodes.front()).value();
      std::uint64_t arriving = 0;
      for (const MemoryPart& part : demand.server->parts)
        if (part.what == "memory.receive") arriving += part.bytes;
      EXPECT_GT(arriving, 0u);
      EXPECT_LE(arriving, config.memory.receive_bytes) << demand.server->text();
    }
  }
}

/// Servers that exchange messages have memory for each other.
TEST(JobDemand, too_little_receive_memory_is_refused_with_the_value_that_suffices) {
  std::vector<std::pair<std::string, std::string>> settings{
      {"servers_per_node", "1"}, {"memory.receive", "9MiB"}, {"placement", "slab"}, {"topology", "tiered"}};
  const auto config = config_of(settings);
  EXPECT_TRUE(demand_of(config, loads(config, 10'200, 102).front()));
  const auto nodes = loads(config, 102'000, 102);
  const auto demand = demand_of(config, nodes.front());
  ASSERT_FALSE(demand);
  EXPECT_EQ(demand.error().code, ErrorCode::resources);
  for (const char* part :
       {"memory.receive is 9MiB, but a server needs at least 10.1 MiB for what arrives over MPI",
        "8.0 MiB for 2 segments of memory.block", "2.0 MiB for messages of 999 other servers",
        "128.0 KiB for joint messages of frontends"})
    EXPECT_THAT(demand.error().message, HasSubstr(part));
  const auto found = find_obstacles(config, nodes.front(), generous());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, demand.error().message);
  const std::string raise = "raise memory.receive to ";
  const std::size_t at = found[0].message.find(raise);
  ASSERT_NE(at, std::string::npos);
  const std::string said = found[0].message.substr(at + raise.size());
  settings[1].second = said.substr(0, said.find(' '));
  const auto raised = config_of(settings);
  EXPECT_TRUE(demand_of(raised, loads(raised, 102'000, 102).front())) << settings[1].second;
}

TEST(JobDemand, endpoints_count_if_their_memory_is_set_and_may_be_used) {
  const auto of_endpoints = [](std::vector<std::pair<std::string, std::string>> settings, int nodes) {
    const auto config = config_of(std::move(settings));
    const auto demand = demand_of(config, loads(config, 3 * nodes, 3).front()).value();
    std::uint64_t bytes = 0;
    for (const MemoryPart& part : demand.model->parts)
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

/// A server's memory, and how a model rank reaches it, are those of its pool.
TEST(JobDemand, each_pool_counts_with_its_own_settings) {
  const auto config = config_of({{"pools.small.servers", "2"},
                                 {"pools.small.memory.server", "64MiB"},
                                 {"pools.big.servers", "1"},
                                 {"pools.big.memory.server", "6GiB"},
                                 {"pools.big.memory.chunks", "1GiB"}});
  const NodeLoad node = loads(config, 9, 0).at(0);
  ASSERT_EQ(node.pools.size(), 2u);
  EXPECT_EQ(node.pools[0].servers, 2);
  EXPECT_EQ(node.pools[1].job_servers, 1u);
  const auto demand = demand_of(config, node).value();
  const std::string text = memory_text(demand);
  EXPECT_THAT(text, HasSubstr("2 I/O servers of pool 'small': "));
  EXPECT_THAT(text, HasSubstr("1 I/O server of pool 'big': 7."));
  EXPECT_GT(memory_of(demand), 2 * 64 * MiB + 7 * GiB);
  EXPECT_LT(memory_of(demand), 8 * GiB);
  EXPECT_GT(demand.server->bytes(), 7 * GiB) << "the one that needs most";
  EXPECT_THAT(text_of(config, {&node, 1}), HasSubstr("I/O server of pool 'big': at most 7."));
}

TEST(JobDemand, model_ranks_reach_the_servers_of_each_pool_in_its_own_way) {
  const auto config = config_of({{"pools.near.servers", "2"},
                                 {"pools.far.servers", "4"},
                                 {"pools.far.topology", "tiered"},
                                 {"pools.other.servers", "3"},
                                 {"pools.other.topology", "tiered"}});
  const NodeLoad all_here{
      9, 40, false, 2, 0, {40, 29, 9, 2}, {{2, 0, 0, 2, 0}, {4, 1, 29, 4, 1}, {3, 1, 29, 3, 1}}};
  const auto demand = demand_of(config, all_here).value();
  EXPECT_EQ(demand.model->descriptors, 64u + 2 + 2) << "two servers and the frontends of two pools";
  const NodeLoad models_only{
      0, 29, true, 0, 0, {40, 29, 9, 2}, {{0, 0, 0, 2, 0}, {0, 0, 0, 4, 1}, {0, 0, 0, 3, 1}}};
  const auto far = demand_of(config, models_only).value();
  EXPECT_EQ(far.model->far.all(), 2u + 2 + 6) << "two servers, two frontends, the tree";
}

TEST(JobDemand, tags_that_not_every_mpi_has_are_pointed_out) {
  const auto config = config_of({{"topology", "tiered"}, {"servers", "10"}});
  NodeLoad load{0, 129, true, 1, 0, {1310, 1290, 10, 10}};
  EXPECT_THAT(text_of(config, {&load, 1}), HasSubstr("message tags: up to 2597\n"));
  load.job = {66'526, 66'000, 10, 516};
  EXPECT_THAT(text_of(config, {&load, 1}),
              HasSubstr("message tags: up to 132017, more than the 32767 that every MPI has: checked when a "
                        "session opens\n"));
}

// ---- what does not fit

TEST(JobDemand, memory_of_a_pool_that_is_missing_is_refused_with_its_setting) {
  const auto config = config_of(
      {{"pools.small.servers", "1"}, {"pools.big.servers", "1"}, {"pools.big.memory.server", "64GiB"}});
  const auto nodes = loads(config, 9, 0);
  SystemFacts system = generous();
  system.free_memory = [] { return 24 * GiB; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"1 I/O server of pool 'big': 65.9 GiB", "): set pools.big.memory.server: "})
    EXPECT_THAT(found[0].message, HasSubstr(part));
}

TEST(JobDemand, a_frontend_of_a_pool_that_cannot_serve_its_ranks_is_refused) {
  const auto config = config_of(
      {{"pools.a.servers", "4"}, {"pools.a.topology", "tiered"}, {"pools.a.memory.frontend", "16MiB"}});
  const auto demand = demand_of(config, loads(config, 65, 0).at(0));
  ASSERT_FALSE(demand);
  EXPECT_THAT(demand.error().message, HasSubstr("memory.frontend is 16MiB"));
}

TEST(JobDemand, sockets_for_the_report_are_counted_on_the_first_ranks_node) {
  std::vector<std::pair<std::string, std::string>> settings{
      {"topology", "tiered"}, {"servers_per_node", "1"}, {"server_nodes", "100"}};
  const auto config = config_of(settings);
  const auto nodes = loads(config, 10'200, 102);
  EXPECT_TRUE(nodes[0].has_first);
  EXPECT_FALSE(nodes[1].has_first);
  EXPECT_THAT(text_of(config, nodes), HasSubstr("at the end the first rank has 10098 connections\n"));
  SystemFacts system = generous();
  system.most_open_files = [] { return 4096; };
  const auto found = find_obstacles(config, nodes[0], system);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"4096 files open", "for the report", "10098 sockets", "set report.table: off"})
    EXPECT_THAT(found[0].message, HasSubstr(part));
  EXPECT_TRUE(find_obstacles(config, nodes[1], system).empty());
  settings.emplace_back("report.table", "off");
  EXPECT_TRUE(find_obstacles(config_of(settings), nodes[0], system).empty());
  // The first rank also needs the figures of all ranks for what the advice says to leave out.
  settings.emplace_back("collections.history.compress", "auto");
  const auto without_report = find_obstacles(config_of(settings), nodes[0], system);
  ASSERT_EQ(without_report.size(), 1u);
  EXPECT_THAT(without_report[0].message,
              AllOf(testing::EndsWith(", or leave out collections.history.compress"),
                    testing::Not(HasSubstr("report"))));
  settings.emplace_back("report.json", "r.json");
  EXPECT_THAT(find_obstacles(config_of(settings), nodes[0], system)[0].message,
              testing::EndsWith(", or leave out collections.history.compress, report.json"));
}

/// `ulimit -l` is a limit of each process.
TEST(JobDemand, locked_memory_is_that_of_the_process_that_needs_most) {
  const auto config = config_of({{"servers_per_node", "1"}});
  const auto nodes = loads(config, 202, 101);
  SystemFacts system = generous();
  system.locked_memory = [] { return 200 * MiB; };
  EXPECT_TRUE(find_obstacles(config, nodes.at(0), system).empty()) << "100 ranks need 4 GiB together";
  system.locked_memory = [] { return 64 * MiB; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"by one process here (I/O server: memory.receive 94.8 MiB)", "raise the limit to ",
                           ", or set memory.receive: "})
    EXPECT_THAT(found[0].message, HasSubstr(part));
  // Nodes without servers have networks too.
  system.locked_memory = [] { return 64 * KiB; };
  const NodeLoad models_only{0, 100, true, 0, 0, {202, 200, 2, 0}};
  EXPECT_EQ(find_obstacles(config, models_only, system).size(), 1u);
  const auto one_node = loads(config, 101, 0);
  EXPECT_TRUE(find_obstacles(config, one_node.at(0), system).empty()) << "no network";
}

/// With what the refusal says the run starts: the settings, and the limit.
TEST(JobDemand, locked_memory_that_is_missing_is_refused_with_settings_that_fit) {
  const auto config = config_of({{"servers_per_node", "1"}});
  const auto nodes = loads(config, 202, 101);
  std::uint64_t limit = 64 * MiB;
  SystemFacts system = generous();
  system.locked_memory = [&limit] { return limit; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  const auto advised = settings_that_fit(config, nodes.at(0), limit - limit / 20, network_of);
  ASSERT_FALSE(advised.empty());
  std::vector<std::pair<std::string, std::string>> settings{{"servers_per_node", "1"}};
  for (const auto& [name, bytes] : advised) {
    EXPECT_THAT(found[0].message, HasSubstr(fmt::format("{}: {}", name, print_bytes(bytes))));
    settings.emplace_back(name, print_bytes(bytes));
  }
  EXPECT_TRUE(find_obstacles(config_of(settings), nodes.at(0), system).empty());
  const std::string raise = "raise the limit to ";
  const std::size_t at = found[0].message.find(raise);
  ASSERT_NE(at, std::string::npos);
  const std::string said = found[0].message.substr(at + raise.size());
  limit = parse_bytes(said.substr(0, said.find(','))).value();
  EXPECT_TRUE(find_obstacles(config, nodes.at(0), system).empty());
  limit = 64 * KiB;  // there are none
  const auto impossible = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(impossible.size(), 1u);
  EXPECT_THAT(impossible[0].message, testing::Not(HasSubstr("or set")));
}

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

/// Advice that the configuration would refuse is none.
TEST(JobDemand, settings_that_fit_are_accepted_however_scarce_memory_is) {
  std::size_t advised = 0;
  for (const char* const block : {"512KiB", "4MiB", "16MiB"})
    for (const auto& [placement, per_node] : {std::pair{"collection", 0}, {"slab", 0}, {"slab", 96}}) {
      const std::vector<std::pair<std::string, std::string>> given{
          {"servers", "64"}, {"placement", placement}, {"memory.block", block}};
      const auto config = config_of(given);
      const auto nodes = loads(config, 192, per_node);
      for (std::uint64_t free = GiB / 4; free < 64 * GiB; free += free / 6) {
        const auto changes = settings_that_fit(config, nodes.back(), free);
        if (changes.empty()) continue;
        ++advised;
        config::Sources sources;
        sources.environment.emplace();
        sources.settings = given;
        for (const auto& [name, bytes] : changes) sources.settings.emplace_back(name, print_bytes(bytes));
        const auto loaded = config::load(sources);
        ASSERT_TRUE(loaded) << block << ", " << placement << ", " << print_bytes(free) << ": "
                            << loaded.error().message;
        SystemFacts system = generous();
        system.free_memory = [free] { return free; };
        EXPECT_TRUE(find_obstacles(*loaded, nodes.back(), system).empty()) << print_bytes(free);
      }
    }
  EXPECT_GT(advised, 20U);
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
  const auto config = config_of({{"servers_per_node", "1"}, {"report.table", "off"}});
  const auto nodes = loads(config, 10'100, 101);
  SystemFacts system = generous();
  system.most_open_files = [] { return 4096; };
  const auto found = find_obstacles(config, nodes.at(0), system);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part :
       {"4096 files open", "9914 sockets, one for each process on other nodes", "9900 model ranks",
        "raise the limit to", ", or set topology: tiered, or start at most 3968 model ranks on other nodes"})
    EXPECT_THAT(found[0].message, HasSubstr(part));
  // Another network needs no sockets.
  system.by_sockets = [] { return false; };
  EXPECT_TRUE(find_obstacles(config, nodes.at(0), system).empty());
  // With frontends there are few.
  system.by_sockets = [] { return true; };
  const auto tiered = config_of(
      {{"topology", "tiered"}, {"servers_per_node", "1"}, {"server_nodes", "100"}, {"report.table", "off"}});
  EXPECT_TRUE(find_obstacles(tiered, loads(tiered, 10'200, 102).at(0), system).empty());
}

TEST(JobDemand, sockets_that_are_missing_are_refused_with_numbers_of_processes_that_fit) {
  // A server behind frontends, a frontend before many servers, a model rank with many servers.
  const auto expect_fits = [](std::vector<std::pair<std::string, std::string>> settings, const NodeLoad& load,
                              std::uint64_t limit, const char* part) {
    SystemFacts system = generous();
    system.most_open_files = [limit] { return limit; };
    settings.emplace_back("report.table", "off");
    const auto found = find_obstacles(config_of(std::move(settings)), load, system);
    ASSERT_FALSE(found.empty()) << part;
    EXPECT_THAT(found[0].message, HasSubstr(part));
  };
  const std::vector<std::pair<std::string, std::string>> tiered{{"topology", "tiered"}, {"servers", "10"}};
  const NodeLoad server_only{1, 1, true, 0, 0, {3011, 1000, 10, 2001}};
  const auto demand = demand_of(config_of(tiered), server_only).value();
  EXPECT_EQ(demand.server->far.frontends, 2001u);
  EXPECT_EQ(demand.server->far.models, 0u);
  const std::uint64_t rest = demand.server->descriptors + demand.server->far.all() - 2001;
  expect_fits(tiered, server_only, rest + 500, ", or use at most 500 frontends on other nodes");
  const NodeLoad frontend{0, 11, true, 1, 0, {20'000, 10'000, 5000, 1000}};
  const auto of_frontend = demand_of(config_of(tiered), frontend).value();
  EXPECT_EQ(of_frontend.frontend->far.servers, 5000u);
  expect_fits(tiered, frontend,
              of_frontend.frontend->descriptors + of_frontend.frontend->far.all() - 5000 + 700,
              ", or use at most 700 servers on other nodes");
  const NodeLoad models{0, 10, true, 0, 0, {15'000, 10'000, 5000, 0}};
  const auto of_model = demand_of(config_of({{"servers", "10"}}), models).value();
  EXPECT_EQ(of_model.model->far.servers, 5000u);
  expect_fits({{"servers", "10"}}, models,
              of_model.model->descriptors + of_model.model->far.all() - 5000 + 300,
              " files: raise the limit to 5078, or use at most 300 servers on other nodes");
}

/// What refusals of a node for too many sockets advise, found in their text.
struct Advised {
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::tuple<std::string, std::uint64_t, std::string>> numbers;  ///< whose, number, of what
};
Advised advised_in(const std::vector<Error>& found) {
  Advised all;
  for (const Error& error : found) {
    std::string whose;
    for (const char* kind : {"a server", "a frontend", "a model rank"})
      if (error.message.find(fmt::format("and {} needs", kind)) != std::string::npos) whose = kind;
    std::string rest = error.message;
    for (std::size_t at = rest.find(", or "); at != std::string::npos; at = rest.find(", or ")) {
      rest = rest.substr(at + 5);
      std::string way = rest.substr(0, rest.find(", or "));
      if (way.starts_with("set ")) {
        for (way = way.substr(4); !way.empty();) {
          const std::string one = way.substr(0, way.find(", "));
          way = way.size() > one.size() ? way.substr(one.size() + 2) : "";
          const std::size_t colon = one.find(": ");
          all.settings.emplace_back(one.substr(0, colon), one.substr(colon + 2));
        }
      } else if (const std::size_t number = way.find(" at most "); number != std::string::npos) {
        const std::string from = way.substr(number + 9);
        const std::size_t end = from.find(" on other nodes");
        EXPECT_NE(end, std::string::npos) << way;
        all.numbers.emplace_back(whose, std::stoull(from),
                                 from.substr(from.find(' ') + 1, end - from.find(' ') - 1));
      }
    }
  }
  return all;
}

SystemFacts with_limit(std::uint64_t files) {
  SystemFacts system = generous();
  system.most_open_files = [files] { return files; };
  return system;
}

/// Every advised setting, applied to the job, removes the refusal, and no topology that would is
/// kept back: a frontend and servers that exchange messages may need as many sockets.
TEST(JobDemand, settings_for_fewer_sockets_are_advised_exactly_if_they_suffice) {
  std::size_t with_topology = 0, with_placement = 0, without = 0;
  for (const char* const placement : {"", "collection", "file", "slab", "variable", "least"})
    for (const auto& [key, number] : {std::pair{"servers_per_node", "1"},
                                      {"servers_per_node", "3"},
                                      {"servers", "1"},
                                      {"servers", "700"},
                                      {"servers", "2000"}})
      for (const auto& [ranks, per_node] : {std::pair{4040, 101}, {5002, 6}, {3000, 2}})
        for (const std::uint64_t limit : {400U, 1100U, 2400U, 3500U}) {
          std::vector<std::pair<std::string, std::string>> settings{{key, number}, {"report.table", "off"}};
          if (*placement != 0) settings.emplace_back("placement", placement);
          SCOPED_TRACE(fmt::format("{} {}: {}, {} ranks, {} per node, limit {}", placement, key, number,
                                   ranks, per_node, limit));
          const auto config = config_of(settings);
          if (!config::assign_ranks(config, config::nodes_in_turn(ranks, per_node))) continue;
          const auto nodes = loads(config, ranks, per_node);
          const SystemFacts system = with_limit(limit);
          const auto refuses_any = [&](const std::vector<std::pair<std::string, std::string>>& more) {
            auto all = settings;
            all.insert(all.end(), more.begin(), more.end());
            const auto changed = config_of(all);
            if (!config::assign_ranks(changed, config::nodes_in_turn(ranks, per_node))) return true;
            std::set<std::tuple<int, int, int>> seen;
            for (const NodeLoad& node : loads(changed, ranks, per_node))
              if (seen.insert({node.servers, node.ranks, node.frontends}).second &&
                  !find_obstacles(changed, node, system).empty())
                return true;
            return false;
          };
          for (const std::size_t n : {std::size_t{0}, nodes.size() - 1}) {
            const auto found = find_obstacles(config, nodes[n], system);
            bool of_server = false;
            for (const Error& error : found)
              of_server = of_server || error.message.find("and a server needs") != std::string::npos;
            const Advised advised = advised_in(found);
            if (!advised.settings.empty()) {
              auto all = settings;
              all.insert(all.end(), advised.settings.begin(), advised.settings.end());
              const auto changed = config_of(all);
              const auto changed_nodes = loads(changed, ranks, per_node);
              ASSERT_EQ(changed_nodes.size(), nodes.size());
              const auto left = find_obstacles(changed, changed_nodes[n], system);
              EXPECT_TRUE(left.empty()) << found[0].message << "\n" << left[0].message;
              ++(advised.settings.size() > 1 ? with_placement : with_topology);
            } else if (of_server) {
              EXPECT_TRUE(refuses_any({{"topology", "tiered"}})) << found[0].message;
              EXPECT_TRUE(*placement != 0 ||
                          refuses_any({{"topology", "tiered"}, {"placement", "collection"}}));
              ++without;
            }
            // With the advised numbers on other nodes the same process fits.
            for (const auto& [whose, most, what] : advised.numbers) {
              NodeLoad fewer = nodes[n];
              const auto limit_to = [&](std::size_t here, std::size_t& all) {
                const std::size_t far = std::min<std::size_t>(all - here, most);
                fewer.job.ranks -= all - here - far;
                all = here + far;
              };
              const auto servers_here = static_cast<std::size_t>(fewer.servers);
              if (what == "servers") {
                limit_to(servers_here, fewer.job.servers);
              } else {
                const std::size_t models_here = fewer.models(config.servers.topology);
                if (what == "model ranks and servers") {
                  const std::size_t far_servers =
                      std::min(fewer.job.servers - servers_here, std::size_t{most} / 2);
                  fewer.job.servers = servers_here + far_servers;
                  fewer.job.models = models_here + static_cast<std::size_t>(most) - far_servers;
                  fewer.job.ranks = fewer.job.servers + fewer.job.models;
                } else {
                  ASSERT_EQ(what, "model ranks");
                  limit_to(models_here, fewer.job.models);
                }
              }
              fewer.pools[0].job_servers = fewer.job.servers;
              for (const Error& error : find_obstacles(config, fewer, system))
                EXPECT_EQ(error.message.find(fmt::format("and {} needs", whose)), std::string::npos)
                    << what << " " << most << "\n"
                    << error.message;
            }
          }
        }
  std::printf("topology helps %zu times, with the placement %zu times, not %zu times\n", with_topology,
              with_placement, without);
  EXPECT_GT(with_topology, 20u);
  EXPECT_GT(with_placement, 2u);
  EXPECT_GT(without, 20u);
}

TEST(JobDemand, a_topology_that_cannot_be_placed_is_not_advised) {
  const auto advice = [](std::vector<std::pair<std::string, std::string>> settings, int ranks, int per_node,
                         bool started = false) {
    settings.emplace_back("report.table", "off");
    const auto config = config_of(std::move(settings));
    NodeLoad node = loads(config, ranks, per_node).back();
    node.job.servers_started = started;
    const auto found = find_obstacles(config, node, with_limit(4096));
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? "" : found[0].message;
  };
  EXPECT_THAT(advice({{"servers", "4"}}, 10'000, 100), HasSubstr("set topology: tiered"));
  for (const std::string& other :
       {advice({{"servers", "4"}}, 10'000, 100, true),
        advice({{"servers", "100"}, {"isolate_nodes", "on"}}, 10'100, 100),
        advice({{"servers", "4"}, {"model_ranks", "9990"}}, 10'000, 100),
        advice({{"servers", "5"}}, 10'006, 5), advice({{"topology", "inline"}}, 10'000, 100)})
    EXPECT_THAT(other, AllOf(HasSubstr("raise the limit to"), HasSubstr(", or start at most "),
                             testing::Not(HasSubstr("tiered"))));
}

/// The pool that needs most sockets may not be the one that needs most memory.
TEST(JobDemand, sockets_of_each_pool_are_compared) {
  const auto config = config_of({{"pools.direct.servers", "1"},
                                 {"pools.direct.topology", "dedicated"},
                                 {"pools.relayed.servers", "1"},
                                 {"pools.relayed.topology", "tiered"},
                                 {"pools.relayed.memory.server", "4GiB"},
                                 {"report.table", "off"}});
  const auto nodes = loads(config, 10'002, 100);
  const auto found = find_obstacles(config, nodes[nodes.size() - 1], with_limit(4096));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, AllOf(HasSubstr("and a server of pool 'direct' needs up to"),
                                      HasSubstr(", or set pools.direct.topology: tiered, or start")));
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
