// SPDX-License-Identifier: Apache-2.0
// Packing: floating-point numbers as integers, with the attributes scale_factor and add_offset.
// Source: CF Conventions 1.11, section 8.1, "Packed Data".
#pragma once

#include <cstdint>
#include <memory>

#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"
#include "base/result.hpp"
#include "model/convert/kernels.hpp"

namespace afterbay::model {

/// How the values of one variable are packed: readers compute `scale * integer + offset`. Before
/// that, they are converted to the units of the file: `multiply * value + add`.
struct PackedValues {
  Type unpacked = Type::float64;  ///< float32 or float64: the variable's type without packing
  Type packed = Type::int16;      ///< int8, int16 or int32
  double low = 0, high = 0;       ///< the range that was asked for, in the units of the file
  double scale = 1, offset = 0;
  double multiply = 1, add = 0;
  Values missing;  ///< one or more values of type `unpacked`; NaN is missing as well
  friend bool operator==(const PackedValues&, const PackedValues&) = default;
};

/// The integer that stands for missing values, `_FillValue`: the type's smallest. All others are
/// used for numbers.
std::int64_t packed_fill(Type type) noexcept;
/// The largest integer; the smallest is its negative.
std::int64_t most_packed(Type type) noexcept;

/// Scale and offset for numbers in [low, high] in the units of the file, so that each is at most
/// half a scale from what readers compute. Zero is exact if it lies in the range. With an error
/// above 0, the scale is as large as it allows; with 0, as small as the type allows. `type` text:
/// the smallest type for the error. Fails with invalid_argument if the error is negative or not
/// finite, or if no type, or not this one, can hold the range with it, and says what is possible.
Result<PackedValues> packing_for(Type type, double low, double high, double error);

/// Packs rows of `from`, and remembers the largest error. One thread at a time.
class PackingRows : public Conversion {
 public:
  /// The largest difference between a number, in the units of the file, and what readers compute,
  /// since the last call; 0 if there was none.
  virtual double take_largest_error() const = 0;
};

/// Null for text and strings. `swap_bytes` reverses the bytes of each integer.
std::unique_ptr<const PackingRows> packing_rows(const PackedValues& packing, Type from, bool swap_bytes);

/// The integer for a number in the units of the file, limited to the type's range: the one that
/// PackingRows gives it.
std::int64_t packed_value(const PackedValues& packing, double value) noexcept;

}  // namespace afterbay::model
