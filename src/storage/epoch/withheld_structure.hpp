// SPDX-License-Identifier: Apache-2.0
// WithheldStructure: the structure that HDF5 has written since a file's last epoch. It is stored in
// the epoch log, so that the file itself keeps the structure of the epoch.
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

/// Reads `bytes.size()` bytes of an epoch log.
using ReadLog = std::function<Result<>(std::uint64_t at, std::span<std::byte> bytes)>;

/// Used while holding a LibraryLock.
class WithheldStructure {
 public:
  /// The bytes [offset, offset + size_bytes) of the file are at position `at` of the log; earlier
  /// entries for them are removed.
  void put(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t at);
  /// HDF5 has assigned the space to data: structure withheld there is no longer used.
  void drop(std::uint64_t offset, std::uint64_t size_bytes);
  /// Overwrites bytes that were read from the file at `offset` with the withheld structure.
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes, const ReadLog& log) const;
  /// Writes the structure before position `cut` of the log to the file, and forgets it.
  Result<> settle(std::uint64_t cut, const ReadLog& log, BlockWriter& file);
  /// Offset after the last byte; 0 if there is none.
  [[nodiscard]] std::uint64_t end() const noexcept;

 private:
  struct Part {
    std::uint64_t size_bytes = 0;
    std::uint64_t at = 0;
  };
  void split(std::uint64_t offset);

  std::map<std::uint64_t, Part> parts_;  ///< by offset; disjoint
};

/// Ranges in a file; adjacent ranges are merged.
class ByteRanges {
 public:
  void add(std::uint64_t offset, std::uint64_t size_bytes);
  void remove(std::uint64_t offset, std::uint64_t size_bytes);
  [[nodiscard]] bool overlaps(std::uint64_t offset, std::uint64_t size_bytes) const;
  using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< (begin, end), ascending
  /// The parts of these bytes that are in none of the ranges.
  [[nodiscard]] Gaps gaps(std::uint64_t offset, std::uint64_t size_bytes) const;
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& all() const noexcept { return ends_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  ///< by begin
};

}  // namespace afterbay::storage
