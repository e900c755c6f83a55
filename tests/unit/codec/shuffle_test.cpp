// SPDX-License-Identifier: Apache-2.0
// Byte shuffle against its definition: all sizes of elements, lengths and alignments.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "codec/shuffle.hpp"

namespace afterbay::codec {
namespace {

constexpr std::byte guard{0xa5};

std::vector<std::byte> random_bytes(std::size_t size_bytes, unsigned seed) {
  std::vector<std::byte> bytes(size_bytes);
  std::mt19937 generator(seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() & 0xff);
  return bytes;
}

/// The definition: byte b of element i is at b * count + i; the rest is copied.
std::vector<std::byte> expected(std::span<const std::byte> input, std::size_t element_bytes) {
  std::vector<std::byte> output(input.begin(), input.end());
  const std::size_t count = input.size() / element_bytes;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < element_bytes; ++b) output[b * count + i] = input[i * element_bytes + b];
  return output;
}

/// Both directions, with memory that begins `shift` bytes after an aligned address.
void expect_shuffled(std::size_t size_bytes, std::size_t element_bytes, std::size_t shift) {
  const auto seed = static_cast<unsigned>(size_bytes * 31 + element_bytes);
  const std::vector<std::byte> input = random_bytes(size_bytes + shift, seed);
  const std::span<const std::byte> plain = std::span(input).subspan(shift);
  std::vector<std::byte> to(size_bytes + 2 * shift + 2, guard), back = to;
  const std::span<std::byte> output = std::span(to).subspan(shift + 1, size_bytes);
  const std::span<std::byte> restored = std::span(back).subspan(shift + 1, size_bytes);
  ASSERT_TRUE(shuffle(plain, element_bytes, output));
  ASSERT_TRUE(std::ranges::equal(output, expected(plain, element_bytes)))
      << size_bytes << " bytes in elements of " << element_bytes << ", shift " << shift;
  ASSERT_TRUE(unshuffle(output, element_bytes, restored));
  ASSERT_TRUE(std::ranges::equal(restored, plain))
      << size_bytes << " bytes in elements of " << element_bytes << ", shift " << shift;
  for (const auto* all : {&to, &back}) {
    EXPECT_EQ((*all)[shift], guard);
    EXPECT_EQ((*all)[shift + 1 + size_bytes], guard);
  }
}

TEST(Shuffle, follows_its_definition_for_all_lengths) {
  for (const std::size_t element_bytes : {1, 2, 3, 4, 5, 7, 8, 12, 16})
    for (std::size_t size_bytes = 0; size_bytes < 37 * element_bytes; ++size_bytes)
      expect_shuffled(size_bytes, element_bytes, 0);
}

TEST(Shuffle, follows_its_definition_at_all_alignments) {
  for (const std::size_t element_bytes : {2, 4, 8})
    for (std::size_t shift = 1; shift < 33; ++shift)
      for (const std::size_t count : {16, 31, 64, 100, 1000})
        expect_shuffled(count * element_bytes + shift % element_bytes, element_bytes, shift);
}

}  // namespace
}  // namespace afterbay::codec
