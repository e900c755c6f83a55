// SPDX-License-Identifier: Apache-2.0
// Group: collective operations that a session needs of all its processes, mostly at its end. An
// interface, so that sessions over threads need no MPI.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
  /// Passes the bytes of all ranks to `take` at rank 0, in rank order, each as soon as it and all
  /// lower ranks have arrived. Collective, once; ends if nothing arrives for the deadline.
  virtual Result<> gather(const Bytes& mine, const std::function<Result<>(Bytes bytes)>& take) = 0;
  /// Waits until all model ranks call it, for at most `limit`; returns false if they did not.
  /// Called by model ranks.
  virtual bool await_models(std::chrono::milliseconds limit) = 0;
  /// A question to all model ranks. Reports are joined on their way to the first model rank, which
  /// decides.
  struct Consultation {
    const char* what = "";  ///< "while ...", for errors
    /// Adds the report of higher ranks, in their order.
    std::function<Result<>(std::span<const std::byte> report)> join;
    /// The report of this rank and of those whose reports it has joined.
    std::function<Bytes()> report;
    /// On the first model rank: the answer to the reports of all.
    std::function<Result<Bytes>()> decide;
    /// What the model ranks from `first` to `end` - 1 need of the answer. Empty: all of it.
    std::function<Result<Bytes>(int first, int end, std::span<const std::byte> answer)> part = {};
  };
  /// The answer, or its part for this rank and the ranks that it passes the answer on to.
  /// Collective over the model ranks; all get an answer, or the same error. Ends by the deadline;
  /// after an error `timed_out` or `mpi` all later calls fail with it.
  virtual Result<Bytes> consult_models(const Consultation& question) = 0;
  /// Messages of model ranks to the first one, along a tree: each rank receives those of its
  /// children, in the order in which they were sent, and sends to its parent. Used by one thread.
  class Ascent {
   public:
    virtual ~Ascent() = default;
    Ascent() = default;
    Ascent(const Ascent&) = delete;
    Ascent& operator=(const Ascent&) = delete;
    /// Messages that a rank farthest from the first one needs to reach it, one after the other.
    [[nodiscard]] virtual int levels() const = 0;
    /// The same from the farthest rank below this one; 0: there are none.
    [[nodiscard]] virtual int height() const = 0;
    [[nodiscard]] virtual std::size_t children() const = 0;
    /// The next message of a child, if it has begun to arrive; then waits for the rest.
    virtual Result<std::optional<Bytes>> look(std::size_t child) = 0;
    /// Its number in the session.
    [[nodiscard]] virtual int number_of(std::size_t child) const = 0;
    /// Does not wait: long messages need `progress` until they have been received. Not on the first
    /// rank.
    virtual Result<> send(Bytes message) = 0;
    /// Messages that this rank has sent and that have not been received.
    virtual Result<std::size_t> progress() = 0;
  };
  /// Collective over the model ranks; ends by the deadline. The group keeps it until it ends,
  /// because messages may be on their way.
  virtual Result<std::shared_ptr<Ascent>> ascend_models() = 0;
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
