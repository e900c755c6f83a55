// SPDX-License-Identifier: Apache-2.0
// Dates as text.
#pragma once

#include <string>
#include <string_view>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"
#include "time/rules.hpp"

namespace afterbay::dates {

/// "2000-01-01", "-0044-03-15".
std::string day_text(const Date& date);
/// "06:30:15", "06:30:15.25".
std::string time_text(const Date& date);

/// A date that exists in the calendar: see Calendar::parse.
Result<Date> parse_date(const Rules& rules, std::string_view text);
/// A date of any calendar: months 1 to 12, days 1 to 31, times of day up to 23:59:59.
Result<Date> parse_date(std::string_view text);
/// By a pattern: see Calendar::format. The date must exist.
Result<std::string> format_date(const Rules& rules, const Date& date, std::string_view pattern);
/// The same without a calendar: the pattern must have passed check_pattern_without_calendar.
std::string format_date(const Date& date, std::string_view pattern);
/// invalid_argument, if format_date would refuse the pattern.
Result<> check_pattern(std::string_view pattern);
/// Refuses %j as well: the day of the year depends on the calendar.
Result<> check_pattern_without_calendar(std::string_view pattern);

}  // namespace afterbay::dates
