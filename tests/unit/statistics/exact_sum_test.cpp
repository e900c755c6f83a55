// SPDX-License-Identifier: Apache-2.0
#include "statistics/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "statistics/totals.hpp"

namespace afterbay::statistics {
namespace {

using Limits = std::numeric_limits<double>;

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.rounded();
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Values whose sum is known, because they are multiples of one power of two and few.
__extension__ using Wide = __int128;

/// The nearest double, by way of an integer: of |value| < 2^100.
double nearest(Wide value) { return static_cast<double>(value); }

TEST(ExactSum, is_the_nearest_double_of_the_sum_of_integers) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> values;
    Wide exact = 0;
    for (int i = 0; i < 20; ++i) {
      const int scale = static_cast<int>(random() % 44);
      const auto integer = static_cast<std::int64_t>(random() >> 12U) * (random() % 2 == 0 ? 1 : -1);
      exact += static_cast<Wide>(integer) << scale;
      values.push_back(std::ldexp(static_cast<double>(integer), scale));
    }
    ASSERT_EQ(bits(sum_of(values)), bits(nearest(exact))) << round;
    // The same in other binades, denormal numbers included: nothing is lost there.
    for (const int shift : {-1074, -1000, 800}) {
      std::vector<double> scaled;
      for (const double value : values) scaled.push_back(std::ldexp(value, shift));
      ASSERT_EQ(bits(sum_of(scaled)), bits(std::ldexp(nearest(exact), shift))) << round << " " << shift;
    }
  }
}

TEST(ExactSum, rounds_ties_to_even_and_sees_the_smallest_addend) {
  const double one = 1;
  const double half = Limits::epsilon() / 2;
  EXPECT_EQ(sum_of({one, half}), one);
  EXPECT_EQ(sum_of({one, half, Limits::denorm_min()}), one + Limits::epsilon());
  EXPECT_EQ(sum_of({one, half, -Limits::denorm_min()}), one);
  EXPECT_EQ(sum_of({one, Limits::epsilon(), half}), one + 2 * Limits::epsilon());
  EXPECT_EQ(sum_of({-one, -half, -Limits::denorm_min()}), -one - Limits::epsilon());
  EXPECT_EQ(sum_of({1e300, 1, -1e300}), 1);
  EXPECT_EQ(sum_of({Limits::denorm_min(), Limits::denorm_min()}), 2 * Limits::denorm_min());
  EXPECT_EQ(sum_of({Limits::min(), -Limits::denorm_min()}), Limits::min() - Limits::denorm_min());
}

TEST(ExactSum, goes_through_values_that_are_larger_than_any_double) {
  EXPECT_EQ(sum_of({Limits::max(), Limits::max(), -Limits::max()}), Limits::max());
  EXPECT_EQ(sum_of({Limits::max(), Limits::max()}), Limits::infinity());
  EXPECT_EQ(sum_of({-Limits::max(), -Limits::max()}), -Limits::infinity());
  EXPECT_EQ(sum_of({1, Limits::infinity()}), Limits::infinity());
  EXPECT_TRUE(std::isnan(sum_of({-Limits::infinity(), Limits::infinity()})));
}

TEST(ExactSum, a_sum_of_zero_is_positive) {
  EXPECT_EQ(bits(sum_of({})), bits(0.0));
  EXPECT_EQ(bits(sum_of({-0.0, -0.0})), bits(0.0));
  EXPECT_EQ(bits(sum_of({3, -3})), bits(0.0));
}

std::vector<double> wild_values(std::mt19937_64& random, std::size_t count) {
  std::vector<double> values;
  while (values.size() < count) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value / 1024);
  }
  return values;
}

TEST(ExactSum, neither_order_nor_partial_sums_matter) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values = wild_values(random, 50);
    const double expected = sum_of(values);
    std::shuffle(values.begin(), values.end(), random);
    ASSERT_EQ(bits(sum_of(values)), bits(expected));
    ExactSum whole;
    for (std::size_t first = 0; first < values.size();) {
      const std::size_t end = std::min(values.size(), first + 1 + random() % 20);
      ExactSum part;
      for (; first < end; ++first) part.add(values[first]);
      std::vector<std::byte> encoded;
      part.encode(encoded);
      encoded.push_back(std::byte{1});
      std::span<const std::byte> rest = encoded;
      ASSERT_TRUE(whole.add_encoded(rest));
      ASSERT_EQ(rest.size(), 1U);
    }
    ASSERT_EQ(bits(whole.rounded()), bits(expected));
    std::vector<std::byte> one;
    std::vector<std::byte> other;
    whole.encode(one);
    ExactSum again;
    for (const double value : values) again.add(value);
    again.encode(other);
    ASSERT_EQ(one, other) << "the encoded sum depends on the way to it";
  }
}

TEST(ExactSum, many_additions_carry) {
  ExactSum sum;
  constexpr std::uint32_t count = 3'000'000;
  for (std::uint32_t i = 0; i < count; ++i) sum.add(0x1.fffffffffffffp0);
  EXPECT_EQ(sum.rounded(), 3e6 * 0x1.fffffffffffffp0);
  for (std::uint32_t i = 0; i < count; ++i) sum.add(-0x1.fffffffffffffp0);
  EXPECT_EQ(sum.rounded(), 0);
}

TEST(ExactSum, terms_and_products_are_exact) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    ExactSum sum;
    for (int i = 0; i < 10; ++i)
      sum.add(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200)));
    ExactSum difference = sum;
    for (const double term : sum.terms()) difference.add(-term);
    ASSERT_EQ(difference.rounded(), 0);
    const double a = static_cast<double>(random() >> 11U) + 0.5;
    const double b = static_cast<double>(random() >> 11U);
    ExactSum product;
    product.add_product(a, b);
    product.add_product(a, -b);
    product.add(0.25);
    ASSERT_EQ(product.rounded(), 0.25);
  }
}

TEST(ExactSum, damaged_sums_are_refused) {
  ExactSum sum;
  sum.add(3.14);
  std::vector<std::byte> encoded;
  sum.encode(encoded);
  for (std::size_t length = 0; length < encoded.size(); ++length) {
    std::span<const std::byte> part(encoded.data(), length);
    EXPECT_FALSE(ExactSum().add_encoded(part));
  }
  for (const auto& [place, value] : {std::pair(0, 8), std::pair(1, 68), std::pair(2, 69)}) {
    std::vector<std::byte> damaged = encoded;
    damaged[static_cast<std::size_t>(place)] = static_cast<std::byte>(value);
    damaged.resize(400);
    std::span<const std::byte> all = damaged;
    EXPECT_FALSE(ExactSum().add_encoded(all)) << place;
  }
}

// ---- Totals

constexpr StatisticKind kinds[] = {StatisticKind::mean,    StatisticKind::sum,
                                   StatisticKind::minimum, StatisticKind::maximum,
                                   StatisticKind::range,   StatisticKind::standard_deviation};

double result_of(const std::vector<double>& values, const Statistic& statistic) {
  Totals totals(statistic.kind);
  for (const double value : values) totals.add(value);
  return totals.result(statistic);
}

TEST(Totals, are_those_of_the_definitions) {
  const std::vector<double> values{3, -1, 4, 1, -5, 10};
  const auto result = [&](StatisticKind kind) { return result_of(values, {kind, Missing::ignore}); };
  EXPECT_EQ(result(StatisticKind::sum), 12);
  EXPECT_EQ(result(StatisticKind::mean), 2);
  EXPECT_EQ(result(StatisticKind::minimum), -5);
  EXPECT_EQ(result(StatisticKind::maximum), 10);
  EXPECT_EQ(result(StatisticKind::range), 15);
  EXPECT_DOUBLE_EQ(result(StatisticKind::standard_deviation), std::sqrt(128.0 / 6));
  // Large values with small changes.
  const Statistic deviation{StatisticKind::standard_deviation, Missing::ignore};
  EXPECT_EQ(result_of({1e8 + 1, 1e8 - 1}, deviation), 1);
  EXPECT_EQ(result_of({1e15, 1e15, 1e15}, deviation), 0);
  EXPECT_EQ(result_of({0.1, 0.1, 0.1}, deviation), 0);
}

TEST(Totals, follow_the_policies_for_missing_values) {
  const double nan = Limits::quiet_NaN();
  for (const StatisticKind kind : kinds) {
    EXPECT_TRUE(std::isnan(result_of({}, {kind, Missing::ignore})));
    EXPECT_TRUE(std::isnan(result_of({nan, nan}, {kind, Missing::ignore})));
    EXPECT_EQ(result_of({2, nan, 4, nan}, {kind, Missing::ignore}),
              result_of({2, 4}, {kind, Missing::ignore}));
    EXPECT_TRUE(std::isnan(result_of({2, nan, 4}, {kind, Missing::poison})));
    EXPECT_TRUE(std::isnan(result_of({2, nan, 4}, {kind, Missing::none})));
    EXPECT_FALSE(std::isnan(result_of({2, 4}, {kind, Missing::poison})));
    EXPECT_FALSE(std::isnan(result_of({2, nan}, {kind, Missing::threshold, 0.5})));
    EXPECT_TRUE(std::isnan(result_of({2, nan, nan}, {kind, Missing::threshold, 0.5})));
  }
}

TEST(Totals, of_parts_in_any_order_give_the_same_bits) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round)
    for (const StatisticKind kind : kinds) {
      std::vector<double> values;
      for (int i = 0; i < 40; ++i) {
        const auto number = static_cast<std::int64_t>(random() % 2001) - 1000;
        values.push_back(random() % 5 == 0   ? Limits::quiet_NaN()
                         : random() % 9 == 0 ? (random() % 2 == 0 ? 0.0 : -0.0)
                                             : static_cast<double>(number) / 7);
      }
      const Statistic statistic{kind, Missing::ignore};
      const double expected = result_of(values, statistic);
      std::shuffle(values.begin(), values.end(), random);
      std::vector<std::vector<std::byte>> parts;
      for (std::size_t first = 0; first < values.size();) {
        const std::size_t end = std::min(values.size(), first + 1 + random() % 12);
        Totals part(kind);
        for (; first < end; ++first) part.add(values[first]);
        part.encode(parts.emplace_back());
      }
      std::shuffle(parts.begin(), parts.end(), random);
      Totals all(kind);
      for (const auto& part : parts) {
        std::span<const std::byte> rest = part;
        ASSERT_TRUE(all.add_encoded(rest));
        ASSERT_TRUE(rest.empty());
        for (std::size_t length = 0; length < part.size(); ++length) {
          std::span<const std::byte> cut(part.data(), length);
          ASSERT_FALSE(Totals(kind).add_encoded(cut));
        }
      }
      ASSERT_EQ(all.count(), values.size());
      ASSERT_EQ(bits(all.result(statistic)), bits(expected));
      all.clear();
      ASSERT_EQ(all.count(), 0U);
      for (const double value : values) all.add(value);
      ASSERT_EQ(bits(all.result(statistic)), bits(expected));
    }
}

}  // namespace
}  // namespace afterbay::statistics
