// SPDX-License-Identifier: Apache-2.0
// The sweep of `afterbay plan storage`: its trials, its recommendation, its end; trials on a real
// disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/units.hpp"
#include "scratch_directory.hpp"
#include "storage/plan/sweep.hpp"

namespace afterbay::storage {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A simulated disk, and a clock that advances only by trials.
class FakeDisk {
 public:
  using Rate = std::function<Result<double>(const TrialSetup&)>;
  explicit FakeDisk(Rate rate, int most_writers = 4, std::chrono::milliseconds time = 2s)
      : rate_(std::move(rate)),
        until(now_ + time),
        sweep([this](const TrialSetup& setup, const TrialSize& size) { return trial(setup, size); },
              {.until = until,
               .now = [this] { return now_; },
               .trial_bytes = 0,
               .most_bytes = 100 * MiB,
               .most_writers = most_writers}) {}

 private:
  Result<double> trial(const TrialSetup& setup, const TrialSize& size) {
    EXPECT_EQ(size.until, until);
    EXPECT_LT(now_, until) << "a trial began when the time was up";
    now_ += 10ms;
    ++trials;
    largest_bytes = std::max(largest_bytes, size.bytes);
    return rate_(setup);
  }

  Rate rate_;
  Clock::time_point now_{1h};

 public:
  Clock::time_point until;
  int trials = 0;
  std::uint64_t largest_bytes = 0;
  Sweep sweep;
  [[nodiscard]] Clock::time_point now() const { return now_; }
};

/// The advice for a disk whose speed is given by `rate`.
StorageAdvice advice_for(const std::function<double(const TrialSetup&)>& rate, bool striped = false) {
  FakeDisk disk([&](const TrialSetup& setup) -> Result<double> { return rate(setup); });
  auto advice = disk.sweep.run(striped);
  EXPECT_TRUE(advice) << advice.error().text();
  return advice.value_or(StorageAdvice{});
}

TEST(StoragePlan, what_gains_nothing_is_not_recommended) {
  const auto advice = advice_for([](const TrialSetup&) { return 1e9; });
  EXPECT_EQ(advice.setup, TrialSetup{});
  EXPECT_FALSE(advice.separate);
}

TEST(StoragePlan, follows_block_size_and_writers_where_they_pay) {
  const auto advice = advice_for([](const TrialSetup& setup) {
    return 1e9 * (setup.block_bytes == 16 * MiB ? 1.5 : 1.0) * std::min(setup.writers, 2);
  });
  EXPECT_EQ(advice.setup.block_bytes, 16 * MiB);
  EXPECT_EQ(advice.setup.writers, 2);
  EXPECT_TRUE(advice.setup.direct);
}

TEST(StoragePlan, the_page_cache_where_it_is_clearly_faster) {
  EXPECT_FALSE(advice_for([](const TrialSetup& setup) { return setup.direct ? 0.9e9 : 1e9; }).setup.direct);
  EXPECT_TRUE(advice_for([](const TrialSetup& setup) { return setup.direct ? 0.96e9 : 1e9; }).setup.direct);
}

TEST(StoragePlan, separate_files_where_they_are_clearly_faster) {
  const auto rate = [](double gain) {
    return [gain](const TrialSetup& setup) { return setup.separate ? gain * 1e9 : 1e9; };
  };
  EXPECT_TRUE(advice_for(rate(1.2)).separate);
  EXPECT_FALSE(advice_for(rate(1.08)).separate);
}

TEST(StoragePlan, stripes_only_on_lustre) {
  const auto rate = [](const TrialSetup& setup) {
    return setup.stripes && *setup.stripes == Stripes{StripePolicy::all, 4 * MiB} ? 3e9 : 1e9;
  };
  EXPECT_EQ(advice_for(rate, false).setup.stripes, std::nullopt);
  EXPECT_EQ(advice_for(rate, true).setup.stripes, (Stripes{StripePolicy::all, 4 * MiB}));
}

TEST(StoragePlan, a_file_system_that_refuses_direct_io_is_measured_without) {
  FakeDisk disk([](const TrialSetup& setup) -> Result<double> {
    if (setup.direct) return fail(make_error(ErrorCode::io, "cannot open with O_DIRECT").with_native(EINVAL));
    return 1e9;
  });
  const auto advice = disk.sweep.run(false);
  ASSERT_TRUE(advice) << advice.error().text();
  EXPECT_FALSE(advice->setup.direct);
  EXPECT_EQ(disk.sweep.parts().front().results.front().refused, "cannot open with O_DIRECT");
}

TEST(StoragePlan, an_lfs_that_fails_leaves_the_rest) {
  FakeDisk disk([](const TrialSetup& setup) -> Result<double> {
    if (setup.stripes) return fail(ErrorCode::io, "no lfs");
    return 1e9;
  });
  const auto advice = disk.sweep.run(true);
  ASSERT_TRUE(advice) << advice.error().text();
  EXPECT_EQ(advice->setup.stripes, std::nullopt);
  EXPECT_EQ(disk.sweep.parts().back().results.back().refused, "no lfs");
}

TEST(StoragePlan, a_full_disk_ends_it) {
  int trials = 0;
  FakeDisk disk([&](const TrialSetup&) -> Result<double> {
    if (++trials == 5) return fail(ErrorCode::no_space, "full");
    return 1e9;
  });
  const auto advice = disk.sweep.run(false);
  ASSERT_FALSE(advice);
  EXPECT_EQ(advice.error().code, ErrorCode::no_space);
  EXPECT_EQ(disk.trials, 5);
}

TEST(StoragePlan, takes_its_time_tries_all_and_writes_no_more_than_allowed) {
  FakeDisk disk([](const TrialSetup&) -> Result<double> { return 1e12; });
  ASSERT_TRUE(disk.sweep.run(true));
  EXPECT_GE(disk.now(), disk.until);
  EXPECT_EQ(disk.largest_bytes, 100 * MiB);
  ASSERT_EQ(disk.sweep.parts().size(), 3u);
  for (const SweepPart& part : disk.sweep.parts())
    for (const TrialResult& result : part.results) EXPECT_GE(result.rates.size(), 3u) << part.what;
}

TEST(StoragePlan, without_time_for_all_recommends_from_what_was_measured) {
  FakeDisk disk(
      [](const TrialSetup& setup) -> Result<double> { return setup.block_bytes == MiB ? 2e9 : 1e9; }, 4,
      50ms);
  const auto advice = disk.sweep.run(false);
  ASSERT_TRUE(advice) << advice.error().text();
  EXPECT_EQ(disk.trials, 5);
  EXPECT_EQ(advice->setup.block_bytes, MiB);
  EXPECT_EQ(advice->setup.writers, 1);
}

TEST(StoragePlan, every_writer_count_is_tried_in_one_file_and_in_separate_ones) {
  FakeDisk disk([](const TrialSetup&) -> Result<double> { return 1e9; }, 6);
  ASSERT_TRUE(disk.sweep.run(false));
  using Tried = std::vector<std::pair<int, bool>>;
  Tried tried;
  ASSERT_EQ(disk.sweep.parts().size(), 2u);
  for (const TrialResult& result : disk.sweep.parts()[1].results)
    tried.emplace_back(result.setup.writers, result.setup.separate);
  EXPECT_EQ(tried, (Tried{{1, false}, {2, false}, {4, false}, {6, false}, {2, true}, {4, true}, {6, true}}));
}

/// The disk becomes slower during the measurement. The figures shown for a part are those on which
/// the decision was based.
TEST(StoragePlan, what_is_shown_of_each_part_bears_out_what_was_taken_from_it) {
  int trials = 0;
  FakeDisk disk([&](const TrialSetup& setup) -> Result<double> {
    return (setup.block_bytes == MiB ? 1.5e9 : 1e9) / ++trials;
  });
  const auto advice = disk.sweep.run(false);
  ASSERT_TRUE(advice) << advice.error().text();
  for (const SweepPart& part : disk.sweep.parts()) {
    double fastest = 0;
    double taken = 0;
    for (const TrialResult& result : part.results) {
      if (result.setup.separate) continue;
      fastest = std::max(fastest, result.median());
      if (result.setup.block_bytes == advice->setup.block_bytes &&
          result.setup.direct == advice->setup.direct &&
          (part.results.size() == 8 || result.setup.writers == advice->setup.writers))
        taken = result.median();
    }
    EXPECT_GE(taken, 0.95 * fastest) << part.what;
  }
}

class StorageTrial : public testing::Test {
 protected:
  [[nodiscard]] Result<double> run(const TrialSetup& setup, const TrialSize& size) const {
    return run_trial(directory_.path.string(), setup, size);
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path)) << "a trial left a file";
  }
  test::Directory directory_;
};

TEST_F(StorageTrial, one_file_and_separate_files) {
  for (const bool separate : {false, true}) {
    const auto rate =
        run({.block_bytes = MiB, .direct = false, .writers = 3, .separate = separate, .stripes = {}},
            {.bytes = 16 * MiB});
    ASSERT_TRUE(rate) << rate.error().text();
    EXPECT_GT(*rate, 0);
  }
}

TEST_F(StorageTrial, that_is_late_writes_nothing) {
  const auto rate = run({.direct = false, .stripes = {}}, {.bytes = 16 * MiB, .until = Clock::now() - 1s});
  ASSERT_FALSE(rate);
  EXPECT_EQ(rate.error().code, ErrorCode::timed_out);
}

// Before, trial files had predictable names, and any existing file with such a name was opened.
TEST_F(StorageTrial, does_not_follow_links_that_others_have_laid) {
  const auto target = directory_.path / "target";
  std::ofstream(target) << "precious";
  std::vector<std::filesystem::path> links;
  for (int number = 0; number < 100; ++number)
    links.push_back(directory_.path / fmt::format(".afterbay-plan-{}-{}", ::getpid(), number));
  for (const auto& link : links) std::filesystem::create_symlink("target", link);
  const auto rate = run({.block_bytes = MiB, .direct = false, .writers = 2, .separate = true, .stripes = {}},
                        {.bytes = 4 * MiB});
  EXPECT_TRUE(rate) << rate.error().text();
  EXPECT_EQ(std::filesystem::file_size(target), 8u);
  for (const auto& link : links) EXPECT_TRUE(std::filesystem::remove(link)) << link;
  std::filesystem::remove(target);
}

TEST_F(StorageTrial, in_a_missing_directory_says_so) {
  const auto rate = run_trial((directory_.path / "nowhere").string(), {.stripes = {}}, {.bytes = 16 * MiB});
  ASSERT_FALSE(rate);
  EXPECT_THAT(rate.error().message, testing::HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace afterbay::storage
