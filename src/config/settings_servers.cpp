// SPDX-License-Identifier: Apache-2.0
// Settings for the placement of servers, and settings that a pool may override.
#include <array>

#include "base/units.hpp"

#include "config/ranks_to_start.hpp"
#include "config/setting_rows.hpp"

namespace afterbay::config {
namespace {

/// The number of servers or frontends.
Kind<int> count_or_automatic() { return or_words(integer_in(1, 65'536), {{"auto", 0}}); }
Kind<int> ranks_or_automatic() { return or_words(integer_in(1, most_ranks), {{"auto", 0}}); }

void add_topology(std::vector<Setting<Config>>& table) {
  table.push_back(session(
      agreed, "topology",
      choice<Topology>(
          {{"dedicated", Topology::dedicated}, {"inline", Topology::inline_}, {"tiered", Topology::tiered}}),
      AFTERBAY_FIELD(servers.topology),
      "Where the I/O servers run. `dedicated`: some ranks of the communicator only "
      "serve. `inline`: no extra ranks; the model's own processes write, as "
      "`inline.mode` says. `tiered`: frontends, on the nodes of the model ranks or on "
      "nodes of their own, take data in and pass them on to the servers, which write."));
  table.push_back(session(agreed, "servers", integer_in(1, 65'536), AFTERBAY_FIELD(servers.number),
                          "Number of I/O servers with the topologies `dedicated` and `tiered`: the last "
                          "ranks of the communicator, unless the settings below say otherwise. At least "
                          "one model rank must remain."));
  table.push_back(
      session(agreed, "inline.mode",
              choice<InlineMode>({{"synchronous", InlineMode::synchronous}, {"thread", InlineMode::thread}}),
              AFTERBAY_FIELD(servers.inline_mode),
              "How model ranks write with the topology `inline`. `synchronous`: `end_step` "
              "returns when the step has been written. `thread`: one background thread "
              "per node writes while the model computes; over several nodes this needs "
              "MPI_THREAD_MULTIPLE."));
}

void add_layout(std::vector<Setting<Config>>& table) {
  table.push_back(session(agreed, "servers_per_node", count_or_automatic(),
                          AFTERBAY_FIELD(servers.layout.per_node),
                          "Number of servers on each node that has servers. Two of `servers`, "
                          "`servers_per_node` and `server_nodes` determine the third. Given alone, it "
                          "puts servers on every node or, with `isolate_nodes`, on one node. `auto`: with "
                          "`server_nodes` alone, one server on each of these nodes or, with "
                          "`isolate_nodes`, all their ranks; otherwise servers are not "
                          "placed by node."));
  table.push_back(session(agreed, "server_nodes", count_or_automatic(), AFTERBAY_FIELD(servers.layout.nodes),
                          "Number of nodes that have servers: the last ones, in the order of their lowest "
                          "ranks. Given alone, it puts one server on each of them or, with "
                          "`isolate_nodes`, makes all their ranks servers."));
  table.push_back(session(agreed, "server_offset", or_words(integer_in(0, most_ranks), {{"auto", -1}}),
                          AFTERBAY_FIELD(servers.layout.offset),
                          "Rank of the first server, counted from 0 among the ranks of each node if "
                          "servers are placed by node, else among all ranks. `auto`: the last ranks serve "
                          "or, with `server_spacing`, the ranks from 0 on."));
  table.push_back(session(agreed, "server_spacing", ranks_or_automatic(),
                          AFTERBAY_FIELD(servers.layout.spacing),
                          "Distance from one server to the next, in ranks counted as for `server_offset`; "
                          "for example to place the servers on different sockets."));
  table.push_back(session(agreed, "isolate_nodes", toggle(), AFTERBAY_FIELD(servers.layout.isolate),
                          "Whether nodes that have servers have no model ranks. The remaining ranks of "
                          "these nodes are frontends with the topology `tiered`, else spare: `serve` "
                          "returns there at once."));
  table.push_back(
      session(agreed, "model_ranks", ranks_or_automatic(), AFTERBAY_FIELD(servers.model_ranks),
              "Number of model ranks: the first of those that do not serve. The others are spare: they "
              "count as servers, and `serve` returns there at once. `auto`: all that do not serve."));
  table.push_back(session(agreed, "frontends_per_node", count_or_automatic(),
                          AFTERBAY_FIELD(servers.layout.frontends_per_node),
                          "With the topology `tiered`, without `isolate_nodes`: number of frontends on "
                          "each node that has model ranks. The node's model ranks are assigned to them in "
                          "turn. `auto`: 1."));
}

void add_placement(std::vector<Setting<Config>>& table) {
  table.push_back(session(agreed, "placement", placement_kind(), AFTERBAY_FIELD(servers.placement),
                          "How files are distributed over the servers of a pool, or over all servers if "
                          "there are no pools. `collection`: all files of a collection go to one server, "
                          "and collections to servers in turn. `file`: the files of each collection go to "
                          "all servers in turn. `least`: each file goes to the server that has the least "
                          "to write. With `file` and `least`, a path that is opened again goes to the "
                          "server that wrote it before. `slab`: all servers write every file together, "
                          "each a contiguous part of a record, or of each large variable if they are on "
                          "several nodes, so that a record may be larger than a server's memory. "
                          "`variable`: likewise, but each server writes some of the variables. Files that "
                          "are appended to, and those of the store `memory`, are "
                          "always written by one server. With the topology `tiered`, the default is "
                          "`least`."));
  table.push_back(session(agreed, "pool_choice", pool_choice_kind(), AFTERBAY_FIELD(servers.pool_choice),
                          "Which pool writes a collection for which no pool is named, if several pools "
                          "take files of its size. `turn`: the pools in turn. `least`: the pool with the "
                          "fewest expected bytes per server so far. For a collection with several pools, "
                          "`collections.NAME.pool_choice` says which of them writes a file."));
  table.push_back(session(agreed, "input_pool", text("name", "a pool's name"),
                          AFTERBAY_FIELD(servers.input_pool),
                          "The pool whose servers read files for the model. By default all servers do."));
}

/// Session settings that a pool may override.
constexpr std::array<std::string_view, 16> for_pools{
    "topology",      "servers",        "servers_per_node", "server_nodes",
    "server_offset", "server_spacing", "isolate_nodes",    "frontends_per_node",
    "placement",     "memory.server",  "memory.chunks",    "memory.frontend",
    "writers",       "when_full",      "spill.directory",  "spill.quota"};

}  // namespace

Kind<Placement> placement_kind() {
  return choice<Placement>({{"collection", Placement::collection},
                            {"file", Placement::file},
                            {"least", Placement::least},
                            {"slab", Placement::slab},
                            {"variable", Placement::variable}});
}

Kind<PoolChoice> pool_choice_kind() {
  return choice<PoolChoice>({{"turn", PoolChoice::turn}, {"least", PoolChoice::least}});
}

void add_servers(std::vector<Setting<Config>>& table) {
  add_topology(table);
  add_layout(table);
  add_placement(table);
}

const std::vector<Setting<Config>>& pool_settings() {
  static const std::vector<Setting<Config>> table = [] {
    std::vector<Setting<Config>> rows;
    for (const std::string_view name : for_pools) {
      rows.push_back(*find_setting(session_settings(), name));
      rows.back().documentation = fmt::format("As the session's `{}`, for this pool.", name);
    }
    rows.front() = session(
        "topology", choice<Topology>({{"dedicated", Topology::dedicated}, {"tiered", Topology::tiered}}),
        AFTERBAY_FIELD(servers.topology), rows.front().documentation);
    rows.push_back(session("collections_from", size_in({.low = 0, .high = 1024 * 1024 * TiB}),
                           AFTERBAY_FIELD(servers.collections_from_bytes),
                           "The pool takes collections for which no pool is named and whose files are "
                           "expected to reach at least this size (`expected_size`; without it, the size of "
                           "the fixed variables and 16 records, uncompressed), unless another pool has a "
                           "larger value that they reach too. `pool_choice` decides between pools with the "
                           "same value."));
    return rows;
  }();
  return table;
}

}  // namespace afterbay::config
