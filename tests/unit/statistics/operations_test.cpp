// SPDX-License-Identifier: Apache-2.0
// Each kind of statistic for each type and policy, against the definitions, computed point by
// point from the whole sequence. Odd numbers of points, longer than a strip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "statistics_run.hpp"

namespace afterbay::statistics {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t odd_points = 2051;
constexpr int operations_steps = 5;
constexpr double operations_fill = -999;
const std::vector<double> durations{1, 0.5, 2, 4, 0.25};

/// Small whole numbers: sums are exact in any order, so that expectations can be equal. Some values
/// are missing (99 and 101): at some points the first, the last, all but one, or all of them.
template <class T>
T value_at(int step, std::size_t point) {
  const bool missing = point % 7 == 0 || (point % 7 == 1 && step == 0) ||
                       (point % 7 == 2 && step == operations_steps - 1) || (point % 7 == 3 && step != 1) ||
                       (point % 7 == 4 && step == 2);
  if (missing) return static_cast<T>(point % 2 == 0 ? 99 : 101);
  return static_cast<T>((static_cast<std::size_t>(step) * 13 + point * 7) % 31);
}

bool is_missing(double value) { return value == 99 || value == 101; }

struct Sums {
  double count = 0, weight = 0, sum = 0, weighted = 0, least = 0, most = 0;
};

/// The definition; nullopt if the result is missing.
std::optional<double> expected(const Statistic& s, const std::vector<double>& values) {
  const bool looks = s.missing != Missing::none;
  Sums all;
  double duration = 0;
  std::vector<double> used, weights;
  for (std::size_t i = 0; i < values.size(); ++i) {
    duration += durations[i];
    if (looks && is_missing(values[i])) continue;
    used.push_back(values[i]);
    weights.push_back(durations[i]);
    all.count += 1;
    all.weight += durations[i];
    all.sum += values[i];
    all.weighted += values[i] * durations[i];
    all.least = used.size() == 1 ? values[i] : std::min(all.least, values[i]);
    all.most = used.size() == 1 ? values[i] : std::max(all.most, values[i]);
  }
  const auto unless_missing = [&](double value, bool is) {
    return looks && is ? std::nullopt : std::optional(value);
  };
  if (s.kind == StatisticKind::instant) return unless_missing(values.back(), is_missing(values.back()));
  if (s.kind == StatisticKind::once) return unless_missing(values.front(), is_missing(values.front()));
  if (s.kind == StatisticKind::difference)
    return unless_missing(values.back() - values.front(),
                          is_missing(values.back()) || is_missing(values.front()));
  const bool by_duration = s.weighted || s.kind == StatisticKind::rate;
  const double fraction =
      by_duration ? all.weight / duration : all.count / static_cast<double>(values.size());
  if (used.empty() || (s.missing == Missing::poison && used.size() != values.size()) ||
      fraction < s.threshold)
    return std::nullopt;
  switch (s.kind) {
    case StatisticKind::mean: return s.weighted ? all.weighted / all.weight : all.sum / all.count;
    case StatisticKind::sum: return s.weighted ? all.weighted : all.sum;
    case StatisticKind::minimum: return all.least;
    case StatisticKind::maximum: return all.most;
    case StatisticKind::range: return all.most - all.least;
    case StatisticKind::rate: return all.sum / all.weight;
    default: break;
  }
  const double mean = s.weighted ? all.weighted / all.weight : all.sum / all.count;
  double squares = 0;
  for (std::size_t i = 0; i < used.size(); ++i)
    squares += (s.weighted ? weights[i] : 1) * (used[i] - mean) * (used[i] - mean);
  if (s.sample && used.size() < 2) return std::nullopt;
  return std::sqrt(squares / (s.weighted ? all.weight : all.count - (s.sample ? 1 : 0)));
}

std::vector<Statistic> operations_all_statistics() {
  std::vector<Statistic> all;
  for (const auto& [policy, threshold] :
       {std::pair(Missing::none, 0.0), std::pair(Missing::ignore, 0.0), std::pair(Missing::poison, 0.0),
        std::pair(Missing::threshold, 0.8)}) {
    for (int kind = 1; kind <= 10; ++kind)
      all.push_back({static_cast<StatisticKind>(kind), policy, threshold, false, false});
    for (const StatisticKind kind :
         {StatisticKind::mean, StatisticKind::sum, StatisticKind::standard_deviation})
      all.push_back({kind, policy, threshold, true, false});
    all.push_back({StatisticKind::standard_deviation, policy, threshold, false, true});
  }
  return all;
}

template <class T>
class StatisticsOperations : public ::testing::Test {};
using Numbers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                 std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(StatisticsOperations, Numbers);

TYPED_TEST(StatisticsOperations, are_as_defined_for_each_policy) {
  using T = TypeParam;
  const auto all = operations_all_statistics();
  BundleRun run(type_of<T>, Values(std::vector<T>{99, 101}), odd_points, all);
  std::vector<std::vector<double>> sequences(odd_points);
  for (int step = 0; step < operations_steps; ++step) {
    std::vector<T> values;
    for (std::size_t i = 0; i < odd_points; ++i) {
      values.push_back(value_at<T>(step, i));
      sequences[i].push_back(static_cast<double>(values.back()));
    }
    run.step(values, durations[static_cast<std::size_t>(step)]);
  }
  for (std::size_t n = 0; n < all.size(); ++n) {
    ResultCounts outcome;
    const std::vector<double> results = run.result(n, operations_fill, &outcome);
    std::uint64_t missing = 0;
    for (std::size_t i = 0; i < odd_points; ++i) {
      const auto wanted = expected(all[n], sequences[i]);
      missing += wanted ? 0 : 1;
      if (all[n].kind == StatisticKind::standard_deviation)
        ASSERT_NEAR(results[i], wanted.value_or(operations_fill), 1e-13 * std::fabs(wanted.value_or(0)))
            << text_of(all[n]) << " at " << i;
      else
        ASSERT_EQ(results[i], wanted.value_or(operations_fill)) << text_of(all[n]) << " at " << i;
    }
    EXPECT_EQ(outcome, (ResultCounts{missing, 0})) << text_of(all[n]);
  }
}

TYPED_TEST(StatisticsOperations, many_missing_values_are_found_too) {
  using T = TypeParam;
  const Values missing(std::vector<T>{99, 101, 103, 104});
  const std::vector<Statistic> all{{StatisticKind::mean, Missing::ignore},
                                   {StatisticKind::maximum, Missing::ignore},
                                   {StatisticKind::sum, Missing::poison},
                                   {StatisticKind::minimum, Missing::threshold, 0.5},
                                   {StatisticKind::standard_deviation, Missing::ignore}};
  BundleRun run(type_of<T>, missing, 3, all);
  run.step(std::vector<T>{103, 4, 5});
  run.step(std::vector<T>{2, 104, 7});
  EXPECT_EQ(run.result(0, operations_fill), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(run.result(1, operations_fill), (std::vector<double>{2, 4, 7}));
  EXPECT_EQ(run.result(2, operations_fill), (std::vector<double>{operations_fill, operations_fill, 12}));
  EXPECT_EQ(run.result(3, operations_fill), (std::vector<double>{2, 4, 5}));
  EXPECT_EQ(run.result(4, operations_fill), (std::vector<double>{0, 0, 1}));
}

TYPED_TEST(StatisticsOperations, each_interval_begins_anew) {
  using T = TypeParam;
  std::vector<Statistic> all;
  for (int kind = 1; kind <= 10; ++kind) all.push_back({static_cast<StatisticKind>(kind)});
  BundleRun run(type_of<T>, Values(T{99}), 1, all);
  run.step(std::vector<T>{50});
  run.step(std::vector<T>{60});
  for (std::size_t i = 0; i < all.size(); ++i) run.bundle().begin_interval(i);
  run.step(std::vector<T>{10}, 2);
  run.step(std::vector<T>{14}, 2);
  const std::vector<double> wanted{14, 12, 24, 10, 14,
                                   4,  2,  6,  10, -46};  // difference: from the last value before
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(run.result(i, operations_fill)[0], wanted[i]) << text_of(all[i]);
}

TEST(StatisticsChecks, refuse_what_has_no_meaning) {
  const auto message = [](const Statistic& s, Type type = Type::float32) {
    const auto checked = check(s, type);
    return checked ? std::string() : checked.error().text();
  };
  EXPECT_EQ(message({StatisticKind::mean}), "");
  EXPECT_THAT(message({StatisticKind::mean}, Type::text), HasSubstr("needs numbers"));
  EXPECT_THAT(message({StatisticKind::mean}, Type::string), HasSubstr("needs numbers"));
  EXPECT_THAT(message({StatisticKind::maximum, Missing::none, 0, true}),
              HasSubstr("maximum cannot be weighted"));
  EXPECT_THAT(message({StatisticKind::rate, Missing::none, 0, true}), HasSubstr("rate cannot be weighted"));
  EXPECT_THAT(message({StatisticKind::mean, Missing::none, 0, false, true}), HasSubstr("of a sample"));
  EXPECT_THAT(message({StatisticKind::standard_deviation, Missing::none, 0, true, true}),
              HasSubstr("of a sample"));
  EXPECT_THAT(message({StatisticKind::mean, Missing::threshold, 0}), HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(message({StatisticKind::mean, Missing::threshold, 1.5}), HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(message({StatisticKind::mean, Missing::threshold, std::nan("")}),
              HasSubstr("above 0 and up to 1"));
  EXPECT_THAT(message({StatisticKind::mean, Missing::ignore, 0.5}), HasSubstr("0 with other policies"));
  EXPECT_THAT(message({static_cast<StatisticKind>(77)}), HasSubstr("no statistic of kind 77"));
}

TEST(StatisticsChecks, refuse_wrong_memory_targets_and_durations) {
  EXPECT_THAT(Bundle::create({Type::float32, Values(1.0)}, 3).error().text(), HasSubstr("1 of type float64"));
  EXPECT_THAT(Bundle::create({Type::text, Values("a")}, 3).error().text(), HasSubstr("need numbers"));
  Bundle bundle = Bundle::create({Type::float32, Values(9.0F)}, 10).value();
  const Statistic mean{StatisticKind::mean};
  alignas(8) std::byte memory[1024];
  const std::size_t bytes = state_bytes(mean, Type::float32, 10);
  EXPECT_THAT(bundle.add(mean, {memory, bytes - 1}).error().text(),
              HasSubstr("needs 192 bytes, and has 191"));
  EXPECT_THAT(bundle.add(mean, {memory + 4, bytes}).error().text(), HasSubstr("not aligned"));
  EXPECT_EQ(bundle.size(), 0u);
  ASSERT_TRUE(bundle.add(mean, {memory, bytes}));
  const float values[10]{};
  for (const double duration : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(bundle.step(reinterpret_cast<const std::byte*>(values), duration).error().text(),
                HasSubstr("must be finite and above 0"));
  EXPECT_EQ(bundle.progress(0).steps, 0u);
  std::byte to[80];
  EXPECT_EQ(bundle.result(0, {Type::text, Values("a")}, to, 0, 10).error().code, ErrorCode::wrong_type);
  EXPECT_EQ(bundle.result(0, {Type::float64, Values(1.0F)}, to, 0, 10).error().code,
            ErrorCode::invalid_argument);
}

TEST(StatisticsMemory, is_that_of_the_documented_table) {
  const auto per_point = [](const Statistic& s, Type type) {
    constexpr std::size_t many = 1 << 20;
    return static_cast<double>(state_bytes(s, type, many) - state_bytes(s, type, 0)) / many;
  };
  using enum StatisticKind;
  for (const StatisticKind kind : {instant, once, minimum, maximum}) {
    EXPECT_NEAR(per_point({kind}, Type::float32), 4, 0.01);
    EXPECT_NEAR(per_point({kind, Missing::ignore}, Type::int16), 2, 0.01);
  }
  EXPECT_NEAR(per_point({difference}, Type::float32), 8, 0.01);
  EXPECT_NEAR(per_point({range, Missing::threshold, 0.5}, Type::float32), 12, 0.01);
  for (const StatisticKind kind : {mean, sum, rate}) {
    EXPECT_NEAR(per_point({kind}, Type::int8), 8, 0.01);
    EXPECT_NEAR(per_point({kind, Missing::poison}, Type::int8), 8, 0.01);
    EXPECT_NEAR(per_point({kind, Missing::ignore}, Type::int8), kind == rate ? 16 : 12, 0.01);
  }
  EXPECT_NEAR(per_point({mean, Missing::ignore, 0, true}, Type::int8), 16, 0.01);
  EXPECT_NEAR(per_point({standard_deviation}, Type::int8), 16, 0.01);
  EXPECT_NEAR(per_point({standard_deviation, Missing::ignore}, Type::int8), 20, 0.01);
  EXPECT_NEAR(per_point({standard_deviation, Missing::ignore, 0, true}, Type::int8), 24, 0.01);
}

}  // namespace
}  // namespace afterbay::statistics
