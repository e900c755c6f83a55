// SPDX-License-Identifier: Apache-2.0
// ModelTime: which date a step has.
#pragma once

#include <cstdint>
#include <string>

#include "afterbay/calendar.hpp"
#include "afterbay/output.hpp"

namespace afterbay::output {

struct ModelTime {
  Calendar calendar;
  Date start;
  Date reference;
  Period step;

  /// The date at the end of a step; of step 0, the start.
  [[nodiscard]] Date at(std::int64_t number) const { return calendar.add(start, step, number); }
  /// Seconds from one date to a later one.
  [[nodiscard]] double seconds(const Date& from, const Date& to) const;
  /// The last moment before a date: a nanosecond earlier.
  [[nodiscard]] Date before(const Date& date) const;
};

/// Throws invalid_argument for dates that do not exist, and steps that are not longer than 0 or mix
/// months and seconds.
ModelTime model_time(const OutputOptions& options);

/// The rules of a calendar: of a user-defined one, those with which it was made.
CalendarRules calendar_rules_of(const Calendar& calendar);

/// What tells calendars apart.
std::string text_of_rules(const Calendar& calendar);

}  // namespace afterbay::output
