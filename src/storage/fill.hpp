// SPDX-License-Identifier: Apache-2.0
// Fill values: which value stands where nothing was written, and memory full of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "codec/aligned_buffer.hpp"

namespace afterbay::storage {

/// netCDF's default fill value of a type, one element; empty for strings.
/// Source: netCDF-C, netcdf.h, NC_FILL_*.
Values default_fill(Type type);

/// The variable's fill value, or the default one of its type. An attribute `_FillValue` counts too.
Values fill_of(const Variable& variable);

/// Swaps the bytes of each element in place, when the file is not in this machine's order.
void to_file_order(std::span<std::byte> bytes, std::size_t element_bytes, bool big_endian);

/// Overwrites `target` with copies of `element`, the last perhaps cut.
void repeat(std::span<const std::byte> element, std::span<std::byte> target);

/// Elements in file byte order, repeated: `bytes` of one value at any length and page phase.
class FillPattern {
 public:
  FillPattern(const Variable& variable, bool big_endian);

  /// Overwrites `target` with whole elements.
  void apply(std::span<std::byte> target) const;
  /// `size_bytes` of fill in memory congruent with file offset `offset` modulo a page, so that direct
  /// I/O can write it. Valid until the next call.
  std::span<const std::byte> at(std::uint64_t offset, std::uint64_t size_bytes);

 private:
  std::vector<std::byte> element_;
  codec::AlignedBuffer buffer_;
  std::uint64_t phase_ = 0;
};

}  // namespace afterbay::storage
