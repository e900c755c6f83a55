// SPDX-License-Identifier: Apache-2.0
// Periods: text, sums, multiples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "afterbay/calendar.hpp"
#include "refusals.hpp"

namespace afterbay {
namespace {

using test::refused;
using testing::HasSubstr;

constexpr std::int64_t largest_number = std::numeric_limits<std::int64_t>::max();

Period read(const char* text) { return Period::parse(text); }

TEST(Period, IsReadFromText) {
  EXPECT_EQ(read("30s"), (Period{0, 0, 0, 30}));
  EXPECT_EQ(read("10min"), (Period{0, 0, 0, 600}));
  EXPECT_EQ(read("6H"), (Period{0, 0, 0, 21600}));
  EXPECT_EQ(read("1d"), (Period{0, 0, 1}));
  EXPECT_EQ(read("3mo"), (Period{0, 3}));
  EXPECT_EQ(read("10y"), (Period{10}));
  EXPECT_EQ(read("4ts"), (Period{0, 0, 0, 0, 0, 4}));
  EXPECT_EQ(read("1.5h"), (Period{0, 0, 0, 5400}));
  EXPECT_EQ(read(" 1 d  6 h "), (Period{0, 0, 1, 21600}));
  EXPECT_EQ(read("1y2mo3d4h5min6.5s7ts"), (Period{1, 2, 3, 4 * 3600 + 5 * 60 + 6, 500'000'000, 7}));
  EXPECT_EQ(read("1d1d"), (Period{0, 0, 2}));
  EXPECT_EQ(read("1.0mo"), (Period{0, 1}));
  EXPECT_EQ(read("0.5ms"), (Period{0, 0, 0, 0, 500'000}));
  EXPECT_EQ(read("250us3ns"), (Period{0, 0, 0, 0, 250'003}));
  EXPECT_EQ(read("-6h"), (Period{0, 0, 0, -21600}));
  EXPECT_EQ(read("-0.5s"), (Period{0, 0, 0, -1, 500'000'000}));
  EXPECT_EQ(read("-1d6h"), (Period{0, 0, -1, -21600}));
  EXPECT_EQ(read("1mo-1d+2h"), (Period{0, 1, -1, 7200}));
  EXPECT_TRUE(read("0s").is_zero());
  EXPECT_TRUE(read("0d0mo").is_zero());
  EXPECT_EQ(read("9223372036854775807s"), (Period{0, 0, 0, largest_number}));
  EXPECT_EQ(read("-9223372036854775808mo"), (Period{0, -largest_number - 1}));
}

TEST(Period, WhatIsNoneIsRefusedWithTheUnitThatWasMeant) {
  const auto refusal = [](const char* text) { return refused([&] { read(text); }); };
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("  "), HasSubstr("empty"));
  EXPECT_THAT(refusal("6"), HasSubstr("the number 6 has no unit"));
  EXPECT_THAT(refusal("6h30"), HasSubstr("the number 30 has no unit"));
  EXPECT_THAT(refusal("h"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal("-"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal("--1d"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal("1.h"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal(".5h"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal("monthly"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal("1e3s"), HasSubstr("\"e\" is not a unit"));
  EXPECT_THAT(refusal("6hours"), HasSubstr("did you mean \"h\"?"));
  EXPECT_THAT(refusal("6huors"), HasSubstr("did you mean \"h\"?"));
  EXPECT_THAT(refusal("1month"), HasSubstr("did you mean \"mo\"?"));
  EXPECT_THAT(refusal("1DAY"), HasSubstr("did you mean \"d\"?"));
  EXPECT_THAT(refusal("2steps"), HasSubstr("did you mean \"ts\"?"));
  EXPECT_THAT(refusal("5m"), HasSubstr("min (minutes) or mo (months)"));
  EXPECT_THAT(refusal("1w"), HasSubstr("write 7d for a week. Units are y, mo"));
  EXPECT_THAT(refusal("1parsec"), HasSubstr("units are y, mo, d, h"));
  EXPECT_THAT(refusal("1d,6h"), HasSubstr("a number was expected"));
  EXPECT_THAT(refusal("1\xC2\xB5s"), HasSubstr("has no unit"));
}

TEST(Period, FractionsOfWhatDependsOnTheCalendarAreRefused) {
  for (const char* text : {"1.5mo", "0.5d", "2.5y", "1.5ts"})
    EXPECT_THAT(refused([&] { read(text); }), HasSubstr("cannot have a fraction")) << text;
  for (const char* text : {"0.1ns", "0.0001us", "1.0000000001s", "0.00000000000001h"})
    EXPECT_THAT(refused([&] { read(text); }), HasSubstr("not a whole number of nanoseconds")) << text;
}

TEST(Period, NumbersThatDoNotFitAreRefused) {
  for (const char* text : {"9223372036854775808s", "9223372036854775808y", "99999999999999999999999999d",
                           "9223372036854775807min", "9223372036854775807y1y", "-9223372036854775809mo",
                           "9223372036854775807s9223372036854775807s"})
    EXPECT_THAT(refused([&] { read(text); }), HasSubstr("2^63")) << text;
}

TEST(Period, IsPrintedInTheFormThatIsRead) {
  EXPECT_EQ(Period().text(), "0s");
  EXPECT_EQ(read("90s").text(), "1min30s");
  EXPECT_EQ(read("1.5h").text(), "1h30min");
  EXPECT_EQ(read("36h").text(), "36h");
  EXPECT_EQ(read("12mo").text(), "12mo");
  EXPECT_EQ(read("-1d6h").text(), "-1d6h");
  EXPECT_EQ(read("1mo-1d").text(), "1mo-1d");
  EXPECT_EQ((Period{1, -2, 3, 0, 0, -4}).text(), "1y-2mo+3d-4ts");
  EXPECT_EQ(read("-0.25s").text(), "-0.25s");
  for (const Period period :
       {Period{1, 2, 3, 4, 5, 6},
        Period{-largest_number - 1, largest_number, -largest_number - 1, largest_number, 999'999'999, -1},
        Period{0, 0, 0, -largest_number - 1, 0}, Period{0, 0, 0, -1, 999'999'999}, Period{0, 0, 0, 0, 1}})
    EXPECT_EQ(Period::parse(period.text()), period) << period.text();
}

TEST(Period, SumsAndMultiplesKeepMonthsAndSecondsApart) {
  EXPECT_EQ(read("1mo") + read("1d6h"), read("1mo1d6h"));
  EXPECT_EQ(3 * read("1mo6h"), read("3mo18h"));
  EXPECT_EQ(-1 * read("0.25s"), read("-0.25s"));
  EXPECT_EQ(0 * read("1y"), Period());
  EXPECT_EQ(read("0.75s") + read("0.75s"), read("1.5s"));
  EXPECT_EQ(read("0.25s") + read("-1s"), read("-0.75s"));
  EXPECT_THAT(refused([] { (void)(Period{largest_number} + Period{1}); }),
              HasSubstr("years of a period exceed the range"));
  EXPECT_THAT(refused([] { (void)(largest_number * Period{0, 2}); }), HasSubstr("months of a period"));
  EXPECT_THAT(refused([] { (void)(-2 * Period{0, 0, 0, -largest_number - 1}); }),
              HasSubstr("seconds of a period"));
  EXPECT_THAT(refused([] { (void)((-largest_number - 1) * Period{0, 0, 0, 0, 999'999'999, -1}); }),
              HasSubstr("time steps"));
}

TEST(Period, TimeStepsAreResolved) {
  EXPECT_EQ(read("4ts").resolved(read("30min")), read("2h"));
  EXPECT_EQ(read("1d1ts").resolved(read("1mo")), read("1mo1d"));
  EXPECT_EQ(read("6h").resolved(read("1s")), read("6h"));
  EXPECT_THAT(refused([] { (void)read("4ts").resolved(read("2ts")); }),
              HasSubstr("contains time steps itself"));
  const Calendar calendar;
  EXPECT_THAT(refused([&] { (void)calendar.add({2000, 1, 1}, read("1ts")); }), HasSubstr("resolve it"));
  EXPECT_THAT(refused([&] { (void)calendar.interval({2000, 1, 1}, read("1ts")); }), HasSubstr("resolve it"));
  EXPECT_THAT(refused([&] { (void)calendar.multiple(read("1d"), read("1ts")); }), HasSubstr("resolve it"));
}

TEST(Period, MultiplesInACalendar) {
  const Calendar standard, noleap("noleap"), all360("360_day");
  const auto answer = [](const Calendar& calendar, const char* period, const char* unit) {
    return calendar.multiple(read(period), read(unit));
  };
  EXPECT_EQ(answer(standard, "1d", "30min"), Multiple::yes);
  EXPECT_EQ(answer(standard, "24h", "1d"), Multiple::yes);
  EXPECT_EQ(answer(standard, "1d", "7h"), Multiple::no);
  EXPECT_EQ(answer(standard, "0.3s", "0.1s"), Multiple::yes);
  EXPECT_EQ(answer(standard, "0s", "7h"), Multiple::yes);
  EXPECT_EQ(answer(standard, "-1d", "6h"), Multiple::yes);
  EXPECT_EQ(answer(standard, "1y", "3mo"), Multiple::yes);
  EXPECT_EQ(answer(standard, "1y", "5mo"), Multiple::no);
  EXPECT_EQ(answer(noleap, "18mo", "1y"), Multiple::no);
  EXPECT_EQ(answer(standard, "1mo", "30min"), Multiple::yes);  // months are whole days
  EXPECT_EQ(answer(standard, "1mo", "5d"), Multiple::depends);
  EXPECT_EQ(answer(standard, "1mo", "7h"), Multiple::depends);
  EXPECT_EQ(answer(standard, "30d", "1mo"), Multiple::depends);
  EXPECT_EQ(answer(standard, "1y", "5d"), Multiple::depends);
  EXPECT_EQ(answer(noleap, "1y", "5d"), Multiple::yes);
  EXPECT_EQ(answer(noleap, "1y", "7d"), Multiple::no);
  EXPECT_EQ(answer(noleap, "365d", "1y"), Multiple::yes);
  EXPECT_EQ(answer(all360, "1mo", "5d"), Multiple::yes);
  EXPECT_EQ(answer(all360, "1mo", "7d"), Multiple::no);
  EXPECT_EQ(answer(all360, "45d", "1mo15d"), Multiple::yes);
  EXPECT_EQ(answer(standard, "1mo6h", "30min"), Multiple::yes);
  EXPECT_EQ(answer(standard, "1mo20min", "30min"), Multiple::no);
  EXPECT_EQ(answer(standard, "2mo12h", "1mo6h"), Multiple::yes);
  EXPECT_EQ(answer(standard, "2mo13h", "1mo6h"), Multiple::depends);
  EXPECT_EQ(answer(standard, "0s", "1mo"), Multiple::yes);
  for (const char* zero : {"0s", "0mo"})
    EXPECT_THAT(refused([&] { (void)standard.multiple(read("1d"), read(zero)); }), HasSubstr("not zero"));
  const Calendar venus(CalendarRules{{100'000}, {}, 2, 100'000'000});
  EXPECT_THAT(refused([&] { (void)venus.multiple(Period{largest_number}, Period{0, 0, 0, 7}); }),
              HasSubstr("too long"));
}

}  // namespace
}  // namespace afterbay
