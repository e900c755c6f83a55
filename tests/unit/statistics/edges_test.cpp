// SPDX-License-Identifier: Apache-2.0
// Values at the edges of types, conversions of results, and numerical stability.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "statistics_run.hpp"
#include "unit/model_environment.hpp"

namespace afterbay::statistics {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");
constexpr double missing = 1e20;
constexpr double fill = -999;  // fill value in of_one_point

double of(const Statistic& statistic, const std::vector<double>& values,
          const std::vector<double>& durations = {}) {
  return of_one_point(statistic, missing, values, durations);
}

std::vector<Statistic> all_operations(Missing policy) {
  std::vector<Statistic> all;
  for (int kind = 1; kind <= 10; ++kind)
    all.push_back({static_cast<StatisticKind>(kind), policy, policy == Missing::threshold ? 0.5 : 0});
  return all;
}

TEST(StatisticsEdges, an_interval_without_steps_is_missing) {
  for (const Missing policy : {Missing::none, Missing::ignore, Missing::poison, Missing::threshold})
    for (const Statistic& statistic : all_operations(policy)) {
      EXPECT_EQ(of(statistic, {}), fill) << text_of(statistic);
      BundleRun run(Type::float64, Values(missing), 3, {statistic});
      run.step(std::vector<double>{1, 2, 3});
      run.bundle().begin_interval(0);
      ResultCounts outcome;
      EXPECT_EQ(run.result(0, fill, &outcome), std::vector<double>(3, fill));
      EXPECT_EQ(outcome, (ResultCounts{3, 0}));
      run.bundle().begin_interval(0);  // two empty intervals in a row
      run.step(std::vector<double>{7, 7, 7});
      if (statistic.kind == StatisticKind::difference) {
        EXPECT_EQ(run.result(0, fill), (std::vector<double>{6, 5, 4}));
      }
    }
}

TEST(StatisticsEdges, no_points) {
  BundleRun run(Type::float64, Values(missing), 0, all_operations(Missing::ignore));
  run.step(std::vector<double>{});
  std::vector<std::byte> saved;
  for (std::size_t i = 0; i < run.bundle().size(); ++i) {
    EXPECT_EQ(run.result(i, fill).size(), 0u);
    run.bundle().save(i, saved);
    EXPECT_TRUE(run.bundle().restore(i, saved));
    saved.clear();
  }
}

TEST(StatisticsEdges, one_value) {
  for (const Missing policy : {Missing::none, Missing::ignore, Missing::poison, Missing::threshold}) {
    const std::vector<double> wanted{3, 3, 3, 3, 3, 0, 0, 1.5, 3, 0};
    const auto all = all_operations(policy);
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(of(all[i], {3}, {2}), wanted[i]) << text_of(all[i]);
    EXPECT_EQ(
        of({StatisticKind::standard_deviation, policy, policy == Missing::threshold ? 0.5 : 0, false, true},
           {3}),
        fill);
  }
}

TEST(StatisticsEdges, all_values_missing) {
  for (const Missing policy : {Missing::ignore, Missing::poison, Missing::threshold})
    for (const Statistic& statistic : all_operations(policy))
      for (const double value : {missing, nan})
        EXPECT_EQ(of(statistic, {value, value}), fill) << text_of(statistic);
  EXPECT_EQ(of({StatisticKind::mean}, {missing, missing}), missing);
}

TEST(StatisticsEdges, threshold_is_reached_by_the_exact_fraction) {
  const auto mean = [](double threshold, int valid, int all) {
    std::vector<double> values(static_cast<std::size_t>(all), missing);
    std::fill_n(values.begin(), valid, 5.0);
    return of({StatisticKind::mean, Missing::threshold, threshold}, values);
  };
  EXPECT_EQ(mean(0.5, 2, 4), 5);
  EXPECT_EQ(mean(0.5, 1, 4), fill);
  EXPECT_EQ(mean(0.55, 55, 100), 5);  // 0.55 * 100 would be larger than 55
  EXPECT_EQ(mean(0.55, 54, 100), fill);
  EXPECT_EQ(mean(1.0 / 3, 1, 3), 5);
  EXPECT_EQ(mean(1, 2, 3), fill);
  EXPECT_EQ(of({StatisticKind::mean, Missing::threshold, 0.5, true}, {5, missing}, {1, 3}), fill);
  EXPECT_EQ(of({StatisticKind::mean, Missing::threshold, 0.5, true}, {5, missing}, {3, 1}), 5);
}

TEST(StatisticsEdges, infinities) {
  for (const Missing policy : {Missing::none, Missing::ignore}) {
    EXPECT_EQ(of({StatisticKind::mean, policy}, {1, infinity}), infinity);
    EXPECT_EQ(of({StatisticKind::sum, policy, 0, true}, {1, -infinity}), -infinity);
    EXPECT_EQ(of({StatisticKind::minimum, policy}, {1, -infinity, 2}), -infinity);
    EXPECT_EQ(of({StatisticKind::maximum, policy}, {-infinity, -infinity}), -infinity);
    EXPECT_TRUE(std::isnan(of({StatisticKind::mean, policy}, {infinity, -infinity})));
    EXPECT_TRUE(std::isnan(of({StatisticKind::standard_deviation, policy}, {infinity, 1})));
    EXPECT_TRUE(std::isnan(of({StatisticKind::range, policy}, {infinity, infinity})));
  }
  EXPECT_EQ(of({StatisticKind::mean, Missing::poison}, {infinity, -infinity}), fill);  // documented
}

TEST(StatisticsEdges, nan_is_missing_unless_nothing_is_looked_for) {
  const std::vector<double> values{1, nan, 3};
  for (const StatisticKind kind :
       {StatisticKind::mean, StatisticKind::sum, StatisticKind::minimum, StatisticKind::maximum,
        StatisticKind::range, StatisticKind::standard_deviation, StatisticKind::rate}) {
    const double result = of({kind}, values);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(result), 0x7ff8000000000000u) << name_of(kind);
    EXPECT_EQ(of({kind, Missing::poison}, values), fill) << name_of(kind);
    EXPECT_EQ(of({kind, Missing::ignore}, values), of({kind}, {1, 3})) << name_of(kind);
  }
  EXPECT_TRUE(std::isnan(of({StatisticKind::minimum}, {nan, 1})));
  EXPECT_TRUE(std::isnan(of({StatisticKind::maximum}, {1, nan})));
  EXPECT_EQ(of({StatisticKind::instant}, values), 3);
  EXPECT_TRUE(std::isnan(of({StatisticKind::instant}, {1, nan})));
}

TEST(StatisticsEdges, denormal_numbers_and_signed_zeros) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(of({StatisticKind::sum}, {tiny, tiny, tiny}), 3 * tiny);
  EXPECT_EQ(of({StatisticKind::sum, Missing::ignore}, {tiny, missing, tiny}), 2 * tiny);
  EXPECT_EQ(of({StatisticKind::maximum}, {0, tiny}), tiny);
  EXPECT_EQ(of_one_point<float>({StatisticKind::sum}, 1, {1e-45F, 1e-45F}), 2 * double{1e-45F});
  for (const Missing policy : {Missing::none, Missing::ignore, Missing::poison}) {
    for (const StatisticKind kind :
         {StatisticKind::sum, StatisticKind::mean, StatisticKind::minimum, StatisticKind::maximum,
          StatisticKind::instant, StatisticKind::once, StatisticKind::rate}) {
      EXPECT_TRUE(std::signbit(of({kind, policy}, {-0.0, -0.0}))) << name_of(kind);
    }
    EXPECT_FALSE(std::signbit(of({StatisticKind::sum, policy}, {-0.0, 0.0})));
    EXPECT_TRUE(std::signbit(of({StatisticKind::maximum, policy}, {-0.0, 0.0})))
        << "the first of equal values stays";
    EXPECT_FALSE(std::signbit(of({StatisticKind::minimum, policy}, {0.0, -0.0})));
  }
  EXPECT_TRUE(std::signbit(of({StatisticKind::sum, Missing::ignore}, {-0.0, missing, -0.0})));
}

TEST(StatisticsEdges, extremes_of_64_bit_integers_are_exact) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double has this value
  BundleRun run(Type::int64, Values(std::int64_t{0}), 2,
                {{StatisticKind::minimum},
                 {StatisticKind::maximum},
                 {StatisticKind::instant},
                 {StatisticKind::range},
                 {StatisticKind::difference},
                 {StatisticKind::sum}});
  run.step(std::vector<std::int64_t>{Limits::max(), odd + 1});
  run.step(std::vector<std::int64_t>{Limits::min(), odd});
  const std::int64_t none = -1;
  EXPECT_EQ(run.result(0, none), (std::vector<std::int64_t>{Limits::min(), odd}));
  EXPECT_EQ(run.result(1, none), (std::vector<std::int64_t>{Limits::max(), odd + 1}));
  EXPECT_EQ(run.result(2, none), (std::vector<std::int64_t>{Limits::min(), odd}));
  EXPECT_EQ(run.result(3, fill), (std::vector<double>{18446744073709551615.0, 1}));
  EXPECT_EQ(run.result(4, fill), (std::vector<double>{-18446744073709551615.0, -1}));
  EXPECT_EQ(run.result(5, fill)[0], 0);  // 2^63 - 2^63: each value is rounded to a double
  ResultCounts outcome;
  static_cast<void>(run.result(3, none, &outcome));
  EXPECT_EQ(outcome, (ResultCounts{0, 1}));
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(of_one_point<std::uint64_t>({StatisticKind::range}, 0, {most, most - 3, most - 1}), 3);
  EXPECT_EQ(of_one_point<std::uint64_t>({StatisticKind::difference}, 0, {most, 1}),
            -static_cast<double>(most - 1));
}

TEST(StatisticsEdges, results_that_the_type_cannot_hold_are_counted) {
  BundleRun run(Type::float64, Values(missing), 6,
                {{StatisticKind::mean, Missing::ignore}, {StatisticKind::maximum, Missing::ignore}});
  run.step(std::vector<double>{1e300, -1e300, 2, missing, infinity, 300});
  ResultCounts outcome;
  auto floats = run.result(0, -1.0F, &outcome);
  EXPECT_EQ(outcome, (ResultCounts{1, 2}));
  EXPECT_EQ(floats[2], 2);
  EXPECT_EQ(floats[3], -1);
  EXPECT_EQ(floats[4], std::numeric_limits<float>::infinity());
  auto bytes = run.result(1, std::int8_t{-5}, &outcome);
  EXPECT_EQ(outcome, (ResultCounts{1, 4}));
  EXPECT_EQ(bytes[2], 2);
  EXPECT_EQ(bytes[3], -5);
}

TEST(StatisticsEdges, computed_results_are_rounded_and_selected_ones_cut_off) {
  BundleRun run(Type::float32, Values(1e20F), 6, {{StatisticKind::mean}, {StatisticKind::maximum}});
  run.step(std::vector<float>{2.5F, 3.5F, -2.5F, 2.75F, -0.25F, 16777216.0F});
  EXPECT_EQ(run.result(0, std::int32_t{-1}), (std::vector<std::int32_t>{2, 4, -2, 3, 0, 16777216}));
  EXPECT_EQ(run.result(1, std::int32_t{-1}), (std::vector<std::int32_t>{2, 3, -2, 2, 0, 16777216}));
}

TEST(StatisticsEdges, results_in_the_other_byte_order) {
  BundleRun run(Type::int16, Values(std::int16_t{-1}), 2,
                {{StatisticKind::mean, Missing::ignore}, {StatisticKind::maximum, Missing::ignore}});
  run.step(std::vector<std::int16_t>{0x0102, -1});
  for (const std::size_t number : {0, 1}) {
    std::array<std::uint8_t, 4> bytes{};
    const ResultFormat target{Type::int16, Values(std::int16_t{0x0304}), true};
    const auto done = run.bundle().result(number, target, reinterpret_cast<std::byte*>(bytes.data()), 0, 2);
    EXPECT_EQ(done.value(), (ResultCounts{1, 0}));
    EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{1, 2, 3, 4}));
  }
}

TEST(StatisticsEdges, the_deviation_of_small_changes_of_large_values_is_found) {
  for (const Missing policy : {Missing::none, Missing::ignore}) {
    EXPECT_EQ(of({StatisticKind::standard_deviation, policy}, std::vector<double>(1000, 1e15 + 0.125)), 0);
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) values.push_back(1e9 + (i % 2 == 0 ? 1 : -1));
    EXPECT_NEAR(of({StatisticKind::standard_deviation, policy}, values), 1, 1e-9);
    EXPECT_NEAR(
        of({StatisticKind::standard_deviation, policy, 0, true}, values, std::vector<double>(1000, 0.1)), 1,
        1e-9);
    EXPECT_NEAR(of({StatisticKind::standard_deviation, policy, 0, false, true}, values),
                std::sqrt(1000.0 / 999), 1e-9);
  }
}

TEST(StatisticsEdges, weights_of_one_change_no_bit) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(std::sin(i) * 1e3 + 0.1);
  for (const StatisticKind kind :
       {StatisticKind::mean, StatisticKind::sum, StatisticKind::standard_deviation})
    for (const Missing policy : {Missing::none, Missing::ignore, Missing::poison}) {
      EXPECT_EQ(of({kind, policy, 0, true}, values), of({kind, policy}, values)) << name_of(kind);
      EXPECT_EQ(of({kind, policy}, values), of({kind}, values)) << name_of(kind);
    }
}

TEST(StatisticsEdges, the_callers_floating_point_environment_has_no_effect) {
  const std::vector<double> values{1.0 / 3, 2.0 / 7, 1e-310, nan};
  const double wanted = of({StatisticKind::mean, Missing::ignore}, values);
  double found = 0;
  double tiny = 0;
  {
    const test::ModelEnvironment environment;
    const int mode = std::fegetround();
    found = of({StatisticKind::mean, Missing::ignore}, values);
    tiny = of({StatisticKind::sum}, {1e-310, 1e-310});
    EXPECT_EQ(std::fegetround(), mode) << "it is restored";
  }
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(wanted));
  EXPECT_EQ(tiny, 2e-310);
}

}  // namespace
}  // namespace afterbay::statistics
