// SPDX-License-Identifier: Apache-2.0
#include "model/calendar.hpp"

#include <algorithm>

namespace afterbay::model {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a date from left to right. Every `take...` returns false if the text does not match.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view characters) {
    return std::any_of(characters.begin(), characters.end(), [this](char c) { return take(c); });
  }
  /// Reads two digits with a value between low and high.
  bool take_two(int& value, int low, int high) {
    if (digits() < 2) return false;
    value = (rest_[0] - '0') * 10 + (rest_[1] - '0');
    rest_.remove_prefix(2);
    return value >= low && value <= high;
  }
  bool take_year(std::int64_t& year) {
    const bool negative = take('-');
    const bool has_sign = negative || take('+');
    std::size_t length = digits();
    if (!has_sign) length = std::min<std::size_t>(length, 4);
    if (length < 4 || length > 18) return false;
    for (std::size_t i = 0; i < length; ++i) year = year * 10 + (rest_[i] - '0');
    if (negative) year = -year;
    rest_.remove_prefix(length);
    return true;
  }
  void drop_fraction() {
    if (take('.') || take(',')) rest_.remove_prefix(digits());
  }

 private:
  [[nodiscard]] std::size_t digits() const {
    return static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_digit) - rest_.begin());
  }
  std::string_view rest_;
};

bool take_day(Reader& reader, Date& date) {
  if (!reader.take_year(date.year)) return false;
  const bool extended = reader.take('-');
  if (!reader.take_two(date.month, 1, 12)) return false;
  if (extended && !reader.take('-')) return false;
  return reader.take_two(date.day, 1, 31);
}

bool take_time(Reader& reader, Date& date) {
  if (!reader.take_two(date.hour, 0, 23)) return false;
  const bool extended = reader.take(':');
  if (!extended && reader.done()) return true;
  if (!reader.take_two(date.minute, 0, 59)) return false;
  if (reader.done()) return true;
  if (extended && !reader.take(':')) return reader.take('Z') && reader.done();
  if (!extended && reader.take('Z')) return reader.done();
  if (!reader.take_two(date.second, 0, 59)) return false;
  reader.drop_fraction();
  reader.take('Z');
  return reader.done();
}

}  // namespace

Result<Date> parse_date(std::string_view text) {
  Date date;
  Reader reader(text);
  if (take_day(reader, date) && (reader.done() || (reader.take_any("T ") && take_time(reader, date))))
    return date;
  return fail(
      ErrorCode::invalid_argument,
      "'{}' is not a date in a known format: write it as 2026-11-21 or 2026-11-21T06:00:00 (ISO 8601, month "
      "1-12, day 1-31, no time zone)",
      text);
}

Result<> check_date_format(std::string_view format) {
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at + 2)) {
    const std::string_view code = format.substr(at, 2);
    if (code.size() != 2 || std::string_view("YmdHMS%").find(code[1]) == std::string_view::npos)
      return fail(ErrorCode::invalid_argument,
                  "date format '{}': '{}' is unknown; %Y, %m, %d, %H, %M, %S and %% can be used", format,
                  code);
  }
  return {};
}

std::string format_date(const Date& date, std::string_view format) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    switch (format[++at]) {
      case 'Y':
        text += fmt::format("{}{:04}", date.year < 0 ? "-" : "", date.year < 0 ? -date.year : date.year);
        break;
      case 'm': text += fmt::format("{:02}", date.month); break;
      case 'd': text += fmt::format("{:02}", date.day); break;
      case 'H': text += fmt::format("{:02}", date.hour); break;
      case 'M': text += fmt::format("{:02}", date.minute); break;
      case 'S': text += fmt::format("{:02}", date.second); break;
      default: text += '%'; break;
    }
  }
  return text;
}

}  // namespace afterbay::model
