// SPDX-License-Identifier: Apache-2.0
// Values of fields in files of the Unified Model: in PP files, whose words have 32 bits, and in
// fields files, whose words have 64. Pure functions on memory, which any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "packing/pp_header.hpp"
#include "packing/wgdos.hpp"

namespace afterbay::packing {

/// How values are stored; the value is that of LBPACK.
enum class PpPacking : std::int32_t {
  none = 0,      ///< words of the file: reals or integers
  wgdos = 1,     ///< packed to an accuracy, see wgdos.hpp
  bits32 = 2,    ///< 32-bit reals in a fields file
  land = 120,    ///< words at the land points of a mask, which the file contains as a field
  sea = 220,     ///< the same at sea points
  land32 = 122,  ///< 32-bit reals at land points in a fields file
  sea32 = 222    ///< the same at sea points
};

/// Whether only land or sea points are stored.
[[nodiscard]] bool is_masked(PpPacking packing) noexcept;

struct PpEncoding {
  PpPacking packing = PpPacking::none;
  int accuracy = 0;  ///< for wgdos: errors are at most 2^(accuracy - 1)
  /// Missing points of the values given; NaN: all NaN. They are stored as um_missing.
  double missing = um_missing;
  bool verify = true;  ///< decode packed rows and compare
  /// For packing of land or sea points: one element per point, not zero over land. Borrowed during
  /// the call.
  std::span<const std::uint8_t> land_mask = {};
  /// For packing of land or sea points: values at the other points are lost. Otherwise these must
  /// be missing.
  bool drops_others = false;
};

struct PpEncoded {
  std::size_t bytes = 0;     ///< written
  std::size_t missing = 0;   ///< number of missing points
  double largest_error = 0;  ///< largest error of the decoded values
  unsigned most_bits = 0;    ///< maximum number of bits of packed integers: see PackedField
  bool constant = false;     ///< wgdos: all points that are not missing have one value
};

/// The shape of a field by LBROW and LBNPT.
[[nodiscard]] FieldShape shape_of(const PpHeader& header) noexcept;

/// Bytes that encode_values does not exceed. `word_size` is that of the file, 4 or 8.
[[nodiscard]] std::size_t most_value_bytes(const FieldShape& shape, PpPacking packing,
                                           std::size_t word_size) noexcept;

/// Writes the values of a field, big-endian, to `to`, which has at least most_value_bytes bytes.
/// Sets the words of the header on them: LBPACK, BACC, BMDI. Values are in the order of the
/// header: LBROW rows of LBNPT points. If LBUSER1 says integer or logical, they must be whole
/// numbers that a word of the file can hold.
///
/// Fails as wgdos_pack; with invalid_argument if there are more or fewer values than the header
/// says, if `to` is too small, if integers are to be packed, if a value that is not missing equals
/// the missing value of the file, if float64 exceeds float32 where the file has 32 bits, or if a
/// point that a mask leaves out is neither missing nor NaN. Values of float64 are rounded then, but
/// packed from float64.
Result<PpEncoded> encode_values(PpHeader& header, std::span<const float> values, const PpEncoding& encoding,
                                std::size_t word_size, std::span<std::byte> to);
Result<PpEncoded> encode_values(PpHeader& header, std::span<const double> values, const PpEncoding& encoding,
                                std::size_t word_size, std::span<std::byte> to);

/// The reverse, from the bytes of the values. Missing points become `missing`. Safe with any bytes.
/// Fails with format if data are damaged or packed otherwise; with invalid_argument if `values` or
/// the mask has another size than the field. Fields of land or sea points have the size of the mask
/// if the header gives none.
Result<> decode_values(const PpHeader& header, std::span<const std::byte> data, std::size_t word_size,
                       std::span<float> values, double missing, std::span<const std::uint8_t> land_mask);
Result<> decode_values(const PpHeader& header, std::span<const std::byte> data, std::size_t word_size,
                       std::span<double> values, double missing, std::span<const std::uint8_t> land_mask);

}  // namespace afterbay::packing
