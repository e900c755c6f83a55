// SPDX-License-Identifier: Apache-2.0
// Words of files of the Unified Model: big-endian, at any address.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace afterbay::packing {

inline constexpr std::size_t word_bytes = 4;       ///< word size of PP files and of WGDOS
inline constexpr std::size_t wide_word_bytes = 8;  ///< word size of fields files

inline std::uint32_t swapped_unless_big(std::uint32_t word) noexcept {
  if constexpr (std::endian::native == std::endian::little) return __builtin_bswap32(word);
  return word;
}

inline void store_word(std::byte* to, std::uint32_t word) noexcept {
  word = swapped_unless_big(word);
  std::memcpy(to, &word, sizeof word);
}

inline std::uint32_t load_word(const std::byte* from) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return swapped_unless_big(word);
}

inline std::uint64_t swapped_unless_big(std::uint64_t word) noexcept {
  if constexpr (std::endian::native == std::endian::little) return __builtin_bswap64(word);
  return word;
}

inline void store_wide_word(std::byte* to, std::uint64_t word) noexcept {
  word = swapped_unless_big(word);
  std::memcpy(to, &word, sizeof word);
}

inline std::uint64_t load_wide_word(const std::byte* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return swapped_unless_big(word);
}

}  // namespace afterbay::packing
