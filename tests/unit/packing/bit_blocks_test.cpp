// SPDX-License-Identifier: Apache-2.0
#include "packing/bit_blocks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace afterbay::packing {
namespace {

bool bit_of(const std::vector<std::byte>& bytes, std::size_t bit) {
  return (std::to_integer<unsigned>(bytes[bit / 8]) >> (7 - bit % 8) & 1) != 0;
}

TEST(BitBlocks, EachBitIsWhereTheFormatSays) {
  std::mt19937 generator(3);
  for (unsigned bits = 1; bits <= 31; ++bits) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{70}}) {
      std::vector<std::uint32_t> integers((count + 31) / 32 * 32);
      for (std::uint32_t& integer : integers) integer = generator() & ((1U << bits) - 1);
      const std::vector<std::uint32_t> original = integers;
      std::vector<std::byte> bytes(packed_integer_bytes(count, bits), std::byte{0xaa});
      pack_integers(bits, integers, count, bytes.data());
      for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        const std::size_t index = bit / bits;
        const bool expected = index < count && (original[index] >> (bits - 1 - bit % bits) & 1) != 0;
        ASSERT_EQ(bit_of(bytes, bit), expected) << bits << " bits, " << count << " integers, bit " << bit;
      }
      std::vector<std::uint32_t> back(integers.size());
      unpack_integers(bits, bytes.data(), count, back);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], original[i]);
    }
  }
}

}  // namespace
}  // namespace afterbay::packing
