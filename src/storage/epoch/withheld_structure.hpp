// SPDX-License-Identifier: Apache-2.0
// WithheldStructure: what HDF5 has written since a file's last epoch. It stands in the epoch log, so that
// the file itself keeps the structure that it had at the epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace afterbay::storage {

class BlockWriter;

/// Reads so many bytes of an epoch log.
using ReadLog = std::function<Result<>(std::uint64_t at, std::span<std::byte> bytes)>;

/// Used under a LibraryLock.
class WithheldStructure {
 public:
  /// The bytes [offset, offset + size_bytes) of the file lie at `at` in the log; what was there is forgotten.
  void put(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t at);
  /// HDF5 has given the place to data: what is withheld of it is nobody's any more.
  void drop(std::uint64_t offset, std::uint64_t size_bytes);
  /// Overwrites what was read of the file from `offset` on with what is withheld of it.
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes, const ReadLog& log) const;
  /// Writes to the file, and forgets, what lies before `cut` in the log.
  Result<> settle(std::uint64_t cut, const ReadLog& log, BlockWriter& file);
  [[nodiscard]] std::uint64_t end() const noexcept;  ///< of the last byte; 0: nothing

 private:
  struct Part {
    std::uint64_t size_bytes = 0;
    std::uint64_t at = 0;
  };
  void split(std::uint64_t offset);

  std::map<std::uint64_t, Part> parts_;  ///< by offset; no two overlap
};

/// Places in a file, joined where they touch.
class ByteRanges {
 public:
  void add(std::uint64_t offset, std::uint64_t size_bytes);
  void remove(std::uint64_t offset, std::uint64_t size_bytes);
  [[nodiscard]] bool overlaps(std::uint64_t offset, std::uint64_t size_bytes) const;
  using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< (begin, end), ascending
  /// What of these bytes is in none of the ranges.
  [[nodiscard]] Gaps gaps(std::uint64_t offset, std::uint64_t size_bytes) const;
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& all() const noexcept { return ends_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  ///< by begin
};

}  // namespace afterbay::storage
