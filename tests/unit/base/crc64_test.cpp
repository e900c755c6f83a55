// SPDX-License-Identifier: Apache-2.0
#include "base/crc64.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace afterbay {
namespace {

std::vector<std::byte> sample(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST(Crc64, gives_the_check_value_of_crc_64_xz) {
  constexpr std::string_view digits = "123456789";  // the catalogue's check string
  EXPECT_EQ(crc64(std::as_bytes(std::span(digits))), 0x995dc9bbdf1939fau);
  EXPECT_EQ(crc64({}), 0u);
}

TEST(Crc64, is_the_same_in_one_piece_in_short_pieces_and_at_any_address) {
  const std::vector<std::byte> bytes = sample(5000);
  const std::span<const std::byte> all(bytes);
  for (const std::size_t begin : {0u, 1u, 7u, 16u})
    for (const std::size_t count :
         {0u, 1u, 8u, 15u, 127u, 128u, 255u, 256u, 257u, 271u, 384u, 1023u, 4096u}) {
      std::uint64_t byte_by_byte = 0;
      for (const std::byte& byte : all.subspan(begin, count)) byte_by_byte = crc64({&byte, 1}, byte_by_byte);
      EXPECT_EQ(crc64(all.subspan(begin, count)), byte_by_byte) << begin << " " << count;
    }
}

TEST(Crc64, of_two_parts_is_joined_without_their_bytes) {
  const std::vector<std::byte> bytes = sample(3000);
  const std::span<const std::byte> all(bytes);
  for (const std::size_t cut : {0u, 1u, 63u, 1500u, 2999u, 3000u})
    EXPECT_EQ(joined_crc64(crc64(all.first(cut)), crc64(all.subspan(cut)), all.size() - cut), crc64(all))
        << cut;
}

TEST(Crc64, joins_parts_of_many_gigabytes) {
  // Zeros preceded by other zeros: joins are associative for lengths that a test cannot write.
  constexpr std::uint64_t a = 0x123456789abcdef0, b = 0xfedcba9876543210, c = 0x0f1e2d3c4b5a6978;
  constexpr std::uint64_t b_bytes = (std::uint64_t{7} << 40) + 12345, c_bytes = (std::uint64_t{3} << 33) + 1;
  EXPECT_EQ(joined_crc64(joined_crc64(a, b, b_bytes), c, c_bytes),
            joined_crc64(a, joined_crc64(b, c, c_bytes), b_bytes + c_bytes));
}

}  // namespace
}  // namespace afterbay
