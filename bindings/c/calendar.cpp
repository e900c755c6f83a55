// SPDX-License-Identifier: Apache-2.0
#include "afterbay/calendar.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "enumerations.hpp"
#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace afterbay::c {

const Calendar& calendar_of(const afterbay_calendar* handle) {
  const auto& calendar = need(handle, "calendar").calendar;
  if (!calendar)
    refuse(ErrorCode::bad_state, "the calendar is empty: it was never created, or has been freed");
  return *calendar;
}

Date date_from(const afterbay_date* date, const char* name) {
  const afterbay_date& from = need(date, name);
  return {from.year, from.month, from.day, from.hour, from.minute, from.second, from.nanosecond};
}

afterbay_date c_date(const Date& from) {
  return {from.year, from.month, from.day, from.hour, from.minute, from.second, from.nanosecond};
}

Period period_from(const afterbay_period* period, const char* name) {
  const afterbay_period& from = need(period, name);
  return {from.years, from.months, from.days, from.seconds, from.nanoseconds, from.steps};
}

afterbay_period c_period(const Period& from) {
  return {from.years, from.months, from.days, from.seconds, from.steps, from.nanoseconds};
}

}  // namespace afterbay::c

namespace {

void write_text(const std::string& from, char* to, std::size_t bytes) {
  need(to, "text");
  if (from.size() >= bytes)
    refuse(ErrorCode::invalid_argument, "`text` has " + std::to_string(bytes) + " bytes; " +
                                            std::to_string(from.size() + 1) + " are needed for \"" + from +
                                            "\"");
  std::memcpy(to, from.c_str(), from.size() + 1);
}

Alignment alignment_from(int align, const afterbay_date* start) {
  switch (align) {
    case AFTERBAY_ALIGN_CALENDAR: return Alignment::calendar();
    case AFTERBAY_ALIGN_SEASONS: return Alignment::seasons();
    case AFTERBAY_ALIGN_START: return Alignment::start(date_from(start, "start"));
    default:
      refuse(ErrorCode::invalid_argument,
             "there is no alignment number " + std::to_string(align) + "; use one of enum afterbay_align");
  }
}

}  // namespace

int afterbay_calendar_create(const char* name, afterbay_calendar** calendar) {
  return guarded([&] {
    afterbay_calendar*& result = need(calendar, "calendar");
    result = new afterbay_calendar{Calendar(text(name, "name"))};
  });
}

int afterbay_calendar_create_from(const afterbay_calendar_rules* rules, afterbay_calendar** calendar) {
  return guarded([&] {
    afterbay_calendar*& result = need(calendar, "calendar");
    const afterbay_calendar_rules& from = need(rules, "rules");
    CalendarRules given;
    given.month_lengths = list(from.month_lengths, from.months, "month_lengths");
    if (from.has_leap_year != 0) given.leap_year = from.leap_year;
    if (from.leap_month != 0) given.leap_month = from.leap_month;
    if (from.day_seconds != 0) given.day_seconds = from.day_seconds;
    result = new afterbay_calendar{Calendar(given)};
  });
}

void afterbay_calendar_free(afterbay_calendar* calendar) { delete calendar; }

int afterbay_calendar_name(const afterbay_calendar* calendar, const char** name) {
  return guarded([&] { need(name, "name") = calendar_of(calendar).name().c_str(); });
}

int afterbay_calendar_has_year_zero(const afterbay_calendar* calendar, int* there) {
  return guarded([&] { need(there, "there") = calendar_of(calendar).has_year_zero() ? 1 : 0; });
}

int afterbay_calendar_max_year(const afterbay_calendar* calendar, int64_t* year) {
  return guarded([&] { need(year, "year") = calendar_of(calendar).max_year(); });
}

int afterbay_calendar_lengths(const afterbay_calendar* calendar, int* months, int64_t* day_seconds) {
  return guarded([&] {
    const Calendar& of = calendar_of(calendar);
    if (months != nullptr) *months = of.months_per_year();
    if (day_seconds != nullptr) *day_seconds = of.day_seconds();
  });
}

int afterbay_calendar_check(const afterbay_calendar* calendar, const afterbay_date* date) {
  return guarded([&] { calendar_of(calendar).check(date_from(date, "date")); });
}

int afterbay_calendar_days_in_month(const afterbay_calendar* calendar, int64_t year, int month, int* days) {
  return guarded([&] { need(days, "days") = calendar_of(calendar).days_in_month(year, month); });
}

int afterbay_calendar_days_in_year(const afterbay_calendar* calendar, int64_t year, int64_t* days) {
  return guarded([&] { need(days, "days") = calendar_of(calendar).days_in_year(year); });
}

int afterbay_calendar_day_of_year(const afterbay_calendar* calendar, const afterbay_date* date,
                                  int64_t* day) {
  return guarded([&] { need(day, "day") = calendar_of(calendar).day_of_year(date_from(date, "date")); });
}

int afterbay_calendar_weekday(const afterbay_calendar* calendar, const afterbay_date* date, int* weekday) {
  return guarded([&] { need(weekday, "weekday") = calendar_of(calendar).weekday(date_from(date, "date")); });
}

int afterbay_calendar_parse(const afterbay_calendar* calendar, const char* from, afterbay_date* date) {
  return guarded([&] { need(date, "date") = c_date(calendar_of(calendar).parse(text(from, "text"))); });
}

int afterbay_calendar_print(const afterbay_calendar* calendar, const afterbay_date* date, const char* pattern,
                            char* to, size_t bytes) {
  return guarded([&] {
    const Calendar& of = calendar_of(calendar);
    const Date given = date_from(date, "date");
    write_text(pattern == nullptr ? of.text(given) : of.format(given, pattern), to, bytes);
  });
}

int afterbay_calendar_add(const afterbay_calendar* calendar, const afterbay_date* date,
                          const afterbay_period* period, int64_t count, afterbay_date* result) {
  return guarded([&] {
    need(result, "result") =
        c_date(calendar_of(calendar).add(date_from(date, "date"), period_from(period, "period"), count));
  });
}

int afterbay_calendar_difference(const afterbay_calendar* calendar, const afterbay_date* from,
                                 const afterbay_date* to, afterbay_duration* difference) {
  return guarded([&] {
    const Duration found = calendar_of(calendar).difference(date_from(from, "from"), date_from(to, "to"));
    need(difference, "difference") = {found.seconds, found.nanoseconds};
  });
}

int afterbay_calendar_multiple(const afterbay_calendar* calendar, const afterbay_period* period,
                               const afterbay_period* unit, int* answer) {
  return guarded([&] {
    need(answer, "answer") =
        number_of(calendar_of(calendar).multiple(period_from(period, "period"), period_from(unit, "unit")));
  });
}

int afterbay_calendar_interval(const afterbay_calendar* calendar, const afterbay_date* date,
                               const afterbay_period* period, int align, const afterbay_date* start,
                               afterbay_interval* interval) {
  return guarded([&] {
    const Interval found = calendar_of(calendar).interval(
        date_from(date, "date"), period_from(period, "period"), alignment_from(align, start));
    need(interval, "interval") = {c_date(found.begin), c_date(found.end), found.index};
  });
}

int afterbay_calendar_number(const afterbay_calendar* calendar, const char* units, const afterbay_date* date,
                             double* number) {
  return guarded([&] {
    need(number, "number") =
        TimeUnits(calendar_of(calendar), text(units, "units")).number(date_from(date, "date"));
  });
}

int afterbay_calendar_date(const afterbay_calendar* calendar, const char* units, double number,
                           afterbay_date* date) {
  return guarded([&] {
    need(date, "date") = c_date(TimeUnits(calendar_of(calendar), text(units, "units")).date(number));
  });
}

int afterbay_period_parse(const char* from, afterbay_period* period) {
  return guarded([&] { need(period, "period") = c_period(Period::parse(text(from, "text"))); });
}

int afterbay_period_print(const afterbay_period* period, char* to, size_t bytes) {
  return guarded([&] { write_text(period_from(period, "period").text(), to, bytes); });
}

int afterbay_period_add(const afterbay_period* a, int64_t count, const afterbay_period* b,
                        afterbay_period* result) {
  return guarded(
      [&] { need(result, "result") = c_period(period_from(a, "a") + count * period_from(b, "b")); });
}

int afterbay_period_resolve(const afterbay_period* period, const afterbay_period* step,
                            afterbay_period* result) {
  return guarded([&] {
    need(result, "result") = c_period(period_from(period, "period").resolved(period_from(step, "step")));
  });
}
