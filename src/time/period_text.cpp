// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "time/letters.hpp"
#include "time/periods.hpp"

namespace afterbay::dates {
namespace {

/// A unit of periods: a count, or a number of nanoseconds.
struct Unit {
  std::string_view name;
  std::int64_t Period::*count;
  std::int64_t nanoseconds;
};
constexpr std::int64_t millisecond_ns = 1'000'000;
constexpr std::int64_t microsecond_ns = 1'000;
constexpr std::array<Unit, 10> units{{{"y", &Period::years, 0},
                                      {"mo", &Period::months, 0},
                                      {"d", &Period::days, 0},
                                      {"h", nullptr, 3600 * second_ns},
                                      {"min", nullptr, 60 * second_ns},
                                      {"s", nullptr, second_ns},
                                      {"ms", nullptr, millisecond_ns},
                                      {"us", nullptr, microsecond_ns},
                                      {"ns", nullptr, 1},
                                      {"ts", &Period::steps, 0}}};
/// What people write instead, for messages.
struct Synonym {
  std::string_view written;
  std::string_view unit;
};
constexpr std::array<Synonym, 25> synonyms{
    {{"year", "y"},     {"years", "y"},     {"yr", "y"},     {"yrs", "y"},    {"a", "y"},
     {"month", "mo"},   {"months", "mo"},   {"mon", "mo"},   {"mth", "mo"},   {"day", "d"},
     {"days", "d"},     {"hour", "h"},      {"hours", "h"},  {"hr", "h"},     {"hrs", "h"},
     {"minute", "min"}, {"minutes", "min"}, {"mins", "min"}, {"mi", "min"},   {"second", "s"},
     {"seconds", "s"},  {"sec", "s"},       {"step", "ts"},  {"steps", "ts"}, {"timestep", "ts"}}};
constexpr std::size_t most_digits = 18;  // digits of a fraction: an hour has 3.6 * 10^12 ns
constexpr Wide largest = std::numeric_limits<std::int64_t>::max();
bool fits(Wide value) { return value >= -largest - 1 && value <= largest; }

constexpr const char* all_units = "y, mo, d, h, min, s, ms, us, ns or ts (time steps)";

/// "": no suggestion.
std::string suggestion(const std::string& unit) {
  if (unit == "m") return ": is it min (minutes) or mo (months)?";
  if (unit == "w" || unit == "week" || unit == "weeks") return ": write 7d for a week.";
  std::vector<std::string> written;
  for (const Synonym& synonym : synonyms) {
    if (unit == synonym.written) return fmt::format("; did you mean \"{}\"?", synonym.unit);
    written.emplace_back(synonym.written);
  }
  std::vector<std::string> names;
  for (const Unit& known : units) names.emplace_back(known.name);
  if (const auto near = nearest(unit, names)) return fmt::format("; did you mean \"{}\"?", *near);
  if (const auto near = nearest(unit, written)) return suggestion(*near);
  return "";
}

/// A period being read.
class PeriodReader {
 public:
  explicit PeriodReader(std::string_view text) : text_(text), rest_(text) {}

  Result<Period> read() {
    skip_blanks();
    if (rest_.empty())
      return fail(ErrorCode::invalid_argument, "the period is empty; write it as 30min, 6h, 1d or 1mo");
    while (!rest_.empty()) {
      AFTERBAY_TRY(part());
      skip_blanks();
    }
    AFTERBAY_TRY_ASSIGN(const std::int64_t seconds, fitting(floor_div(nanoseconds_, Wide{second_ns})));
    period_.seconds = seconds;
    period_.nanoseconds = static_cast<int>(floor_mod(nanoseconds_, Wide{second_ns}));
    return period_;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  std::string_view take_while(bool (*belongs)(char)) {
    std::size_t length = 0;
    while (length < rest_.size() && belongs(rest_[length])) ++length;
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  tl::unexpected<Error> refused(std::string_view reason) const {
    return fail(ErrorCode::invalid_argument, "\"{}\" is not a period: {}", printable(text_), reason);
  }
  [[nodiscard]] Result<std::int64_t> fitting(Wide value) const {
    if (!fits(value)) return refused("it is longer than 2^63 of its units, or seconds");
    return static_cast<std::int64_t>(value);
  }

  Result<> part() {
    if (rest_.front() == '-' || rest_.front() == '+') {
      sign_ = rest_.front() == '-' ? -1 : 1;
      rest_.remove_prefix(1);
      skip_blanks();
    }
    const std::string_view whole = take_while(is_digit);
    std::string_view fraction;
    const bool has_point = !rest_.empty() && rest_.front() == '.';
    if (has_point) {
      rest_.remove_prefix(1);
      fraction = take_while(is_digit);
    }
    if (whole.empty() || (has_point && fraction.empty()))
      return refused("a number was expected before each unit, as in 6h or 1d6h");
    skip_blanks();
    const std::string name = lower(take_while(is_letter));
    if (name.empty())
      return refused(fmt::format("the number {}{}{} has no unit; write {} after it", whole,
                                 has_point ? "." : "", fraction, all_units));
    for (const Unit& unit : units) {
      if (name == unit.name) return add(unit, whole, fraction);
    }
    const std::string hint = suggestion(name);
    return refused(fmt::format("\"{}\" is not a unit{}{} {}", name, hint,
                               hint.empty() ? "; units are" : " Units are", all_units));
  }

  Result<> add(const Unit& unit, std::string_view whole, std::string_view fraction) {
    Wide number = 0;
    for (const char digit : whole) {
      number = number * 10 + (digit - '0');
      if (number > largest + 1) return refused(fmt::format("the number {} is larger than 2^63", whole));
    }
    if (unit.count != nullptr) return count(unit, number, fraction);
    Wide nanoseconds = number * unit.nanoseconds;  // below 2^106
    while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
    Wide parts = 0, scale = 1;
    for (const char digit : fraction.substr(0, most_digits)) {
      parts = parts * 10 + (digit - '0');
      scale *= 10;
    }
    parts *= unit.nanoseconds;  // below 2^102
    if (fraction.size() > most_digits || parts % scale != 0)
      return refused(fmt::format("{}.{}{} is not a whole number of nanoseconds", whole, fraction, unit.name));
    nanoseconds += parts / scale;
    nanoseconds_ += sign_ * nanoseconds;
    AFTERBAY_TRY(fitting(floor_div(nanoseconds_, Wide{second_ns})));
    return {};
  }

  Result<> count(const Unit& unit, Wide number, std::string_view fraction) {
    if (fraction.find_first_not_of('0') != std::string_view::npos)
      return refused(fmt::format(
          "{} cannot have a fraction, because its length depends on the calendar or the model; write "
          "a smaller unit, as in 36h for 1.5d",
          unit.name));
    AFTERBAY_TRY_ASSIGN(period_.*unit.count, fitting(period_.*unit.count + sign_ * number));
    return {};
  }

  std::string_view text_;
  std::string_view rest_;
  int sign_ = 1;
  Period period_;
  Wide nanoseconds_ = 0;
};

/// The parts of a period, with a sign where it changes.
class PeriodWriter {
 public:
  void part(Wide count, std::string_view unit, std::string_view fraction = "") {
    if (count == 0 && fraction.empty()) return;
    const bool negative = negative_part_;
    if (negative != negative_) text_ += negative ? "-" : "+";
    negative_ = negative;
    text_ += fmt::format("{}{}{}", static_cast<std::uint64_t>(count), fraction, unit);
  }
  void count(std::int64_t value, std::string_view unit) {
    negative_part_ = value < 0;
    part(value < 0 ? -Wide{value} : Wide{value}, unit);
  }
  void time(std::int64_t seconds, int nanoseconds) {
    Wide all = wide({seconds, nanoseconds});
    negative_part_ = all < 0;
    if (all < 0) all = -all;
    std::string fraction;
    if (all % second_ns != 0) {
      fraction = fmt::format(".{:09}", static_cast<std::int64_t>(all % second_ns));
      fraction.erase(fraction.find_last_not_of('0') + 1);
    }
    all /= second_ns;
    part(all / 3600, "h");
    part(all / 60 % 60, "min");
    part(all % 60, "s", fraction);
  }
  [[nodiscard]] std::string text() const { return text_.empty() ? "0s" : text_; }

 private:
  std::string text_;
  bool negative_ = false;
  bool negative_part_ = false;
};

Result<std::int64_t> narrow(Wide value, const char* what) {
  if (!fits(value))
    return fail(ErrorCode::invalid_argument, "the {} of a period exceed the range of 64-bit integers", what);
  return static_cast<std::int64_t>(value);
}

/// a * count + b, count by count.
Result<Period> combined(const Period& a, std::int64_t count, const Period& b) {
  Period result;
  AFTERBAY_TRY_ASSIGN(result.years, narrow(Wide{a.years} * count + b.years, "years"));
  AFTERBAY_TRY_ASSIGN(result.months, narrow(Wide{a.months} * count + b.months, "months"));
  AFTERBAY_TRY_ASSIGN(result.days, narrow(Wide{a.days} * count + b.days, "days"));
  AFTERBAY_TRY_ASSIGN(result.steps, narrow(Wide{a.steps} * count + b.steps, "time steps"));
  const Wide nanoseconds = Wide{a.nanoseconds} * count + b.nanoseconds;
  AFTERBAY_TRY_ASSIGN(
      result.seconds,
      narrow(Wide{a.seconds} * count + b.seconds + floor_div(nanoseconds, Wide{second_ns}), "seconds"));
  result.nanoseconds = static_cast<int>(floor_mod(nanoseconds, Wide{second_ns}));
  return result;
}

}  // namespace

Result<Period> parse_period(std::string_view text) { return PeriodReader(text).read(); }

std::string print_period(const Period& period) {
  PeriodWriter writer;
  writer.count(period.years, "y");
  writer.count(period.months, "mo");
  writer.count(period.days, "d");
  writer.time(period.seconds, period.nanoseconds);
  writer.count(period.steps, "ts");
  return writer.text();
}

bool mixes_units(const Period& period) noexcept {
  const bool months = period.years != 0 || period.months != 0;
  return months && (period.days != 0 || period.seconds != 0 || period.nanoseconds != 0);
}

Result<Period> sum(const Period& a, const Period& b) { return combined(a, 1, b); }

Result<Period> product(std::int64_t count, const Period& period) { return combined(period, count, {}); }

Result<Period> resolve(const Period& period, const Period& step) {
  if (step.steps != 0)
    return fail(ErrorCode::invalid_argument,
                "the time step {} contains time steps itself; give it in s, min, h, d or mo",
                print_period(step));
  Period rest = period;
  rest.steps = 0;
  return combined(step, period.steps, rest);
}

}  // namespace afterbay::dates
