// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "time/periods.hpp"

namespace afterbay::dates {
namespace {

Result<> check_no_steps(const Period& period) {
  if (period.steps == 0) return {};
  return fail(ErrorCode::invalid_argument,
              "the period {} contains time steps, whose length is not known here; resolve it with the "
              "model's time step",
              print_period(period));
}

tl::unexpected<Error> out_of_range(const Rules& rules) {
  return fail(ErrorCode::invalid_argument, "the date is out of range: the calendar {} has the years {} to {}",
              rules.name, -rules.max_year, rules.max_year);
}

/// The exact length, if it is the same for all dates; invalid_argument if it is too long to be
/// compared.
Result<std::optional<Wide>> fixed_length(const Rules& rules, const Length& length) {
  if (length.months == 0) return length.nanoseconds;
  std::vector<std::int64_t> days = lengths_of_months(rules);
  Wide count = length.months;
  if (length.months % rules.months() == 0) {
    days = lengths_of_years(rules);
    count /= rules.months();
  }
  if (std::any_of(days.begin(), days.end(), [&](auto other) { return other != days.front(); }))
    return std::nullopt;
  Wide sum = 0;
  if (__builtin_mul_overflow(count, Wide{days.front()} * rules.day_seconds * second_ns, &sum) ||
      __builtin_add_overflow(sum, length.nanoseconds, &sum))
    return fail(ErrorCode::invalid_argument, "the period is too long to be compared with another one");
  return sum;
}

/// Whether all months are multiples of `nanoseconds`; if there are only whole years, all years.
bool always_multiple(const Rules& rules, Wide months, Wide nanoseconds) {
  const std::vector<std::int64_t> days =
      months % rules.months() == 0 ? lengths_of_years(rules) : lengths_of_months(rules);
  return std::all_of(days.begin(), days.end(), [&](auto length) {
    return Wide{length} * rules.day_seconds * second_ns % nanoseconds == 0;
  });
}

/// Neither length is the same for all dates.
Multiple multiple_of_months(const Length& period, const Length& unit) {
  if (unit.months == 0 || period.months % unit.months != 0) return Multiple::depends;
  Wide nanoseconds = 0;
  const bool same = !__builtin_mul_overflow(period.months / unit.months, unit.nanoseconds, &nanoseconds) &&
                    nanoseconds == period.nanoseconds;
  return same ? Multiple::yes : Multiple::depends;
}

}  // namespace

Result<Day> months_later(const Rules& rules, const Day& day, Wide months) {
  constexpr Wide most_months = Wide{1} << 100;  // the sum below fits
  if (months < -most_months || months > most_months) return out_of_range(rules);
  const Wide month = Wide{day.year} * rules.months() + day.month + months;
  const Wide year = floor_div(month, Wide{rules.months()});
  if (year < astronomical(rules, -rules.max_year) || year > rules.max_year) return out_of_range(rules);
  Day later{static_cast<std::int64_t>(year),
            static_cast<std::int64_t>(floor_mod(month, Wide{rules.months()})), 0};
  later.day = std::min(day.day, last_day(rules, later.year, later.month) - 1);
  while (is_left_out(rules, later)) --later.day;
  return later;
}

Result<Length> length_of(const Rules& rules, const Period& period) {
  AFTERBAY_TRY(check_no_steps(period));
  return Length{Wide{period.years} * rules.months() + period.months,
                (Wide{period.days} * rules.day_seconds + period.seconds) * second_ns + period.nanoseconds};
}

Result<Date> add(const Rules& rules, const Date& date, const Period& period, std::int64_t count) {
  AFTERBAY_TRY(check_date(rules, date));
  AFTERBAY_TRY_ASSIGN(const Length length, length_of(rules, period));
  Wide months = 0, nanoseconds = 0;
  if (__builtin_mul_overflow(length.months, Wide{count}, &months) ||
      __builtin_mul_overflow(length.nanoseconds, Wide{count}, &nanoseconds))
    return out_of_range(rules);
  AFTERBAY_TRY_ASSIGN(const Day day, months_later(rules, day_of(rules, date), months));
  const Wide in_day = Wide{date.hour} * 3600 + date.minute * 60 + date.second;
  const Wide start =
      (Wide{day_number(rules, day)} * rules.day_seconds + in_day) * second_ns + date.nanosecond;
  if (__builtin_add_overflow(start, nanoseconds, &nanoseconds)) return out_of_range(rules);
  return date_of(rules, floor_div(nanoseconds, Wide{second_ns}),
                 static_cast<int>(floor_mod(nanoseconds, Wide{second_ns})));
}

Result<Multiple> multiple(const Rules& rules, const Period& period, const Period& unit) {
  AFTERBAY_TRY_ASSIGN(const Length length, length_of(rules, period));
  AFTERBAY_TRY_ASSIGN(const Length of, length_of(rules, unit));
  if (of.months == 0 && of.nanoseconds == 0)
    return fail(ErrorCode::invalid_argument, "no period is a multiple of {}; give a period that is not zero",
                print_period(unit));
  if (of.months != 0 && of.nanoseconds == 0 && length.nanoseconds == 0)
    return length.months % of.months == 0 ? Multiple::yes : Multiple::no;
  AFTERBAY_TRY_ASSIGN(const auto fixed, fixed_length(rules, length));
  AFTERBAY_TRY_ASSIGN(const auto fixed_unit, fixed_length(rules, of));
  if (!fixed_unit) return fixed == 0 ? Multiple::yes : multiple_of_months(length, of);
  if (*fixed_unit == 0)
    return Multiple::depends;  // such as 1mo-30d, which adds nothing in the calendar 360_day
  if (fixed) return *fixed % *fixed_unit == 0 ? Multiple::yes : Multiple::no;
  if (!always_multiple(rules, length.months, *fixed_unit)) return Multiple::depends;
  return length.nanoseconds % *fixed_unit == 0 ? Multiple::yes : Multiple::no;
}

}  // namespace afterbay::dates
