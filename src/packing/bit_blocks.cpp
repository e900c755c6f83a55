// SPDX-License-Identifier: Apache-2.0
// A block of 32 integers of n bits takes n words. With n known to the compiler, all shifts are
// constants.
#include "packing/bit_blocks.hpp"

#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "packing/big_endian.hpp"

namespace afterbay::packing {
namespace {

using PackBlock = void (*)(const std::uint32_t* integers, std::byte* to) noexcept;
using UnpackBlock = void (*)(const std::byte* from, std::uint32_t* integers) noexcept;

/// The part of integer `index` that lies in word `word`; 0 if there is none.
template <unsigned bits, std::size_t word, std::size_t index>
[[gnu::always_inline]] inline std::uint32_t part_in_word(const std::uint32_t* integers) noexcept {
  constexpr long begin = static_cast<long>(index * bits) - static_cast<long>(word * 32);
  constexpr long end = begin + static_cast<long>(bits);
  if constexpr (end <= 0 || begin >= 32) {
    return 0;
  } else if constexpr (end <= 32) {
    return integers[index] << (32 - end);
  } else {
    return integers[index] >> (end - 32);
  }
}

template <unsigned bits, std::size_t word, std::size_t... index>
[[gnu::always_inline]] inline void pack_word(const std::uint32_t* integers, std::byte* to,
                                             std::index_sequence<index...>) noexcept {
  store_word(to + word * word_bytes, (part_in_word<bits, word, index>(integers) | ...));
}

template <unsigned bits, std::size_t... word>
[[gnu::always_inline]] inline void pack_words(const std::uint32_t* integers, std::byte* to,
                                              std::index_sequence<word...>) noexcept {
  (pack_word<bits, word>(integers, to, std::make_index_sequence<block_integers>()), ...);
}

template <unsigned bits>
void pack_block(const std::uint32_t* integers, std::byte* to) noexcept {
  pack_words<bits>(integers, to, std::make_index_sequence<bits>());
}

template <unsigned bits, std::size_t index>
[[gnu::always_inline]] inline std::uint32_t integer_of(const std::uint32_t* words) noexcept {
  constexpr std::size_t word = index * bits / 32;
  constexpr unsigned begin = index * bits % 32;
  constexpr std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  if constexpr (begin + bits <= 32) {
    return words[word] >> (32 - begin - bits) & mask;
  } else {
    constexpr unsigned rest = begin + bits - 32;
    return (words[word] << rest | words[word + 1] >> (32 - rest)) & mask;
  }
}

template <unsigned bits, std::size_t... index>
[[gnu::always_inline]] inline void unpack_words(const std::uint32_t* words, std::uint32_t* integers,
                                                std::index_sequence<index...>) noexcept {
  ((integers[index] = integer_of<bits, index>(words)), ...);
}

template <unsigned bits>
void unpack_block(const std::byte* from, std::uint32_t* integers) noexcept {
  std::uint32_t words[bits];
  for (unsigned word = 0; word < bits; ++word) words[word] = load_word(from + word * word_bytes);
  unpack_words<bits>(words, integers, std::make_index_sequence<block_integers>());
}

template <std::size_t... index>
constexpr std::array<PackBlock, 31> pack_table(std::index_sequence<index...>) {
  return {pack_block<index + 1>...};
}

template <std::size_t... index>
constexpr std::array<UnpackBlock, 31> unpack_table(std::index_sequence<index...>) {
  return {unpack_block<index + 1>...};
}

constexpr auto pack_blocks = pack_table(std::make_index_sequence<31>());
constexpr auto unpack_blocks = unpack_table(std::make_index_sequence<31>());

}  // namespace

void pack_integers(unsigned bits, std::span<std::uint32_t> integers, std::size_t count,
                   std::byte* to) noexcept {
  assert(bits >= 1 && bits <= 31 && integers.size() >= (count + 31) / block_integers * block_integers);
  const PackBlock pack = pack_blocks[bits - 1];
  const std::size_t whole = count / block_integers;
  for (std::size_t block = 0; block < whole; ++block)
    pack(integers.data() + block * block_integers, to + block * bits * word_bytes);
  const std::size_t rest = count - whole * block_integers;
  if (rest == 0) return;
  std::uint32_t* const last = integers.data() + whole * block_integers;
  for (std::size_t i = rest; i < block_integers; ++i) last[i] = 0;
  std::byte words[31 * word_bytes];
  pack(last, words);
  std::memcpy(to + whole * bits * word_bytes, words, packed_integer_bytes(rest, bits));
}

void unpack_integers(unsigned bits, const std::byte* from, std::size_t count,
                     std::span<std::uint32_t> integers) noexcept {
  assert(bits >= 1 && bits <= 31 && integers.size() >= (count + 31) / block_integers * block_integers);
  const UnpackBlock unpack = unpack_blocks[bits - 1];
  const std::size_t whole = count / block_integers;
  for (std::size_t block = 0; block < whole; ++block)
    unpack(from + block * bits * word_bytes, integers.data() + block * block_integers);
  const std::size_t rest = count - whole * block_integers;
  if (rest == 0) return;
  std::byte words[31 * word_bytes] = {};
  std::memcpy(words, from + whole * bits * word_bytes, packed_integer_bytes(rest, bits));
  unpack(words, integers.data() + whole * block_integers);
}

}  // namespace afterbay::packing
