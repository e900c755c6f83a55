// SPDX-License-Identifier: Apache-2.0
// Periods as text, and their lengths in a calendar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"
#include "time/instant.hpp"
#include "time/rules.hpp"

namespace afterbay::dates {

/// See Period.
Result<Period> parse_period(std::string_view text);
std::string print_period(const Period& period);
Result<Period> sum(const Period& a, const Period& b);
Result<Period> product(std::int64_t count, const Period& period);
Result<Period> resolve(const Period& period, const Period& step);

/// Whether it has both months or years and days or shorter units: there are no intervals of such
/// periods in any calendar.
bool mixes_units(const Period& period) noexcept;

/// A period in a calendar.
struct Length {
  Wide months = 0;
  Wide nanoseconds = 0;  ///< at most 2^121
};
/// invalid_argument if the period contains time steps.
Result<Length> length_of(const Rules& rules, const Period& period);

/// The same day in another month, or the last one before it that exists there.
Result<Day> months_later(const Rules& rules, const Day& day, Wide months);

/// See Calendar.
Result<Date> add(const Rules& rules, const Date& date, const Period& period, std::int64_t count);
Result<Multiple> multiple(const Rules& rules, const Period& period, const Period& unit);
Result<Interval> interval(const Rules& rules, const Date& date, const Period& period,
                          const Alignment& alignment);

}  // namespace afterbay::dates
