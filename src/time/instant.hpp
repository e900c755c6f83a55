// SPDX-License-Identifier: Apache-2.0
// Dates as exact counts of seconds in their calendar.
#pragma once

#include <compare>
#include <cstdint>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"
#include "time/rules.hpp"

namespace afterbay::dates {

__extension__ using Wide = __int128;  ///< products of 64-bit counts
inline constexpr std::int64_t second_ns = 1'000'000'000;

/// Time since the beginning of day number 0; between -2^62 s and 2^62 s.
struct Instant {
  std::int64_t seconds = 0;
  int nanoseconds = 0;  ///< 0 to 999 999 999
  friend auto operator<=>(const Instant&, const Instant&) = default;
};

/// Years as users count them: without a year 0, if the calendar has none.
std::int64_t astronomical(const Rules& rules, std::int64_t year);
std::int64_t year_of_user(const Rules& rules, std::int64_t astronomical);

/// invalid_argument with what is wrong and what is valid.
Result<> check_year(const Rules& rules, std::int64_t year);
Result<> check_month(const Rules& rules, std::int64_t year, int month);
Result<> check_date(const Rules& rules, const Date& date);

/// The date must exist.
Day day_of(const Rules& rules, const Date& date);
Instant instant_of(const Rules& rules, const Date& date);
/// invalid_argument if it is out of the calendar's range.
Result<Date> date_of(const Rules& rules, Wide seconds, int nanoseconds);
/// The difference of two instants, which always fits.
Duration between(const Instant& from, const Instant& to);
/// The duration in nanoseconds.
Wide wide(const Duration& duration);

}  // namespace afterbay::dates
