// SPDX-License-Identifier: Apache-2.0
#include "output/schedule.hpp"
#include "output/first_period.hpp"
#include "output/series.hpp"
#include "output/value_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../time/refusals.hpp"

namespace afterbay::output {
namespace {

using test::refused;
using testing::ElementsAre;
using testing::HasSubstr;

ModelTime time_of(const char* start, const char* step, const char* calendar = "standard") {
  OutputOptions options;
  options.calendar = Calendar(calendar);
  options.start = options.calendar.parse(start);
  options.step = Period::parse(step);
  return model_time(options);
}

describe::Timing every(const char* period, const char* sample = nullptr, const char* offset = nullptr) {
  describe::Timing timing;
  timing.every = Period::parse(period);
  if (sample != nullptr) timing.sample = Period::parse(sample);
  if (offset != nullptr) timing.sample_offset = Period::parse(offset);
  return timing;
}

/// The steps up to `last` at which periods end, and those that are sampled.
struct Steps {
  std::vector<int> ends;
  std::vector<int> sampled;
  std::vector<std::string> begins;  ///< begins of the periods that end
};

Steps steps_of(Schedule& schedule, const ModelTime& time, int last) {
  Steps steps;
  for (int n = 0; n <= last; ++n) {
    schedule.go_to(n);
    if (schedule.sampled()) steps.sampled.push_back(n);
    if (!schedule.ends()) continue;
    steps.ends.push_back(n);
    steps.begins.push_back(time.calendar.format(schedule.begin(), "%m-%dT%H"));
  }
  return steps;
}

TEST(OutputSchedule, PeriodsEndWhereThoseOfTheCalendarDo) {
  const ModelTime time = time_of("2000-02-28T06:00", "6h");
  Schedule day(time, every("1d"), "f");
  const Steps steps = steps_of(day, time, 12);
  EXPECT_THAT(steps.ends, ElementsAre(3, 7, 11));
  EXPECT_THAT(steps.begins, ElementsAre("02-28T06", "02-29T00", "03-01T00"));
  EXPECT_EQ(steps.sampled.size(), 12U) << "step 0 is not sampled";
  Schedule month(time, every("1mo"), "f");
  EXPECT_THAT(steps_of(month, time, 12).ends, ElementsAre(7));
}

TEST(OutputSchedule, PeriodsOfStepsAreCountedFromTheStart) {
  const ModelTime time = time_of("2000-02-28T06:00", "6h");
  Schedule schedule(time, every("4ts"), "f");
  EXPECT_THAT(steps_of(schedule, time, 12).ends, ElementsAre(4, 8, 12));
  describe::Timing timing = every("1d");
  timing.align.to = describe::Align::To::start;
  Schedule from_start(time, timing, "f");
  EXPECT_THAT(steps_of(from_start, time, 12).ends, ElementsAre(4, 8, 12));
}

TEST(OutputSchedule, SeasonsAndDatesShiftPeriods) {
  const ModelTime time = time_of("2000-11-29", "1d");
  describe::Timing timing = every("3mo");
  timing.align.to = describe::Align::To::seasons;
  Schedule seasons(time, timing, "f");
  EXPECT_THAT(steps_of(seasons, time, 100).ends, ElementsAre(2, 92));
  timing = every("5d");
  timing.align = {describe::Align::To::date, "2000-12-03"};
  Schedule dated(time, timing, "f");
  EXPECT_THAT(steps_of(dated, time, 10).ends, ElementsAre(4, 9));
}

TEST(OutputSchedule, SamplesHaveAPeriodAndAnOffset) {
  const ModelTime time = time_of("2000-01-01", "3h");
  Schedule plain(time, every("1d", "12h"), "f");
  EXPECT_THAT(steps_of(plain, time, 16).sampled, ElementsAre(4, 8, 12, 16));
  Schedule shifted(time, every("1d", "12h", "3h"), "f");
  EXPECT_THAT(steps_of(shifted, time, 16).sampled, ElementsAre(1, 5, 9, 13));
  shifted.go_to(5);
  EXPECT_EQ(shifted.sample_seconds(), 12 * 3600);
}

TEST(OutputSchedule, OffsetsOfSamplesAddAndSubtractSteps) {
  const ModelTime time = time_of("2000-01-01", "3h");
  Schedule later(time, every("1d", "12h", "6h+1ts"), "f");
  EXPECT_THAT(steps_of(later, time, 16).sampled, ElementsAre(3, 7, 11, 15));
  Schedule earlier(time, every("1d", "12h", "12h-1ts"), "f");
  EXPECT_THAT(steps_of(earlier, time, 16).sampled, ElementsAre(3, 7, 11, 15));
  EXPECT_THAT(refused([&] { Schedule(time, every("1d", "12h", "6h-3ts"), "f"); }),
              HasSubstr("(6h-3ts) is negative with steps of 3h"));
  EXPECT_THAT(refused([&] { Schedule(time, every("1d", "12h", "11h+1ts"), "f"); }),
              HasSubstr("not a multiple"));
}

TEST(OutputSchedule, TheRunEndsPeriodsThatHaveBegun) {
  const ModelTime time = time_of("2000-01-01", "6h");
  Schedule schedule(time, every("1d"), "f");
  schedule.go_to(1);
  EXPECT_FALSE(schedule.ends());
  schedule.end_run();
  EXPECT_TRUE(schedule.ends() && schedule.at_end_of_run() && schedule.sampled());
  EXPECT_FALSE(schedule.covers_whole());
  Schedule complete(time, every("1d"), "f");
  complete.go_to(4);
  EXPECT_TRUE(complete.ends() && complete.covers_whole());
  complete.end_run();
  EXPECT_FALSE(complete.ends()) << "it has ended before";
}

TEST(OutputSchedule, StepsOfMonthsHaveTheirLengths) {
  const ModelTime time = time_of("2000-01-01", "1mo");
  Schedule year(time, every("1y"), "f");
  EXPECT_THAT(steps_of(year, time, 24).ends, ElementsAre(12, 24));
  year.go_to(2);
  EXPECT_EQ(year.sample_seconds(), 29 * 86400.0);
}

TEST(OutputSchedule, RefusesPeriodsThatNoStepEnds) {
  const ModelTime time = time_of("2000-01-01T01:00", "6h");
  EXPECT_THAT(refused([&] { Schedule(time, every("1d"), "f"); }), HasSubstr("align: start"));
  EXPECT_THAT(refused([&] { Schedule(time, every("5h"), "f"); }),
              HasSubstr("not a multiple of the model's step"));
  const ModelTime aligned = time_of("2000-01-01", "6h");
  EXPECT_THAT(refused([&] { Schedule(aligned, every("1d", "4h"), "f"); }), HasSubstr("sample of the file"));
  // Whether a month is a multiple of a week depends on the date.
  const ModelTime weeks = time_of("2000-01-01", "7d", "noleap");
  EXPECT_THAT(refused(
                  [&] {
                    Schedule schedule(weeks, every("1mo"), "f");
                    static_cast<void>(steps_of(schedule, weeks, 10));
                  },
                  ErrorCode::invalid_argument),
              HasSubstr("no step does"));
  const ModelTime tens = time_of("2000-01-01", "10d", "360_day");
  Schedule fits(tens, every("1mo"), "f");
  EXPECT_THAT(steps_of(fits, tens, 9).ends, ElementsAre(3, 6, 9));
  const ModelTime days = time_of("2000-02-01", "29d");
  EXPECT_THAT(refused([&] { Schedule(days, every("1mo"), "f"); }), HasSubstr("a period ends at 2000-04-01"));
  // The first leap year comes later.
  const ModelTime years = time_of("2001-01-01", "5d");
  EXPECT_THAT(
      refused([&] { Schedule(years, every("1y"), "f"); }),
      testing::AllOf(HasSubstr("every of the file \"f\" (1y): a period ends at 2005-01-01"),
                     HasSubstr("not all years are multiples of steps of 5d"), HasSubstr("divides a day")));
  // 2100 is not a leap year, so that the four years that end there are a day shorter.
  const ModelTime after_leap_day = time_of("1904-03-01", "1461d");
  EXPECT_THAT(refused([&] {
                describe::Timing four = every("4y");
                four.align.to = describe::Align::To::start;
                Schedule(after_leap_day, four, "f");
              }),
              HasSubstr("a period ends at 2100-03-01"));
  const ModelTime julian = time_of("1904-03-01", "1461d", "julian");
  describe::Timing four = every("4y");
  four.align.to = describe::Align::To::start;
  Schedule olympiads(julian, four, "f");
  EXPECT_THAT(steps_of(olympiads, julian, 3).ends, ElementsAre(1, 2, 3));
  CalendarRules planet{.month_lengths = {30, 30}, .leap_year = 3, .leap_month = 2};
  OutputOptions options;
  options.calendar = Calendar(planet);
  options.start = {1, 1, 1};
  options.step = Period::parse("10d");
  EXPECT_THAT(refused([&] { Schedule(model_time(options), every("1y"), "f"); }),
              HasSubstr("a period ends at 0004-01-01"));
  const ModelTime no_leap = time_of("2001-01-01", "5d", "noleap");
  Schedule whole_years(no_leap, every("1y"), "f");
  EXPECT_THAT(steps_of(whole_years, no_leap, 150).ends, ElementsAre(73, 146));
}

TEST(OutputSchedule, RefusesPeriodsShorterThanSteps) {
  const ModelTime months = time_of("2000-01-01", "1mo");
  EXPECT_THAT(refused([&] { Schedule(months, every("1d"), "f"); }),
              HasSubstr("every of the file \"f\" (1d) is shorter than the model's step (1mo)"));
  EXPECT_THAT(refused([&] { Schedule(months, every("31d"), "f"); }), HasSubstr("no step does"));
  const ModelTime april = time_of("2000-04-01", "1mo");
  describe::Timing thirty = every("30d");
  thirty.align.to = describe::Align::To::start;
  EXPECT_THAT(refused([&] { Schedule(april, thirty, "f"); }), HasSubstr("a period ends at 2000-05-31"));
  const ModelTime equal = time_of("2000-01-01", "1mo", "360_day");
  Schedule fits(equal, every("30d"), "f");
  EXPECT_THAT(steps_of(fits, equal, 2).ends, ElementsAre(1, 2));
}

TEST(OutputSchedule, PartsOfACycleBeginWithIt) {
  describe::Timing timing = every("1mo");
  timing.cycle = Period::parse("1d");
  timing.cycle_step = Period::parse("6ts");
  const ModelTime late = time_of("2000-01-01T03:00", "1h");
  EXPECT_THAT(refused([&] { Cycle(late, timing, "f"); }),
              testing::AllOf(HasSubstr("begins at 2000-01-01T00:00:00, but no part of 6ts does"),
                             HasSubstr("the one before it at 1999-12-31T21:00:00"), HasSubstr("in hours")));
  const ModelTime whole = time_of("2000-01-01T06:00", "1h");
  EXPECT_EQ(Cycle(whole, timing, "f").parts(), 4U);
  timing.cycle = Period::parse("24ts");
  EXPECT_EQ(Cycle(late, timing, "f").parts(), 4U) << "both are counted from the start";
  timing.cycle_step = Period::parse("6h");
  EXPECT_THAT(refused([&] { Cycle(late, timing, "f"); }), HasSubstr("no part of 6h does"));
}

TEST(OutputValueTimes, PeriodsAreEqualIfTheyEndAtTheSameTimes) {
  const auto are_equal = [](const char* start, const char* one, const char* other,
                            describe::Align::To to = describe::Align::To::calendar) {
    const ModelTime time = time_of(start, "6h");
    describe::Timing aligned = every(other);
    aligned.align.to = to;
    return are_equal_periods(Schedule(time, every(one), "one"), Schedule(time, aligned, "other"), time);
  };
  EXPECT_TRUE(are_equal("2000-01-01", "4ts", "1d"));
  EXPECT_TRUE(are_equal("2000-01-01", "24h", "1d"));
  EXPECT_TRUE(are_equal("2000-01-01", "12mo", "1y"));
  EXPECT_FALSE(are_equal("2000-01-01T06:00", "4ts", "1d"));
  EXPECT_FALSE(are_equal("2000-01-01T06:00", "1d", "4ts"));
  EXPECT_TRUE(are_equal("2000-01-01T06:00", "4ts", "1d", describe::Align::To::start));
  EXPECT_FALSE(are_equal("2000-01-01", "3mo", "3mo", describe::Align::To::seasons));
  EXPECT_FALSE(are_equal("2000-01-01", "1d", "12h"));
}

TEST(OutputValueTimes, ShortMonthsMayLackLongPeriods) {
  const auto may_lack = [](const char* outer, const char* inner, const char* calendar = "standard") {
    const ModelTime time = time_of("2001-01-01", "1d", calendar);
    return may_lack_ends_of(Schedule(time, every(outer), "outer"), Schedule(time, every(inner), "inner"),
                            time);
  };
  EXPECT_TRUE(may_lack("1mo", "29d"));
  EXPECT_FALSE(may_lack("1mo", "28d"));
  EXPECT_FALSE(may_lack("1mo", "5d"));
  EXPECT_TRUE(may_lack("30d", "1mo"));
  EXPECT_FALSE(may_lack("31d", "1mo"));
  EXPECT_TRUE(may_lack("1y", "366d"));
  EXPECT_FALSE(may_lack("1mo", "1mo"));
  EXPECT_FALSE(may_lack("1mo", "30d", "360_day"));
}

TEST(OutputSchedule, KnowsWhetherASampleMeetsAnEnd) {
  const ModelTime time = time_of("2000-01-01", "10s");
  const auto meets = [&](const describe::Timing& outer, const describe::Timing& inner) {
    return Schedule(time, outer, "outer").samples_an_end_of(Schedule(time, inner, "inner"));
  };
  EXPECT_TRUE(meets(every("1mo", "1d"), every("1min")));  // 1440 of them in a day
  EXPECT_TRUE(meets(every("1mo", "6h"), every("10s")));
  EXPECT_TRUE(meets(every("1y", "1mo"), every("30min")));
  EXPECT_TRUE(meets(every("1mo", "6h"), every("1d")));
  EXPECT_TRUE(meets(every("1mo", "12h", "6h"), every("3h")));
  EXPECT_FALSE(meets(every("1mo", "12h", "6h"), every("1d")));
  EXPECT_FALSE(meets(every("1mo", "12h", "10min"), every("1h")));
}

TEST(OutputModelTime, RefusesStepsThatMixMonthsAndSeconds) {
  EXPECT_THAT(refused([] { time_of("2000-01-01", "1mo1d"); }), HasSubstr("either of years and months"));
  EXPECT_THAT(refused([] { time_of("2000-01-01", "0s"); }), HasSubstr("missing"));
  EXPECT_THAT(refused([] { time_of("2000-01-01", "-1h"); }), HasSubstr("longer than 0"));
  EXPECT_THAT(refused([] { time_of("2000-01-01", "2ts"); }), HasSubstr("in seconds or months"));
  EXPECT_THAT(refused([] { time_of("2001-02-29", "1h"); }), HasSubstr("2001"));
}

TEST(OutputSchedule, KnowsOfWhichPeriodsItConsists) {
  const ModelTime time = time_of("2000-01-15T06:00", "1h");
  const auto with = [](describe::Timing timing, describe::Align::To to) {
    timing.align.to = to;
    return timing;
  };
  const auto consists = [&](const describe::Timing& long_, const describe::Timing& short_) {
    return Schedule(time, long_, "long").consists_of(Schedule(time, short_, "short"));
  };
  using To = describe::Align::To;
  EXPECT_TRUE(consists(every("1mo"), every("1d")));
  EXPECT_TRUE(consists(every("1mo"), every("6h")));
  EXPECT_TRUE(consists(every("1y"), every("24h")));
  EXPECT_TRUE(consists(every("5d"), every("1d")));
  EXPECT_TRUE(consists(every("1d"), every("6h")));
  EXPECT_TRUE(consists(every("12h"), every("3h")));
  EXPECT_TRUE(consists(with(every("3mo"), To::seasons), every("1d")));
  EXPECT_TRUE(consists(every("1mo", "3h", "1h"), every("1d", "3h", "1h")));
  EXPECT_FALSE(consists(every("1d"), every("1d")));
  EXPECT_FALSE(consists(every("1d"), every("1mo")));
  EXPECT_FALSE(consists(every("12h"), every("8h"))) << "they overlap";
  EXPECT_FALSE(consists(every("1mo"), every("5d"))) << "a month ends within 5 days";
  EXPECT_FALSE(consists(every("1y"), every("1mo"))) << "only parts of a day are compared";
  EXPECT_FALSE(consists(every("1mo"), with(every("1d"), To::start))) << "days begin at 6 h";
  EXPECT_FALSE(consists(with(every("2d"), To::start), every("1d")));
  EXPECT_FALSE(consists(every("1mo", "3h"), every("1d"))) << "other samples";
  EXPECT_FALSE(consists(every("1mo", "3h", "1h"), every("1d", "3h"))) << "other samples";
  EXPECT_FALSE(consists(every("30h"), every("6h"))) << "not by days";
  EXPECT_FALSE(consists(every("240ts"), every("24ts"))) << "counted from the start, not by the calendar";
  // Statistics over equal periods would be made of each other.
  for (const char* const one : {"1d", "24h", "1440min"})
    for (const char* const other : {"1d", "24h", "1440min"}) EXPECT_FALSE(consists(every(one), every(other)));
  EXPECT_TRUE(consists(every("1mo", "3h"), every("1d", "180min")));
  const ModelTime late = time_of("2000-01-15T01:00", "1h");
  EXPECT_FALSE(
      Schedule(late, every("1mo", "3ts"), "long").consists_of(Schedule(late, every("1d", "3h"), "f")))
      << "samples in steps are counted from the start";
}

TEST(OutputSchedule, EqualPeriodsAreOneHoweverTheyAreWritten) {
  const ModelTime time = time_of("2000-01-15T06:00", "1h");
  const auto text = [&](const describe::Timing& timing) { return Schedule(time, timing, "f").text(); };
  EXPECT_EQ(text(every("1d")), text(every("24h")));
  EXPECT_EQ(text(every("1d", "6h", "60min")), text(every("1440min", "360min", "1h")));
  EXPECT_EQ(text(every("12mo")), text(every("1y")));
  EXPECT_NE(text(every("1d")), text(every("24ts"))) << "steps are counted from the start";
  describe::Timing from_start = every("1d");
  from_start.align.to = describe::Align::To::start;
  EXPECT_EQ(text(from_start), text(every("24ts")));
  EXPECT_NE(text(every("1d", "6h")), text(every("1d", "6ts")));
  describe::Timing cycle = every("1mo");
  cycle.cycle = Period::parse("24h");
  cycle.cycle_step = Period::parse("1h");
  describe::Timing other = cycle;
  other.cycle = Period::parse("1d");
  other.cycle_step = Period::parse("60min");
  EXPECT_EQ(Schedule(time, cycle, "f", Cycle(time, cycle, "f"), 3).text(),
            Schedule(time, other, "f", Cycle(time, other, "f"), 3).text());
}

TEST(OutputSchedule, PeriodsInStepsMustFitOthersToo) {
  const ModelTime time = time_of("2000-01-01", "30min");
  const auto folded = [&](const char* period, const char* cycle, const char* part) {
    describe::Timing timing = every(period);
    timing.cycle = Period::parse(cycle);
    timing.cycle_step = Period::parse(part);
    return Cycle(time, timing, "f").parts();
  };
  EXPECT_THAT(refused([&] { folded("10ts", "1d", "1h"); }),
              HasSubstr("every of the file \"f\" (10ts) is not always a multiple of cycle (1d)"));
  EXPECT_THAT(refused([&] { folded("1mo", "7d", "1d"); }),
              HasSubstr("(1mo) is not always a multiple of cycle (7d)"));
  EXPECT_THAT(refused([&] { folded("1mo", "1d", "10ts"); }),
              HasSubstr("cycle of the file \"f\" (1d) is not a multiple of cycle_step (10ts)"));
  EXPECT_EQ(folded("480ts", "1d", "1h"), 24U);
  EXPECT_THAT(refused([&] { Schedule(time, every("10ts", "2h"), "f"); }),
              HasSubstr("every of the file \"f\" (10ts) is not a multiple of sample (2h)"));
  EXPECT_THAT(refused([&] { Schedule(time, every("1d", "10ts"), "f"); }),
              HasSubstr("(1d) is not a multiple of sample (10ts)"));
  EXPECT_EQ(Schedule(time, every("12ts", "2h"), "f").every(), Period::parse("6h"));
}

TEST(OutputSchedule, DatesOutOfRangeAreRefusedWithTheirKey) {
  const ModelTime time = time_of("2000-01-01", "1h");
  EXPECT_THAT(refused([&] { Schedule(time, every("99999999999y"), "f"); }),
              testing::AllOf(HasSubstr("every of the file \"f\" (99999999999y)"), HasSubstr("out of range")));
  EXPECT_THAT(refused([&] { Schedule(time, every("9000000000000000000ts"), "f"); }),
              HasSubstr("every of the file \"f\" (9000000000000000000ts)"));
}

TEST(OutputFirstPeriod, IsNotedIfItBeginsBeforeTheRun) {
  const auto note = [](const char* start, const char* period, bool has_statistics = true,
                       describe::Partial partial = describe::Partial::write,
                       const char* calendar = "standard",
                       describe::Align::To to = describe::Align::To::calendar) {
    const ModelTime time = time_of(start, "1h", calendar);
    describe::File file;
    file.name = "f";
    file.timing = every(period);
    file.timing.partial = partial;
    file.timing.align.to = to;
    return note_on_first_period(file, Schedule(time, file.timing, "f"), time, has_statistics);
  };
  using enum describe::Partial;
  EXPECT_THAT(
      note("2000-01-01", "5d"),
      testing::AllOf(HasSubstr("the run begins at 2000-01-01T00:00:00, within a period of 5d that ends "
                               "at 2000-01-0"),
                     HasSubstr("align: start"), HasSubstr("partial: skip")));
  EXPECT_THAT(note("2000-01-01", "5d", false), testing::Not(HasSubstr("partial: skip")));
  EXPECT_THAT(note("2000-01-01", "36h"), HasSubstr("36h"));
  EXPECT_THAT(note("2001-01-01", "4y"), HasSubstr("ends at 2004-01-01"));
  EXPECT_EQ(note("2000-01-01", "5d", true, skip), "");
  EXPECT_EQ(note("2000-01-01", "5d", true, write, "standard", describe::Align::To::start), "");
  EXPECT_EQ(note("2000-01-01", "120ts"), "");
  for (const char* const usual : {"1h", "6h", "1d", "24h", "1mo", "3mo", "1y", "10y", "1200mo"})
    EXPECT_EQ(note("2001-02-17T05:00", usual), "") << usual;
  EXPECT_EQ(note("2001-02-17", "5d", true, write, "noleap"), "") << "a year has 73 of them";
  EXPECT_NE(note("2001-02-17", "7d", true, write, "noleap"), "");
}

TEST(OutputDense, TakesAnyLayout) {
  const std::vector<float> array{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto dense = [&](const MemoryLayout& layout, const std::vector<std::uint64_t>& lengths) {
    std::size_t points = 1;
    for (const std::uint64_t length : lengths) points *= length;
    std::vector<float> values(points, -1);
    make_dense(reinterpret_cast<std::byte*>(values.data()), reinterpret_cast<const std::byte*>(array.data()),
               layout, lengths, sizeof(float));
    return values;
  };
  MemoryLayout halo;
  halo.shape = {3, 4};
  halo.offset = {1, 1};
  EXPECT_THAT(dense(halo, {2, 2}), ElementsAre(5, 6, 9, 10));
  MemoryLayout strided;
  strided.strides = {1, 4};  // columns first
  EXPECT_THAT(dense(strided, {4, 3}), ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  MemoryLayout backwards;
  backwards.strides = {-4, -1};
  EXPECT_THAT(dense(backwards, {1, 1}), ElementsAre(0));
  EXPECT_THAT(dense({}, {}), ElementsAre(0)) << "a single value";
}

}  // namespace
}  // namespace afterbay::output
