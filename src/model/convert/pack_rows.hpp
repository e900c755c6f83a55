// SPDX-License-Identifier: Apache-2.0
// The loops that pack numbers (pack_rows.inc), compiled once per instruction set. Private to the
// folder model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace afterbay::model::convert {

/// Values that are packed together, in the first-level cache.
inline constexpr std::size_t pack_block = 256;

/// What to do with up to pack_block values. Pointers remain the caller's.
struct PackJob {
  const double* values = nullptr;
  std::int32_t* integers = nullptr;  ///< results
  std::size_t count = 0;
  double multiply = 1, add = 0, scale = 1, inverse = 1, offset = 0;
  double most = 0;                  ///< the largest integer; the smallest is its negative
  std::int32_t fill = 0;            ///< for missing values
  const double* missing = nullptr;  ///< two or more, which may be equal
  std::size_t missing_count = 0;
  bool compares_float = false;  ///< values are rounded to float32 before they are compared with `missing`
};

struct PackCounts {
  std::uint64_t out_of_range = 0;
  double largest_error = 0;  ///< largest error of the values in range
};

using PackLoop = PackCounts (*)(const PackJob& job);

extern const PackLoop pack_baseline, pack_avx2, pack_avx512;

}  // namespace afterbay::model::convert
