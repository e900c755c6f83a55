// SPDX-License-Identifier: Apache-2.0
// Source of the names of units: the UDUNITS-2 database, accepted units and prefixes.
#include "time/time_units.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "time/instant.hpp"
#include "time/letters.hpp"

namespace afterbay::dates {
namespace {

struct Spelling {
  std::string_view name;
  std::string_view plural;
};
constexpr std::array<Spelling, 32> spellings{{{"days", "days"},
                                              {"day", "days"},
                                              {"d", "days"},
                                              {"hours", "hours"},
                                              {"hour", "hours"},
                                              {"hrs", "hours"},
                                              {"hr", "hours"},
                                              {"h", "hours"},
                                              {"minutes", "minutes"},
                                              {"minute", "minutes"},
                                              {"mins", "minutes"},
                                              {"min", "minutes"},
                                              {"seconds", "seconds"},
                                              {"second", "seconds"},
                                              {"secs", "seconds"},
                                              {"sec", "seconds"},
                                              {"s", "seconds"},
                                              {"milliseconds", "milliseconds"},
                                              {"millisecond", "milliseconds"},
                                              {"msecs", "milliseconds"},
                                              {"msec", "milliseconds"},
                                              {"millisecs", "milliseconds"},
                                              {"ms", "milliseconds"},
                                              {"microseconds", "microseconds"},
                                              {"microsecond", "microseconds"},
                                              {"microsecs", "microseconds"},
                                              {"microsec", "microseconds"},
                                              {"us", "microseconds"},
                                              {"nanoseconds", "nanoseconds"},
                                              {"nanosecond", "nanoseconds"},
                                              {"nsec", "nanoseconds"},
                                              {"ns", "nanoseconds"}}};

std::int64_t nanoseconds_of(const Rules& rules, std::string_view plural) {
  if (plural == "days") return rules.day_seconds * second_ns;  // at most 10^17
  if (plural == "hours") return 3600 * second_ns;
  if (plural == "minutes") return 60 * second_ns;
  if (plural == "seconds") return second_ns;
  if (plural == "milliseconds") return 1'000'000;
  if (plural == "microseconds") return 1'000;
  return 1;
}

/// The double nearest to dividend / divisor, both positive and below 2^94 and 2^57: a quotient of
/// at least 55 bits whose last bit is set if anything was left, which the conversion to double then
/// rounds once.
double quotient(Wide dividend, std::int64_t divisor) {
  const Wide exact = dividend / divisor;
  if (exact * divisor == dividend && exact < (Wide{1} << 53)) return static_cast<double>(exact);
  int shift = 0;
  while (dividend / divisor < (Wide{1} << 55)) {
    dividend <<= 1;  // stays below 2^57 * 2^56
    ++shift;
  }
  Wide whole = dividend / divisor;  // below 2^94
  bool rest = dividend % divisor != 0;
  while (whole >= (Wide{1} << 62)) {
    rest = rest || (whole & 1) != 0;
    whole >>= 1;
    --shift;
  }
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(whole) | (rest ? 1 : 0)), -shift);
}

double ratio(Wide dividend, std::int64_t divisor) {
  if (dividend == 0) return 0;
  return dividend < 0 ? -quotient(-dividend, divisor) : quotient(dividend, divisor);
}

/// number * unit_ns, rounded to whole nanoseconds, ties away from 0; the product is below 2^94.
Wide nanoseconds_of_number(double number, std::int64_t unit_ns) {
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(number), &exponent);
  const auto digits = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  Wide product = Wide{digits} * unit_ns;  // below 2^110
  if (exponent >= 0) {
    product <<= exponent;
  } else if (exponent > -125) {
    product = (product + (Wide{1} << (-exponent - 1))) >> -exponent;
  } else {
    product = 0;
  }
  return number < 0 ? -product : product;
}

}  // namespace

Result<UnitName> find_unit(const Rules& rules, std::string_view name) {
  const std::string wanted = lower(name);
  for (const Spelling& spelling : spellings) {
    if (wanted == spelling.name) return UnitName{spelling.plural, nanoseconds_of(rules, spelling.plural)};
  }
  if (wanted.starts_with("month") || wanted.starts_with("year") || wanted == "yr" || wanted == "common_years")
    return fail(ErrorCode::invalid_argument,
                "the unit \"{}\" of a time axis has no exact meaning: in UDUNITS a year is 365.242198781 "
                "days and a month a "
                "twelfth of it; use days",
                printable(name));
  std::vector<std::string> names;
  for (const Spelling& spelling : spellings) {
    if (spelling.name.size() > 3) names.emplace_back(spelling.name);
  }
  return fail(ErrorCode::invalid_argument,
              "there is no unit \"{}\" of a time axis{}; use days, hours, minutes, seconds, milliseconds, "
              "microseconds or "
              "nanoseconds",
              printable(name), did_you_mean(wanted, names));
}

Result<UnitsText> split_units(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto begin = text.find_first_not_of(blanks);
  const auto end = begin == text.npos ? text.npos : text.find_first_of(blanks, begin);
  const auto since = end == text.npos ? text.npos : text.find_first_not_of(blanks, end);
  if (since == text.npos || lower(text.substr(since, 5)) != "since" || since + 5 >= text.size() ||
      blanks.find(text[since + 5]) == text.npos)
    return fail(ErrorCode::invalid_argument,
                "\"{}\" are not units of a time axis: write them as in \"days since 2000-01-01 00:00:00\"",
                printable(text));
  return UnitsText{text.substr(begin, end - begin), text.substr(since + 6)};
}

double number_of(const Rules& rules, const Date& reference, const Date& date, std::int64_t unit_ns) {
  return ratio(wide(between(instant_of(rules, reference), instant_of(rules, date))), unit_ns);
}

Result<Date> date_of_number(const Rules& rules, const Date& reference, double number, std::int64_t unit_ns) {
  constexpr double most_ns = 0x1p93;  // more than between any two dates
  if (!(std::fabs(number) * static_cast<double>(unit_ns) < most_ns))
    return fail(ErrorCode::invalid_argument,
                "the number {} of a time axis is out of range: the calendar {} has the years {} to {}",
                number, rules.name, -rules.max_year, rules.max_year);
  const Instant start = instant_of(rules, reference);
  const Wide origin = wide({start.seconds, start.nanoseconds});
  const Wide exact = origin + nanoseconds_of_number(number, unit_ns);
  Wide best = exact;
  for (const std::int64_t grain : {second_ns, std::int64_t{1'000'000}, std::int64_t{1'000}}) {
    const Wide rounded = floor_div(exact + grain / 2, Wide{grain}) * grain;
    if (ratio(rounded - origin, unit_ns) != number) continue;
    best = rounded;
    break;
  }
  return date_of(rules, floor_div(best, Wide{second_ns}), static_cast<int>(floor_mod(best, Wide{second_ns})));
}

}  // namespace afterbay::dates
