// SPDX-License-Identifier: Apache-2.0
// Which ranks of a communicator serve, from the configuration and the node of every rank. A pure
// function, so that every rank gets the same result without a message, and `afterbay check` without
// a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::config {

enum class RankKind : std::uint8_t {
  model,
  server,
  frontend,  ///< takes data in for the servers of a tiered pool
  spare      ///< has nothing to do
};

struct RankAssignment {
  RankKind kind = RankKind::model;
  int pool = -1;  ///< servers and frontends: index in Config::pools()
  bool operator==(const RankAssignment&) const = default;
};

/// The kind of every rank, with the dedicated and the tiered topology. `nodes`: one entry per rank,
/// arbitrary numbers, equal on the same node; nodes are ordered by their lowest ranks. Fails
/// (conflict), with the calculation, if the layout is impossible.
Result<std::vector<RankAssignment>> assign_ranks(const Config& config, std::span<const int> nodes);

/// By pool, then by rank: the frontend through which a model rank sends to the servers of that
/// pool; -1: none, it sends directly. A frontend on the rank's node if the pool has any there,
/// otherwise any; several are used in turn.
std::vector<std::vector<int>> frontends_of_ranks(const Config& config,
                                                 std::span<const RankAssignment> assignments,
                                                 std::span<const int> nodes);

/// The same if server processes were started separately (`serves[r]`): they are assigned to the
/// pools in rank order; the last ones of a tiered pool are its servers.
Result<std::vector<RankAssignment>> assign_started_servers(const Config& config,
                                                           const std::vector<bool>& serves,
                                                           std::span<const int> nodes);

/// The node of each of `ranks` ranks, with `ranks_per_node` ranks on each node; 0: all on one node.
std::vector<int> nodes_in_turn(int ranks, int ranks_per_node);

/// One line per kind, for `afterbay check`: "model: ranks 0-2, 4-6".
std::string text_of(const Config& config, std::span<const RankAssignment> assignments);

}  // namespace afterbay::config
