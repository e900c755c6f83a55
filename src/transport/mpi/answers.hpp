// SPDX-License-Identifier: Apache-2.0
// Answers: what a server's end sends to its rank. Messages, credits and flags are joined into
// batches, of which one is in transit at a time; data messages are sent apart, several at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/link.hpp"
#include "transport/mpi/joint_segments.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// How many batches of messages the ends of a server may still begin before it looks at the network
/// again. A server that answers a hundred thousand ranks at once, as when a session has defined its
/// collections, thus leaves MPI time to complete the first sends before it begins the last: MPI
/// needs some memory for each send that is pending, and never returns it. Ranks that receive
/// nothing for a long time do not hold up others.
struct SendTurn {
  static constexpr std::size_t most = 1024;
  static constexpr std::size_t most_eager = 16;
  std::size_t left = most;
  /// How many pending batches may still be looked at several times, which lets MPI progress.
  std::size_t eager_left = most_eager;
};

/// Used by one thread.
class Answers {
 public:
  struct Route {
    int rank = 0;  ///< in the communicator: the model rank or its frontend
    int down_tag = network::down_tag;
    int data_tag = network::data_tag;
  };
  /// `most_batch_bytes`: messages are joined up to this. `progress` counts the server's work.
  Answers(std::shared_ptr<const mpi::Communicator> comm, const Route& route, std::uint64_t most_batch_bytes,
          std::atomic<std::uint64_t>& progress)
      : comm_(std::move(comm)), route_(route), most_batch_bytes_(most_batch_bytes), progress_(progress) {}
  /// What is in transit is left to MPI, with its memory.
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  void keep(std::span<const std::byte> message) { kept_.emplace_back(message.begin(), message.end()); }
  void add_credit() noexcept { ++credits_due_; }
  void add_flags(std::uint32_t flags) noexcept { flags_due_ |= flags; }
  /// Tells the frontend its share (JoinedMemory) with the next batch.
  void set_share(std::uint64_t bytes) noexcept {
    share_due_ = static_cast<std::uint32_t>(bytes / JoinedMemory::unit_bytes);
  }
  /// Begins a data message at once.
  Result<void> send_data(std::span<const std::byte> message, OutgoingData data);

  [[nodiscard]] int rank() const noexcept { return route_.rank; }
  /// Sends what is due, one batch at a time, and messages only as far as `turn` allows. True: did
  /// something; answers to pings do not count.
  Result<bool> flush(SendTurn& turn);
  /// Data messages that have arrived; true: some.
  Result<bool> complete_data();
  /// The rank has ended cleanly and needs no more credits.
  void stop_credits() noexcept { wants_credits_ = false; }

  [[nodiscard]] bool is_due() const noexcept {
    return !kept_.empty() || flags_due_ != 0 || (credits_due_ != 0 && wants_credits_);
  }
  [[nodiscard]] bool batch_in_transit() const noexcept { return batch_request_.active(); }
  /// The last look found that the rank has not received the batch in transit for a while: it
  /// computes.
  [[nodiscard]] bool is_slow() const noexcept { return is_slow_ && batch_request_.active(); }
  [[nodiscard]] mpi::Request& batch() noexcept { return batch_request_; }
  /// Data are in transit.
  [[nodiscard]] bool sends_data() const noexcept { return !data_.empty(); }
  /// Transfers are in progress, which only advance while the network is looked at. The rank may
  /// never receive a batch of credits or an answer to a ping: it may need neither. One that
  /// computes begins no transfer; when it returns, a large batch advances at each look, too.
  [[nodiscard]] bool transferring() const noexcept {
    return sends_data() || (batch_has_messages_ && batch_request_.active() && !is_slow_);
  }
  /// Messages or data wait to be received by the rank.
  [[nodiscard]] bool sending() const noexcept {
    return !kept_.empty() || sends_data() || (batch_has_messages_ && batch_request_.active());
  }

 private:
  struct DataTransit {
    Bytes head;
    OutgoingData data;
    mpi::Request request;
  };
  void fill_batch();

  std::shared_ptr<const mpi::Communicator> comm_;
  Route route_;
  std::uint64_t most_batch_bytes_;
  std::atomic<std::uint64_t>& progress_;
  std::list<Bytes> kept_;  ///< messages to the rank
  std::uint32_t credits_due_ = 0;
  std::uint32_t flags_due_ = 0;
  std::uint32_t share_due_ = 0;
  bool wants_credits_ = true;
  Bytes batch_;
  bool batch_has_messages_ = false;
  bool is_slow_ = false;
  std::uint64_t batch_begun_ns_ = 0;
  mpi::Request batch_request_;
  std::list<DataTransit> data_;
};

}  // namespace afterbay::transport::network
