// SPDX-License-Identifier: Apache-2.0
// Conversion of a row of values from the model's type to the file's type, including byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "afterbay/types.hpp"
#include "base/default_arithmetic.hpp"

namespace afterbay::model {

/// Converts `count` values. Strides are the bytes between neighbours and may be negative or 0
/// (source). Neither address needs alignment; the ranges must not overlap. Returns the number of
/// values that the target type cannot hold (their stored values are unspecified).
///
/// Rules, as in netCDF-C: numbers are truncated towards zero when converted to integers, and must
/// lie between the target's smallest and largest value before that (NaN never does); float64 is
/// rounded to float32, and a finite value that becomes infinite is out of range; NaN and infinity
/// are kept between floating-point types. Text is converted to text only.
using RowFunction = std::uint64_t (*)(std::byte* to, const std::byte* from, std::size_t count,
                                      std::ptrdiff_t to_stride, std::ptrdiff_t from_stride);

/// A conversion with parameters, such as packing (model/packing.hpp).
class Conversion {
 public:
  virtual ~Conversion() = default;
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;
  /// As a RowFunction.
  virtual std::uint64_t row(std::byte* to, const std::byte* from, std::size_t count, std::ptrdiff_t to_stride,
                            std::ptrdiff_t from_stride) const = 0;
  /// A quick check: true if `row` would find no value out of range. False says nothing.
  [[nodiscard]] virtual bool surely_in_range(const std::byte* /*from*/, std::size_t /*count*/,
                                             std::ptrdiff_t /*from_stride*/) const {
    return false;
  }

 protected:
  Conversion() = default;
};

/// Converts the rows of a move. `streaming`, if present, stores past the caches, for large moves in
/// long rows. A fence must follow it (model::execute does this). `custom`, if present, replaces
/// both and belongs to the caller.
struct Kernel {
  RowFunction row = nullptr;
  RowFunction streaming = nullptr;
  const Conversion* custom = nullptr;
  bool converts = false;  ///< between types: callers that call `row` do so with DefaultArithmetic
  explicit operator bool() const noexcept { return row != nullptr || custom != nullptr; }
  /// Whether results depend on the floating-point environment.
  [[nodiscard]] bool computes() const noexcept { return converts || custom != nullptr; }
  /// As a RowFunction.
  std::uint64_t convert(std::byte* to, const std::byte* from, std::size_t count, std::ptrdiff_t to_stride,
                        std::ptrdiff_t from_stride) const {
    return custom != nullptr ? custom->row(to, from, count, to_stride, from_stride)
                             : row(to, from, count, to_stride, from_stride);
  }
};

/// While it lives, the calling thread computes as DefaultArithmetic says, if the kernel computes.
class ArithmeticFor {
 public:
  explicit ArithmeticFor(const Kernel& kernel) {
    if (kernel.computes()) arithmetic_.emplace();
  }

 private:
  std::optional<DefaultArithmetic> arithmetic_;
};

/// The best kernel for a pair of types on this processor; empty if there is none (text with
/// numbers, strings). `swap_bytes` reverses the bytes of each stored value.
Kernel kernel(Type from, Type to, bool swap_bytes) noexcept;

/// Whether there are values of `from` that `to` cannot hold.
bool may_be_out_of_range(Type from, Type to) noexcept;

/// The kernel that only copies elements of 1, 2, 4 or 8 bytes, and reverses the bytes of each if
/// requested; empty for other sizes.
Kernel copy_kernel(std::size_t element_bytes, bool swap_bytes) noexcept;

/// Whether values of a file with that byte order must be swapped on this machine.
bool needs_swap(bool file_is_big_endian) noexcept;

}  // namespace afterbay::model
