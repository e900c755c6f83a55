// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_header.hpp"

#include <bit>

#include "packing/big_endian.hpp"

namespace afterbay::packing {

void PpHeader::write(std::span<std::byte, pp_header_bytes> to) const noexcept {
  std::byte* word = to.data();
  for (const std::int32_t value : integers_) {
    store_word(word, static_cast<std::uint32_t>(value));
    word += word_bytes;
  }
  for (const float value : reals_) {
    store_word(word, std::bit_cast<std::uint32_t>(value));
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
  for (float& value : header.reals_) {
    value = std::bit_cast<float>(load_word(word));
    word += word_bytes;
  }
  return header;
}

}  // namespace afterbay::packing
