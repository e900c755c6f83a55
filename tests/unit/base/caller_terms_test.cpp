// SPDX-License-Identifier: Apache-2.0
#include "base/caller_terms.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace afterbay {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// What the Fortran interface passes on for the index of a caller.
std::uint64_t from_fortran(std::int64_t index) { return static_cast<std::uint64_t>(index - 1); }

TEST(CallerTerms, ranges_have_the_form_of_the_language) {
  EXPECT_EQ(said_range(3, 4), "[3, 7)");
  EXPECT_EQ(said_box(Numbers{0, 3}, Numbers{2, 4}), "[0:2, 3:7]");
  EXPECT_EQ(said_start(3), "3");
  const InTerms fortran(Terms::fortran);
  EXPECT_EQ(said_range(3, 4), "4:7");
  EXPECT_EQ(said_box(Numbers{0, 3}, Numbers{2, 4}), "(4:7, 1:2)");
  EXPECT_EQ(said_start(3), "4");
}

// They were shown as "-1:1" and as "-9223372036854775808:9223372036854775809".
TEST(CallerTerms, numbers_of_a_mistaken_caller_are_shown_as_given) {
  EXPECT_EQ(said_box(Numbers{largest, 0}, Numbers{2, 4}), "[18446744073709551615:18446744073709551617, 0:4]");
  EXPECT_EQ(said_box(Numbers{std::uint64_t{1} << 63}, Numbers{1}),
            "[9223372036854775808:9223372036854775809]");
  EXPECT_EQ(said_range(largest, 2), "[18446744073709551615, 18446744073709551617)");
  EXPECT_EQ(said_start(largest), "18446744073709551615");
  const InTerms fortran(Terms::fortran);
  EXPECT_EQ(said_box(Numbers{from_fortran(-5)}, Numbers{3}), "(-5:-3)");
  EXPECT_EQ(said_range(from_fortran(std::numeric_limits<std::int64_t>::max()), 2),
            "9223372036854775807:9223372036854775808");
  EXPECT_EQ(said_start(from_fortran(-5)), "-5");
}

}  // namespace
}  // namespace afterbay
