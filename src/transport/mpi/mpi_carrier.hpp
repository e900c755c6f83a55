// SPDX-License-Identifier: Apache-2.0
// A carrier that sends segments by MPI from this rank's own memory.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/process_watch.hpp"
#include "mpi/communicator.hpp"
#include "transport/mpi/carrier.hpp"
#include "transport/mpi/probe_round.hpp"

namespace afterbay::transport::network {

struct MpiRoute {
  int rank = 0;  ///< the rank that receives the segments: a server or a frontend
  int up_tag = network::up_tag;
  int down_tag = network::down_tag;
  int data_tag = network::data_tag;
  std::string frontend = {};  ///< as named in errors; empty: none
  ProcessId process = {};     ///< the frontend's process, if it runs on this machine
};

/// What the carriers of a process share that use one communicator.
struct MpiShared {
  std::shared_ptr<Staging> staging;
  std::shared_ptr<ProbeRound> probes;
};

class MpiCarrier final : public Carrier {
 public:
  /// `credits`: the number that its pair of processes has.
  MpiCarrier(std::shared_ptr<const mpi::Communicator> comm, MpiShared shared, std::uint32_t credits,
             MpiRoute route);
  ~MpiCarrier() override;

  [[nodiscard]] std::uint32_t credits() const override { return credits_; }
  [[nodiscard]] std::uint64_t capacity() const override { return staging_->capacity(); }
  [[nodiscard]] std::size_t segments() const override { return staging_->segments(); }
  [[nodiscard]] const void* memory() const override { return staging_.get(); }
  std::optional<SegmentMemory> take(const SegmentRequest& request) override {
    return staging_->take(request);
  }
  void give_back(const SegmentMemory& segment) override { staging_->give_back(segment); }
  Result<void> allocate(const SegmentMemory& segment, std::uint64_t bytes) override {
    return staging_->allocate(segment, bytes);
  }
  Result<void> send(const SegmentMemory& segment, std::uint64_t bytes) override;
  Result<bool> sent(const SegmentMemory& segment, bool eagerly) override;
  Result<void> send_header(const SegmentHeader& header) override;
  Result<bool> header_sent() override;
  Result<void> send_word(Bytes word) override;
  Result<std::optional<std::span<const std::byte>>> next_batch() override;
  Result<std::optional<ReceivedData>> next_data() override;
  [[nodiscard]] bool receiving() const override { return incoming_request_.active() || !data_.empty(); }
  void pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool transferring) override;
  [[nodiscard]] bool usable() const override;
  void leave(std::uint64_t end_ns) override;
  Result<void> check_alive() override;
  [[nodiscard]] std::string name() const override { return "mpi"; }
  [[nodiscard]] std::string setting() const override { return "memory.link"; }

 private:
  struct Transit {
    std::uint32_t segment = 0;
    mpi::Request request;
  };

  /// A data message that has been found. Its data stay with the sender until there is a buffer.
  struct DataTransit {
    MPI_Message message = MPI_MESSAGE_NULL;
    std::size_t bytes = 0;
    std::shared_ptr<std::byte> buffer;
    mpi::Request request;
  };
  Result<void> find_data();
  Result<void> receive_data();

  std::shared_ptr<const mpi::Communicator> comm_;
  std::shared_ptr<Staging> staging_;
  std::shared_ptr<ProbeRound> probes_;
  std::uint64_t asked_for_batch_ = 0;  ///< see ProbeRound
  std::uint64_t asked_for_data_ = 0;   ///< see ProbeRound
  std::uint32_t credits_;
  MpiRoute route_;
  std::vector<Transit> transits_;          ///< segments that are being sent
  std::unique_ptr<SegmentHeader> header_;  ///< header being sent
  mpi::Request header_request_;
  struct Word {
    Bytes bytes;
    mpi::Request request;
  };
  std::list<Word>
      words_;  ///< words in transit. A rank has many carriers: lists are small while they are empty
  Bytes incoming_;
  mpi::Request incoming_request_;
  std::list<DataTransit> data_;  ///< in order
  ProcessWatch frontend_;
};

}  // namespace afterbay::transport::network
