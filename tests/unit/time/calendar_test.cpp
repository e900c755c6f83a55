// SPDX-License-Identifier: Apache-2.0
// The rules of calendars. tests/bindings/calendars.py compares all of them with cftime.
#include "afterbay/calendar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "refusals.hpp"

namespace afterbay {
namespace {

using test::refused;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t calendar_largest = std::numeric_limits<std::int64_t>::max();
const std::vector<const char*> all_names{"standard", "proleptic_gregorian", "noleap", "all_leap", "360_day",
                                         "julian"};

TEST(Calendar, NamesOfCfAndTheirSynonyms) {
  EXPECT_EQ(Calendar().name(), "standard");
  EXPECT_EQ(Calendar("GREGORIAN").name(), "standard");
  EXPECT_EQ(Calendar("365_day").name(), "noleap");
  EXPECT_EQ(Calendar("366_Day").name(), "all_leap");
  for (const char* name : all_names) EXPECT_EQ(Calendar(name).name(), name);
}

TEST(Calendar, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_THAT(refused([] { Calendar calendar("no_leap"); }, ErrorCode::unknown_name),
              HasSubstr("did you mean \"noleap\"?"));
  EXPECT_THAT(refused([] { Calendar calendar("standrad"); }, ErrorCode::unknown_name),
              HasSubstr("\"standard\""));
  EXPECT_THAT(refused([] { Calendar calendar(""); }, ErrorCode::unknown_name),
              AllOf(HasSubstr("no calendar \"\""), HasSubstr("360_day")));
}

TEST(Calendar, MonthsAndYears) {
  EXPECT_EQ(Calendar("standard").days_in_month(1900, 2), 28);
  EXPECT_EQ(Calendar("standard").days_in_month(1500, 2), 29);
  EXPECT_EQ(Calendar("julian").days_in_month(1900, 2), 29);
  EXPECT_EQ(Calendar("proleptic_gregorian").days_in_month(1500, 2), 28);
  EXPECT_EQ(Calendar("proleptic_gregorian").days_in_month(0, 2), 29);
  EXPECT_EQ(Calendar("noleap").days_in_month(2000, 2), 28);
  EXPECT_EQ(Calendar("all_leap").days_in_month(2001, 2), 29);
  EXPECT_EQ(Calendar("360_day").days_in_month(2001, 2), 30);
  EXPECT_EQ(Calendar("standard").days_in_month(1582, 10), 21);
  EXPECT_EQ(Calendar("standard").days_in_year(1582), 355);
  EXPECT_EQ(Calendar("standard").days_in_year(2000), 366);
  EXPECT_EQ(Calendar("360_day").days_in_year(-7), 360);
  EXPECT_EQ(Calendar("standard").days_in_year(-1),
            366);  // the year before 1, in which 4 BC would be a leap year
}

TEST(Calendar, DayOfYearAndWeekday) {
  const Calendar standard;
  EXPECT_EQ(standard.day_of_year({2000, 12, 31}), 366);
  EXPECT_EQ(standard.day_of_year({1582, 10, 4}), 277);
  EXPECT_EQ(standard.day_of_year({1582, 10, 15}), 278);
  EXPECT_EQ(standard.weekday({1582, 10, 4}), 4);   // a Thursday
  EXPECT_EQ(standard.weekday({1582, 10, 15}), 5);  // the Friday after it
  EXPECT_EQ(Calendar("julian").weekday({1582, 10, 5}), 5);
  EXPECT_EQ(Calendar("proleptic_gregorian").weekday({1969, 7, 20}), 7);
  for (const char* name : {"noleap", "all_leap", "360_day"})
    EXPECT_THAT(refused([&] { (void)Calendar(name).weekday({2000, 1, 1}); }), HasSubstr("has no weeks"));
}

TEST(Calendar, DatesThatDoNotExistAreRefusedWithWhatIsValid) {
  const Calendar standard, noleap("noleap"), days360("360_day");
  EXPECT_THAT(
      refused([&] { noleap.check({2000, 2, 29}); }),
      HasSubstr(
          "2000-02-29 does not exist in the calendar noleap: month 2 of year 2000 has the days 1 to 28"));
  EXPECT_THAT(refused([&] { days360.check({2000, 1, 31}); }), HasSubstr("days 1 to 30"));
  EXPECT_NO_THROW(days360.check({2000, 2, 30}));
  EXPECT_THAT(refused([&] { standard.check({2000, 13, 1}); }), HasSubstr("months 1 to 12"));
  EXPECT_THAT(refused([&] { standard.check({2000, 0, 1}); }), HasSubstr("month 0 does not exist"));
  EXPECT_THAT(refused([&] { standard.check({2000, 1, 0}); }), HasSubstr("days 1 to 31"));
  EXPECT_THAT(refused([&] { standard.check({2000, 1, 1, 24}); }), HasSubstr("hour 0 of the next day"));
  EXPECT_THAT(refused([&] { standard.check({2000, 1, 1, -1}); }), HasSubstr("hours 0 to 23"));
  EXPECT_THAT(refused([&] { standard.check({2000, 1, 1, 0, 60}); }), HasSubstr("minutes 0 to 59"));
  EXPECT_THAT(refused([&] { standard.check({2016, 12, 31, 23, 59, 60}); }), HasSubstr("no leap seconds"));
  EXPECT_THAT(refused([&] { standard.check({2000, 1, 1, 0, 0, 0, 1'000'000'000}); }),
              HasSubstr("nanoseconds 0 to"));
  EXPECT_THAT(refused([&] { standard.check({2000, 1, 1, 0, 0, 0, -1}); }), HasSubstr("nanosecond -1"));
}

TEST(Calendar, TheReformLeftOutTenDays) {
  const Calendar standard;
  for (int day = 5; day <= 14; ++day)
    EXPECT_THAT(refused([&] { standard.check({1582, 10, day}); }),
                HasSubstr("1582-10-15 follows 1582-10-04"));
  EXPECT_EQ(standard.difference({1582, 10, 4}, {1582, 10, 15}).seconds, 86400);
  EXPECT_EQ(standard.add({1582, 10, 4, 12}, Period::parse("1d")), (Date{1582, 10, 15, 12}));
  EXPECT_EQ(standard.add({1582, 9, 10}, Period::parse("1mo")), (Date{1582, 10, 4}));
  EXPECT_EQ(standard.add({1582, 9, 10}, Period::parse("1mo"), 2), (Date{1582, 11, 10}));
  EXPECT_EQ(standard.add({1583, 10, 14}, Period::parse("-1y")), (Date{1582, 10, 4}));
  for (const char* name : {"julian", "proleptic_gregorian", "noleap"})
    EXPECT_NO_THROW(Calendar(name).check({1582, 10, 10}));
}

TEST(Calendar, YearZero) {
  for (const char* name : {"standard", "julian"}) {
    const Calendar calendar(name);
    EXPECT_FALSE(calendar.has_year_zero());
    EXPECT_THAT(refused([&] { calendar.check({0, 1, 1}); }), HasSubstr("the year before 1 is -1"));
    EXPECT_THAT(refused([&] { (void)calendar.days_in_month(0, 1); }), HasSubstr("no year 0"));
    EXPECT_EQ(calendar.add({-1, 12, 31}, Period::parse("1d")), (Date{1, 1, 1}));
    EXPECT_EQ(calendar.add({1, 1, 31}, Period::parse("-1mo")), (Date{-1, 12, 31}));
    EXPECT_EQ(calendar.add({1, 5, 1}, Period::parse("1y"), -1), (Date{-1, 5, 1}));
  }
  for (const char* name : {"proleptic_gregorian", "noleap", "all_leap", "360_day"}) {
    const Calendar calendar(name);
    EXPECT_TRUE(calendar.has_year_zero());
    EXPECT_EQ(calendar.add({-1, 12, 30}, Period::parse("1mo")), (Date{0, 1, 30}));
  }
}

TEST(Calendar, YearsOutOfRangeAreRefused) {
  for (const char* name : all_names) {
    const Calendar calendar(name);
    const std::int64_t last = calendar.max_year();
    EXPECT_EQ(last, 100'000'000'000);
    EXPECT_THAT(refused([&] { calendar.check({1'000'000'000'000, 1, 1}); }),
                HasSubstr("years -100000000000 to 100000000000"));
    for (const std::int64_t year : {last + 1, -last - 1, calendar_largest, -calendar_largest - 1}) {
      EXPECT_THAT(refused([&] { calendar.check({year, 1, 1}); }), HasSubstr("out of range"));
      EXPECT_THAT(refused([&] { (void)calendar.days_in_year(year); }), HasSubstr("out of range"));
    }
    const Date first_moment{-last, 1, 1}, last_moment{last, 12, 30, 23, 59, 59, 999'999'999};
    const Duration all = calendar.difference(first_moment, last_moment);
    EXPECT_GT(all.seconds, 2 * last * 359 * 86400);
    EXPECT_EQ(all.nanoseconds, 999'999'999);
    EXPECT_EQ(calendar.difference(last_moment, first_moment), (Duration{-all.seconds - 1, 1}));
    EXPECT_EQ(calendar.add(first_moment, {0, 0, 0, all.seconds, all.nanoseconds}), last_moment);
    for (const char* step : {"1d", "1mo", "1y", "2d"}) {
      if (std::string_view(step) == "1d" && calendar.days_in_month(last, 12) == 31) continue;
      EXPECT_THAT(refused([&] { (void)calendar.add(last_moment, Period::parse(step)); }),
                  HasSubstr("out of range"));
      EXPECT_THAT(refused([&] { (void)calendar.add(first_moment, Period::parse(step), -1); }),
                  HasSubstr("out of range"));
    }
  }
}

TEST(Calendar, SumsThatOverflowAreRefused) {
  const Calendar noleap("noleap");
  for (const Period period : {Period{calendar_largest}, Period{0, calendar_largest},
                              Period{0, 0, calendar_largest}, Period{0, 0, 0, calendar_largest},
                              Period{-calendar_largest - 1}, Period{0, 0, -calendar_largest - 1}}) {
    for (const std::int64_t count :
         {std::int64_t{1}, std::int64_t{-1}, std::int64_t{12}, calendar_largest, -calendar_largest - 1})
      EXPECT_THAT(refused([&] { (void)noleap.add({2000, 1, 1}, period, count); }), HasSubstr("out of range"));
    EXPECT_EQ(noleap.add({2000, 1, 1}, period, 0), (Date{2000, 1, 1}));
  }
}

TEST(Calendar, TheEndOfAMonthIsTakenFromTheStart) {
  const Calendar standard;
  const Period month = Period::parse("1mo");
  const Date start{2001, 1, 31, 6};
  EXPECT_EQ(standard.add(start, month, 1), (Date{2001, 2, 28, 6}));
  EXPECT_EQ(standard.add(start, month, 2), (Date{2001, 3, 31, 6}));
  EXPECT_EQ(standard.add(start, month, 3), (Date{2001, 4, 30, 6}));
  EXPECT_EQ(standard.add(start, month, 37), (Date{2004, 2, 29, 6}));
  EXPECT_EQ(standard.add({2000, 2, 29}, Period::parse("1y")), (Date{2001, 2, 28}));
  EXPECT_EQ(standard.add({2000, 2, 29}, Period::parse("1y"), 4), (Date{2004, 2, 29}));
  EXPECT_EQ(standard.add({2000, 1, 31}, Period::parse("1mo1d6h")), (Date{2000, 3, 1, 6}));  // months first
}

TEST(UserDefinedCalendar, MonthsLeapYearsAndDays) {
  // CF's example for the climate 126 000 years ago, and one of Mars without leap years.
  const Calendar paleo(CalendarRules{{34, 31, 32, 30, 29, 27, 28, 28, 28, 32, 32, 34}, {}, 2});
  EXPECT_EQ(paleo.days_in_year(1), 365);
  EXPECT_EQ(paleo.name(), "user_defined");
  EXPECT_TRUE(paleo.has_year_zero());
  EXPECT_EQ(paleo.add({1, 1, 34}, Period::parse("1mo")), (Date{1, 2, 31}));

  const Calendar mars(CalendarRules{{61, 66, 66, 65, 60, 54, 50, 46, 47, 47, 51, 56}, {}, 2, 88775});
  EXPECT_EQ(mars.days_in_year(5), 669);
  EXPECT_EQ(mars.add({1, 1, 61, 24, 39, 34}, Period::parse("1s")), (Date{1, 2, 1}));
  EXPECT_EQ(mars.difference({1, 1, 1}, {2, 1, 1}).seconds, 669 * 88775);
  EXPECT_THAT(refused([&] { mars.check({1, 1, 1, 24, 39, 35}); }), HasSubstr("a day has 88775 s"));
  EXPECT_THAT(refused([&] { mars.check({1, 1, 1, 25}); }), HasSubstr("hours 0 to 24"));
}

TEST(UserDefinedCalendar, LeapRuleOfCf) {
  const Calendar julian("julian");
  const Calendar leap3(CalendarRules{{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}, 2003, 1});
  for (std::int64_t year = -9; year < 2020; ++year)
    EXPECT_EQ(leap3.days_in_month(year, 1), (year - 2003) % 4 == 0 ? 32 : 31) << year;
  const Calendar like_julian(CalendarRules{{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}, -4});
  for (const Date date : {Date{1, 1, 1}, Date{4, 2, 29}, Date{1900, 3, 1}, Date{2000, 12, 31}})
    EXPECT_EQ(like_julian.difference({1, 1, 1}, date), julian.difference({1, 1, 1}, date));
  const Calendar one_month(CalendarRules{{10}, -calendar_largest - 1, 1});
  EXPECT_EQ(one_month.add({0, 1, 11}, Period::parse("1d")), (Date{1, 1, 1}));
  EXPECT_EQ(one_month.add({0, 1, 11}, Period::parse("1mo")), (Date{1, 1, 10}));
  EXPECT_EQ(one_month.months_per_year(), 1);
}

TEST(UserDefinedCalendar, ImpossibleRulesAreRefused) {
  const auto refusal = [](std::vector<int> months, std::int64_t day_seconds = 86400) {
    return refused([&] { Calendar calendar(CalendarRules{months, {}, 2, day_seconds}); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("0 months per year"));
  EXPECT_THAT(refusal(std::vector<int>(1001, 1)), HasSubstr("1 to 1000 months"));
  EXPECT_THAT(refusal({30, 0, 30}), HasSubstr("month 2 of a user-defined calendar has 0 days"));
  EXPECT_THAT(refusal({30, 30, -1}), HasSubstr("month 3"));
  EXPECT_THAT(refusal({100'001}), HasSubstr("1 to 100000 days"));
  EXPECT_THAT(refusal({30}, 0), HasSubstr("a day of a user-defined calendar has 0 s"));
  EXPECT_THAT(refusal({30}, -86400), HasSubstr("-86400 s"));
  EXPECT_THAT(refusal(std::vector<int>(1000, 100'000), 100'000'000), HasSubstr("too long"));
  for (const int month : {2, 0, -1})
    EXPECT_THAT(
        refused([&] { Calendar calendar(CalendarRules{{30}, 2000, month}); }),
        HasSubstr("leap_month of a user-defined calendar is " + std::to_string(month) + "; give 1 to 1"));
}

TEST(UserDefinedCalendar, LongYearsLeaveFewerOfThem) {
  const Calendar calendar(CalendarRules{std::vector<int>(100, 100'000), {}, 2, 1'000'000});
  const std::int64_t last = calendar.max_year();
  EXPECT_GE(last, 10'000);
  EXPECT_LT(last, 1'000'000);
  const Duration all = calendar.difference({-last, 1, 1}, {last, 1, 1});
  EXPECT_EQ(all.seconds, 2 * last * 10'000'000 * 1'000'000);
}

TEST(Calendar, CopiesAreEqualAndCheap) {
  const Calendar first("360_day");
  const Calendar second = first;  // NOLINT: a copy is tested
  EXPECT_EQ(second.name(), "360_day");
  EXPECT_EQ(&second.name(), &first.name());
}

}  // namespace
}  // namespace afterbay
