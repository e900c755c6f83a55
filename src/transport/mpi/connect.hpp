// SPDX-License-Identifier: Apache-2.0
// Collective set-up: from a communicator and everybody's role to links and ports.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "mpi/communicator.hpp"
#include "transport/link.hpp"
#include "transport/mpi/relay.hpp"

namespace afterbay::transport {

enum class TransportChoice {
  automatic,  ///< shared memory on a node, MPI between nodes
  shm,        ///< shared memory for all pairs; refused when a pair is on two nodes
  mpi,        ///< MPI for all pairs, except of an inline server with its own rank
};

struct ConnectOptions {
  MPI_Comm comm = MPI_COMM_NULL;  ///< only used during the call; a duplicate is kept
  std::vector<int> ranks;         ///< what the ranks of `comm` are called in errors; empty: as they are
  bool model = true;              ///< this rank is a model rank
  bool server = false;            ///< this rank is an I/O server; both: inline
  bool frontend = false;          ///< this rank passes data on to the servers of its pool
  int pool = 0;                   ///< of a server or frontend
  /// By pool, then by rank: through which frontend it sends to the pool's servers; -1, or nothing: to them
  /// itself.
  std::vector<std::vector<int>> frontends;
  std::uint64_t frontend_bytes = 0;  ///< memory of a frontend; the same on all ranks of its pool
  std::optional<int> declared_node;  ///< for tests: ranks of different declared nodes never share memory
  bool server_links = false;         ///< servers talk to each other too; the same on all ranks
  TransportChoice transport = TransportChoice::automatic;
  LinkSizes sizes;    ///< the same on all ranks, but for memory_bytes, which is each server's own
  WaitPolicy policy;  ///< the deadline bounds each step of the set-up too
};

/// What a rank got. Destroy all before MPI_Finalize, both ends in any order.
struct Connection {
  std::vector<std::unique_ptr<ClientLink>> links;  ///< model ranks: one a server, in the order of their ranks
  /// Servers: peers are all model ranks in the order of ranks; with `server_links` then all servers, itself
  /// too (which never says anything).
  std::unique_ptr<ServerPort> port;
  /// Servers, with `server_links`: one a server, to send messages only; null for itself. What a server sends
  /// here arrives at the other's port.
  std::vector<std::unique_ptr<ClientLink>> server_links;
  std::unique_ptr<network::Relay> relay;  ///< frontends
  std::uint64_t segment_bytes = 0;        ///< servers: memory of the segment
  /// What all this talks over. To be destroyed last, on every rank, see mpi::Communicator::take_leave.
  std::vector<std::shared_ptr<mpi::Communicator>> communicators;
};

/// Collective over `options.comm`, by the MPI thread. Fails on every rank when it fails on one, and
/// names that rank.
Result<Connection> connect(const ConnectOptions& options);

}  // namespace afterbay::transport
