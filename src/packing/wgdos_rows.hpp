// SPDX-License-Identifier: Apache-2.0
// Rows of a WGDOS field. Private to packing/.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.hpp"
#include "base/rounding.hpp"
#include "packing/bit_blocks.hpp"
#include "packing/wgdos_kernels.hpp"

namespace afterbay::packing {

inline constexpr std::size_t field_header_words = 3;
inline constexpr std::size_t row_header_words = 2;
/// Largest number of words after the header of a row, which counts them in 16 bits. A row of 65535
/// columns with 31 bits per value and a bitmap for one missing point has exactly this number.
inline constexpr std::size_t most_row_words = 65535;

/// The upper half of the second word of a row.
inline constexpr std::uint32_t row_bits_mask = 31;
inline constexpr std::uint32_t row_has_missing = 32;  ///< bits set: missing points
inline constexpr std::uint32_t row_has_least = 64;    ///< bits set: points with the base value
inline constexpr std::uint32_t row_has_zeros = 128;   ///< bits set: points that are not zero
inline constexpr std::uint32_t row_flags = row_bits_mask | row_has_missing | row_has_least | row_has_zeros;

constexpr std::size_t whole_blocks(std::size_t count) noexcept { return rounded_up(count, block_integers); }

/// Whether all numbers that a row with this base and integers of so many bits may hold are in the
/// range of T. Decoders refuse other rows, so that encoders must not make them.
template <class T>
bool stays_in_range(double base, double scale, unsigned bits) noexcept {
  return std::abs(base) + std::ldexp(scale, static_cast<int>(bits)) <
         static_cast<double>(std::numeric_limits<T>::max());
}

/// Unpacks rows of one field, with memory for one row.
template <class T>
class RowUnpacker {
 public:
  RowUnpacker(std::size_t columns, int accuracy, T missing);

  /// Unpacks the row at `from`, of which `available` words exist, and returns its number of words.
  /// `values` has room for the columns.
  Result<std::size_t> unpack(const std::byte* from, std::size_t available, T* values);

 private:
  struct Row {
    double base = 0;
    unsigned bits = 0;
    std::uint32_t maps = 0;
    const std::byte* data = nullptr;
    std::size_t words = 0;
  };

  Result<> check_range(const Row& row) const;
  Result<> unpack_all(const Row& row, T* values);
  Result<> unpack_present(const Row& row, T* values);
  void apply_map(const std::byte* maps, std::size_t map_words, std::size_t& begin, std::uint32_t inverted,
                 T value, T* values);

  std::size_t columns_;
  double scale_;
  T missing_;
  const RowKernels<T>& kernels_ = row_kernels<T>();
  std::vector<std::uint32_t> integers_;
  std::vector<std::uint32_t> absent_;  ///< a bit per column: set by a bitmap
  std::vector<T> present_;
};

extern template class RowUnpacker<float>;
extern template class RowUnpacker<double>;

}  // namespace afterbay::packing
