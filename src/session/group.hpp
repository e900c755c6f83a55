// SPDX-License-Identifier: Apache-2.0
// Group: collective operations that a session needs of all its processes, mostly at its end. An
// interface, so that sessions over threads need no MPI.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.hpp"

namespace afterbay::session {

class Group {
 public:
  using Bytes = std::vector<std::byte>;
  virtual ~Group() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Whether messages can still be sent (MPI: not after MPI_Finalize).
  [[nodiscard]] virtual bool usable() const = 0;
  /// The bytes of all ranks at rank 0, in rank order; an empty list elsewhere. Collective; ends by
  /// the deadline.
  virtual Result<std::vector<Bytes>> gather(const Bytes& mine) = 0;
  /// Waits until all model ranks call it, for at most `limit`; returns false if they did not.
  /// Called by model ranks.
  virtual bool await_models(std::chrono::milliseconds limit) = 0;
  /// Servers and frontends whose processes end early at nearly the same time.
  struct EndingEarly {
    std::vector<int> ranks;  ///< ranks in the session, ascending, including the caller's
    bool reports = true;     ///< the caller reports it on stderr; otherwise another process does
  };
  /// The other processes that call this within `limit`. Called by servers and frontends, once.
  virtual EndingEarly ending_early(std::chrono::milliseconds limit) = 0;
  /// The session has failed: messages may be in transit that nobody receives.
  virtual void leave_behind() = 0;
  /// States that this process has arrived; the returned function tells whether all have.
  /// Collective; does not wait.
  virtual Result<std::function<Result<bool>()>> arrive() = 0;
};

}  // namespace afterbay::session
