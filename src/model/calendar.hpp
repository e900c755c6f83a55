// SPDX-License-Identifier: Apache-2.0
// Dates of model calendars, as needed for file names: no calendar is assumed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace afterbay::model {

struct Date {
  std::int64_t year = 0;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  friend bool operator==(const Date&, const Date&) = default;
};

/// ISO 8601, extended or basic: "2026-11-21", "20261121", "2026-11-21T06:00:00", "20261121T0600",
/// or with a space instead of the T. Years have four digits, or a sign and four or more digits;
/// month 1-12, day 1-31 in every month (360-day calendars have a 30th of February), time up to
/// 23:59:59. Fractions of a second are dropped; a time zone other than "Z" is refused.
Result<Date> parse_date(std::string_view text);

/// Accepts only %Y (four digits or more), %m, %d, %H, %M, %S and %%.
Result<> check_date_format(std::string_view format);

/// `format` must have passed check_date_format.
std::string format_date(const Date& date, std::string_view format);

}  // namespace afterbay::model
