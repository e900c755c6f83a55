// SPDX-License-Identifier: Apache-2.0
// When a backlog is reported, and that the series of a long run stays small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/backlog_watch.hpp"
#include "observe/server_series.hpp"

namespace afterbay::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double megabyte = 1 << 20;

/// A model that puts `step_mib` at the beginning of each step of 10 s, and servers that write
/// `out_mib_s`.
class ToyRun {
 public:
  void play(int steps, double step_mib, double out_mib_s) {
    for (int s = 0; s < steps; ++s) {
      for (int tick = 0; tick < 20; ++tick) {
        if (tick == 0) put(step_mib);
        const double out = std::min(out_mib_s * 0.5, backlog_);
        backlog_ -= out;
        out_ += out;
        now_.at_s += 0.5;
        look();
      }
      ++now_.steps;
      look();
    }
  }
  std::vector<std::string> said;
  BacklogWatch watch;
  double link_mib = 1e9;    ///< capacity between model and server
  bool few_places = false;  ///< what does not fit is refused for want of places for records

 private:
  void put(double mib) {
    const double room = std::min({mib, limit_ - backlog_, link_mib});
    const double wait_s = (mib - room) / 10;  // until that amount is written
    now_.waited_s += wait_s * 4;
    now_.most_records = 1024;
    if (few_places && room < mib) ++now_.records_refused;
    backlog_ += room;
    in_ += room;
  }
  void look() {
    now_.backlog_bytes = bytes(backlog_);
    now_.limit_bytes = bytes(limit_);
    now_.bytes_in = bytes(in_);
    now_.bytes_out = bytes(out_);
    now_.ranks = 4;
    if (auto text = watch.look(now_)) said.push_back(*text);
  }
  static std::uint64_t bytes(double mib) { return static_cast<std::uint64_t>(mib * megabyte); }

  BacklogSample now_;
  double backlog_ = 0, limit_ = 500, in_ = 0, out_ = 0;
};

TEST(BacklogWatch, drained_bursts_cause_no_warning) {
  ToyRun run;
  run.play(50, 400, 60);
  EXPECT_THAT(run.said, IsEmpty());
}

TEST(BacklogWatch, says_once_that_it_grows_with_rates_and_the_time_left_and_once_that_it_is_over) {
  ToyRun run;
  run.play(8, 100, 8);  // 2 MiB/s more than are written
  ASSERT_THAT(run.said, SizeIs(1));
  EXPECT_THAT(run.said[0], AllOf(HasSubstr("the backlog grows"), HasSubstr("10.0 MiB/s come in"),
                                 HasSubstr("8.00 MiB/s go out"), HasSubstr("the model will wait in about")));
  EXPECT_TRUE(run.watch.model_waits_in_s());
  run.play(4, 100, 8);
  EXPECT_THAT(run.said, SizeIs(1)) << "once";
  run.play(10, 10, 60);
  ASSERT_THAT(run.said, SizeIs(2));
  EXPECT_THAT(run.said[1], HasSubstr("worked off"));
  EXPECT_FALSE(run.watch.model_waits_in_s());
}

TEST(BacklogWatch, the_time_left_is_about_right) {
  ToyRun run;
  run.play(5, 100, 8);
  const auto left = run.watch.model_waits_in_s();
  ASSERT_TRUE(left);
  EXPECT_NEAR(*left, (500 - 180) / 2.0, 40);
}

TEST(BacklogWatch, a_model_that_waits_is_told_why) {
  ToyRun slow;
  slow.play(20, 450, 30);
  ASSERT_FALSE(slow.said.empty());
  EXPECT_THAT(slow.said.back(), HasSubstr("the model waits for the I/O servers"));
  ToyRun small;
  small.play(6, 900, 100);
  ASSERT_FALSE(small.said.empty());
  EXPECT_THAT(small.said.front(), HasSubstr("Raise memory.server"));
  ToyRun behind_a_link;
  behind_a_link.link_mib = 20;
  behind_a_link.play(6, 400, 100);
  ASSERT_FALSE(behind_a_link.said.empty());
  EXPECT_THAT(behind_a_link.said.front(), AllOf(HasSubstr("memory.link"), Not(HasSubstr("memory.server"))));
  ToyRun small_records;
  small_records.link_mib = 20;
  small_records.few_places = true;
  small_records.play(6, 400, 100);
  ASSERT_FALSE(small_records.said.empty());
  EXPECT_THAT(small_records.said.front(),
              AllOf(HasSubstr("1024 of a variable are in the I/O server's memory"),
                    HasSubstr("larger memory.server"), Not(HasSubstr("memory.link"))));
}

TEST(ServerSeries, stays_small_and_keeps_peaks_and_totals) {
  ServerSeries series(100, 0.05);
  for (int i = 0; i < 100'000; ++i)
    series.add({i * 0.05, i == 77'777 ? 1000u : 1u, static_cast<std::uint64_t>(i), 0, 0, 0});
  const auto& points = series.points();
  EXPECT_LE(points.size(), 100u);
  EXPECT_GE(points.size(), 40u);
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    most = std::max(most, points[i].backlog_bytes);
    if (i > 0) {
      EXPECT_GT(points[i].at_s, points[i - 1].at_s);
    }
  }
  EXPECT_EQ(most, 1000u);
  EXPECT_EQ(points.back().bytes_in, 99'999u);
  EXPECT_NEAR(points.back().at_s, 4999.95, 0.01);
}

}  // namespace
}  // namespace afterbay::observe
