// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_header.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "packing/big_endian.hpp"

namespace afterbay::packing {

void PpHeader::write(std::span<std::byte, pp_header_bytes> to) const noexcept {
  std::byte* word = to.data();
  for (const std::int32_t value : integers_) {
    store_word(word, static_cast<std::uint32_t>(value));
    word += word_bytes;
  }
  for (const double value : reals_) {
    store_word(word, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    word += word_bytes;
  }
}

PpHeader PpHeader::read(std::span<const std::byte, pp_header_bytes> from) noexcept {
  PpHeader header;
  const std::byte* word = from.data();
  for (std::int32_t& value : header.integers_) {
    value = static_cast<std::int32_t>(load_word(word));
    word += word_bytes;
  }
  for (double& value : header.reals_) {
    value = static_cast<double>(std::bit_cast<float>(load_word(word)));
    word += word_bytes;
  }
  return header;
}

void PpHeader::write_lookup(std::span<std::byte, lookup_bytes> to) const noexcept {
  std::byte* word = to.data();
  for (const std::int32_t value : integers_) {
    store_wide_word(word, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    word += wide_word_bytes;
  }
  for (const double value : reals_) {
    store_wide_word(word, std::bit_cast<std::uint64_t>(value));
    word += wide_word_bytes;
  }
}

PpHeader PpHeader::read_lookup(std::span<const std::byte, lookup_bytes> from) noexcept {
  using Limits = std::numeric_limits<std::int32_t>;
  PpHeader header;
  const std::byte* word = from.data();
  for (std::int32_t& value : header.integers_) {
    const auto wide = static_cast<std::int64_t>(load_wide_word(word));
    value = static_cast<std::int32_t>(std::clamp<std::int64_t>(wide, Limits::min(), Limits::max()));
    word += wide_word_bytes;
  }
  for (double& value : header.reals_) {
    value = std::bit_cast<double>(load_wide_word(word));
    word += wide_word_bytes;
  }
  return header;
}

}  // namespace afterbay::packing
