// SPDX-License-Identifier: Apache-2.0
// The result at a point depends only on the sequence at this point: cuts in space, threads, other
// statistics and interruptions change no bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <random>
#include <thread>

#include "statistics_run.hpp"

namespace afterbay::statistics {
namespace {

constexpr std::size_t points = 1237;
constexpr int steps = 9;

std::vector<Statistic> all_statistics() {
  std::vector<Statistic> all;
  for (const auto& [policy, threshold] :
       {std::pair(Missing::none, 0.0), std::pair(Missing::ignore, 0.0), std::pair(Missing::poison, 0.0),
        std::pair(Missing::threshold, 0.6)}) {
    for (int kind = 1; kind <= 10; ++kind)
      all.push_back({static_cast<StatisticKind>(kind), policy, threshold});
    for (const StatisticKind kind :
         {StatisticKind::mean, StatisticKind::sum, StatisticKind::standard_deviation})
      all.push_back({kind, policy, threshold, true});
    all.push_back({StatisticKind::standard_deviation, policy, threshold, false, true});
  }
  return all;
}

/// Random steps, with missing values, infinities and, for floating-point types, NaN.
template <class T>
struct Case {
  explicit Case(unsigned seed) : random(seed) {
    std::cout << "seed " << seed << '\n';
    for (int step = 0; step < steps; ++step) {
      values.emplace_back();
      for (std::size_t i = 0; i < points; ++i) values.back().push_back(value());
      durations.push_back(std::uniform_real_distribution(0.1, 10.0)(random));
    }
  }
  T value() {
    const unsigned kind = static_cast<unsigned>(random() % 20);
    if (kind < 3) return missing;
    if constexpr (std::is_floating_point_v<T>) {
      if (kind == 3) return std::numeric_limits<T>::quiet_NaN();
      if (kind == 4 && random() % 10 == 0) return std::numeric_limits<T>::infinity();
      if (kind == 5 && random() % 10 == 0) return -std::numeric_limits<T>::infinity();
      return static_cast<T>(std::normal_distribution(250.0, 30.0)(random));
    } else {
      return static_cast<T>(random());
    }
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random() % n); }

  std::mt19937_64 random;
  T missing = T{77};
  std::vector<std::vector<T>> values;
  std::vector<double> durations;
};

using Bytes = std::vector<std::byte>;

/// The bits of the results of all statistics.
std::vector<Bytes> results(const Bundle& bundle) {
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    all.emplace_back(bundle.points() * sizeof(double));
    EXPECT_TRUE(bundle.result(i, {Type::float64, Values(-1.5)}, all.back().data(), 0, bundle.points()));
  }
  return all;
}

template <class T>
std::vector<Bytes> uncut(const Case<T>& of) {
  BundleRun run(type_of<T>, Values(of.missing), points, all_statistics());
  for (int step = 0; step < steps; ++step)
    run.step(of.values[static_cast<std::size_t>(step)], of.durations[static_cast<std::size_t>(step)]);
  return results(run.bundle());
}

void expect_same(const std::vector<Bytes>& wanted, const std::vector<Bytes>& found, std::size_t first = 0) {
  const auto all = all_statistics();
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_TRUE(std::equal(found[i].begin(), found[i].end(),
                           wanted[i].begin() + static_cast<std::ptrdiff_t>(first * sizeof(double))))
        << text_of(all[i]);
}

template <class T>
class StatisticsCuts : public ::testing::Test {};
using Numbers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                 std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(StatisticsCuts, Numbers);

TYPED_TEST(StatisticsCuts, a_piece_alone_gives_the_bits_of_the_whole) {
  using T = TypeParam;
  Case<T> of(11);
  const auto wanted = uncut(of);
  for (std::size_t first = 0; first < points;) {
    const std::size_t count = std::min(1 + of.below(of.below(2) == 0 ? 5 : 500), points - first);
    BundleRun run(type_of<T>, Values(of.missing), count, all_statistics());
    for (std::size_t step = 0; step < steps; ++step) {
      const auto begin = of.values[step].begin() + static_cast<std::ptrdiff_t>(first);
      run.step(std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count)), of.durations[step]);
    }
    expect_same(wanted, results(run.bundle()), first);
    first += count;
  }
}

TYPED_TEST(StatisticsCuts, each_statistic_alone_gives_the_same_bits) {
  using T = TypeParam;
  const Case<T> of(12);
  const auto wanted = uncut(of);
  const auto all = all_statistics();
  for (std::size_t i = 0; i < all.size(); ++i) {
    BundleRun run(type_of<T>, Values(of.missing), points, {all[i]});
    for (std::size_t step = 0; step < steps; ++step) run.step(of.values[step], of.durations[step]);
    ASSERT_EQ(results(run.bundle())[0], wanted[i]) << text_of(all[i]);
  }
}

TYPED_TEST(StatisticsCuts, jobs_that_save_and_restore_give_the_same_bits) {
  using T = TypeParam;
  Case<T> of(13);
  const auto wanted = uncut(of);
  std::vector<Bytes> saved(all_statistics().size());
  for (std::size_t step = 0, job = 0; step < steps; ++job) {
    BundleRun run(type_of<T>, Values(of.missing), points, all_statistics());
    for (std::size_t i = 0; job != 0 && i < saved.size(); ++i) {
      const auto done = run.bundle().restore(i, saved[i]);
      ASSERT_TRUE(done) << done.error().text();
    }
    const std::size_t until = std::min(step + of.below(3), std::size_t{steps});  // a job may have no steps
    for (; step < until; ++step) run.step(of.values[step], of.durations[step]);
    for (std::size_t i = 0; i < saved.size(); ++i) {
      saved[i].clear();
      run.bundle().save(i, saved[i]);
    }
    if (step == steps) expect_same(wanted, results(run.bundle()));
  }
}

TYPED_TEST(StatisticsCuts, an_interval_made_of_parts_gives_the_same_bits) {
  using T = TypeParam;
  Case<T> of(15);
  std::vector<Statistic> some;
  for (const Statistic& statistic : all_statistics())
    if (can_be_absorbed(statistic, type_of<T>)) some.push_back(statistic);
  ASSERT_EQ(some.size(), sizeof(T) > 4 ? 12U : 24U);
  BundleRun wanted(type_of<T>, Values(of.missing), points, some);
  BundleRun found(type_of<T>, Values(of.missing), points, some);
  BundleRun part(type_of<T>, Values(of.missing), points, some);
  for (std::size_t step = 0; step < steps; ++step) {
    const double duration = 1800.0 * static_cast<double>(step + 1);
    wanted.step(of.values[step], duration);
    part.step(of.values[step], duration);
    if (step + 1 < steps && of.below(3) != 0) continue;
    ASSERT_TRUE(found.bundle().absorb(part.bundle()));
    for (std::size_t i = 0; i < some.size(); ++i) part.bundle().begin_interval(i);
  }
  ASSERT_TRUE(found.bundle().absorb(part.bundle()));  // an interval without steps
  const auto all_wanted = results(wanted.bundle());
  const auto all_found = results(found.bundle());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(found.bundle().progress(i).steps, std::uint64_t{steps});
    EXPECT_EQ(all_found[i], all_wanted[i]) << text_of(some[i]);
  }
}

TYPED_TEST(StatisticsCuts, a_difference_across_intervals_survives_a_job) {
  using T = TypeParam;
  const Values none(T{77});
  Bytes saved;
  {
    BundleRun run(type_of<T>, none, 1, {{StatisticKind::difference}});
    run.step(std::vector<T>{20});
    run.step(std::vector<T>{30});
    run.bundle().begin_interval(0);
    run.bundle().save(0, saved);
  }
  BundleRun run(type_of<T>, none, 1, {{StatisticKind::difference}});
  ASSERT_TRUE(run.bundle().restore(0, saved));
  run.step(std::vector<T>{35});
  EXPECT_EQ(run.result(0, -1.0)[0], 5);
}

template <class T>
class ThreadStatisticsCuts : public ::testing::Test {};
using FewTypes = ::testing::Types<float, double, std::int16_t, std::int64_t>;
TYPED_TEST_SUITE(ThreadStatisticsCuts, FewTypes);

TYPED_TEST(ThreadStatisticsCuts, parts_of_a_step_by_several_threads_give_the_same_bits) {
  using T = TypeParam;
  Case<T> of(14);
  const auto wanted = uncut(of);
  BundleRun run(type_of<T>, Values(of.missing), points, all_statistics());
  const Bundle& bundle = run.bundle();
  std::vector<Bytes> found(bundle.size(), Bytes(points * sizeof(double)));
  const auto in_parts = [&](auto part) {
    std::vector<std::size_t> cuts{0, points};
    for (int i = 0; i < 2; ++i) cuts.push_back(of.below(points + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      threads.emplace_back([&part, first = cuts[i], count = cuts[i + 1] - cuts[i]] { part(first, count); });
  };
  for (std::size_t step = 0; step < steps; ++step) {
    const Bytes values = BundleRun::at_odd_address(of.values[step]);
    ASSERT_TRUE(run.bundle().begin_step(of.durations[step]));
    in_parts([&](std::size_t first, std::size_t count) {
      bundle.run(values.data() + 1 + first * sizeof(T), first, count);
    });
    run.bundle().end_step();
  }
  in_parts([&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < bundle.size(); ++i)
      EXPECT_TRUE(bundle.result(i, {Type::float64, Values(-1.5)}, found[i].data() + first * sizeof(double),
                                first, count));
  });
  expect_same(wanted, found);
}

}  // namespace
}  // namespace afterbay::statistics
