// SPDX-License-Identifier: Apache-2.0
// Relay: the work of a frontend. It receives segments from its model ranks, through shared memory
// or MPI, keeps them while the servers have no credit for them, forwards them, and returns the
// servers' answers. It does not interpret their contents. Bounded by its memory (LinkSizes and the
// channel): a pair of rank and server whose share is full waits. Used by one thread.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/process_watch.hpp"
#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/mpi/arrivals.hpp"
#include "transport/mpi/lane_table.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport::network {

struct RelayOptions {
  struct Client {
    std::size_t peer = 0;             ///< number among all model ranks
    int rank = 0;                     ///< rank in the communicator
    std::string label;                ///< "model rank 3 (rank 3)"
    std::optional<std::size_t> slot;  ///< slot in the channel; none: by MPI
  };
  struct Server {
    std::size_t number = 0;  ///< number among all servers
    int rank = 0;
    std::string label;
    ProcessId process;      ///< if it runs on this machine
    std::string dedicated;  ///< the name of its process in errors if it has never answered
  };
  std::vector<Client> clients;
  std::vector<Server> servers;
  std::shared_ptr<relay::Channel> channel;  ///< null: no client on this node
  LinkSizes sizes;
  /// Large segments of ranks without a slot that may wait here, in addition to one per rank.
  std::uint32_t far_common = 0;
  WaitPolicy policy;
  std::string label;  ///< this frontend as named in errors
};

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
    std::uint64_t bytes_in = 0;     ///< received
    std::uint64_t bytes = 0;        ///< forwarded
    std::uint64_t segments = 0;     ///< segments forwarded
    std::uint64_t held_bytes = 0;   ///< of segments that wait here now
    std::uint64_t peak_bytes = 0;   ///< the maximum so far
    std::uint64_t limit_bytes = 0;  ///< the maximum that can wait here
    std::size_t ranks = 0;          ///< number of ranks that send through it
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
  [[nodiscard]] bool server_failed() const { return std::ranges::any_of(servers_, &ServerState::failed); }
  /// The same before the first step: receives available data, but forwards nothing. Takes 50 ms at
  /// most.
  bool hear_failure();

  /// Sends a message of this frontend itself: to each server as if the first rank had sent it
  /// ahead, and to each rank as if its servers had sent it. The session has failed.
  void tell(std::span<const std::byte> to_servers, std::span<const std::byte> to_ranks);
  /// Stops forwarding. The servers are informed that the remaining ranks have ended.
  void let_go();

 private:
  /// A segment that is waiting or in transit.
  struct Parcel {
    const std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    std::optional<std::uint32_t> segment;  ///< number in the channel; none: `own`
    Bytes own;
    mpi::Request request;
  };
  /// A pair of model rank and server.
  struct Lane {
    std::deque<Parcel> waiting;
    std::deque<Parcel> sending;
    std::uint32_t credits = 0;  ///< credits of the server
    std::uint64_t order_sent = 0;
    std::deque<SegmentHeader> headers;  ///< pings and last words, in transit to the server
    std::unique_ptr<SegmentHeader> header;
    mpi::Request header_request;
    std::deque<Bytes> words;  ///< overtake waiting segments
    Bytes word;               ///< in transit to the server
    mpi::Request word_request;
    // back to the rank
    std::deque<Bytes> batches;  ///< with messages
    std::uint32_t credits_due = 0;
    std::uint32_t flags_due = 0;
    std::uint64_t progress = 0;
    Bytes batch;
    mpi::Request batch_request;
    bool left = false;      ///< the rank has closed this link
    bool told_end = false;  ///< the server has been informed that the rank is gone

    /// Whether it needs a visit although nothing new happens to it. What waits for credits goes on
    /// when they arrive; what ends with its rank or server is visited when that ends.
    [[nodiscard]] bool has_work(bool server_there, bool rank_there) const {
      if (!sending.empty() || header_request.active() || word_request.active() || batch_request.active())
        return true;
      if (server_there && (!headers.empty() || !words.empty() || (!waiting.empty() && credits > 0)))
        return true;
      return rank_there && (!batches.empty() || credits_due != 0 || flags_due != 0);
    }
  };
  enum class Life { present, ended, died };
  struct ClientState {
    Life life = Life::present;
    std::unique_ptr<shm::RingReader> notes;
    std::unique_ptr<shm::RingWriter> down;
    std::deque<Bytes> kept;  ///< batches that did not fit into the ring
    std::size_t kept_sent = 0;
    std::optional<ProcessWatch> process;
    bool reclaimed = false;  ///< it is gone, and the segments that it had taken are free again
  };
  struct ServerState {
    ProcessWatch process;
    std::uint64_t pinged_ns = 0;
    std::uint64_t heard_ns = 0;  ///< or when this frontend began to wait for it
    bool heard = false;
    bool failed = false;
    bool gone = false;
  };

  [[nodiscard]] Lane& lane(std::size_t client, std::size_t server) { return lanes_.of(client, server); }
  template <class Part>
  bool told(Work work, const std::uint64_t& bytes, Part part);
  bool take_in();
  bool send();
  bool answer();
  bool take_notes();
  bool take_note(std::size_t client, const relay::Note& note, std::span<const std::byte> message);
  bool take_arrivals();
  void arrived(int source, int tag, Bytes message);
  void take_segment(std::size_t client, std::size_t server, Bytes bytes);
  void take_header(std::size_t client, std::size_t server, const SegmentHeader& header);
  void take_batch(std::size_t client, std::size_t server, Bytes batch);
  bool push(std::size_t client, std::size_t server);
  bool complete(std::size_t client, std::size_t server);
  void release(std::size_t client, Parcel& parcel);
  void reclaim(std::size_t client);
  void drop(std::size_t client, std::size_t server);
  bool send_headers(Lane& lane, std::size_t client, std::size_t server);
  bool send_words(Lane& lane, std::size_t client, std::size_t server);
  bool answer_by_channel(std::size_t client);
  bool answer_by_mpi(std::size_t client, std::size_t server);
  void hold(std::size_t client, std::size_t server, Parcel parcel);
  void watch_clients();
  void begin(std::uint64_t now);
  void watch_servers(std::uint64_t now);
  [[nodiscard]] bool drained();
  void finish_if_done(std::uint64_t now);
  void fail(Error error);
  [[nodiscard]] std::string missing_clients() const;
  [[nodiscard]] std::chrono::nanoseconds pause(std::uint64_t now) const;

  std::shared_ptr<const mpi::Communicator> comm_;
  RelayOptions options_;
  LaneTable<Lane> lanes_;
  std::vector<ClientState> clients_;
  std::vector<ServerState> servers_;
  Arrivals arrivals_;
  Listener listener_;  ///< may be null
  Figures figures_;
  std::optional<Error> failure_;
  bool finished_ = false;
  bool begun_ = false;
  std::uint64_t moved_ns_ = 0;
  std::uint64_t next_watch_ns_ = 0;
  std::uint64_t failed_ns_ = 0;
  std::uint32_t bell_seen_ = 0;
};

}  // namespace afterbay::transport::network
