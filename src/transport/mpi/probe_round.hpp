// SPDX-License-Identifier: Apache-2.0
// ProbeRound: a rank has a link to each server, and all of them receive by the same communicator.
// Instead of one probe per link, MPI is asked once per round whether there is a message from
// anybody. A round ends when somebody asks for the second time, or after a short time.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "mpi/check.hpp"
#include "mpi/communicator.hpp"

namespace afterbay::transport::network {

/// Used only by the thread that calls MPI.
class ProbeRound {
 public:
  explicit ProbeRound(std::shared_ptr<const mpi::Communicator> comm) : comm_(std::move(comm)) {}

  /// Whether there may be a message for the caller, who then looks for it. `asked` is the caller's
  /// own, 0 at first.
  Result<bool> has_messages(std::uint64_t& asked) {
    const std::uint64_t now = now_ns();
    if (asked == round_ || now - begun_ns_ > longest_ns) {
      int found = 0;
      AFTERBAY_TRY(mpi::check(
          MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_->get(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe"));
      found_ = found != 0;
      begun_ns_ = now;
      ++round_;
    }
    asked = round_;
    return found_;
  }

 private:
  static constexpr std::uint64_t longest_ns = 50'000;

  std::shared_ptr<const mpi::Communicator> comm_;
  std::uint64_t round_ = 0;
  std::uint64_t begun_ns_ = 0;
  bool found_ = false;
};

}  // namespace afterbay::transport::network
