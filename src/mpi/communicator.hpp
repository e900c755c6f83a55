// SPDX-License-Identifier: Apache-2.0
// A communicator of our own, and collective operations that end by a deadline.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace afterbay::mpi {

using Bytes = std::vector<std::byte>;
using Millis = std::chrono::milliseconds;

/// What a message calls ranks that do not come, and what it asks then.
struct Roll {
  std::span<const int> numbers{};  ///< of the communicator's ranks in the session; empty: their own
  const char* question = "do all ranks open the session?";
};

/// Owns a duplicate of a communicator; its errors are returned, not fatal. All members named
/// below as collective must be called by all ranks in the same order, by the MPI thread. One that
/// timed out leaves the communicator unusable: end the session.
class Communicator {
 public:
  /// Collective over `parent`.
  static Result<Communicator> duplicate(MPI_Comm parent, Millis limit, const Roll& roll);
  static Result<Communicator> duplicate(MPI_Comm parent, Millis limit) {
    return duplicate(parent, limit, {});
  }
  /// The same of ranks that were all there a moment ago.
  static Result<Communicator> duplicate_of(std::span<const int> numbers, MPI_Comm parent, Millis limit) {
    return duplicate(parent, limit, {numbers, "have they died? They were there when the session began"});
  }
  Communicator() = default;
  /// Not collective in practice, but every rank must come here, before MPI_Finalize. See `take_leave`.
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Its end is to wait, this long at most, until all ranks have come to theirs, and to take what others sent
  /// and nobody received: MPI implementations do not bear to have a communicator freed with messages in it,
  /// and trip over them when its number is used again. Where a rank does not come it is not freed.
  void take_leave(Millis limit) noexcept { farewell_ = limit; }
  /// It is never freed: after a failure, when there may be messages in it and nobody comes to take them.
  void leave_behind() noexcept { farewell_ = Millis(-1); }

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Collective: returns once all ranks have called it.
  Result<void> barrier(Millis limit) const;
  /// Collective: everybody's bytes, of any length, in the order of ranks.
  [[nodiscard]] Result<std::vector<Bytes>> all_gather(std::span<const std::byte> own, Millis limit) const;
  /// Collective: the same on `root` only, nothing elsewhere.
  [[nodiscard]] Result<std::vector<Bytes>> gather(std::span<const std::byte> own, int root,
                                                  Millis limit) const;
  /// Collective: root's bytes.
  [[nodiscard]] Result<Bytes> broadcast(std::span<const std::byte> from_root, int root, Millis limit) const;

 private:
  explicit Communicator(MPI_Comm comm);
  [[nodiscard]] bool empty_and_all_here() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  int size_ = 0;
  Millis farewell_{0};
};

}  // namespace afterbay::mpi
