// SPDX-License-Identifier: Apache-2.0
// The library's own communicator. Exchanges between its ranks: mpi/tree.hpp.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/rank_ranges.hpp"
#include "base/result.hpp"

namespace afterbay::mpi {

using Bytes = std::vector<std::byte>;
using Millis = std::chrono::milliseconds;

/// How a message names ranks that do not participate, and the question that it asks.
struct Roll {
  const RankRanges* numbers = nullptr;  ///< the ranks' numbers in the session; null or empty: same
                                        ///< as in the communicator
  const char* question = "do all ranks open the session?";
};

/// Owns a duplicate of a communicator; errors are returned, not fatal. All members called
/// collective below must be called by all ranks in the same order, in the MPI thread. After a
/// timeout the communicator is unusable: end the session.
class Communicator {
 public:
  /// Collective over `parent`.
  static Result<Communicator> duplicate(MPI_Comm parent, Millis limit, const Roll& roll);
  static Result<Communicator> duplicate(MPI_Comm parent, Millis limit) {
    return duplicate(parent, limit, {});
  }
  /// The same for ranks that were all present a moment ago.
  static Result<Communicator> duplicate_of(const RankRanges& numbers, MPI_Comm parent, Millis limit) {
    return duplicate(parent, limit, {&numbers, "have they died? They were there when the session began"});
  }
  Communicator() = default;
  /// Not synchronizing in practice, but every rank must call it, before MPI_Finalize. See
  /// `take_leave`.
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// The destructor waits, at most this long, until all ranks have reached theirs, and receives
  /// messages that were sent but not received: MPI implementations cannot handle a communicator
  /// that is freed with pending messages, and fail when its number is reused. If a rank does not
  /// come, the communicator is not freed.
  void take_leave(Millis limit) noexcept { farewell_ = limit; }
  /// Never frees it: after a failure there may be pending messages that no rank receives.
  void leave_behind() noexcept { farewell_ = Millis(-1); }

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Collective: returns once all ranks have called it.
  Result<void> barrier(Millis limit) const;

 private:
  explicit Communicator(MPI_Comm comm);
  [[nodiscard]] bool empty_and_all_here() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  int size_ = 0;
  Millis farewell_{0};
};

}  // namespace afterbay::mpi
