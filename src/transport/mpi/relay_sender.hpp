// SPDX-License-Identifier: Apache-2.0
// RelaySender: what a frontend sends to its servers. It keeps segments while a server has no credit
// for them, joins small ones, and returns their memory once they have been sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "mpi/communicator.hpp"
#include "transport/mpi/joint_segments.hpp"
#include "transport/mpi/relay_clients.hpp"
#include "transport/mpi/relay_lane.hpp"
#include "transport/mpi/relay_servers.hpp"

namespace afterbay::transport::network {

/// Used by one thread. Refers to the other parts of the frontend.
class RelaySender {
 public:
  struct Parts {
    RelayLanes& lanes;
    const RelayClients& clients;
    const RelayServers& servers;
    /// Returns the memory of a segment of this client, which has been sent or dropped.
    std::function<void(std::size_t client, RelayedSegment& relayed)> give_back;
    /// Whether segments of this client have been found that have not been received yet.
    std::function<bool(std::size_t client)> holds_back;
  };
  RelaySender(std::shared_ptr<const mpi::Communicator> comm, const RelayOptions& options, Parts parts);

  /// A segment has arrived.
  void hold(std::size_t client, std::size_t server, RelayedSegment relayed);
  /// Sends what it can of each active lane. Returns whether it did something; pings do not count.
  Result<bool> send();
  /// A server returns credits of a rank.
  void take_credits(std::size_t client, std::size_t server, const BatchHeader& batch);
  /// Discards segments, pings and words that have not been sent.
  void drop(std::size_t client, std::size_t server);

  struct Figures {
    std::uint64_t bytes_in = 0;    ///< size of segments that arrived
    std::uint64_t bytes = 0;       ///< forwarded
    std::uint64_t segments = 0;    ///< forwarded
    std::uint64_t messages = 0;    ///< messages that contained them, without joint ones
    std::uint64_t held_bytes = 0;  ///< size of segments that wait here now
    std::uint64_t peak_bytes = 0;  ///< the maximum so far
  };
  [[nodiscard]] const Figures& figures() const noexcept { return figures_; }
  [[nodiscard]] JointSegments& joints() noexcept { return joints_; }
  [[nodiscard]] const JointSegments& joints() const noexcept { return joints_; }

 private:
  Result<bool> push(std::size_t client, std::size_t server);
  Result<bool> complete(std::size_t client, std::size_t server);
  Result<void> forward_first(std::size_t client, std::size_t server);
  Result<bool> send_words(std::size_t client, std::size_t server);
  Result<bool> send_headers(std::size_t client, std::size_t server);
  void tell_end(std::size_t client, std::size_t server);
  void release(std::size_t client, RelayedSegment& relayed);
  Result<void> start(const void* data, std::uint64_t bytes, std::size_t client, std::size_t server,
                     mpi::Request& request);

  std::shared_ptr<const mpi::Communicator> comm_;
  Parts parts_;
  JointSegments joints_;
  Figures figures_;
};

}  // namespace afterbay::transport::network
