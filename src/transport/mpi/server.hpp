// SPDX-License-Identifier: Apache-2.0
// A server's ends of its pairs over MPI. The network takes in what has arrived; each peer works
// through its segments in order: session messages are handed out, contributions are scattered into
// frames. When there is no room for a frame the peer is parked: its stream stops, its credits are
// not given back, and the rank waits. Memory is bounded by the credits: peers x segments x
// segment capacity.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/process_watch.hpp"
#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/peer_end.hpp"
#include "transport/shm/port.hpp"

namespace afterbay::transport::network {

/// A frontend through which model ranks send, as a server sees it. It says something now and then, whatever
/// the ranks do.
struct Frontend {
  std::string label;  ///< "the frontend at rank 5"
  std::string host;
  ProcessWatch process;
  WaitPolicy policy;
  std::uint64_t heard_ns = 0;    ///< 0: never
  std::uint64_t awaited_ns = 0;  ///< since this server began to serve; 0: it has not

  /// Fails when it has died or not been heard of for too long.
  Result<void> check_alive();
};

struct MpiPeerOptions {
  std::size_t peer = 0;
  int rank = 0;                        ///< in the transport's communicator
  std::string label = "a model rank";  ///< as errors name it
  LinkSizes sizes;
  WaitPolicy policy;
  ProcessId process;  ///< the rank's, when it runs on this machine
  int down_tag = network::down_tag;
  std::shared_ptr<Frontend> frontend = nullptr;  ///< it sends through; then `rank` is the frontend's
};

class MpiPeer final : public PeerEnd {
 public:
  /// `port` owns this end. `progress` is the server's counter of what it does.
  MpiPeer(std::shared_ptr<const mpi::Communicator> comm, shm::Port& port,
          std::atomic<std::uint64_t>& progress, MpiPeerOptions options);
  /// Tells the rank that the server has ended, if it did not end before.
  ~MpiPeer() override;

  std::optional<std::span<const std::byte>> peek() override;
  void pop() override;
  void send(std::span<const std::byte> message) override;
  bool pump() override;
  [[nodiscard]] bool sending() const override {
    // A batch of credits or an answer to a ping may never be taken: the rank may have all it needs.
    return !failure_ && !unreachable_ && !ended_ &&
           (!kept_.empty() || (batch_has_messages_ && batch_request_.active()));
  }
  Result<void> check_alive() override;
  [[nodiscard]] bool has_ended() const override { return ended_; }
  void forget() override;
  void fail() override;
  [[nodiscard]] std::string transport() const override { return "mpi"; }
  [[nodiscard]] std::uint64_t messages() const override { return messages_; }

  /// Begins to receive a message that was found for this rank.
  Result<void> begin_receive(MPI_Message message, std::size_t bytes);
  void note_failure(Error error);
  /// Whether something is under way that moves on only when somebody looks.
  [[nodiscard]] bool transferring() const {
    const bool receiving = !incoming_.empty() && !incoming_.back().arrived;
    return !failure_ && (receiving || (batch_has_messages_ && batch_request_.active()));
  }

 private:
  struct Incoming {
    Bytes buffer;             ///< only ever grows
    std::uint64_t bytes = 0;  ///< of the message in it
    mpi::Request request;
    bool arrived = false;
    bool is_word = false;  ///< which is in `ahead_` by now
  };

  bool complete_receives();
  /// Pings count as nothing done, so that ranks that wait do not keep an idle server awake.
  /// Works on until a message is to be handed out, room is missing or nothing is left; true: did something.
  bool work();
  bool begin_segment();
  bool next_item();
  void end_segment();
  bool contribute(const ItemHeader& item, std::span<const std::byte> packed);
  tl::expected<FrameView, shm::Refusal> room_for(const FrameSlot& slot);
  void take_message(const ItemHeader& item, std::span<const std::byte> payload);
  bool flush_batch();
  [[nodiscard]] bool batch_is_due() const;
  void fill_batch();
  Bytes spare_buffer();
  void broken(const char* what, std::uint64_t value);
  [[nodiscard]] std::string via() const { return options_.frontend ? options_.frontend->label : "its node"; }

  std::shared_ptr<const mpi::Communicator> comm_;
  shm::Port& port_;
  std::atomic<std::uint64_t>& progress_;
  MpiPeerOptions options_;
  ProcessWatch process_;

  std::deque<Incoming> incoming_;  ///< in order of arrival
  std::vector<Bytes> spare_;       ///< buffers that are free
  bool in_segment_ = false;        ///< the first of `incoming_` is being worked through
  SegmentHeader segment_;
  std::span<const std::byte> items_;  ///< what is left of it
  Bytes assembly_;                    ///< parts of a message so far
  bool assembling_ = false;
  Bytes own_message_;  ///< FrameReady
  std::optional<std::span<const std::byte>> current_;
  std::deque<Bytes> ahead_;  ///< words, with their headers
  bool gave_ahead_ = false;  ///< the first of them is handed out
  std::optional<StallClock> parked_;

  std::deque<Bytes> kept_;  ///< messages to the rank
  std::uint32_t credits_due_ = 0;
  std::uint32_t flags_due_ = 0;
  Bytes batch_;
  bool batch_has_messages_ = false;
  mpi::Request batch_request_;

  std::optional<Error> failure_;
  bool ended_ = false;        ///< it has closed its link
  bool died_ = false;         ///< its frontend says so
  bool unreachable_ = false;  ///< its frontend is lost
  bool forgotten_ = false;
  std::uint64_t messages_ = 0;
};

/// Finds what has arrived from any model rank.
class MpiNetwork final : public Network {
 public:
  explicit MpiNetwork(std::shared_ptr<const mpi::Communicator> comm) : comm_(std::move(comm)) {}
  void add(int rank, MpiPeer& peer) { peers_.emplace(std::pair(rank, up_tag), &peer); }
  /// Of model rank `number`, through a frontend at `rank`.
  void add(int rank, std::size_t number, MpiPeer& peer, std::shared_ptr<Frontend> frontend) {
    peers_.emplace(std::pair(rank, relay_tag(number)), &peer);
    frontends_[rank] = std::move(frontend);
  }
  bool progress() override;
  [[nodiscard]] bool transferring() const override;

 private:
  /// True: there was a message.
  Result<bool> take_one();

  std::shared_ptr<const mpi::Communicator> comm_;
  std::map<std::pair<int, int>, MpiPeer*> peers_;  ///< by rank and tag
  std::map<int, std::shared_ptr<Frontend>> frontends_;
  bool moved_ = false;  ///< more than pings
};

}  // namespace afterbay::transport::network
