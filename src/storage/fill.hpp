// SPDX-License-Identifier: Apache-2.0
// Fill values: which value stands where nothing was written, and memory full of it.
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
