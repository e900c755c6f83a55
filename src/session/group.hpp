// SPDX-License-Identifier: Apache-2.0
// Group: what a session needs of the processes together, once at its end. Behind an interface, so
// that sessions over threads need no MPI.
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
  /// Everyone's bytes at rank 0, in rank order; an empty list elsewhere. Collective; ends by the deadline.
  virtual Result<std::vector<Bytes>> gather(const Bytes& mine) = 0;
  /// Waits until all model ranks call it, `limit` at most; false: they did not. By model ranks.
  virtual bool await_models(std::chrono::milliseconds limit) = 0;
  /// Servers and frontends whose processes end early at nearly the same time.
  struct EndingEarly {
    std::vector<int> ranks;  ///< in the session, ascending; the caller's is among them
    bool reports = true;     ///< the caller reports it on stderr; else another does
  };
  /// Who else calls this, within `limit`. By servers and frontends, once.
  virtual EndingEarly ending_early(std::chrono::milliseconds limit) = 0;
  /// The session has failed: messages may be under way that nobody takes.
  virtual void leave_behind() = 0;
  /// Says that this process has arrived; what it returns tells whether all have. Collective, waits for
  /// nobody.
  virtual Result<std::function<Result<bool>()>> arrive() = 0;
};

}  // namespace afterbay::session
