// SPDX-License-Identifier: Apache-2.0
// Collective set-up: creates links and ports from a communicator and the roles of all ranks.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/transport_choice.hpp"
#include "mpi/communicator.hpp"
#include "transport/link.hpp"
#include "transport/mpi/relay.hpp"

namespace afterbay::transport {

using afterbay::TransportChoice;

struct ConnectOptions {
  MPI_Comm comm = MPI_COMM_NULL;  ///< only used during the call; a duplicate is kept
  RankRanges ranks;               ///< the ranks' numbers in errors; empty: unchanged
  bool model = true;              ///< this rank is a model rank
  bool server = false;            ///< this rank is an I/O server; both: inline
  bool frontend = false;          ///< this rank forwards data to the servers of its pool
  int pool = 0;                   ///< the pool of a server or frontend
  /// By pool: the frontend through which this model rank sends to the pool's servers; -1, or no
  /// entry: directly.
  std::vector<int> frontends;
  std::uint64_t frontend_bytes = 0;  ///< memory of a frontend; the same on all ranks of its pool
  std::optional<int> declared_node;  ///< for tests: ranks of different declared nodes never share memory
  bool server_links = false;         ///< servers also exchange messages; the same on all ranks
  TransportChoice transport = TransportChoice::automatic;
  LinkSizes sizes;    ///< the same on all ranks, except memory_bytes, which is set per server
  WaitPolicy policy;  ///< the deadline also bounds each step of the set-up
};

/// The links and ports of a rank. Destroy all before MPI_Finalize, both ends in any order.
struct Connection {
  std::vector<std::unique_ptr<ClientLink>> links;  ///< model ranks: one per server, in rank order
  /// Servers: the peers are all model ranks in rank order; with `server_links` followed by all
  /// servers, including itself (which never sends anything).
  std::unique_ptr<ServerPort> port;
  /// Servers, with `server_links`: one per server, for sending messages only; null for itself.
  /// Messages sent here arrive at the other server's port.
  std::vector<std::unique_ptr<ClientLink>> server_links;
  std::unique_ptr<network::Relay> relay;  ///< frontends
  std::uint64_t segment_bytes = 0;        ///< servers: memory of the segment
  /// The communicator for all of this. Destroy it last, on every rank; see
  /// mpi::Communicator::take_leave.
  std::vector<std::shared_ptr<mpi::Communicator>> communicators;
};

/// Collective over `options.comm`, in the MPI thread. If it fails on one rank it fails on all, and
/// the error names that rank.
Result<Connection> connect(const ConnectOptions& options);

}  // namespace afterbay::transport
