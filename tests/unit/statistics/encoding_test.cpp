// SPDX-License-Identifier: Apache-2.0
// Saved states: exact, and refused if they are damaged or belong to something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/crc64.hpp"
#include "statistics/encoding.hpp"
#include "statistics_run.hpp"

namespace afterbay::statistics {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

constexpr std::size_t encoding_points = 5;
const Statistic mean{StatisticKind::mean, Missing::ignore};
const std::vector<float> values{1, 2, 99, 4, 5};

BundleRun run_of(const Statistic& statistic, std::size_t count = encoding_points,
                 const Values& missing = Values(99.0F)) {
  return BundleRun(missing.type, missing, count, {statistic});
}

Bytes saved_mean() {
  BundleRun run = run_of(mean);
  run.step(values, 2);
  Bytes saved;
  run.bundle().save(0, saved);
  return saved;
}

/// The error of restoring into a new state; afterwards it must be as it was.
Error refused(const Bytes& saved, BundleRun run) {
  const auto done = run.bundle().restore(0, saved);
  EXPECT_FALSE(done);
  EXPECT_EQ(run.bundle().progress(0).steps, 0u);
  return done ? Error() : done.error();
}

Bytes resealed(Bytes saved) {
  const std::uint64_t sum = crc64(std::span(saved).first(saved.size() - 8));
  std::memcpy(saved.data() + saved.size() - 8, &sum, sizeof sum);
  return saved;
}

TEST(StatisticsEncoding, has_the_announced_size_and_restores_exactly) {
  const Bytes saved = saved_mean();
  EXPECT_EQ(saved.size(), most_saved_bytes(mean, Type::float32, encoding_points));
  EXPECT_EQ(saved.size(), 72 + encoding_points * 12 + 8);
  BundleRun run = run_of(mean);
  ASSERT_TRUE(run.bundle().restore(0, saved));
  EXPECT_EQ(run.bundle().progress(0).steps, 1u);
  EXPECT_EQ(run.bundle().progress(0).duration, 2);
  Bytes again{std::byte{7}};  // save appends
  run.bundle().save(0, again);
  EXPECT_EQ(Bytes(again.begin() + 1, again.end()), saved);
  EXPECT_EQ(run.result(0, -1.0F), (std::vector<float>{1, 2, -1, 4, 5}));
}

TEST(StatisticsEncoding, an_empty_interval_is_saved_without_columns) {
  BundleRun run = run_of(mean);
  Bytes saved;
  run.bundle().save(0, saved);
  EXPECT_EQ(saved.size(), 80u);
  run.step(values);
  ASSERT_TRUE(run.bundle().restore(0, saved));
  EXPECT_EQ(run.bundle().progress(0).steps, 0u);
  run.step(values);
  EXPECT_EQ(run.result(0, -1.0F), (std::vector<float>{1, 2, -1, 4, 5}));
}

TEST(StatisticsEncoding, every_damaged_bit_and_every_length_is_refused) {
  const Bytes saved = saved_mean();
  for (std::size_t bit = 0; bit < saved.size() * 8; ++bit) {
    Bytes damaged = saved;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_EQ(refused(damaged, run_of(mean)).code, ErrorCode::format) << bit;
  }
  for (std::size_t size = 0; size < saved.size(); ++size)
    EXPECT_EQ(
        refused(Bytes(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(size)), run_of(mean)).code,
        ErrorCode::format);
  Bytes longer = saved;
  longer.push_back(std::byte{0});
  EXPECT_EQ(refused(longer, run_of(mean)).code, ErrorCode::format);
}

TEST(StatisticsEncoding, says_what_is_wrong) {
  const Bytes saved = saved_mean();
  const auto with = [&](std::size_t at, std::uint8_t byte) {
    Bytes changed = saved;
    changed[at] = std::byte{byte};
    return refused(resealed(changed), run_of(mean)).text();
  };
  EXPECT_THAT(with(0, 'x'), HasSubstr("are not the saved state of a statistic"));
  EXPECT_THAT(with(12, 9), HasSubstr("saved in version 9, and this program reads version 1"));
  EXPECT_THAT(refused(Bytes(10), run_of(mean)).text(), HasSubstr("it has 10 bytes"));
  Bytes swapped = saved;
  std::reverse(swapped.begin() + 8, swapped.begin() + 12);
  EXPECT_THAT(refused(swapped, run_of(mean)).text(), HasSubstr("another byte order"));
  Bytes damaged = saved;
  damaged[100] ^= std::byte{1};
  EXPECT_THAT(refused(damaged, run_of(mean)).text(), HasSubstr("its checksum is"));
}

TEST(StatisticsEncoding, of_something_else_is_refused) {
  const Bytes saved = saved_mean();
  const auto text = [&](BundleRun run) {
    const Error error = refused(saved, std::move(run));
    EXPECT_EQ(error.code, ErrorCode::conflict);
    return error.text();
  };
  EXPECT_THAT(
      text(run_of({StatisticKind::sum, Missing::ignore})),
      HasSubstr("saved: mean, missing values ignored; 5 points of type float32; expected: sum, missing"));
  EXPECT_THAT(text(run_of(mean, 6)), HasSubstr("expected: mean, missing values ignored; 6 points"));
  EXPECT_THAT(text(run_of({StatisticKind::mean})), HasSubstr("expected: mean; 5 points"));
  EXPECT_THAT(text(run_of({StatisticKind::mean, Missing::ignore, 0, true})),
              HasSubstr("weighted by duration"));
  EXPECT_THAT(text(run_of({StatisticKind::mean, Missing::threshold, 0.5})), HasSubstr("less than 0.5"));
  EXPECT_THAT(text(run_of(mean, encoding_points, Values(99.0))), HasSubstr("of type float64"));
  EXPECT_THAT(text(run_of(mean, encoding_points, Values(98.0F))),
              HasSubstr("the missing values of the field differ"));
}

TEST(StatisticsEncoding, impossible_numbers_are_refused_even_with_a_checksum) {
  const auto with = [&](std::size_t at, auto number) {
    Bytes changed = saved_mean();
    std::memcpy(changed.data() + at, &number, sizeof number);
    return refused(resealed(changed), run_of(mean)).text();
  };
  EXPECT_THAT(with(48, std::uint64_t{0}), HasSubstr("do not fit together"));  // steps
  EXPECT_THAT(with(48, ~std::uint64_t{0}), HasSubstr("do not fit together"));
  EXPECT_THAT(with(56, -1.0), HasSubstr("do not fit together"));              // duration
  EXPECT_THAT(with(64, std::uint64_t{1}), HasSubstr("do not fit together"));  // reference
  EXPECT_THAT(with(72 + encoding_points * 8, std::uint32_t{2}),
              HasSubstr("do not fit together"));  // a count of 2 in one step
}

}  // namespace
}  // namespace afterbay::statistics
