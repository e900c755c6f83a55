// SPDX-License-Identifier: Apache-2.0
// Relay: the work of a frontend. It receives segments from its model ranks, through shared memory
// or MPI, keeps them while the servers have no credit for them, forwards them, and returns the
// servers' answers. It does not interpret their contents. Bounded by its memory (LinkSizes and the
// channel): a pair of rank and server whose share is full waits. Used by one thread.
//
// Its parts have their own state: RelayClients (the ranks and their rings), RelayServers, Arrivals
// (what comes by MPI), RelaySender (to the servers), RelayedData (files, to the ranks). This class
// distributes what arrives, answers the ranks, and decides when the frontend has finished.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "mpi/communicator.hpp"
#include "transport/mpi/arrivals.hpp"
#include "transport/mpi/relay_clients.hpp"
#include "transport/mpi/relay_lane.hpp"
#include "transport/mpi/relay_options.hpp"
#include "transport/mpi/relay_sender.hpp"
#include "transport/mpi/relay_servers.hpp"
#include "transport/mpi/relayed_data.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport::network {

class Relay {
 public:
  /// The parts of a step.
  enum class Work : std::uint8_t {
    take_in,  ///< receives from its ranks, and what servers tell them
    send,     ///< to the servers
    answer,   ///< forwards answers to its ranks
  };
  static constexpr std::size_t works = 3;
  /// What an idle frontend waits for.
  enum class Awaited : std::uint8_t {
    data,       ///< data of its ranks: it holds none
    credits,    ///< credits of servers: it holds data for which they have no room
    transfers,  ///< transfers to servers, in progress
  };
  static constexpr std::size_t awaited = 3;
  /// Receives all work of `step`: its begin and end, and the bytes transferred.
  using Listener =
      std::function<void(Work work, std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t bytes)>;

  struct Figures {
    std::uint64_t bytes_in = 0;         ///< received
    std::uint64_t bytes = 0;            ///< forwarded
    std::uint64_t segments = 0;         ///< segments forwarded
    std::uint64_t messages = 0;         ///< messages that contained them
    std::uint64_t data_bytes = 0;       ///< data of files sent from servers to ranks
    std::uint64_t data_peak_bytes = 0;  ///< maximum of these data held here at a time
    std::uint64_t held_bytes = 0;       ///< size of segments that wait here now
    std::uint64_t peak_bytes = 0;       ///< the maximum so far
    std::uint64_t limit_bytes = 0;      ///< the maximum that can wait here
    std::size_t ranks = 0;              ///< number of ranks that send through it
    std::size_t ranks_ended = 0;
    std::size_t ranks_full = 0;  ///< ranks whose share for some server is full now
  };

  Relay(std::shared_ptr<const mpi::Communicator> comm, RelayOptions options);
  /// Informs the ranks that it has ended.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Does the pending work; false if there was none.
  bool step();
  /// Sleeps until there may be work, for at most `most`.
  void wait(Millis most);
  /// All its ranks have ended, and their data are with the servers or cannot reach them any more.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// The first error, if any.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
  [[nodiscard]] Figures figures() const;
  [[nodiscard]] Awaited waits_for() const;
  void set_listener(Listener listener) { listener_ = std::move(listener); }
  /// Whether a server has reported that the session has failed.
  [[nodiscard]] bool server_failed() const { return servers_.any_failed(); }
  /// The same before the first step: receives available data, but forwards nothing. Takes 50 ms at
  /// most.
  bool hear_failure();

  /// Sends a message of this frontend itself: to each server as if the first rank had sent it
  /// ahead, and to each rank as if its servers had sent it. The session has failed.
  void tell(std::span<const std::byte> to_servers, std::span<const std::byte> to_ranks);
  /// Stops forwarding. The servers are informed that the remaining ranks have ended.
  void let_go();

 private:
  [[nodiscard]] RelayLane& lane(std::size_t client, std::size_t server) { return lanes_.of(client, server); }
  template <class Part>
  bool note_work(Work work, const std::uint64_t& bytes, Part part);
  bool take_in();
  bool send();
  bool answer();
  bool take_note(std::size_t client, const relay::Note& note, std::span<const std::byte> message);
  bool take_arrivals();
  void arrived(int source, int tag, Bytes message);
  void take_segment(std::size_t client, std::size_t server, Bytes bytes);
  void take_header(std::size_t client, std::size_t server, const SegmentHeader& header);
  void take_batch(std::size_t client, std::size_t server, Bytes batch);
  bool answer_by_mpi(std::size_t client, std::size_t server);
  void give_back(std::size_t client, RelayedSegment& relayed);
  void reclaim(std::size_t client);
  void watch(std::uint64_t now);
  [[nodiscard]] bool drained();
  void finish_if_done(std::uint64_t now);
  void fail(Error error);

  std::shared_ptr<const mpi::Communicator> comm_;
  RelayOptions options_;
  RelayLanes lanes_;
  RelayClients clients_;
  RelayServers servers_;
  Arrivals arrivals_;
  RelaySender sender_;
  RelayedData data_;
  Listener listener_;  ///< may be null
  std::optional<Error> failure_;
  bool finished_ = false;
  bool begun_ = false;
  struct {
    std::uint64_t moved_ns = 0;  ///< time of the last work
    std::uint64_t next_watch_ns = 0;
    std::uint64_t failed_ns = 0;
  } times_;
  std::uint32_t bell_seen_ = 0;
};

/// Memory of a frontend per pair of a client and a server, per client and per server; without what
/// is in transit.
struct RelaySizes {
  static std::size_t lane() noexcept { return sizeof(RelayLane); }
  static std::size_t client() noexcept { return RelayClients::state_bytes(); }
  static std::size_t server() noexcept { return RelayServers::state_bytes(); }
};

}  // namespace afterbay::transport::network
