// SPDX-License-Identifier: Apache-2.0
// Fill values: the values of elements that were never written, and memory full of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "codec/aligned_buffer.hpp"
#include "model/fill_value.hpp"

namespace afterbay::storage {

using model::default_fill;
using model::fill_of;

/// Swaps the bytes of each element in place if the file has another byte order than this machine.
void to_file_order(std::span<std::byte> bytes, std::size_t element_bytes, bool big_endian);

/// Overwrites `target` with copies of `element`; the last copy may be partial.
void repeat(std::span<const std::byte> element, std::span<std::byte> target);

/// Repeated elements in the byte order of the file, for any length and page phase.
class FillPattern {
 public:
  FillPattern(const Variable& variable, bool big_endian);

  /// Overwrites `target` with whole elements.
  void apply(std::span<std::byte> target) const;
  /// `size_bytes` of fill in memory that is congruent with file offset `offset` modulo a page, so
  /// that direct I/O can write it. Valid until the next call.
  std::span<const std::byte> at(std::uint64_t offset, std::uint64_t size_bytes);

 private:
  std::vector<std::byte> element_;
  codec::AlignedBuffer buffer_;
  std::uint64_t phase_ = 0;
};

}  // namespace afterbay::storage
