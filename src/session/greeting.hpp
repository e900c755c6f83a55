// SPDX-License-Identifier: Apache-2.0
// The first exchange of a session: ranks agree on settings, names and roles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "base/rank_ranges.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "mpi/tree.hpp"
#include "session/obstacles.hpp"
#include "session/roles.hpp"

namespace afterbay::session {

/// The roles of all ranks, in memory that grows with the number of servers and frontends.
struct Cast {
  RankRanges models;
  RankRanges frontends;
  RankRanges others;                        ///< servers and frontends that are not model ranks
  RankRanges taking_part;                   ///< ranks that are not spare
  std::vector<int> servers;                 ///< ranks, ascending
  std::vector<std::size_t> pool_of_server;  ///< by number of the server
  std::vector<std::uint64_t> slab_shares;   ///< likewise: see config::slab_shares

  /// The number of a server's rank among the servers.
  [[nodiscard]] int number_of(int server) const;
};

/// What a rank learns from the greeting.
struct Greeted {
  std::string session;   ///< the session's name
  std::string run;       ///< the run's name in the journal
  bool fortran = false;  ///< the language of the first model rank
  bool reports = true;   ///< the first rank joins the figures of all ranks at the end
  Cast cast;
  RankRole role;             ///< role of this rank
  NodeLoad load{0, 0};       ///< load of this rank's node
  bool checks_node = false;  ///< this rank runs the preflight checks of its node
};

/// What a rank says in the greeting.
struct Arrival {
  Role role = Role::automatic;
  bool fortran = false;
  std::string name;  ///< the session's name in the program
};

/// Collective. `config` may be an error; a failure is the same on all ranks, and is that of the
/// first rank at fault.
Result<Greeted> greet(mpi::Tree& tree, const mpi::Communicator& comm, const Result<config::Config>& config,
                      const Arrival& arrival);

/// Collective: the problems that any rank found, each once, at its first rank.
Result<std::vector<Error>> share_obstacles(mpi::Tree& tree, std::chrono::milliseconds deadline,
                                           std::vector<Error> own);

}  // namespace afterbay::session
