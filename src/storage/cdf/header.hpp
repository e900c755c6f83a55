// SPDX-License-Identifier: Apache-2.0
// CdfHeader: the positions of the variables in a classic file (CDF-2, CDF-5). Source: "NetCDF
// Classic Format Specification" and its CDF-5 extension, in the NetCDF User's Guide.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "storage/block_writer/block_writer.hpp"

namespace afterbay::storage {

struct CdfVariable {
  std::string name;
  bool record = false;
  /// Offset of the variable, or of its first record if it has records.
  std::uint64_t begin = 0;
  std::uint64_t slab_bytes = 0;  ///< bytes per record, or of the whole variable; without padding
  /// Offset of the number in the attribute for the largest error (model/largest_error.hpp); 0: it has
  /// none.
  std::uint64_t largest_error_at = 0;
};

struct CdfHeader {
  int version = 0;  ///< 2 or 5
  std::uint64_t records = 0;
  std::vector<CdfVariable> variables;
  std::uint64_t record_bytes = 0;  ///< distance between records

  [[nodiscard]] const CdfVariable* find(std::string_view name) const noexcept;
  /// Offset of the first variable, which follows the header. 0 without variables.
  [[nodiscard]] std::uint64_t first_byte_of_data() const noexcept;
  /// Size of a file with that many records; 2^64 - 1 if a damaged header yields more.
  [[nodiscard]] std::uint64_t file_bytes(std::uint64_t records, std::uint64_t header_bytes) const noexcept;
  /// End of the last value according to the header; padding, which other software may omit,
  /// follows.
  [[nodiscard]] std::uint64_t end_of_values() const noexcept;
};

/// Parses the header at the beginning of `bytes`. Fails with format if it is invalid, and with
/// would_block if it is longer than `bytes`.
Result<CdfHeader> parse_cdf_header(std::span<const std::byte> bytes);

/// Reads as much of the file as its header needs. A header of more than 256 MiB is refused as
/// damaged.
Result<CdfHeader> read_cdf_header(BlockWriter& file);

/// Called before netCDF-C opens a file: if a few bytes of a classic header are damaged, netCDF-C
/// allocates memory for as many dimensions as they indicate. Nullopt if the file is not classic, or
/// cannot be opened: then netCDF-C reports the error.
Result<std::optional<CdfHeader>> check_cdf_header(const std::string& path);

/// A float64 as the header contains it.
std::vector<std::byte> encode_number(double value);
double decode_number(std::span<const std::byte> bytes);

/// The encoded number of records in the header, at offset 4.
std::vector<std::byte> encode_record_count(int version, std::uint64_t records);

}  // namespace afterbay::storage
