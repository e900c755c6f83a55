// SPDX-License-Identifier: Apache-2.0
// Decomposition: which global points a rank holds; MemoryLayout: where they lie in its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace afterbay {

inline constexpr std::size_t max_rank = 7;  ///< most dimensions of a decomposition (Fortran 2003)

/// A rank's part of a global index space as a box: `start` and `count` per dimension, C order,
/// 0-based. A rank that holds nothing gives a count of 0 in any dimension.
struct Block {
  std::vector<std::uint64_t> global;
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  friend bool operator==(const Block&, const Block&) = default;
};

/// What a decomposition may leave out or hold twice.
struct Coverage {
  bool gaps_allowed = false;  ///< points that no rank holds get the fill value
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// Where a rank's part lies in memory, in elements of the model's array, C order. Empty: dense.
/// With `shape` and `offset`, the part starts at `offset` inside an array of `shape` (halos).
/// With `strides` (elements between neighbours along each dimension), `shape` may be left empty.
struct MemoryLayout {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offset;
  std::vector<std::int64_t> strides;
  [[nodiscard]] bool dense() const noexcept { return shape.empty() && offset.empty() && strides.empty(); }
  friend bool operator==(const MemoryLayout&, const MemoryLayout&) = default;
};

}  // namespace afterbay
