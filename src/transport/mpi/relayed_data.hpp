// SPDX-License-Identifier: Apache-2.0
// RelayedData: the data messages that a frontend passes on from servers to its ranks. For a rank on
// this node it receives them into a segment that it shares with the rank, which is the only copy
// here; small ones go through the rank's ring. For others it forwards the buffer by MPI. What has
// no memory yet has been matched but not received: it stays with the server.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/active_list.hpp"
#include "transport/buffer_pool.hpp"
#include "transport/link.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport::network {

/// Used by the frontend's thread.
class RelayedData {
 public:
  struct Client {
    int rank = 0;                     ///< in the communicator
    std::optional<std::size_t> slot;  ///< in the channel; none: by MPI
  };
  /// The parts of the frontend that it uses.
  struct Host {
    /// Whether the client still receives.
    std::function<bool(std::size_t client)> is_present;
    /// How many messages wait for room in the client's ring.
    std::function<std::size_t(std::size_t client)> kept;
    /// Puts a message into the client's ring, as soon as there is room.
    std::function<void(std::size_t client, Bytes message)> answer;
  };
  /// Data messages of one client that are in segments that the client has not returned yet.
  static constexpr std::size_t most_segments = 4;
  /// Messages for one client that wait for room in its ring.
  static constexpr std::size_t most_kept = 4;
  /// Limit for all messages that are forwarded by MPI.
  static constexpr std::uint64_t most_far_bytes = std::uint64_t{16} << 20;

  /// `servers`: their numbers among all servers. `channel`: null if no client is on this node.
  RelayedData(std::shared_ptr<const mpi::Communicator> comm, std::shared_ptr<relay::Channel> channel,
              std::vector<Client> clients, std::vector<std::size_t> servers, Host host);
  ~RelayedData();
  RelayedData(const RelayedData&) = delete;
  RelayedData& operator=(const RelayedData&) = delete;

  /// A data message from `server` for `client` has been found.
  void arrived(std::size_t client, std::size_t server, std::size_t bytes, MPI_Message message);
  /// Receives and passes on as far as there is memory; true: did something.
  Result<bool> advance();
  /// Whether transfers are in progress, which only advance in `advance`.
  [[nodiscard]] bool transferring() const noexcept { return transfers_ != 0; }
  /// Whether a message is being received into the segment.
  [[nodiscard]] bool uses(std::uint32_t segment) const;
  /// A message to the client that was larger than `small_segment_bytes` has left the ring's queue.
  void large_answer_left() noexcept { large_in_ring_.reset(); }

  struct Figures {
    std::uint64_t bytes = 0;          ///< passed on
    std::uint64_t messages = 0;       ///< passed on
    std::uint64_t through_rings = 0;  ///< messages among them that were too small or too large for a
                                      ///< segment, or found none
    std::uint64_t held_bytes = 0;     ///< in memory of this frontend now, or of a rank that has not
                                      ///< returned it
    std::uint64_t peak_bytes = 0;     ///< the maximum so far
  };
  [[nodiscard]] const Figures& figures() const noexcept { return figures_; }

 private:
  /// A segment that was taken for a rank.
  struct Lent {
    network::SegmentMemory memory;
    std::uint64_t bytes = 0;
  };
  struct Item {
    std::size_t server = 0;
    std::size_t bytes = 0;
    MPI_Message message = MPI_MESSAGE_NULL;  ///< not received yet
    // where it is received
    std::optional<network::SegmentMemory> segment;
    Bytes ring;
    std::shared_ptr<std::byte> buffer;
    mpi::Request receive;
    mpi::Request send;  ///< forwarded by MPI
    bool forwarding = false;
  };
  struct State {
    std::deque<Item> items;  ///< in order of arrival
    std::vector<Lent> lent;
  };

  bool begin(std::size_t client, Item& item);
  bool into_segment(std::size_t client, Item& item);
  bool into_ring(std::size_t client, Item& item);
  bool into_buffer(Item& item);
  Result<bool> pass_on(std::size_t client, Item& item);
  Result<bool> advance_client(std::size_t client);
  void return_segments(std::size_t client);
  void hold(std::uint64_t bytes);

  std::shared_ptr<const mpi::Communicator> comm_;
  std::shared_ptr<relay::Channel> channel_;
  std::vector<Client> clients_;
  std::vector<std::size_t> servers_;
  Host host_;
  std::vector<State> states_;             ///< by client
  ActiveList active_;                     ///< clients with items or lent segments
  std::vector<std::uint64_t> allocated_;  ///< by segment: bytes that are mapped here
  BufferPool far_{most_far_bytes};
  std::size_t transfers_ = 0;
  /// The client for which a message that is not small goes through its ring.
  std::optional<std::size_t> large_in_ring_;
  Result<void> begun_;  ///< result of the last `begin` that found memory
  Figures figures_;
};

}  // namespace afterbay::transport::network
