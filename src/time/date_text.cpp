// SPDX-License-Identifier: Apache-2.0
#include "time/date_text.hpp"

#include <algorithm>
#include <optional>

#include "base/printable.hpp"
#include "time/instant.hpp"
#include "time/letters.hpp"

namespace afterbay::dates {
namespace {

/// Reads a text from left to right; `take...` return false, or nothing, if it does not continue so.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] std::size_t digits() const {
    return static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_digit) - rest_.begin());
  }
  bool take(char c) {
    if (rest_.empty() || lower(rest_.front()) != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Whether there are digits after blanks, which are then the next ones.
  bool skip_blanks() {
    const std::string_view behind = trimmed(rest_);
    if (behind.size() == rest_.size() || behind.empty() || !is_digit(behind.front())) return false;
    rest_ = behind;
    return true;
  }
  /// `fewest` to `most` digits, at most 18.
  std::optional<std::int64_t> number(std::size_t fewest, std::size_t most) {
    const std::size_t count = std::min(digits(), most);
    if (count < fewest || count > 18) return std::nullopt;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value * 10 + (rest_[i] - '0');
    rest_.remove_prefix(count);
    return value;
  }
  bool number(int& value, std::size_t fewest, std::size_t most) {
    const auto found = number(fewest, most);
    if (found) value = static_cast<int>(*found);
    return found.has_value();
  }
  /// The digits after a decimal point; more than nine must be zeros.
  bool fraction(int& nanoseconds) {
    const std::size_t count = digits();
    nanoseconds = 0;
    for (std::size_t i = 0; i < 9; ++i) nanoseconds = nanoseconds * 10 + (i < count ? rest_[i] - '0' : 0);
    const std::string_view beyond = count > 9 ? rest_.substr(9, count - 9) : std::string_view();
    rest_.remove_prefix(count);
    return count > 0 && beyond.find_first_not_of('0') == std::string_view::npos;
  }

 private:
  std::string_view rest_;
};

/// A date in the basic form has eight digits: 20000101.
bool take_day(Reader& reader, Date& date) {
  const bool negative = reader.take('-');
  const bool has_sign = negative || reader.take('+');
  if (!has_sign && reader.digits() == 8 && reader.rest().substr(8, 1) != "-") {
    date.year = *reader.number(4, 4);
    return reader.number(date.month, 2, 2) && reader.number(date.day, 2, 2);
  }
  const auto year = reader.number(1, 19);
  if (!year) return false;
  date.year = negative ? -*year : *year;
  return reader.take('-') && reader.number(date.month, 1, 2) && reader.take('-') &&
         reader.number(date.day, 1, 2);
}

/// "6:30", "06:30:15.25", "06"; in the basic form "0630", "063015.25".
bool take_time(Reader& reader, Date& date) {
  const bool basic = reader.digits() > 2;
  const std::size_t fewest = basic ? 2 : 1;
  if (!reader.number(date.hour, fewest, 2)) return false;
  if (!basic && !reader.take(':')) return true;
  if (!reader.number(date.minute, fewest, 2)) return false;
  if (basic ? reader.digits() == 0 : !reader.take(':')) return true;
  if (!reader.number(date.second, fewest, 2)) return false;
  return !(reader.take('.') || reader.take(',')) || reader.fraction(date.nanosecond);
}

/// What may follow a time: nothing, or a name or an offset of UTC.
bool is_utc(std::string_view zone) {
  const std::string name = lower(zone);
  return name.empty() || name == "z" || name == "utc" || name == "gmt" || name == "+00:00" ||
         name == "+0000" || name == "+00" || name == "-00:00" || name == "+0:00" || name == "0:00" ||
         name == "00:00";
}

bool looks_like_zone(std::string_view zone) {
  if (std::all_of(zone.begin(), zone.end(), [](char c) { return is_letter(c) || c == '/' || c == '_'; }))
    return true;
  return (zone.front() == '+' || zone.front() == '-') && zone.size() > 1 && zone.size() <= 6 &&
         std::all_of(zone.begin() + 1, zone.end(), [](char c) { return is_digit(c) || c == ':'; });
}

tl::unexpected<Error> no_date(std::string_view text) {
  return fail(ErrorCode::invalid_argument,
              "\"{}\" is not a date in a known form: write it as 2000-01-31, 2000-01-31T06:30:00 or "
              "2000-01-31 06:30:00.5 (years have up to 18 digits, fractions of a second up to nine)",
              printable(text));
}

/// The year's digits, without its sign.
std::string digits_of_year(std::int64_t year, int fewest) {
  return fmt::format("{:0{}}", year < 0 ? -year : year, fewest);
}

/// `rules`: null without a calendar.
std::string converted(const Rules* rules, const Date& date, char conversion) {
  switch (conversion) {
    case 'Y': return (date.year < 0 ? "-" : "") + digits_of_year(date.year, 4);
    case 'y': {
      const std::string digits = digits_of_year(date.year, 2);
      return digits.substr(digits.size() - 2);
    }
    case 'm': return fmt::format("{:02}", date.month);
    case 'd': return fmt::format("{:02}", date.day);
    case 'H': return fmt::format("{:02}", date.hour);
    case 'M': return fmt::format("{:02}", date.minute);
    case 'S': return fmt::format("{:02}", date.second);
    case 'j': return rules == nullptr ? "" : fmt::format("{:03}", day_of_year(*rules, day_of(*rules, date)));
    default: return "%";
  }
}

std::string formatted(const Rules* rules, const Date& date, std::string_view pattern) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%')
      text += pattern[at];
    else
      text += converted(rules, date, pattern[++at]);
  }
  return text;
}

bool is_in_any_calendar(const Date& date) {
  return date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31 && date.hour <= 23 &&
         date.minute <= 59 && date.second <= 59;
}

Result<Date> read_date(std::string_view text) {
  Date date;
  Reader reader(trimmed(text));
  if (!take_day(reader, date)) return no_date(text);
  const bool has_time = reader.take('t') || reader.skip_blanks();
  if (has_time && !take_time(reader, date)) return no_date(text);
  const std::string_view zone = trimmed(reader.rest());
  if (!is_utc(zone)) {
    if (!looks_like_zone(zone)) return no_date(text);
    return fail(ErrorCode::invalid_argument,
                "\"{}\" has the time zone {}: models count in UTC; convert the time and write Z, UTC or "
                "nothing after it",
                printable(text), printable(zone));
  }
  return date;
}

}  // namespace

std::string day_text(const Date& date) {
  return fmt::format("{}{}-{:02}-{:02}", date.year < 0 ? "-" : "", digits_of_year(date.year, 4), date.month,
                     date.day);
}

std::string time_text(const Date& date) {
  std::string text = fmt::format("{:02}:{:02}:{:02}", date.hour, date.minute, date.second);
  if (date.nanosecond != 0) {
    text += fmt::format(".{:09}", date.nanosecond);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

Result<Date> parse_date(const Rules& rules, std::string_view text) {
  AFTERBAY_TRY_ASSIGN(const Date date, read_date(text));
  AFTERBAY_TRY(check_date(rules, date));
  return date;
}

Result<Date> parse_date(std::string_view text) {
  AFTERBAY_TRY_ASSIGN(const Date date, read_date(text));
  if (!is_in_any_calendar(date)) return no_date(text);
  return date;
}

Result<> check_pattern(std::string_view pattern) {
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos; at = pattern.find('%', at + 2)) {
    const std::string_view conversion = pattern.substr(at, 2);
    if (conversion.size() < 2)
      return fail(ErrorCode::invalid_argument,
                  "the pattern of dates \"{}\" ends with %; write %% for a percent sign", printable(pattern));
    if (std::string_view("YymdjHMS%").find(conversion[1]) == std::string_view::npos)
      return fail(ErrorCode::invalid_argument,
                  "the pattern of dates \"{}\" contains {}; use %Y (year), %y (its last two digits), %m "
                  "(month), %d (day), "
                  "%j (day of the year), %H, %M, %S and %%",
                  printable(pattern), printable(conversion));
  }
  return {};
}

Result<std::string> format_date(const Rules& rules, const Date& date, std::string_view pattern) {
  AFTERBAY_TRY(check_pattern(pattern));
  return formatted(&rules, date, pattern);
}

std::string format_date(const Date& date, std::string_view pattern) {
  return formatted(nullptr, date, pattern);
}

Result<> check_pattern_without_calendar(std::string_view pattern) {
  AFTERBAY_TRY(check_pattern(pattern));
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos; at = pattern.find('%', at + 2))
    if (pattern[at + 1] == 'j')
      return fail(
          ErrorCode::invalid_argument,
          "the pattern of dates \"{}\" contains %j, the day of the year, which depends on the calendar: "
          "here no calendar is known; use %m and %d",
          printable(pattern));
  return {};
}

}  // namespace afterbay::dates
