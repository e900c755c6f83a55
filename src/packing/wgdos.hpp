// SPDX-License-Identifier: Apache-2.0
// WGDOS packing of the Unified Model: two-dimensional fields to an accuracy of 2^n, row by row.
// Pure functions on memory: any thread may call them, they keep nothing between calls.
//
// A field is a sequence of big-endian 32-bit words: the number of words, the exponent of the
// accuracy, columns * 65536 + rows; then for each row its base value (32-bit IBM float), flags and
// bits per value * 65536 + number of words that follow, bitmaps, and integers of that many bits,
// which are multiples of the accuracy above the base. Without bits, all values are the base.
// Sources: Unified Model Documentation Papers C4 and F3; the public library shumlib and its
// documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/result.hpp"

namespace afterbay::packing {

/// The missing value of the Unified Model, -2^30.
inline constexpr double um_missing = -1073741824.0;

/// Most rows or columns of a field: they share a word.
inline constexpr std::size_t most_wgdos_points = 65535;
/// The exponents of accuracies with which all decoders can compute in single precision.
inline constexpr int least_accuracy = -126;
inline constexpr int most_accuracy = 126;

/// Values lie row after row; neighbours in a row lie beside each other.
struct FieldShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  friend bool operator==(const FieldShape&, const FieldShape&) = default;
};

struct WgdosOptions {
  /// n: values are rounded to multiples of 2^n, so that errors are at most 2^(n-1). The value of a
  /// row that has only one is kept exactly if a 32-bit IBM float can be it.
  int accuracy = 0;
  /// Points with this value, in the type of the field, are missing. NaN: all NaN are missing.
  double missing = um_missing;
  /// Decode each row and compare it with its values.
  bool verify = true;
};

struct PackedField {
  std::size_t bytes = 0;    ///< size of the packed data
  std::size_t missing = 0;  ///< number of missing points
  /// The largest |decoded - value|. Without verification the bound, 2^(accuracy - 1).
  double largest_error = 0;
  /// Bits of the largest integers. Readers that compute in single precision add errors of their own
  /// if it is more than 24.
  unsigned most_bits = 0;
  bool constant = false;  ///< all points that are not missing have one value
};

/// Bytes that no field of this shape exceeds. 0 if the format cannot hold such a field.
std::size_t most_wgdos_bytes(const FieldShape& shape) noexcept;

/// Packs a field into `to`, which has at least most_wgdos_bytes(shape) bytes and does not overlap
/// the values. The same values give the same bytes on every processor. Values that are rounded to
/// zero are decoded as +0.
///
/// Fails, with the row and the column counted from 0 and the value, with
///   invalid_argument  if the shape or the accuracy is outside the format's limits, a value is NaN
///                     or infinite and not missing, a row spans more than 2^31 - 1 multiples of
///                     2^n or comes so close to the largest number of the type that decoders refuse
///                     it (the message gives the finest accuracy that is possible), or a value
///                     would be decoded as um_missing;
///   internal          if verification finds an error above 2^(n-1), which is a defect.
Result<PackedField> wgdos_pack(std::span<const float> values, const FieldShape& shape,
                               const WgdosOptions& options, std::span<std::byte> to);
Result<PackedField> wgdos_pack(std::span<const double> values, const FieldShape& shape,
                               const WgdosOptions& options, std::span<std::byte> to);

/// The first three words of a packed field.
struct WgdosHeader {
  std::size_t bytes = 0;  ///< size of the packed field, at most the bytes that there are
  int accuracy = 0;
  FieldShape shape;
};

/// Fails with format if the words are none of a packed field, or if some of it is absent.
Result<WgdosHeader> wgdos_header(std::span<const std::byte> packed);

/// Unpacks a field whose header gives shape.rows * shape.columns = values.size(). `packed` may be
/// longer than the field. Missing points become `missing`. Safe with any bytes: fails with format,
/// naming the row, if they are damaged; values are unspecified then. invalid_argument: `values` has
/// another size than the field.
Result<> wgdos_unpack(std::span<const std::byte> packed, std::span<float> values,
                      double missing = um_missing);
Result<> wgdos_unpack(std::span<const std::byte> packed, std::span<double> values,
                      double missing = um_missing);

}  // namespace afterbay::packing
