// SPDX-License-Identifier: Apache-2.0
// PP files: for each field a record with its header and a record with its values, as Fortran writes
// unformatted records: each between two words with its length in bytes. All words have 32 bits and
// are big-endian. Pure functions on memory, which any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "packing/field_values.hpp"
#include "packing/pp_header.hpp"

namespace afterbay::packing {

/// Writes the two records of a field to `to`, which has at least most_pp_bytes bytes. `header` is
/// what describe_pp filled (pp_describe.hpp); the words on the values are set here: LBLREC, LBPACK,
/// LBEXT, BACC, BMDI. `extra` are the words of extra data, which describe_pp returns too.
///
/// Fails as encode_values; with invalid_argument if `to` is too small, if a record exceeds 2^31 - 1
/// bytes, or if the packing is one of fields files.
Result<PpEncoded> encode_pp(const PpHeader& header, std::span<const float> values,
                            std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                            std::span<std::byte> to);
Result<PpEncoded> encode_pp(const PpHeader& header, std::span<const double> values,
                            std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                            std::span<std::byte> to);

/// Bytes that encode_pp does not exceed for a field of this shape.
std::size_t most_pp_bytes(const FieldShape& shape, std::size_t extra_words, PpPacking packing) noexcept;

/// A field of a file in memory; views of its bytes.
struct PpField {
  PpHeader header;
  std::span<const std::byte> data;   ///< without extra data
  std::span<const std::byte> extra;  ///< big-endian words
  std::size_t end = 0;               ///< where the next field begins

  [[nodiscard]] FieldShape shape() const noexcept;
};

/// The field that begins at byte `begin` of a file. Safe with any bytes: fails with format if they
/// are no PP field.
Result<PpField> read_pp(std::span<const std::byte> file, std::size_t begin);

/// Unpacks the values of a field: LBROW * LBNPT of them, in the order of the file. Missing points
/// become `missing`. Understands LBPACK 0, 1, 2 (32-bit values, which is how all values of such
/// files are stored), and, with `land_mask`, 120 and 220. Safe with any bytes. Fails with format if
/// data are damaged or packed otherwise; with invalid_argument if `values` or the mask has another
/// size.
Result<> decode_pp(const PpField& field, std::span<float> values, double missing = um_missing,
                   std::span<const std::uint8_t> land_mask = {});

}  // namespace afterbay::packing
