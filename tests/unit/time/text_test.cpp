// SPDX-License-Identifier: Apache-2.0
// Dates as text, and patterns for names of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "afterbay/calendar.hpp"
#include "refusals.hpp"

namespace afterbay {
namespace {

using test::refused;
using testing::HasSubstr;

TEST(DateText, ReadsIso8601AndItsVariants) {
  const Calendar calendar("proleptic_gregorian");
  const Date morning{2000, 1, 31, 6, 30, 15};
  EXPECT_EQ(calendar.parse("2000-01-31"), (Date{2000, 1, 31}));
  for (const char* text :
       {"2000-01-31T06:30:15", "2000-01-31 06:30:15", "2000-1-31 6:30:15", "20000131T063015",
        "2000-01-31T06:30:15Z", "2000-01-31 06:30:15 UTC", " 2000-01-31t06:30:15 utc ",
        "2000-01-31  06:30:15 +00:00", "2000-01-31 06:30:15 GMT", "+2000-01-31T06:30:15",
        "2000-01-31 06:30:15 0:00", "2000-01-31T06:30:15.000000000000Z"})
    EXPECT_EQ(calendar.parse(text), morning) << text;
  for (const char* text :
       {"2000-01-31T06", "2000-01-31 6", "20000131T06", "20000131 0600", "2000-01-31 06Z", "2000-01-31T06:0"})
    EXPECT_EQ(calendar.parse(text), (Date{2000, 1, 31, 6})) << text;
  EXPECT_EQ(calendar.parse("2000-01-01Z"), (Date{2000, 1, 1}));
  EXPECT_EQ(calendar.parse("20000101"), (Date{2000, 1, 1}));
  EXPECT_EQ(calendar.parse("1-1-1 00:00:0.0"), (Date{1, 1, 1}));
  EXPECT_EQ(calendar.parse("2000-01-01T00:00:00.25").nanosecond, 250'000'000);
  EXPECT_EQ(calendar.parse("2000-01-01T00:00:00,000000001").nanosecond, 1);
  EXPECT_EQ(calendar.parse("-0044-03-15"), (Date{-44, 3, 15}));
  EXPECT_EQ(calendar.parse("12345-06-07"), (Date{12345, 6, 7}));
  EXPECT_EQ(calendar.parse("+20000101-06-07"), (Date{20000101, 6, 7}));
  EXPECT_EQ(calendar.parse("20000101-06-07"), (Date{20000101, 6, 7}));
  EXPECT_EQ(calendar.parse("-100000000000-01-01"), (Date{-100'000'000'000, 1, 1}));
}

TEST(DateText, WhatIsNoDateIsRefused) {
  const Calendar calendar;
  for (const char* text : {"",
                           " ",
                           "2000",
                           "2000-01",
                           "2000-01-",
                           "tomorrow",
                           "2000/01/01",
                           "2000-01-01T",
                           "2000-01-01T:",
                           "2000-01-01 06:",
                           "2000-01-01T06:30:",
                           "2000-01-01T06:30:15.",
                           "2000-01-01T063",
                           "2000-01-01T06.5",
                           "2000-01-01T06:30:15.0000000001",
                           "--1-01-01",
                           "2000-001-01",
                           "200001011",
                           "2000-01-01\n",
                           "2000-01-01 06:30:15 06:30:15",
                           "99999999999999999999-01-01",
                           "2000-01-01T06:30:15+"})
    EXPECT_THAT(refused([&] { (void)calendar.parse(text); }), HasSubstr("is not a date in a known form"))
        << text;
  EXPECT_THAT(refused([&] { (void)calendar.parse("2001-02-29"); }), HasSubstr("days 1 to 28"));
  EXPECT_THAT(refused([&] { (void)calendar.parse("1582-10-10"); }), HasSubstr("follows"));
  EXPECT_THAT(refused([&] { (void)calendar.parse("2000-13-01"); }), HasSubstr("months 1 to 12"));
  EXPECT_THAT(refused([&] { (void)calendar.parse("0000-01-01"); }), HasSubstr("no year 0"));
  EXPECT_THAT(refused([&] { (void)calendar.parse("1000000000000-01-01"); }), HasSubstr("out of range"));
  EXPECT_THAT(refused([&] { (void)calendar.parse("2000-01-01T24:00"); }),
              HasSubstr("hour 0 of the next day"));
}

TEST(DateText, TimeZonesAreRefusedWithTheReason) {
  const Calendar calendar;
  for (const char* zone : {"+01:00", "-3", "+0530", "CET", "Europe/Berlin", "-00:30"})
    EXPECT_THAT(refused([&] { (void)calendar.parse(std::string("2000-01-01T06:00:00 ") + zone); }),
                HasSubstr("has the time zone " + std::string(zone) + ": models count in UTC"))
        << zone;
  EXPECT_THAT(refused([&] { (void)calendar.parse("2000-01-01T06:00:00+01:00"); }),
              HasSubstr("time zone +01:00"));
  EXPECT_THAT(refused([&] { (void)calendar.parse("2000-01-01-01"); }), HasSubstr("time zone -01"));
}

TEST(DateText, IsReadBack) {
  const Calendar calendar("noleap");
  EXPECT_EQ(calendar.text({2000, 1, 2, 3, 4, 5}), "2000-01-02T03:04:05");
  EXPECT_EQ(calendar.text({-1, 1, 1}), "-0001-01-01T00:00:00");
  EXPECT_EQ(calendar.text({12345, 1, 1, 0, 0, 0, 250'000'000}), "12345-01-01T00:00:00.25");
  for (const Date date :
       {Date{2000, 12, 31, 23, 59, 59, 999'999'999}, Date{-123456, 1, 1, 0, 0, 0, 1}, Date{0, 2, 28},
        Date{calendar.max_year(), 12, 31}, Date{-calendar.max_year(), 1, 1}, Date{20000101, 1, 1}})
    EXPECT_EQ(calendar.parse(calendar.text(date)), date);
  EXPECT_THAT(refused([&] { (void)calendar.text({2000, 2, 29}); }), HasSubstr("does not exist"));
}

TEST(DatePattern, WritesAnyCalendar) {
  const Calendar days360("360_day"), standard;
  EXPECT_EQ(days360.format({2000, 2, 30, 6, 5, 4}, "%Y%m%d-%H%M%S"), "20000230-060504");
  EXPECT_EQ(days360.format({2000, 12, 30}, "%j"), "360");
  EXPECT_EQ(standard.format({2001, 1, 2}, "%y.%j"), "01.002");
  EXPECT_EQ(standard.format({-44, 3, 15}, "%Y %y"), "-0044 44");
  EXPECT_EQ(standard.format({12345, 3, 15}, "%Y_%y"), "12345_45");
  EXPECT_EQ(standard.format({2000, 1, 1}, "100%% {ok}"), "100% {ok}");
  EXPECT_EQ(standard.format({2000, 1, 1}, ""), "");
}

TEST(DatePattern, UnknownConversionsAreRefused) {
  const Calendar calendar;
  EXPECT_THAT(refused([&] { (void)calendar.format({2000, 1, 1}, "%Y%"); }), HasSubstr("ends with %"));
  EXPECT_THAT(refused([&] { (void)calendar.format({2000, 1, 1}, "%"); }), HasSubstr("ends with %"));
  EXPECT_THAT(refused([&] { (void)calendar.format({2000, 1, 1}, "%%%"); }), HasSubstr("ends with %"));
  for (const char* conversion : {"%B", "%f", "% ", "%s", "%e", "%-d", "%\n"})
    EXPECT_THAT(refused([&] { (void)calendar.format({2000, 1, 1}, conversion); }),
                HasSubstr("%j (day of the year)"));
  EXPECT_THAT(refused([&] { (void)calendar.format({2000, 2, 30}, "%Y"); }), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace afterbay
