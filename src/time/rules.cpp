// SPDX-License-Identifier: Apache-2.0
// Days of years, by counting leap years: the first day of year y has the number
//   common days * y + leap years in [0, y)
// and multiples of n in [0, y) are ceil(y / n), for negative y as well. The inverse estimates the
// year from the mean length of a year, which is off by one at most, and corrects it.
#include "time/rules.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "time/letters.hpp"

namespace afterbay::dates {
namespace {

constexpr std::int64_t most_years = 100'000'000'000;
/// All dates lie within this time of year 0, so that differences of dates fit 64 bits.
constexpr std::int64_t most_seconds = std::int64_t{1} << 62;
constexpr std::size_t most_months = 1000;
constexpr int longest_month = 100'000;
constexpr std::int64_t longest_day = 100'000'000;  // 3 years
constexpr std::int64_t fewest_years = 10'000;

/// Julian day numbers are 2 larger than Gregorian ones of the same day: 1582-10-05 (Julian) is
/// 365 * 1582 + 396 leap years + 277 days, and 1582-10-15 (Gregorian) is 365 * 1582 + 384 + 287.
constexpr std::int64_t julian_shift = 2;
constexpr Day first_gregorian{reform_year, 9, 14};  // from 0

std::int64_t multiples_below(std::int64_t year, std::int64_t n) { return -floor_div(-year, n); }

std::int64_t leap_years_before(const Rules& rules, LeapRule leap, std::int64_t year) {
  switch (leap) {
    case LeapRule::every_4th: {
      const std::int64_t first = floor_mod<std::int64_t>(rules.leap_year, 4);
      return multiples_below(year - first, 4) - multiples_below(-first, 4);
    }
    case LeapRule::gregorian:
      return multiples_below(year, 4) - multiples_below(year, 100) + multiples_below(year, 400);
    default: return 0;
  }
}

bool is_leap(const Rules& rules, LeapRule leap, std::int64_t year) {
  return leap_years_before(rules, leap, year + 1) != leap_years_before(rules, leap, year);
}

std::int64_t first_day(const Rules& rules, LeapRule leap, std::int64_t year) {
  return rules.common_days() * year + leap_years_before(rules, leap, year);
}

std::int64_t length_of(const Rules& rules, LeapRule leap, std::int64_t year, std::int64_t month) {
  return rules.month_lengths[static_cast<std::size_t>(month)] +
         (month == rules.leap_month && is_leap(rules, leap, year) ? 1 : 0);
}

std::int64_t number_by(const Rules& rules, LeapRule leap, const Day& day) {
  std::int64_t number = first_day(rules, leap, day.year) + day.day;
  for (std::int64_t month = 0; month < day.month; ++month) number += length_of(rules, leap, day.year, month);
  return number;
}

Day day_by(const Rules& rules, LeapRule leap, std::int64_t number) {
  const std::int64_t cycle_years = leap == LeapRule::gregorian ? 400 : leap == LeapRule::every_4th ? 4 : 1;
  const std::int64_t cycle_days = first_day(rules, leap, cycle_years) - first_day(rules, leap, 0);
  const std::int64_t cycle = floor_div(number, cycle_days);
  const std::int64_t rest = number - cycle * cycle_days;
  Day day{cycle * cycle_years + rest * cycle_years / cycle_days, 0, 0};
  while (first_day(rules, leap, day.year) > number) --day.year;
  while (first_day(rules, leap, day.year + 1) <= number) ++day.year;
  day.day = number - first_day(rules, leap, day.year);
  for (; day.day >= length_of(rules, leap, day.year, day.month); ++day.month)
    day.day -= length_of(rules, leap, day.year, day.month);
  return day;
}

/// Whether a day of the reform's calendar is in the Julian one.
bool is_julian(const Day& day) {
  return std::tie(day.year, day.month, day.day) <
         std::tie(first_gregorian.year, first_gregorian.month, first_gregorian.day);
}

Rules twelve_months(std::string name, std::vector<int> lengths, LeapRule leap) {
  Rules rules;
  rules.name = std::move(name);
  rules.month_lengths = std::move(lengths);
  rules.leap = leap;
  rules.max_year = most_years;
  return rules;
}

std::vector<int> roman(int february) { return {31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}; }

Result<> check_lengths(const CalendarRules& given) {
  if (given.month_lengths.empty() || given.month_lengths.size() > most_months)
    return fail(ErrorCode::invalid_argument,
                "a user-defined calendar has {} months per year; give the lengths of 1 to {} months",
                given.month_lengths.size(), most_months);
  for (std::size_t month = 0; month < given.month_lengths.size(); ++month) {
    const int length = given.month_lengths[month];
    if (length < 1 || length > longest_month)
      return fail(ErrorCode::invalid_argument,
                  "month {} of a user-defined calendar has {} days; give 1 to {} days per month", month + 1,
                  length, longest_month);
  }
  if (given.day_seconds < 1 || given.day_seconds > longest_day)
    return fail(ErrorCode::invalid_argument,
                "a day of a user-defined calendar has {} s; give 1 to {} s (86400 on Earth)",
                given.day_seconds, longest_day);
  return {};
}

}  // namespace

std::int64_t Rules::common_days() const {
  return std::accumulate(month_lengths.begin(), month_lengths.end(), std::int64_t{0});
}

bool is_leap(const Rules& rules, std::int64_t year) {
  if (rules.leap != LeapRule::reform) return is_leap(rules, rules.leap, year);
  return is_leap(rules, year <= reform_year ? LeapRule::every_4th : LeapRule::gregorian, year);
}

std::int64_t last_day(const Rules& rules, std::int64_t year, std::int64_t month) {
  return rules.month_lengths[static_cast<std::size_t>(month)] +
         (month == rules.leap_month && is_leap(rules, year) ? 1 : 0);
}

bool is_left_out(const Rules& rules, const Day& day) {
  return rules.leap == LeapRule::reform && day.year == reform_year && day.month == first_gregorian.month &&
         day.day > 3 && day.day < first_gregorian.day;
}

std::int64_t day_number(const Rules& rules, const Day& day) {
  if (rules.leap != LeapRule::reform) return number_by(rules, rules.leap, day);
  if (is_julian(day)) return number_by(rules, LeapRule::every_4th, day) - julian_shift;
  return number_by(rules, LeapRule::gregorian, day);
}

Day day_of_number(const Rules& rules, std::int64_t number) {
  if (rules.leap != LeapRule::reform) return day_by(rules, rules.leap, number);
  const Day gregorian = day_by(rules, LeapRule::gregorian, number);
  if (is_julian(gregorian)) return day_by(rules, LeapRule::every_4th, number + julian_shift);
  return gregorian;
}

std::int64_t first_day_of(const Rules& rules, std::int64_t year, std::int64_t month) {
  return day_number(rules, {year, month, 0});
}

std::int64_t days_in_month(const Rules& rules, std::int64_t year, std::int64_t month) {
  std::int64_t days = last_day(rules, year, month);
  const std::int64_t last = days;
  for (std::int64_t day = 0; day < last; ++day) days -= is_left_out(rules, {year, month, day}) ? 1 : 0;
  return days;
}

std::int64_t day_of_year(const Rules& rules, const Day& day) {
  return day_number(rules, day) - first_day_of(rules, day.year) + 1;
}

Result<int> weekday(const Rules& rules, const Day& day) {
  if (!rules.weeks)
    return fail(ErrorCode::invalid_argument,
                "the calendar {} has no weeks; standard, proleptic_gregorian and julian have weekdays",
                rules.name);
  // 2000-01-01 was a Saturday; its number in the Gregorian calendar is 730485, the Julian one is 2
  // larger.
  const std::int64_t gregorian =
      day_number(rules, day) - (rules.leap == LeapRule::every_4th ? julian_shift : 0);
  return static_cast<int>(floor_mod<std::int64_t>(gregorian - 730'485 + 5, 7)) + 1;
}

std::vector<std::int64_t> lengths_of_months(const Rules& rules) {
  std::vector<std::int64_t> all(rules.month_lengths.begin(), rules.month_lengths.end());
  if (rules.leap != LeapRule::none) all.push_back(all[static_cast<std::size_t>(rules.leap_month)] + 1);
  if (rules.leap == LeapRule::reform) all.push_back(21);
  return all;
}

std::vector<std::int64_t> lengths_of_years(const Rules& rules) {
  std::vector<std::int64_t> all{rules.common_days()};
  if (rules.leap != LeapRule::none) all.push_back(all.front() + 1);
  if (rules.leap == LeapRule::reform) all.push_back(355);
  return all;
}

Result<Rules> named_rules(std::string_view name) {
  const std::string wanted = lower(name);
  if (wanted == "standard" || wanted == "gregorian") {
    Rules rules = twelve_months("standard", roman(28), LeapRule::reform);
    rules.year_zero = false;
    rules.weeks = true;
    return rules;
  }
  if (wanted == "julian") {
    Rules rules = twelve_months("julian", roman(28), LeapRule::every_4th);
    rules.year_zero = false;
    rules.weeks = true;
    return rules;
  }
  if (wanted == "proleptic_gregorian") {
    Rules rules = twelve_months("proleptic_gregorian", roman(28), LeapRule::gregorian);
    rules.weeks = true;
    return rules;
  }
  if (wanted == "noleap" || wanted == "365_day") return twelve_months("noleap", roman(28), LeapRule::none);
  if (wanted == "all_leap" || wanted == "366_day")
    return twelve_months("all_leap", roman(29), LeapRule::none);
  if (wanted == "360_day") return twelve_months("360_day", std::vector<int>(12, 30), LeapRule::none);

  const std::vector<std::string> names{"standard", "gregorian", "proleptic_gregorian",
                                       "noleap",   "365_day",   "all_leap",
                                       "366_day",  "360_day",   "julian"};
  return fail(ErrorCode::unknown_name, "there is no calendar \"{}\"{}; use {}, or define one by its months",
              printable(name), did_you_mean(wanted, names), one_of(names));
}

Result<Rules> rules_of_user(const CalendarRules& given) {
  AFTERBAY_TRY(check_lengths(given));
  Rules rules = twelve_months("user_defined", given.month_lengths, LeapRule::none);
  rules.day_seconds = given.day_seconds;
  if (given.leap_year) {
    if (given.leap_month < 1 || given.leap_month > rules.months())
      return fail(ErrorCode::invalid_argument,
                  "leap_month of a user-defined calendar is {}; give 1 to {}, its number of months",
                  given.leap_month, rules.months());
    rules.leap = LeapRule::every_4th;
    rules.leap_year = *given.leap_year;
    rules.leap_month = given.leap_month - 1;
  }
  const std::int64_t year_days = rules.common_days() + 1;  // at most 10^8
  rules.max_year = std::min(most_years, most_seconds / (year_days * rules.day_seconds) - 2);
  if (rules.max_year < fewest_years)
    return fail(ErrorCode::invalid_argument,
                "a year of {} days of {} s in a user-defined calendar is too long: {} years must fit 2^62 s",
                rules.common_days(), rules.day_seconds, fewest_years);
  return rules;
}

}  // namespace afterbay::dates
