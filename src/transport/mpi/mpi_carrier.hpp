// SPDX-License-Identifier: Apache-2.0
// A carrier that sends segments by MPI from this rank's own memory.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/process_watch.hpp"
#include "mpi/communicator.hpp"
#include "transport/mpi/carrier.hpp"
#include "transport/shm/mapping.hpp"

namespace afterbay::transport::network {

struct MpiRoute {
  int rank = 0;  ///< the rank that receives the segments: a server or a frontend
  int up_tag = network::up_tag;
  int down_tag = network::down_tag;
  std::uint32_t credits = 0;  ///< 0: as many as there are segments
  std::string frontend = {};  ///< as named in errors; empty: none
  ProcessId process = {};     ///< the frontend's process, if it runs on this machine
};

class MpiCarrier final : public Carrier {
 public:
  static Result<std::unique_ptr<Carrier>> make(std::shared_ptr<const mpi::Communicator> comm,
                                               const LinkSizes& sizes, MpiRoute route);
  ~MpiCarrier() override;

  [[nodiscard]] std::size_t segments() const override { return requests_.size(); }
  [[nodiscard]] std::uint32_t credits() const override;
  [[nodiscard]] std::byte* segment(std::size_t index) const override {
    return memory_.data() + index * capacity_;
  }
  Result<void> allocate(std::size_t index, std::uint64_t from, std::uint64_t to) override {
    return memory_.allocate({{index * capacity_ + from, to - from}});
  }
  Result<void> send(std::size_t index, std::uint64_t bytes) override;
  Result<bool> sent(std::size_t index, bool eagerly) override;
  Result<void> send_header(const SegmentHeader& header) override;
  Result<bool> header_sent() override;
  Result<void> send_word(Bytes word) override;
  Result<std::optional<std::span<const std::byte>>> next_batch() override;
  [[nodiscard]] bool receiving() const override { return incoming_request_.active(); }
  void pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool transferring) override;
  [[nodiscard]] bool usable() const override;
  void leave() override;
  Result<void> check_alive() override;
  [[nodiscard]] std::string name() const override { return "mpi"; }

 private:
  MpiCarrier(std::shared_ptr<const mpi::Communicator> comm, const LinkSizes& sizes, MpiRoute route,
             shm::Mapping memory);

  std::shared_ptr<const mpi::Communicator> comm_;
  MpiRoute route_;
  std::uint64_t capacity_;
  shm::Mapping memory_;
  std::vector<mpi::Request> requests_;
  std::unique_ptr<SegmentHeader> header_;  ///< header being sent
  mpi::Request header_request_;
  struct Word {
    Bytes bytes;
    mpi::Request request;
  };
  std::deque<Word> words_;  ///< words in transit
  Bytes incoming_;
  mpi::Request incoming_request_;
  ProcessWatch frontend_;
};

}  // namespace afterbay::transport::network
