// SPDX-License-Identifier: Apache-2.0
#include "output/model_time.hpp"

#include "output/refuse.hpp"

namespace afterbay::output {

double ModelTime::seconds(const Date& from, const Date& to) const {
  const Duration length = calendar.difference(from, to);
  return static_cast<double>(length.seconds) + static_cast<double>(length.nanoseconds) * 1e-9;
}

Date ModelTime::before(const Date& date) const {
  return calendar.add(date, Period{.seconds = -1, .nanoseconds = 999'999'999});
}

CalendarRules calendar_rules_of(const Calendar& calendar) {
  // Every fourth year may have a leap day.
  constexpr std::int64_t leap_cycle = 4;
  std::int64_t leap = 1;
  for (std::int64_t year = 2; year <= leap_cycle; ++year)
    if (calendar.days_in_year(year) > calendar.days_in_year(leap)) leap = year;
  const std::int64_t usual = leap == 1 ? 2 : 1;
  CalendarRules rules;
  for (int month = 1; month <= calendar.months_per_year(); ++month) {
    rules.month_lengths.push_back(calendar.days_in_month(usual, month));
    if (calendar.days_in_month(leap, month) <= rules.month_lengths.back()) continue;
    rules.leap_year = leap;
    rules.leap_month = month;
  }
  rules.day_seconds = calendar.day_seconds();
  return rules;
}

std::string text_of_rules(const Calendar& calendar) {
  std::string rules = calendar.name();
  if (rules != "user_defined") return rules;
  rules += fmt::format(", days of {} s", calendar.day_seconds());
  constexpr std::int64_t leap_cycle = 4;
  for (std::int64_t year = 1; year <= leap_cycle; ++year)
    for (int month = 1; month <= calendar.months_per_year(); ++month)
      rules += fmt::format("{}{}", month == 1 ? ", months of " : " ", calendar.days_in_month(year, month));
  return rules;
}

ModelTime model_time(const OutputOptions& options) {
  ModelTime time{options.calendar, options.start, options.reference.value_or(options.start), options.step};
  time.calendar.check(time.start);
  time.calendar.check(time.reference);
  if (time.step.steps != 0)
    refuse(ErrorCode::invalid_argument,
           "the model's step is {}: give it in seconds or months, for example 30min", time.step.text());
  const bool months = time.step.years != 0 || time.step.months != 0;
  const bool seconds = time.step.days != 0 || time.step.seconds != 0 || time.step.nanoseconds != 0;
  if (months && seconds)
    refuse(ErrorCode::invalid_argument,
           "the model's step is {}: it must consist either of years and months or of days and seconds",
           time.step.text());
  if (!months && !seconds)
    refuse(ErrorCode::invalid_argument, "the model's step is missing: give it, for example 30min");
  if (time.calendar.add(time.start, time.step) <= time.start)
    refuse(ErrorCode::invalid_argument, "the model's step is {}: it must be longer than 0", time.step.text());
  return time;
}

}  // namespace afterbay::output
