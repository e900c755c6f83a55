// SPDX-License-Identifier: Apache-2.0
// A server's ends of its pairs over MPI. The network receives arriving messages; each peer
// processes its segments in order: session messages are handed out, contributions are scattered
// into frames. If there is no room for a frame, the peer is parked: its stream stops, its credits
// are not returned, and the rank waits. Memory for segments is bounded (ReceiveMemory): those for
// which there is none stay with the rank. The last large buffer is for the slowest rank, as the
// last blocks are, so that a frame that others wait for can always be completed.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/process_watch.hpp"
#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/mpi/answers.hpp"
#include "transport/mpi/joint_segments.hpp"
#include "transport/mpi/message_assembly.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/room_wait.hpp"
#include "transport/mpi/slow_receivers.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/mpi/waiting_senders.hpp"
#include "transport/peer_end.hpp"
#include "transport/peer_name.hpp"
#include "transport/shm/port.hpp"

namespace afterbay::transport::network {

/// A frontend through which model ranks send, as seen by a server. It sends something regularly,
/// independent of the ranks.
struct Frontend {
  std::string label;  ///< "the frontend at rank 5"
  std::string host;
  ProcessWatch process;
  WaitPolicy policy;
  std::uint64_t heard_ns = 0;    ///< 0: never
  std::uint64_t awaited_ns = 0;  ///< since this server began to serve; 0: not yet

  /// Fails if the frontend has died or has not answered for too long.
  Result<void> check_alive();
};

struct MpiPeerOptions {
  std::size_t peer = 0;
  int rank = 0;  ///< in the transport's communicator
  PeerName name = {};
  std::uint64_t reply_bytes = 0;  ///< LinkSizes::reply_bytes
  WaitPolicy policy;
  ProcessId process;  ///< the rank's process, if it runs on this machine
  int down_tag = network::down_tag;
  int data_tag = network::data_tag;
  std::shared_ptr<Frontend> frontend = nullptr;  ///< the frontend through which it sends; then
                                                 ///< `rank` is the frontend's
};

/// What the ends of a network share when they send answers.
struct AnswerTurns {
  using Slow = SlowReceivers<class MpiPeer>;
  SendTurn turn;
  /// Ends that have nothing more to send: that the rank has received the batch only frees memory.
  Slow slow{8};
  /// Ends with messages that wait for it. With 10 000 of them, and a look every 16 ms, the last one
  /// learns after 2.5 s that its rank has received the batch.
  Slow due{64};
  Slow& list(bool is_due) noexcept { return is_due ? due : slow; }
};

class MpiPeer final : public PeerEnd {
 public:
  /// `port` owns this end. `progress` counts the server's work.
  MpiPeer(const std::shared_ptr<const mpi::Communicator>& comm, shm::Port& port,
          std::atomic<std::uint64_t>& progress, MpiPeerOptions options);
  ~MpiPeer() override;

  std::optional<std::span<const std::byte>> peek() override;
  void pop() override;
  void send(std::span<const std::byte> message) override;
  void send_data(std::span<const std::byte> message, OutgoingData data) override;
  bool pump() override;
  void begin_messages() override { flush_now(); }
  [[nodiscard]] PeerNeeds needs() const override;
  Result<void> check_alive() override;
  [[nodiscard]] bool has_ended() const override { return end_.closed; }
  void forget() override;
  void fail() override;
  /// Informs the rank that the server has ended, if it has not ended before.
  bool leave() override;
  [[nodiscard]] std::string transport() const override { return "mpi"; }
  [[nodiscard]] std::uint64_t messages() const override { return handled_; }

  /// A message from this rank has arrived. Receives it now, or, if it needs a large buffer, in
  /// `receive_next`.
  Result<void> take(MPI_Message message, std::size_t bytes, ReceiveMemory& memory);
  /// A segment of this rank from a joint message.
  Result<void> take(std::span<const std::byte> segment, ReceiveMemory& memory);
  /// Tells the rank's frontend its share (JoinedMemory).
  void tell_share(std::uint64_t bytes) noexcept { answers_.set_share(bytes); }
  /// Those of the network to which the end belongs; without them nothing limits what is sent.
  void set_turns(AnswerTurns& turns) noexcept { turns_ = &turns; }
  /// See SlowReceivers.
  mpi::Request* awaited_batch(const AnswerTurns::Slow& list) noexcept;
  void received() { port_.activate(peer_); }
  /// Messages wait to be received by the rank, or for room.
  [[nodiscard]] bool sending() const noexcept {
    return !failure_ && !end_.unreachable && !end_.closed && answers_.sending();
  }
  /// Receives the first message that has not been received; there must be memory for it.
  Result<void> receive_next(ReceiveMemory& memory);
  /// Whether that message is the next one that it processes.
  [[nodiscard]] bool next_is_first() const {
    return !incoming_.empty() && incoming_.front().message != MPI_MESSAGE_NULL;
  }
  /// The order from which on the rank requests room, as far as it is known.
  [[nodiscard]] std::uint64_t order() const { return port_.pool().order_of(peer_); }
  [[nodiscard]] int rank() const noexcept { return answers_.rank(); }
  void note_failure(Error error);

 private:
  struct Incoming {
    ReceiveMemory::Buffer buffer;
    std::uint64_t bytes = 0;                 ///< size of the message in the buffer
    MPI_Message message = MPI_MESSAGE_NULL;  ///< not received yet
    mpi::Request request;
    bool arrived = false;
    bool is_word = false;  ///< already moved to `messages_`
    /// Receives it into memory.
    Result<void> receive(ReceiveMemory& memory, const PeerName& sender);
  };

  bool complete_receives();
  /// Works until a message can be handed out, room is missing or nothing is left; true: did
  /// something. Pings do not count as work, so that waiting ranks do not keep an idle server awake.
  bool work();
  bool begin_segment();
  bool next_item();
  void end_segment();
  bool contribute(const ItemHeader& item, std::span<const std::byte> packed);
  bool flush_answers(SendTurn& turn);
  /// As far as the turn of the network allows.
  bool flush_answers();
  void flush_now();
  void broken(const char* what, std::uint64_t value);

  // A server has one of these per rank on another node: only what is needed later is kept of the
  // options.
  shm::Port& port_;
  std::atomic<std::uint64_t>& progress_;
  std::size_t peer_;
  PeerName name_;
  Millis deadline_;
  std::shared_ptr<Frontend> frontend_;
  ProcessWatch process_;

  std::list<Incoming> incoming_;     ///< in order of arrival
  ReceiveMemory* memory_ = nullptr;  ///< memory from which the buffers come; null: nothing has arrived
  bool in_segment_ = false;          ///< the first of `incoming_` is being processed
  SegmentHeader segment_;
  std::span<const std::byte> items_;  ///< the unprocessed rest
  MessageAssembly messages_;
  RoomWait room_;

  Answers answers_;
  AnswerTurns* turns_ = nullptr;
  std::array<bool, 2> is_listed_{};  ///< in turns_->list(is_due)

  std::unique_ptr<Error> failure_;  ///< small while there is none: a server has many ends
  struct {
    bool closed = false;       ///< it has closed its link
    bool died = false;         ///< reported by its frontend
    bool unreachable = false;  ///< its frontend is lost
    bool forgotten = false;
    bool left = false;  ///< `leave` was called
  } end_;
  std::uint64_t handled_ = 0;  ///< messages and segments, in both directions
};

/// Receives messages from any model rank.
class MpiNetwork final : public Network {
 public:
  /// `pool`: of the ends' port. `sizes`, `senders`: see ReceiveMemory.
  MpiNetwork(std::shared_ptr<const mpi::Communicator> comm, const shm::Pool& pool, const LinkSizes& sizes,
             std::size_t senders)
      : comm_(std::move(comm)),
        joint_memory_(sizes.joint_bytes),
        joined_memory_(sizes.joined_bytes),
        pool_(pool),
        memory_(sizes, senders) {}
  void add(int rank, MpiPeer& peer) {
    place(direct_, static_cast<std::size_t>(rank)) = &peer;
    peer.set_turns(turns_);
  }
  /// The end for model rank `number`, through a frontend at `rank`.
  void add(int rank, std::size_t number, MpiPeer& peer, std::shared_ptr<Frontend> frontend) {
    place(relayed_, number) = &peer;
    peer.set_turns(turns_);
    const auto [at, is_new] = frontends_.try_emplace(rank, joint_memory_);
    at->second.frontend = std::move(frontend);
    if (is_new) joined_memory_.add_frontend();
  }
  bool progress() override;
  [[nodiscard]] bool transferring() const override { return !incomplete_.empty(); }
  [[nodiscard]] bool holds_back() const override { return turns_.turn.left == 0; }
  [[nodiscard]] bool sending() const override;
  [[nodiscard]] std::uint64_t peak_bytes() const override { return memory_.peak_bytes(); }

 private:
  static MpiPeer*& place(std::vector<MpiPeer*>& peers, std::size_t number) {
    if (number >= peers.size()) peers.resize(number + 1);
    return peers[number];
  }
  struct Relayed {
    explicit Relayed(JointMemory& memory) : arrivals(memory) {}
    std::shared_ptr<Frontend> frontend;
    JointArrivals arrivals;
    std::uint64_t share = 0;  ///< share of joined_memory_
  };
  /// True: there was a message.
  Result<bool> take_one();
  void broken(const Error& error);
  /// A message of one rank, received now or when there is memory for it.
  Result<void> take(int rank, const JointArrivals::Found& found);
  /// Messages of a frontend whose joint messages have arrived.
  Result<void> deliver(int rank, Relayed& relayed);
  Result<MpiPeer*> peer_at(int rank, int tag) const;
  /// Receives messages that wait, as far as there is memory; true: at least one.
  bool receive_waiting();

  std::shared_ptr<const mpi::Communicator> comm_;
  std::vector<MpiPeer*> direct_;   ///< by rank; null: none
  std::vector<MpiPeer*> relayed_;  ///< by number of the model rank; null: none
  AnswerTurns turns_;
  JointMemory joint_memory_;
  JoinedMemory joined_memory_;
  std::unordered_map<int, Relayed> frontends_;  ///< by rank
  std::vector<int> incomplete_;  ///< frontends whose joint messages are being received, in turn
  const shm::Pool& pool_;
  ReceiveMemory memory_;
  WaitingSenders<MpiPeer> waiting_;  ///< senders of messages that are not received yet
  bool failed_ = false;              ///< the ends know
  bool moved_ = false;               ///< more than pings were received
};

}  // namespace afterbay::transport::network
