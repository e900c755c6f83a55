// SPDX-License-Identifier: Apache-2.0
// The traits of kinds against what the kinds compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "statistics/statistic_traits.hpp"
#include "statistics_run.hpp"

namespace afterbay::statistics {
namespace {

const std::vector<double> traits_values{3, 1, 9, 1.5, 5};
const std::vector<double> traits_durations{1, 0.5, 2, 4, 0.25};

double result_with(StatisticKind kind, double factor, double shift, double duration = 1) {
  std::vector<double> values, durations;
  for (std::size_t i = 0; i < traits_values.size(); ++i) {
    values.push_back(factor * traits_values[i] + shift);
    durations.push_back(duration * traits_durations[i]);
  }
  return of_one_point(Statistic{.kind = kind}, -1e30, values, durations);
}

bool are_near(double a, double b) { return std::abs(a - b) < 1e-9; }

TEST(StatisticTraits, say_what_operations_compute) {
  constexpr double shift = 100;
  int kinds = 0;
  for (int number = 1; number < 256; ++number) {
    const StatisticKind kind{static_cast<std::uint8_t>(number)};
    if (name_of(kind) == "unknown") continue;
    ++kinds;
    SCOPED_TRACE(name_of(kind));
    const StatisticTraits traits = traits_of(kind);
    const double plain = result_with(kind, 1, 0);
    const double shifted = result_with(kind, 1, shift);
    EXPECT_EQ(traits.is_difference, are_near(shifted, plain));
    EXPECT_EQ(!traits.is_difference && !traits.is_sum, are_near(shifted, plain + shift));
    EXPECT_EQ(traits.needs_positive_factor, !are_near(result_with(kind, -2, 0), -2 * plain));
    EXPECT_EQ(traits.selects_a_value, std::ranges::find(traits_values, plain) != traits_values.end());
    EXPECT_EQ(traits.copies_a_step, plain == traits_values.front() || plain == traits_values.back());
    EXPECT_EQ(traits.keeps_limits, shifted >= shift + 1 && shifted <= shift + 9);
    EXPECT_EQ(traits.is_per_second, !are_near(result_with(kind, 1, 0, 2), plain));
  }
  EXPECT_EQ(kinds, 10);
}

}  // namespace
}  // namespace afterbay::statistics
