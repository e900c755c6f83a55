// SPDX-License-Identifier: Apache-2.0
// RankTables: the memory of a server for what it notes of each model rank, beside its ends of the
// pairs. The only place of these formulas: `afterbay check` prints them; tests compare them with
// what the objects take.
#pragma once

#include <cstddef>
#include <cstdint>

namespace afterbay::server {

/// In bytes, at most.
struct RankTables {
  std::size_t ranks = 0;  ///< model ranks

  /// For the whole session: numbers of the ranks, their last puts, epochs and waits, and who has
  /// ended.
  [[nodiscard]] std::uint64_t always() const noexcept;
  /// In each collection, how far each rank is.
  [[nodiscard]] std::uint64_t of_collection() const noexcept;
  /// A record between its first put and its last write: who has put each of its variables.
  [[nodiscard]] std::uint64_t of_open_record(std::size_t variables) const noexcept;
  /// A file between its opening and its end: who has closed it, and the numbers to answer with, if
  /// these are the same on all ranks.
  [[nodiscard]] std::uint64_t of_open_file() const noexcept;
  /// All ranks wait for a flush or an epoch at the same time.
  [[nodiscard]] std::uint64_t of_waiting_ranks() const noexcept;
};

}  // namespace afterbay::server
