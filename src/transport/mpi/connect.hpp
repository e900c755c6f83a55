// SPDX-License-Identifier: Apache-2.0
// Collective set-up: from a communicator and everybody's role to links and ports.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "mpi/communicator.hpp"
#include "transport/link.hpp"

namespace afterbay::transport {

enum class TransportChoice {
  automatic,  ///< shared memory on a node, MPI between nodes
  shm,        ///< shared memory for all pairs; refused when a pair is on two nodes
  mpi,        ///< MPI for all pairs, except of an inline server with its own rank
};

struct ConnectOptions {
  MPI_Comm comm = MPI_COMM_NULL;     ///< only used during the call; a duplicate is kept
  bool model = true;                 ///< this rank is a model rank
  bool server = false;               ///< this rank is an I/O server; both: inline
  std::optional<int> declared_node;  ///< for tests: ranks of different declared nodes never share memory
  bool server_links = false;         ///< servers talk to each other too; the same on all ranks
  TransportChoice transport = TransportChoice::automatic;
  LinkSizes sizes;    ///< the same on all ranks
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
  std::uint64_t segment_bytes = 0;  ///< servers: memory of the segment
  /// What all this talks over. To be destroyed last, on every rank, see mpi::Communicator::take_leave.
  std::vector<std::shared_ptr<mpi::Communicator>> communicators;
};

/// Collective over `options.comm`, by the MPI thread. Fails on every rank when it fails on one, and
/// names that rank.
Result<Connection> connect(const ConnectOptions& options);

}  // namespace afterbay::transport
