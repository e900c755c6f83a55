// SPDX-License-Identifier: Apache-2.0
#include "output/first_period.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace afterbay::output {

namespace {

/// Whether a period begins where each year does, or the number of years is that of a decade or a
/// century.
bool follows_years(const Calendar& calendar, const Period& every) {
  const std::int64_t months = every.years * calendar.months_per_year() + every.months;
  if (months > 0 && months % calendar.months_per_year() == 0) {
    std::int64_t years = months / calendar.months_per_year();
    while (years % 10 == 0) years /= 10;
    return years == 1;
  }
  return calendar.multiple(Period{.years = 1}, every) == Multiple::yes;
}

}  // namespace

std::string note_on_first_period(const describe::File& file, const Schedule& schedule, const ModelTime& time,
                                 bool has_statistics) {
  const describe::Timing& timing = file.timing;
  if (schedule.alignment().origin) return {};
  if (has_statistics && timing.partial == describe::Partial::skip) return {};
  const Interval first = time.calendar.interval(time.start, schedule.every(), schedule.alignment());
  if (first.begin == time.start || follows_years(time.calendar, schedule.every())) return {};
  const std::string text = fmt::format(
      "{}: files.{}: the run begins at {}, within a period of {} that ends at {}: periods are counted on "
      "through all years of the calendar. ",
      file.at.text(), file.name, time.calendar.text(time.start), timing.every->text(),
      time.calendar.text(first.end));
  const char* const start = "\"align: start\" counts them from the start of the run";
  if (!has_statistics) return text + "The first record is that of this date; " + start;
  return text + "The first record covers a part of the period only, and the last one may do so too; " +
         start + ", \"partial: skip\" leaves such records out";
}

}  // namespace afterbay::output
