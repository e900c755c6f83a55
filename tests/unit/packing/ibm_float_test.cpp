// SPDX-License-Identifier: Apache-2.0
#include "packing/ibm_float.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>

namespace afterbay::packing {
namespace {

TEST(IbmFloat, KnownWords) {
  EXPECT_EQ(ibm_value(0x42640000), 100);
  EXPECT_EQ(ibm_value(0xc276a000), -118.625);
  EXPECT_EQ(ibm_value(0x00000000), 0);
  EXPECT_EQ(ibm_value(0x41000001), std::ldexp(1.0, -20));  // not normalised
  EXPECT_EQ(ibm_at_most(100, 0).word, 0x42640000U);
  EXPECT_EQ(ibm_at_most(-949, -3).word, 0xc276a000U);
  EXPECT_EQ(ibm_at_most(1, 4).word, 0x42100000U);
  EXPECT_EQ(ibm_at_most(0, 9).word, 0U);
}

TEST(IbmFloat, TheResultIsTheLargestAtMostTheMultiple) {
  std::mt19937_64 generator(5);
  for (int i = 0; i < 100000; ++i) {
    const int shift = 2 + static_cast<int>(generator() % 62);
    const std::int64_t multiple = static_cast<std::int64_t>(generator()) >> shift;
    const int exponent = static_cast<int>(generator() % 253) - 126;
    const IbmMultiple found = ibm_at_most(multiple, exponent);
    ASSERT_EQ(ibm_value(found.word), std::ldexp(static_cast<double>(found.multiple), exponent));
    ASSERT_LE(found.multiple, multiple);
    const std::int64_t magnitude = multiple < 0 ? -multiple : multiple;
    ASSERT_LE(multiple - found.multiple, magnitude >> 20) << multiple;
    ASSERT_TRUE(found.multiple == 0 || (found.word & 0x00f00000) != 0) << "not normalised";
  }
}

TEST(IbmFloat, ExactWordsOfNumbers) {
  EXPECT_EQ(ibm_exactly(100), 0x42640000U);
  EXPECT_EQ(ibm_exactly(-118.625), 0xc276a000U);
  EXPECT_EQ(ibm_exactly(1), 0x41100000U);
  EXPECT_EQ(ibm_exactly(0), 0U);
  EXPECT_EQ(ibm_exactly(-0.0), 0U);
  EXPECT_EQ(ibm_exactly(16777215), 0x46ffffffU);
  EXPECT_EQ(ibm_exactly(16777216), 0x47100000U);
  EXPECT_EQ(ibm_exactly(16777217), std::nullopt);
  EXPECT_EQ(ibm_exactly(0.1), std::nullopt);
  EXPECT_EQ(ibm_exactly(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(ibm_exactly(std::numeric_limits<double>::quiet_NaN()), std::nullopt);
  EXPECT_EQ(ibm_exactly(std::ldexp(1.0, 252)), std::nullopt);
  EXPECT_EQ(ibm_exactly(std::ldexp(1.0, 251)), 0x7f800000U);
  EXPECT_EQ(ibm_exactly(std::ldexp(1.0, -261)), std::nullopt);
  EXPECT_EQ(ibm_exactly(std::ldexp(1.0, -260)), 0x00100000U);
  std::mt19937_64 generator(6);
  for (int i = 0; i < 100000; ++i) {
    const auto word = static_cast<std::uint32_t>(generator());
    if ((word & 0x00f00000) == 0) continue;  // not normalised
    ASSERT_EQ(ibm_exactly(ibm_value(word)), word);
  }
}

TEST(IbmFloat, RoundingMayCarryIntoTheExponent) {
  const IbmMultiple found = ibm_at_most(-0x1ffffff, 0);
  EXPECT_EQ(found.multiple, -0x2000000);
  EXPECT_EQ(ibm_at_most(-0xfffffff, 0).word, 0xc8100000U);
}

}  // namespace
}  // namespace afterbay::packing
