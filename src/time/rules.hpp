// SPDX-License-Identifier: Apache-2.0
// The rules of a calendar, and days counted by them. Years are astronomical here (0 is the year
// before 1), and days and months are counted from 0, unless a name says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"

namespace afterbay::dates {

enum class LeapRule {
  none,       ///< all years are equal
  every_4th,  ///< those that differ from leap_year by a multiple of 4: Julian and user-defined calendars
  gregorian,  ///< not centuries, except every fourth of them
  reform      ///< Julian until 1582-10-04, Gregorian from 1582-10-15
};

struct Rules {
  std::string name;
  std::vector<int> month_lengths;
  LeapRule leap = LeapRule::none;
  std::int64_t leap_year = 0;
  int leap_month = 1;  ///< from 0
  std::int64_t day_seconds = 86400;
  bool year_zero = true;
  bool weeks = false;
  std::int64_t max_year = 0;  ///< as users count years

  [[nodiscard]] std::int64_t months() const { return static_cast<std::int64_t>(month_lengths.size()); }
  [[nodiscard]] std::int64_t common_days() const;
};

/// Day numbers count from the first day of astronomical year 0. In the calendar of the reform that
/// is the day which the Gregorian calendar would have called so.
struct Day {
  std::int64_t year = 0;
  std::int64_t month = 0;
  std::int64_t day = 0;
};

/// The reform left out the days from 1582-10-05 to 1582-10-14.
inline constexpr std::int64_t reform_year = 1582;

bool is_leap(const Rules& rules, std::int64_t year);
/// The highest number of a day in a month, from 1: 31 also in October 1582.
std::int64_t last_day(const Rules& rules, std::int64_t year, std::int64_t month);
/// Whether the reform left out this day.
bool is_left_out(const Rules& rules, const Day& day);
/// The day must exist.
std::int64_t day_number(const Rules& rules, const Day& day);
Day day_of_number(const Rules& rules, std::int64_t number);
/// The number of the first day of a year or month.
std::int64_t first_day_of(const Rules& rules, std::int64_t year, std::int64_t month = 0);
/// How many days of a month exist.
std::int64_t days_in_month(const Rules& rules, std::int64_t year, std::int64_t month);
/// From 1.
std::int64_t day_of_year(const Rules& rules, const Day& day);
/// From 1 (Monday) to 7 (Sunday); invalid_argument if the calendar has no weeks.
Result<int> weekday(const Rules& rules, const Day& day);
/// All lengths that a month, and a year, can have, in days.
std::vector<std::int64_t> lengths_of_months(const Rules& rules);
std::vector<std::int64_t> lengths_of_years(const Rules& rules);

/// unknown_name, with the nearest name.
Result<Rules> named_rules(std::string_view name);
Result<Rules> rules_of_user(const CalendarRules& given);

/// Rounded towards minus infinity; `divisor` is positive.
template <class T>
constexpr T floor_div(T value, T divisor) {
  const T quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}
/// From 0 to divisor - 1.
template <class T>
constexpr T floor_mod(T value, T divisor) {
  return value - floor_div(value, divisor) * divisor;
}

}  // namespace afterbay::dates
