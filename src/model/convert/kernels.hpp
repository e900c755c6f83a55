// SPDX-License-Identifier: Apache-2.0
// Conversion of a row of values from the model's type to the file's, byte order included.
#pragma once

#include <cstddef>
#include <cstdint>

#include "afterbay/types.hpp"

namespace afterbay::model {

/// Converts `count` values; strides are bytes between neighbours, may be negative or 0 (source).
/// Neither address needs alignment; the ranges must not overlap. Returns how many values the target
/// type cannot hold (what is stored for these is unspecified).
///
/// Rules, as netCDF-C's: numbers to integers are truncated towards zero and must lie between the
/// target's smallest and largest value before that (NaN never does); float64 to float32 rounds,
/// and a finite value that becomes infinite is out of range; NaN and infinity stay what they are
/// between floats. Text goes to text only.
using RowFunction = std::uint64_t (*)(std::byte* to, const std::byte* from, std::size_t count,
                                      std::ptrdiff_t to_stride, std::ptrdiff_t from_stride);

/// What converts the rows of a move. `streaming`, where there is one, stores past the caches: for
/// large moves in long rows. A fence must follow it (model::execute does that).
struct Kernel {
  RowFunction row = nullptr;
  RowFunction streaming = nullptr;
  explicit operator bool() const noexcept { return row != nullptr; }
};

/// The kernel for a pair of types, the best one for this processor; an empty one when there is none
/// (text with numbers, strings). `swap_bytes` reverses the bytes of each stored value.
Kernel kernel(Type from, Type to, bool swap_bytes) noexcept;

/// Whether there are values of `from` that `to` cannot hold.
bool may_be_out_of_range(Type from, Type to) noexcept;

/// The kernel that only copies elements of 1, 2, 4 or 8 bytes, reversing the bytes of each if asked;
/// empty for other sizes.
Kernel copy_kernel(std::size_t element_bytes, bool swap_bytes) noexcept;

/// Whether values of a file with that byte order must be swapped on this machine.
bool needs_swap(bool file_is_big_endian) noexcept;

}  // namespace afterbay::model
