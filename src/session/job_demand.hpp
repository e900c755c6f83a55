// SPDX-License-Identifier: Apache-2.0
// What the processes of a session need: memory, connections, descriptors, message tags. Printed by
// `afterbay check`, and compared with what a node has before the session opens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/layout.hpp"

namespace afterbay::session {

/// Numbers of processes.
struct ProcessCounts {
  std::size_t ranks = 0;  ///< ranks that take part
  std::size_t models = 0;
  std::size_t servers = 0;  ///< inline: model ranks that have one
  std::size_t frontends = 0;
  std::size_t model_nodes = 0;   ///< nodes with model ranks; 0: not known
  std::size_t least_models = 0;  ///< smallest number of model ranks on such a node
  bool servers_started = false;  ///< as server processes: the launcher has placed them

  /// Counts a node with so many model ranks.
  void add_node(std::size_t model_ranks) noexcept {
    if (model_ranks == 0) return;
    least_models = model_nodes == 0 ? model_ranks : std::min(least_models, model_ranks);
    ++model_nodes;
  }
};

/// The processes of a pool on a node, and in the session.
struct PoolLoad {
  int servers = 0;
  int frontends = 0;
  int clients = 0;  ///< NodeLoad::clients, of the frontends of this pool
  std::size_t job_servers = 0;
  std::size_t job_frontends = 0;
};

/// The session's processes on a node, and all of them.
struct NodeLoad {
  int servers = 1;
  int ranks = 2;         ///< all processes of the session, including servers
  bool network = false;  ///< the session has ranks on other nodes, or uses MPI everywhere
  int frontends = 0;
  int clients = 0;         ///< most model ranks of one of these frontends; 0: those of the node, evenly
  ProcessCounts job = {};  ///< processes of the whole session; no ranks: as on this node
  /// By number in Config::pools(). Empty: all servers belong to the pool with the largest
  /// `memory.server`, all frontends to the first tiered pool.
  std::vector<PoolLoad> pools = {};
  bool has_first = false;  ///< the first rank, which joins the figures of all ranks at the end

  /// Model ranks of this node. Inline servers are model ranks.
  [[nodiscard]] std::size_t models(config::Topology topology) const noexcept {
    if (topology == config::Topology::inline_) return static_cast<std::size_t>(ranks);
    return static_cast<std::size_t>(ranks - servers - frontends);
  }
};

/// The nodes of a job without a run. `nodes`: one per rank.
std::vector<NodeLoad> loads_of(const config::Config& config,
                               std::span<const config::RankAssignment> assignments,
                               std::span<const int> nodes);

/// A part of a process's memory.
struct MemoryPart {
  std::string what;  ///< the setting that bounds it, or what it is
  std::uint64_t bytes = 0;
  bool network = false;  ///< the network reads or writes it, and may lock it
};

/// The maximum demand of one process of a kind.
struct ProcessDemand {
  /// Processes on other nodes with which it has connections: one socket each over TCP.
  struct Far {
    std::uint64_t models = 0;
    std::uint64_t servers = 0;
    std::uint64_t frontends = 0;
    std::uint64_t tree = 0;  ///< ranks to which it talks while the session opens and ends
    [[nodiscard]] std::uint64_t all() const noexcept { return models + servers + frontends + tree; }
    /// "9900 model ranks, 99 servers and 14 others while the session opens": those that are not 0.
    [[nodiscard]] std::string text() const;
  };
  std::vector<MemoryPart> parts;  ///< parts that are not 0
  Far far;
  std::uint64_t descriptors = 0;  ///< without connections
  /// Descriptors over TCP.
  [[nodiscard]] std::uint64_t connected() const noexcept { return descriptors + far.all(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t network_bytes() const noexcept;
  /// "memory.server 512MiB, memory.chunks 64MiB, ..."
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string network_text() const;
};

/// Processes of a node that are alike.
struct DemandOfAlike {
  const char* kind = "";  ///< "I/O server", "frontend" or "model rank"
  std::string pool = {};  ///< its name, if there are several
  std::size_t count = 0;
  ProcessDemand each = {};
  /// "frontend of pool 'a'".
  [[nodiscard]] std::string name() const;
};

struct JobDemand {
  std::vector<DemandOfAlike> processes;
  /// The process of each kind that needs most.
  std::optional<ProcessDemand> model;  ///< inline: without its server
  std::optional<ProcessDemand> server;
  std::optional<ProcessDemand> frontend;
  /// Connections of the first rank at the end, for the report; 0: it is on another node, or there
  /// is none.
  std::uint64_t report_connections = 0;
  int tags = 0;  ///< the highest message tag; 0: no more than MPI guarantees
};

/// The demand of the processes on a node. Fails (resources, invalid_argument), with the
/// calculation, if a process cannot have the least memory that it needs.
Result<JobDemand> demand_of(const config::Config& config, const NodeLoad& load);

/// The memory of all processes of the node.
std::uint64_t memory_of(const JobDemand& demand);
/// "2 I/O servers: 702.1 MiB each (memory.server 512MiB, ...); 62 model ranks: 48.0 MiB each (...)"
std::string memory_text(const JobDemand& demand);
/// What the network of that process of the node may lock that needs most.
std::uint64_t network_of(const JobDemand& demand);
/// The settings with which the node's processes need at most `bytes`, as few changes as possible;
/// empty: there are none. `measure`: what they need.
using Measure = std::uint64_t (*)(const JobDemand&);
std::vector<std::pair<std::string, std::uint64_t>> settings_that_fit(const config::Config& config,
                                                                     const NodeLoad& load,
                                                                     std::uint64_t bytes,
                                                                     Measure measure = memory_of);

/// Lines for `afterbay check`: of each kind of process, and of each pool, the one that needs most.
std::string text_of(const config::Config& config, std::span<const NodeLoad> loads);

}  // namespace afterbay::session
