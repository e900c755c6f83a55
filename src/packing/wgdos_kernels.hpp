// SPDX-License-Identifier: Apache-2.0
// Loops over the values of a row, compiled for several instruction sets. Private to packing/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/strict_floating_point.hpp"

namespace afterbay::packing {

/// Stands for a missing point among the integers of a row, which have at most 31 bits.
inline constexpr std::uint32_t missing_integer = std::numeric_limits<std::uint32_t>::max();

/// What a row contains, missing points left out.
struct RowScan {
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  std::size_t missing = 0;
  bool finite = true;  ///< if not, the other members are unspecified
};

template <class T>
struct Quantising {
  T missing = 0;     ///< NaN also counts as missing
  T substitute = 0;  ///< a value of the row, computed with instead of missing ones
  double inverse_scale = 1;
  std::int64_t base = 0;
  /// Whether all multiples of the scale fit into 32 bits before the base is subtracted.
  bool narrow = true;
};

struct Comparison {
  double largest_error = 0;
  bool same_missing = true;
};

template <class T>
struct RowKernels {
  /// NaN is missing only if `nan_is_missing`.
  RowScan (*scan)(const T* values, std::size_t count, T missing, bool nan_is_missing) noexcept = nullptr;
  /// Each value as the nearest multiple of the scale, halves away from zero, less the base. Returns
  /// how many multiples are zero. Values are finite or missing.
  std::size_t (*quantise)(const T* values, std::size_t count, const Quantising<T>& how,
                          std::uint32_t* integers) noexcept = nullptr;
  /// base + integer * scale; integers have at most 31 bits.
  void (*decode)(const std::uint32_t* integers, std::size_t count, double base, double scale,
                 T* values) noexcept = nullptr;
  /// Missing points are NaN in `decoded`, and NaN or `missing` in `values`.
  Comparison (*compare)(const T* decoded, const T* values, std::size_t count, T missing) noexcept = nullptr;
};

namespace wgdos {

struct KernelSet {
  RowKernels<float> float32;
  RowKernels<double> float64;
};

extern const KernelSet baseline;
extern const KernelSet avx2;
extern const KernelSet avx512;

}  // namespace wgdos

/// The fastest kernels for this processor; T is float or double.
template <class T>
const RowKernels<T>& row_kernels() noexcept;

}  // namespace afterbay::packing
