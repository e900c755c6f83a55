// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "afterbay/calendar.hpp"
#include "refusals.hpp"

namespace afterbay {
namespace {

using test::refused;
using testing::HasSubstr;

TEST(TimeUnits, AreReadAndPrinted) {
  const Calendar calendar;
  EXPECT_EQ(TimeUnits(calendar, "days since 2000-01-01").text(), "days since 2000-01-01 00:00:00");
  EXPECT_EQ(TimeUnits(calendar, "  HOURS   Since 1900-1-1 6:30:0.0 ").text(),
            "hours since 1900-01-01 06:30:00");
  EXPECT_EQ(TimeUnits(calendar, "s since 2000-01-01T00:00:00.5Z").text(),
            "seconds since 2000-01-01 00:00:00.5");
  EXPECT_EQ(TimeUnits(calendar, "min since -44-03-15").text(), "minutes since -0044-03-15 00:00:00");
  EXPECT_EQ(TimeUnits(calendar, "day", {2000, 1, 1}).text(), "days since 2000-01-01 00:00:00");
  EXPECT_EQ(TimeUnits(calendar, "us since 2000-01-01").unit(), "microseconds");
  EXPECT_EQ(TimeUnits(calendar, "days since 2000-01-02").reference(), (Date{2000, 1, 2}));
}

TEST(TimeUnits, WhatAreNoneIsRefused) {
  const Calendar standard, noleap("noleap");
  const auto refusal = [&](const char* text) { return refused([&] { TimeUnits units(standard, text); }); };
  for (const char* text : {"", "days", "days since", "days since ", "days after 2000-01-01",
                           "dayssince 2000-01-01", "since 2000-01-01", "days since2000-01-01"})
    EXPECT_THAT(refusal(text),
                testing::AnyOf(HasSubstr("are not units of a time axis"), HasSubstr("is not a date")))
        << text;
  EXPECT_THAT(refusal("dys since 2000-01-01"), HasSubstr("did you mean \"days\"?"));
  EXPECT_THAT(refusal("fortnights since 2000-01-01"), HasSubstr("use days, hours"));
  EXPECT_THAT(refusal("months since 2000-01-01"), HasSubstr("365.242198781 days"));
  EXPECT_THAT(refusal("years since 2000-01-01"), HasSubstr("use days"));
  EXPECT_THAT(refusal("days since 2000-02-30"), HasSubstr("days 1 to 29"));
  EXPECT_THAT(refusal("days since 0000-01-01"), HasSubstr("no year 0"));
  EXPECT_THAT(refusal("days since 1582-10-10"), HasSubstr("1582-10-15 follows"));
  EXPECT_THAT(refusal("days since 2000-01-01 00:00:00 +03:00"), HasSubstr("time zone +03:00"));
  EXPECT_THAT(refused([&] { TimeUnits units(noleap, "days since 2000-02-29"); }), HasSubstr("noleap"));
  EXPECT_THAT(refused([&] { TimeUnits units(noleap, "days", {2000, 2, 29}); }), HasSubstr("noleap"));
}

TEST(TimeUnits, NumbersAreTheNearestDoubles) {
  const Calendar calendar;
  const TimeUnits days(calendar, "days since 2000-01-01"), hours(calendar, "hours since 2000-01-01");
  EXPECT_EQ(days.number({2000, 1, 1}), 0.0);
  EXPECT_EQ(days.number({2000, 3, 1, 12}), 60.5);
  EXPECT_EQ(days.number({1999, 12, 31, 6}), -0.75);
  EXPECT_EQ(days.number({2000, 1, 1, 8}), 1.0 / 3.0);
  EXPECT_EQ(hours.number({2000, 1, 1, 0, 1}), 1.0 / 60.0);
  EXPECT_EQ(days.number({2000, 1, 1, 0, 0, 0, 1}), 1.0 / 86400e9);
  EXPECT_EQ(days.number({1582, 10, 4}) + 1, days.number({1582, 10, 15}));
  EXPECT_THAT(refused([&] { (void)days.number({2000, 2, 30}); }), HasSubstr("does not exist"));
}

TEST(TimeUnits, NumbersOfWholeSecondsAreInverted) {
  for (const char* name : {"standard", "noleap", "360_day"}) {
    const Calendar calendar(name);
    for (const char* unit :
         {"days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"}) {
      const TimeUnits units(calendar, unit, {1850, 1, 1});
      for (const Date date : {Date{2000, 2, 28, 13, 7, 59}, Date{1850, 1, 1}, Date{1799, 12, 30, 23, 59, 59}})
        EXPECT_EQ(units.date(units.number(date)), date) << name << unit;
    }
  }
}

TEST(TimeUnits, FractionsOfSecondsAreFound) {
  const Calendar calendar;
  const TimeUnits days(calendar, "days since 2000-01-01"), seconds(calendar, "seconds since 2000-01-01");
  EXPECT_EQ(seconds.date(0.125), (Date{2000, 1, 1, 0, 0, 0, 125'000'000}));
  EXPECT_EQ(seconds.date(1e-9), (Date{2000, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(seconds.date(-1e-9), (Date{1999, 12, 31, 23, 59, 59, 999'999'999}));
  EXPECT_EQ(seconds.date(1e-12), (Date{2000, 1, 1}));
  EXPECT_EQ(days.date(1.0 / 3.0), (Date{2000, 1, 1, 8}));
  EXPECT_EQ(days.date(-0.0), (Date{2000, 1, 1}));
  EXPECT_EQ(days.date(std::numeric_limits<double>::denorm_min()), (Date{2000, 1, 1}));
}

TEST(TimeUnits, NumbersOutOfRangeAreRefused) {
  const Calendar calendar("360_day");
  const TimeUnits days(calendar, "days since 2000-01-01");
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double number :
       {infinite, -infinite, std::numeric_limits<double>::quiet_NaN(), 1e300, -1e300, 1e17, 3.7e13, -3.7e13})
    EXPECT_THAT(refused([&] { (void)days.date(number); }), HasSubstr("out of range")) << number;
  EXPECT_EQ(days.date(3.5e13).year, 2000 + 35'000'000'000'000 / 360);
  const Date last{calendar.max_year(), 12, 30, 23, 59, 59, 999'999'999};
  EXPECT_GT(days.number(last), 3.5e13);
  const TimeUnits early(calendar, "nanoseconds", {-calendar.max_year(), 1, 1});
  EXPECT_GT(early.number(last), 6e27);
  EXPECT_EQ(early.date(6e27).month,
            calendar.add({-calendar.max_year(), 1, 1}, {0, 0, 0, 6'000'000'000'000'000'000}).month);
}

TEST(TimeUnits, DaysOfPlanetsHaveTheirLength) {
  const Calendar mars(CalendarRules{{61, 66, 66, 65, 60, 54, 50, 46, 47, 47, 51, 56}, {}, 2, 88775});
  const TimeUnits days(mars, "days since 0001-01-01"), hours(mars, "hours since 0001-01-01");
  EXPECT_EQ(days.number({1, 2, 1}), 61.0);
  EXPECT_EQ(hours.number({1, 1, 2}), 88775.0 / 3600.0);
  EXPECT_EQ(days.date(0.5), (Date{1, 1, 1, 12, 19, 47, 500'000'000}));
}

}  // namespace
}  // namespace afterbay
