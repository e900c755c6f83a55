// SPDX-License-Identifier: Apache-2.0
// Units of time axes: see TimeUnits.
#pragma once

#include <cstdint>
#include <string_view>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"
#include "time/rules.hpp"

namespace afterbay::dates {

struct UnitName {
  std::string_view plural;
  std::int64_t nanoseconds = 0;
};
/// invalid_argument if there is no such unit.
Result<UnitName> find_unit(const Rules& rules, std::string_view name);

/// The unit's name in "UNIT since DATE", and the text of the date.
struct UnitsText {
  std::string_view unit;
  std::string_view reference;
};
Result<UnitsText> split_units(std::string_view text);

/// The double nearest to the time between two dates that exist, in units of `unit_ns`; ties to
/// even.
double number_of(const Rules& rules, const Date& reference, const Date& date, std::int64_t unit_ns);
/// The inverse: see TimeUnits::date.
Result<Date> date_of_number(const Rules& rules, const Date& reference, double number, std::int64_t unit_ns);

}  // namespace afterbay::dates
