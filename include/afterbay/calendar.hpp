// SPDX-License-Identifier: Apache-2.0
/// @file
/// Calendars of models, dates, periods, and the numbers of time axes. Pure values: no session, no
/// MPI.
///
/// Any thread may use these types at any time; a Calendar never changes. Functions throw Failure
/// with invalid_argument, unless they say otherwise, if an argument is wrong or a result is out of
/// range: a result is never wrapped around or clipped. All arithmetic is in 64-bit integers and
/// exact; floating point occurs only in the numbers of time axes. See docs/reference/calendars.md.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/export.h"

namespace afterbay {

namespace dates {
struct Rules;
}

/// A date and time of day, without a calendar: a Calendar says whether it exists. Comparison is in
/// the order of time for dates of one calendar.
struct AFTERBAY_API Date {
  std::int64_t year = 1;  ///< year 0 exists in some calendars only, see Calendar::has_year_zero
  int month = 1;          ///< from 1
  int day = 1;            ///< from 1
  int hour = 0;           ///< from 0
  int minute = 0;         ///< 0 to 59
  int second = 0;         ///< 0 to 59; there are no leap seconds
  int nanosecond = 0;     ///< 0 to 999 999 999
  /// The order of time.
  friend auto operator<=>(const Date&, const Date&) = default;
};

/// An exact length of time: seconds + nanoseconds / 10^9. Nanoseconds are 0 to 999 999 999 even if
/// it is negative: -0.5 s is {-1, 500000000}.
struct AFTERBAY_API Duration {
  std::int64_t seconds = 0;  ///< whole seconds, rounded down
  int nanoseconds = 0;       ///< 0 to 999 999 999
  /// Shorter before longer, negative before positive.
  friend auto operator<=>(const Duration&, const Duration&) = default;
};

/// A step or a frequency: "30min", "6h", "1d", "1mo", "1y". Years, months and days are counts,
/// because their lengths depend on the calendar and on the date. Two periods are equal if all
/// counts are; Calendar::multiple says whether 24h is 1d.
struct AFTERBAY_API Period {
  std::int64_t years = 0;    ///< calendar years
  std::int64_t months = 0;   ///< calendar months
  std::int64_t days = 0;     ///< calendar days: 86400 s in most calendars
  std::int64_t seconds = 0;  ///< whole seconds, rounded down
  int nanoseconds = 0;       ///< 0 to 999 999 999, as in Duration
  std::int64_t steps = 0;    ///< time steps of the model: "1ts"

  /// Reads numbers with the units y, mo, d, h, min, s, ms, us, ns and ts, one after the other:
  /// "6h", "1d6h", "1.5h", "-1mo". Case does not matter, and blanks may stand between the parts. A
  /// sign holds until the next one. Only h, min, s, ms and us may have fractions, which must be
  /// whole nanoseconds. Throws invalid_argument, with the unit that was probably meant.
  static Period parse(std::string_view text);
  /// In the form that parse reads, largest unit first: "1y6mo", "36h", "1min30.5s", "0s".
  [[nodiscard]] std::string text() const;
  /// Whether all counts are 0.
  [[nodiscard]] bool is_zero() const noexcept { return *this == Period(); }
  /// With `step` in place of each time step, for example 4ts with a step of 30min is 120min. Throws
  /// invalid_argument if `step` itself contains time steps.
  [[nodiscard]] Period resolved(const Period& step) const;

  /// The sum, count by count. Throws invalid_argument if a count leaves its range.
  friend AFTERBAY_API Period operator+(const Period& a, const Period& b);
  /// An integer multiple, count by count; `count` may be 0 or negative.
  friend AFTERBAY_API Period operator*(std::int64_t count, const Period& period);
  friend bool operator==(const Period&, const Period&) = default;
};

/// Where intervals begin: at `origin` plus any integer multiple of the period.
struct AFTERBAY_API Alignment {
  /// Absent: the first day of the calendar's year 0 (in calendars without a year 0, of the year
  /// -1).
  std::optional<Date> origin;
  /// Shifts an absent origin back by this number of months.
  int months_before = 0;

  /// Hours, days, months, years and decades begin where those of the calendar do; intervals that do
  /// not divide a day are counted on through months and years.
  static Alignment calendar() { return {}; }
  /// The same with intervals of months that begin in December: 3mo is DJF, MAM, JJA, SON.
  static Alignment seasons() { return {std::nullopt, 1}; }
  /// Counted from the start of the run, or another date.
  static Alignment start(const Date& date) { return {date, 0}; }
};

/// One of the intervals into which a period divides time: from `begin` up to, and without, `end`.
struct AFTERBAY_API Interval {
  Date begin;              ///< the first moment
  Date end;                ///< the first moment of the next interval
  std::int64_t index = 0;  ///< 0 begins at the alignment's origin, -1 ends there
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Whether a period is an integer multiple of another one.
enum class AFTERBAY_API Multiple : int {
  no = 0,      ///< never
  yes = 1,     ///< whatever the date
  depends = 2  ///< on the date: 1mo is 30d in some months only
};

/// A user-defined calendar. The attributes month_lengths, leap_year and leap_month are those of the
/// CF conventions 1.11, section 4.4; other numbers of months and lengths of days are an extension,
/// for planets.
struct AFTERBAY_API CalendarRules {
  std::vector<int> month_lengths;         ///< days per month of a year without leap day; 1 to 1000 months
  std::optional<std::int64_t> leap_year;  ///< it and every fourth year before and after it have a leap day
  int leap_month = 2;                     ///< the month, from 1, that is one day longer in leap years
  std::int64_t day_seconds = 86400;  ///< length of a day; hours have 3600 s, so the last one may be shorter
};

/// The rules by which dates are counted. Copies are cheap.
class AFTERBAY_API Calendar {
 public:
  /// The standard calendar.
  Calendar();
  /// A calendar of the CF conventions, whatever the case: standard or gregorian (Julian until
  /// 1582-10-04, which 1582-10-15 follows), proleptic_gregorian, noleap or 365_day, all_leap or
  /// 366_day, 360_day, julian. Throws unknown_name, with the nearest name.
  explicit Calendar(std::string_view name);
  /// A user-defined calendar. Throws invalid_argument if a rule is impossible.
  explicit Calendar(const CalendarRules& rules);

  /// CF's name in lower case ("standard" for gregorian, "noleap" for 365_day, "all_leap" for
  /// 366_day); "user_defined".
  [[nodiscard]] const std::string& name() const noexcept;
  /// Whether year 0 exists. In standard and julian the year before 1 is -1, in all others 0.
  [[nodiscard]] bool has_year_zero() const noexcept;
  /// 12 in all calendars of CF.
  [[nodiscard]] int months_per_year() const noexcept;
  /// 86400 in all calendars of CF.
  [[nodiscard]] std::int64_t day_seconds() const noexcept;
  /// The last year of the calendar, 100 000 000 000 in those of CF; the first one is its negative.
  [[nodiscard]] std::int64_t max_year() const noexcept;

  /// Throws if the date does not exist; the message says what is wrong and what is valid.
  void check(const Date& date) const;
  /// Days of a month; October 1582 has 21 days in the standard calendar.
  [[nodiscard]] int days_in_month(std::int64_t year, int month) const;
  /// Days of a year; 1582 has 355 days in the standard calendar.
  [[nodiscard]] std::int64_t days_in_year(std::int64_t year) const;
  /// The day of the year, from 1. Days that the calendar left out in October 1582 are not counted.
  [[nodiscard]] std::int64_t day_of_year(const Date& date) const;
  /// The day of the week, from 1 (Monday) to 7 (Sunday), as in ISO 8601. Throws invalid_argument
  /// for calendars other than standard, proleptic_gregorian and julian, which have no weeks.
  [[nodiscard]] int weekday(const Date& date) const;

  /// Reads ISO 8601 and its common variants: 2000-01-01, 2000-01-01T06:30:15.25, 2000-1-1 6:30,
  /// 20000101T0630, -0044-03-15, 12345-01-01, with or without Z or UTC at the end. Other time zones
  /// are refused.
  [[nodiscard]] Date parse(std::string_view text) const;
  /// "2000-01-01T06:30:15", with a fraction of a second only if there is one. Years have at least 4
  /// digits.
  [[nodiscard]] std::string text(const Date& date) const;
  /// Writes the date by a pattern with %Y %y %m %d %j %H %M %S and %%, for example "%Y%m%d". Throws
  /// invalid_argument for other conversions and for a % at the end.
  [[nodiscard]] std::string format(const Date& date, std::string_view pattern) const;

  /// date + count * period. First months and years are added; a day that the month does not have
  /// becomes the last one before it (31 January + 1mo is 28 or 29 February). Then days, then
  /// seconds. To step through time take the start date and growing counts: start + 2 * 1mo is 31
  /// March again. Throws invalid_argument if the period contains time steps (see Period::resolved).
  [[nodiscard]] Date add(const Date& date, const Period& period, std::int64_t count = 1) const;
  /// The time from `from` to `to`; negative if `to` is earlier.
  [[nodiscard]] Duration difference(const Date& from, const Date& to) const;
  /// Whether `period` is n * `unit` with an integer n. Throws invalid_argument if `unit` is zero,
  /// or if one of them contains time steps.
  [[nodiscard]] Multiple multiple(const Period& period, const Period& unit) const;
  /// The interval that contains `date`. `period` must be positive, and consist either of years and
  /// months or of days and seconds.
  [[nodiscard]] Interval interval(const Date& date, const Period& period,
                                  const Alignment& alignment = {}) const;

 private:
  friend class TimeUnits;
  std::shared_ptr<const dates::Rules> rules_;
};

/// The units of a time axis: "days since 2000-01-01".
class AFTERBAY_API TimeUnits {
 public:
  /// "UNIT since DATE": days, hours, minutes, seconds, milliseconds, microseconds or nanoseconds,
  /// also in the short forms of UDUNITS (d, hr, h, min, sec, s, ms, us, ns), and a date as
  /// Calendar::parse reads it. Throws invalid_argument; months and years are refused, because in
  /// UDUNITS they are not those of a calendar.
  TimeUnits(const Calendar& calendar, std::string_view text);
  /// `unit` as above.
  TimeUnits(const Calendar& calendar, std::string_view unit, const Date& reference);

  /// "days since 2000-01-01 00:00:00".
  [[nodiscard]] std::string text() const;
  /// The unit in plural: "days".
  [[nodiscard]] const std::string& unit() const noexcept { return unit_; }
  /// The date whose number is 0.
  [[nodiscard]] const Date& reference() const noexcept { return reference_; }
  /// The number of a date: the double nearest to the exact quotient.
  [[nodiscard]] double number(const Date& date) const;
  /// The date of a number. If several dates have this number, the one in whole seconds, or else in
  /// whole milliseconds, microseconds, or nanoseconds; so it is the inverse of number() for whole
  /// seconds within centuries of the reference, whatever the unit. Throws if it is not finite or
  /// out of range.
  [[nodiscard]] Date date(double number) const;

 private:
  Calendar calendar_;
  std::string unit_;
  std::int64_t unit_nanoseconds_ = 0;
  Date reference_;
};

}  // namespace afterbay
