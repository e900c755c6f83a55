// SPDX-License-Identifier: Apache-2.0
// The loops that round values (rounding_loops.inc), compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pipeline/rounding.hpp"

namespace afterbay::pipeline {

enum class RoundingMethod : std::uint8_t {
  uniform,  ///< keeps the same bits of all values
  groom,    ///< so does this, and alternately fills the others with zeros and ones
  table     ///< by magnitude
};

/// What to do with `count` values. Pointers remain the caller's.
template <class T>
struct RoundingJob {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  ///< equals `to`, or does not overlap it
  std::size_t count = 0;
  std::uint64_t first = 0;  ///< place of the first value in its record
  const T* missing = nullptr;
  std::size_t missing_count = 0;

  RoundingMethod method = RoundingMethod::uniform;
  typename FloatFormat<T>::Word kept = 0;  ///< bits: RoundingMethod::uniform, groom
  const Binade<T>* table = nullptr;        ///< one per exponent: RoundingMethod::table
  const RoundingStep<T>* steps = nullptr;  ///< the same, faster for magnitudes in [least, largest]; ascending
  std::size_t step_count = 0;              ///< may be 0
  T least = 0, largest = 0;

  bool verifies = false;
  T absolute = 0, relative = 0;  ///< largest errors, if it verifies
};

template <class T>
struct RoundingCounts {
  std::uint64_t kept = 0;  ///< values that were kept to observe the largest errors
  std::make_signed_t<typename FloatFormat<T>::Word> largest_error_bits =
      0;                       ///< largest error of the results, if it verifies
  bool makes_missing = false;  ///< some results are the first missing value, and the values were not
};

/// The loops of one instruction set.
struct RoundingLoops {
  RoundingCounts<float> (*of_float)(const RoundingJob<float>&) = nullptr;
  RoundingCounts<double> (*of_double)(const RoundingJob<double>&) = nullptr;
};

namespace rounding {
extern const RoundingLoops baseline, avx2, avx512;
}

/// The best loops for this processor.
const RoundingLoops& rounding_loops() noexcept;

}  // namespace afterbay::pipeline
