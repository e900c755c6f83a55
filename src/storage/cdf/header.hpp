// SPDX-License-Identifier: Apache-2.0
// CdfHeader: where the variables of a classic file (CDF-2, CDF-5) lie.
// Source: "NetCDF Classic Format Specification" and its CDF-5 extension, in the NetCDF User's Guide.
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
  std::uint64_t begin = 0;       ///< offset of the variable, of its first record if it has records
  std::uint64_t slab_bytes = 0;  ///< of one record, or of all; not padded
};

struct CdfHeader {
  int version = 0;  ///< 2 or 5
  std::uint64_t records = 0;
  std::vector<CdfVariable> variables;
  std::uint64_t record_bytes = 0;  ///< distance between records

  [[nodiscard]] const CdfVariable* find(std::string_view name) const noexcept;
  /// Offset of the first variable: the header is before it. 0 without variables.
  [[nodiscard]] std::uint64_t first_byte_of_data() const noexcept;
  /// Bytes of a file with that many records; 2^64 - 1 where a damaged header says more than that.
  [[nodiscard]] std::uint64_t file_bytes(std::uint64_t records, std::uint64_t header_bytes) const noexcept;
  /// Where the last value ends that the header counts; padding, which other software may leave out, follows.
  [[nodiscard]] std::uint64_t end_of_values() const noexcept;
};

/// Parses the header at the beginning of `bytes`. Fails with format when it is none, and with
/// would_block when it is longer than `bytes`.
Result<CdfHeader> parse_cdf_header(std::span<const std::byte> bytes);

/// Reads as much of the file as its header needs. One of more than 256 MiB is refused as damaged.
Result<CdfHeader> read_cdf_header(BlockWriter& file);

/// Asked before netCDF-C opens a file: where a few bytes of a classic header are damaged, that takes memory
/// for as many dimensions as these say. Nothing where the file is none, or cannot be opened: netCDF-C will
/// tell.
Result<std::optional<CdfHeader>> check_cdf_header(const std::string& path);

/// The bytes of the header's count of records, which lie at offset 4.
std::vector<std::byte> encode_record_count(int version, std::uint64_t records);

}  // namespace afterbay::storage
