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

Interval at(const Calendar& calendar, const char* date, const char* period, const Alignment& alignment = {}) {
  return calendar.interval(calendar.parse(date), Period::parse(period), alignment);
}
/// "BEGIN END".
std::string span_of(const Calendar& calendar, const char* date, const char* period,
                    const Alignment& alignment = {}) {
  const Interval found = at(calendar, date, period, alignment);
  return calendar.format(found.begin, "%Y-%m-%dT%H:%M") + " " + calendar.format(found.end, "%Y-%m-%dT%H:%M");
}

TEST(Intervals, BeginWhereThoseOfTheCalendarDo) {
  for (const char* name : {"standard", "proleptic_gregorian", "julian"}) {
    const Calendar calendar(name);
    EXPECT_EQ(span_of(calendar, "2000-02-29 07:30", "1h"), "2000-02-29T07:00 2000-02-29T08:00");
    EXPECT_EQ(span_of(calendar, "2000-02-29 07:30", "6h"), "2000-02-29T06:00 2000-02-29T12:00");
    EXPECT_EQ(span_of(calendar, "2000-02-29 07:30", "1d"), "2000-02-29T00:00 2000-03-01T00:00");
    EXPECT_EQ(span_of(calendar, "2000-02-29 07:30", "1mo"), "2000-02-01T00:00 2000-03-01T00:00");
    EXPECT_EQ(span_of(calendar, "2000-02-29 07:30", "3mo"), "2000-01-01T00:00 2000-04-01T00:00");
    EXPECT_EQ(span_of(calendar, "2000-02-29 07:30", "1y"), "2000-01-01T00:00 2001-01-01T00:00");
    EXPECT_EQ(span_of(calendar, "2009-12-31", "10y"), "2000-01-01T00:00 2010-01-01T00:00");
  }
}

TEST(Intervals, TheEndBelongsToTheNextOne) {
  const Calendar calendar;
  EXPECT_EQ(span_of(calendar, "2000-03-01", "1mo"), "2000-03-01T00:00 2000-04-01T00:00");
  EXPECT_EQ(span_of(calendar, "2000-02-29T23:59:59.999999999", "1mo"), "2000-02-01T00:00 2000-03-01T00:00");
  EXPECT_EQ(at(calendar, "2000-03-01", "1mo").index, at(calendar, "2000-02-29", "1mo").index + 1);
}

TEST(Intervals, SeasonsBeginInDecember) {
  const Calendar calendar("noleap");
  EXPECT_EQ(span_of(calendar, "2000-01-15", "3mo", Alignment::seasons()),
            "1999-12-01T00:00 2000-03-01T00:00");
  EXPECT_EQ(span_of(calendar, "2000-03-01", "3mo", Alignment::seasons()),
            "2000-03-01T00:00 2000-06-01T00:00");
  EXPECT_EQ(span_of(calendar, "2000-12-01", "3mo", Alignment::seasons()),
            "2000-12-01T00:00 2001-03-01T00:00");
  EXPECT_EQ(span_of(calendar, "2000-11-30", "1y", Alignment::seasons()), "1999-12-01T00:00 2000-12-01T00:00");
}

TEST(Intervals, CountedFromTheStartOfTheRun) {
  const Calendar calendar;
  const Alignment start = Alignment::start({2000, 1, 31, 3});
  EXPECT_EQ(span_of(calendar, "2000-01-31 03:00", "1d", start), "2000-01-31T03:00 2000-02-01T03:00");
  EXPECT_EQ(span_of(calendar, "2000-02-29 02:59", "1mo", start), "2000-01-31T03:00 2000-02-29T03:00");
  EXPECT_EQ(span_of(calendar, "2000-02-29 03:00", "1mo", start), "2000-02-29T03:00 2000-03-31T03:00");
  EXPECT_EQ(span_of(calendar, "2000-02-10", "5d", start), "2000-02-05T03:00 2000-02-10T03:00");
  EXPECT_EQ(at(calendar, "2000-01-31 03:00", "1mo", start).index, 0);
  EXPECT_EQ(at(calendar, "2000-01-31 02:59", "1mo", start).index, -1);
  EXPECT_EQ(at(calendar, "2001-01-31 03:00", "1mo", start).index, 12);
  EXPECT_EQ(at(calendar, "2000-02-01 02:59", "6h", start).index, 3);
  EXPECT_EQ(at(calendar, "2000-01-30 03:00", "6h", start).index, -4);
}

TEST(Intervals, BeforeTheYear1) {
  const Calendar standard, noleap("noleap");
  EXPECT_EQ(span_of(standard, "0001-01-01", "10y"), "-0001-01-01T00:00 0010-01-01T00:00");
  EXPECT_EQ(span_of(noleap, "0001-01-01", "10y"), "0000-01-01T00:00 0010-01-01T00:00");
  EXPECT_EQ(span_of(noleap, "-0001-06-01", "10y"), "-0010-01-01T00:00 0000-01-01T00:00");
  EXPECT_EQ(span_of(standard, "-0001-12-31 23:00", "6h"), "-0001-12-31T18:00 0001-01-01T00:00");
}

TEST(Intervals, OfTheMonthOfTheReform) {
  const Calendar calendar;
  EXPECT_EQ(span_of(calendar, "1582-10-20", "1mo"), "1582-10-01T00:00 1582-11-01T00:00");
  EXPECT_EQ(span_of(calendar, "1582-10-04", "1d"), "1582-10-04T00:00 1582-10-15T00:00");
  const Alignment start = Alignment::start({1582, 9, 10});
  EXPECT_EQ(span_of(calendar, "1582-10-04", "1mo", start), "1582-10-04T00:00 1582-11-10T00:00");
  EXPECT_EQ(span_of(calendar, "1582-10-03", "1mo", start), "1582-09-10T00:00 1582-10-04T00:00");
}

TEST(Intervals, TileTime) {
  for (const char* name : {"standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"}) {
    const Calendar calendar(name);
    for (const char* period : {"7h", "1d", "5d", "1mo", "3mo", "5mo", "1y", "7y"}) {
      for (const Alignment& alignment :
           {Alignment::calendar(), Alignment::seasons(), Alignment::start({1581, 1, 30, 5})}) {
        Interval now = calendar.interval({1582, 9, 1}, Period::parse(period), alignment);
        for (int i = 0; i < 40; ++i) {
          ASSERT_LT(now.begin, now.end);
          const Interval next = calendar.interval(now.end, Period::parse(period), alignment);
          ASSERT_EQ(next.begin, now.end) << name << period;
          ASSERT_EQ(next.index, now.index + 1);
          ASSERT_EQ(calendar.interval(calendar.add(now.end, Period::parse("-1ns")), Period::parse(period),
                                      alignment),
                    now);
          now = next;
        }
      }
    }
  }
}

TEST(Intervals, PeriodsWithoutIntervalsAreRefused) {
  const Calendar calendar;
  for (const char* period : {"0s", "0mo", "-6h", "-1mo", "-1y"})
    EXPECT_THAT(refused([&] { (void)at(calendar, "2000-01-01", period); }), HasSubstr("must be positive"))
        << period;
  for (const char* period : {"1mo1d", "1y6h", "-1mo1d"})
    EXPECT_THAT(refused([&] { (void)at(calendar, "2000-01-01", period); }),
                HasSubstr("mixes months with days"));
  EXPECT_THAT(refused([&] { (void)calendar.interval({2000, 2, 30}, Period::parse("1d")); }),
              HasSubstr("does not exist"));
  EXPECT_THAT(refused([&] { (void)at(calendar, "2000-01-01", "1d", Alignment::start({2000, 2, 30})); }),
              HasSubstr("does not exist"));
  EXPECT_THAT(refused([&] { (void)at(calendar, "9999999999-01-01", "1ns"); }),
              HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(
      refused([&] { (void)calendar.interval({2000, 1, 1}, {std::numeric_limits<std::int64_t>::max()}); }),
      HasSubstr("out of range"));
  EXPECT_THAT(refused([&] { (void)calendar.interval({calendar.max_year(), 12, 31}, Period::parse("1y")); }),
              HasSubstr("out of range"));
}

}  // namespace
}  // namespace afterbay
