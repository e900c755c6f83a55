// SPDX-License-Identifier: Apache-2.0
#include "time/instant.hpp"

#include "time/date_text.hpp"

namespace afterbay::dates {
namespace {

Result<> check_day(const Rules& rules, const Date& date) {
  const std::int64_t year = astronomical(rules, date.year);
  const std::int64_t last = last_day(rules, year, date.month - 1);
  if (date.day < 1 || date.day > last)
    return fail(ErrorCode::invalid_argument,
                "{} does not exist in the calendar {}: month {} of year {} has the days 1 to {}",
                day_text(date), rules.name, date.month, date.year, last);
  if (is_left_out(rules, {year, date.month - 1, date.day - 1}))
    return fail(ErrorCode::invalid_argument,
                "{} does not exist in the calendar {}: 1582-10-15 follows 1582-10-04; proleptic_gregorian "
                "has these days",
                day_text(date), rules.name);
  return {};
}

Result<> check_time(const Rules& rules, const Date& date) {
  const std::int64_t hours = (rules.day_seconds + 3599) / 3600;
  if (date.hour < 0 || date.hour >= hours)
    return fail(ErrorCode::invalid_argument,
                "hour {} does not exist in the calendar {}: a day has the hours 0 to {}{}", date.hour,
                rules.name, hours - 1,
                date.hour == 24 && hours == 24 ? "; midnight is hour 0 of the next day" : "");
  if (date.minute < 0 || date.minute > 59)
    return fail(ErrorCode::invalid_argument, "minute {} does not exist: an hour has the minutes 0 to 59",
                date.minute);
  if (date.second < 0 || date.second > 59)
    return fail(ErrorCode::invalid_argument,
                "second {} does not exist: a minute has the seconds 0 to 59, calendars of models have no "
                "leap seconds",
                date.second);
  if (date.nanosecond < 0 || date.nanosecond >= second_ns)
    return fail(ErrorCode::invalid_argument,
                "nanosecond {} does not exist: a second has the nanoseconds 0 to 999999999", date.nanosecond);
  if (date.hour * 3600 + date.minute * 60 + date.second >= rules.day_seconds)
    return fail(ErrorCode::invalid_argument, "{} does not exist in the calendar {}: a day has {} s",
                time_text(date), rules.name, rules.day_seconds);
  return {};
}

}  // namespace

std::int64_t astronomical(const Rules& rules, std::int64_t year) {
  return !rules.year_zero && year < 0 ? year + 1 : year;
}

std::int64_t year_of_user(const Rules& rules, std::int64_t astronomical) {
  return !rules.year_zero && astronomical < 1 ? astronomical - 1 : astronomical;
}

Result<> check_year(const Rules& rules, std::int64_t year) {
  if (year == 0 && !rules.year_zero)
    return fail(ErrorCode::invalid_argument,
                "the calendar {} has no year 0: the year before 1 is -1; proleptic_gregorian and the "
                "calendars of models "
                "have a year 0",
                rules.name);
  if (year < -rules.max_year || year > rules.max_year)
    return fail(ErrorCode::invalid_argument,
                "year {} is out of range: the calendar {} has the years {} to {}", year, rules.name,
                -rules.max_year, rules.max_year);
  return {};
}

Result<> check_month(const Rules& rules, std::int64_t year, int month) {
  AFTERBAY_TRY(check_year(rules, year));
  if (month < 1 || month > rules.months())
    return fail(ErrorCode::invalid_argument,
                "month {} does not exist in the calendar {}: a year has the months 1 to {}", month,
                rules.name, rules.months());
  return {};
}

Result<> check_date(const Rules& rules, const Date& date) {
  AFTERBAY_TRY(check_month(rules, date.year, date.month));
  AFTERBAY_TRY(check_day(rules, date));
  return check_time(rules, date);
}

Day day_of(const Rules& rules, const Date& date) {
  return {astronomical(rules, date.year), date.month - 1, date.day - 1};
}

Instant instant_of(const Rules& rules, const Date& date) {
  return {day_number(rules, day_of(rules, date)) * rules.day_seconds + date.hour * std::int64_t{3600} +
              date.minute * 60 + date.second,
          date.nanosecond};
}

Result<Date> date_of(const Rules& rules, Wide seconds, int nanoseconds) {
  const std::int64_t first = first_day_of(rules, astronomical(rules, -rules.max_year));
  const std::int64_t end = first_day_of(rules, astronomical(rules, rules.max_year) + 1);
  if (seconds < Wide{first} * rules.day_seconds || seconds >= Wide{end} * rules.day_seconds)
    return fail(ErrorCode::invalid_argument,
                "the date is out of range: the calendar {} has the years {} to {}", rules.name,
                -rules.max_year, rules.max_year);
  const auto since = static_cast<std::int64_t>(seconds);
  const Day day = day_of_number(rules, floor_div(since, rules.day_seconds));
  const auto time = static_cast<int>(floor_mod(since, rules.day_seconds));
  return Date{year_of_user(rules, day.year),
              static_cast<int>(day.month) + 1,
              static_cast<int>(day.day) + 1,
              time / 3600,
              time / 60 % 60,
              time % 60,
              nanoseconds};
}

Duration between(const Instant& from, const Instant& to) {
  const bool borrow = to.nanoseconds < from.nanoseconds;
  return {to.seconds - from.seconds - (borrow ? 1 : 0),
          to.nanoseconds - from.nanoseconds + (borrow ? static_cast<int>(second_ns) : 0)};
}

Wide wide(const Duration& duration) { return Wide{duration.seconds} * second_ns + duration.nanoseconds; }

}  // namespace afterbay::dates
