// SPDX-License-Identifier: Apache-2.0
// The participants of a session and the transport of each pair: the same on all ranks after one
// exchange.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/process_watch.hpp"
#include "mpi/communicator.hpp"
#include "transport/mpi/connect.hpp"

namespace afterbay::transport::network {

/// The information that each rank sends to all others.
struct RankCard {
  std::uint8_t model = 0;
  std::uint8_t server = 0;
  std::uint8_t transport = 0;
  std::uint8_t frontend = 0;
  std::int32_t pool = 0;            ///< servers and frontends only
  std::int32_t declared_node = -1;  ///< -1: not declared
  std::uint64_t machine = 0;        ///< equal if processes can share memory
  std::uint64_t settings = 0;       ///< digest of the sizes, except the memory
  std::uint64_t memory_bytes = 0;   ///< servers and frontends only
  ProcessId process;
  std::array<char, 64> host{};  ///< host name, truncated if it is longer
};

/// A number that is equal on two processes exactly if they can share memory. It is derived from the
/// host name, the boot id and the file system of /dev/shm, so that containers and emulated nodes
/// count as nodes.
std::uint64_t machine_number();

class Roster {
 public:
  /// Collective. Fails in the same way on all ranks if their data are inconsistent.
  static Result<Roster> exchange(const mpi::Communicator& comm, const ConnectOptions& options);

  [[nodiscard]] std::string host(int rank) const { return card(rank).host.data(); }
  [[nodiscard]] const RankCard& card(int rank) const { return cards_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::vector<int>& models() const noexcept { return models_; }    ///< ranks, ascending
  [[nodiscard]] const std::vector<int>& servers() const noexcept { return servers_; }  ///< ranks, ascending
  [[nodiscard]] const std::vector<int>& frontends() const noexcept { return frontends_; }
  /// The frontend through which a model rank sends to a server, if any.
  [[nodiscard]] std::optional<int> frontend_of(int model, int server) const;
  /// Whether a pair of model rank and server, or frontend, uses shared memory (else MPI).
  [[nodiscard]] bool shares_memory(int model, int server) const;
  /// The process, if it can be watched from a rank on the same machine.
  [[nodiscard]] ProcessId watchable(int rank, int from) const;

 private:
  Result<void> check() const;
  [[nodiscard]] bool same_machine(int a, int b) const { return card(a).machine == card(b).machine; }

  std::vector<RankCard> cards_;
  std::vector<int> models_;
  std::vector<int> servers_;
  std::vector<int> frontends_;
  std::vector<std::vector<int>> routes_;  ///< ConnectOptions::frontends
};

}  // namespace afterbay::transport::network
