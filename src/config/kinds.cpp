// SPDX-License-Identifier: Apache-2.0
#include "config/kinds.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "base/units.hpp"

namespace afterbay::config {

namespace {

/// The number that makes up the whole text.
template <class T>
Result<T> whole_number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end)
    return fail(ErrorCode::invalid_argument, "too large");
  if (error != std::errc{} || stop != end) return fail(ErrorCode::wrong_type, "not a number");
  return value;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// "1, 2,3" or "[1, 2, 3]", each at least `low`.
template <class T>
Result<std::vector<T>> numbers(std::string_view all, T low, std::string_view accepted) {
  std::string_view rest = trimmed(all);
  if (rest.size() >= 2 && rest.front() == '[' && rest.back() == ']') rest = rest.substr(1, rest.size() - 2);
  std::vector<T> values;
  while (true) {
    const auto comma = rest.find(',');
    const auto value = whole_number<T>(trimmed(rest.substr(0, comma)));
    if (!value) return refuse(value.error().code, accepted, all);
    if (*value < low) return refuse(ErrorCode::invalid_argument, accepted, all);
    values.push_back(*value);
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

template <class T>
Kind<std::vector<T>> list_of(std::string type, std::string accepted, T low) {
  return {.type = std::move(type),
          .accepted = accepted,
          .list = true,
          .parse = [accepted, low](std::string_view text) { return numbers<T>(text, low, accepted); },
          .print = [](const std::vector<T>& values) { return fmt::format("{}", fmt::join(values, ",")); }};
}

template <class T>
Kind<T> number_between(std::string type, std::string accepted, T low, T high) {
  return {.type = std::move(type),
          .accepted = accepted,
          .parse = [=](std::string_view text) -> Result<T> {
            const auto value = whole_number<T>(trimmed(text));
            if (!value) return refuse(value.error().code, accepted, text);
            if (!(*value >= low && *value <= high))
              return refuse(ErrorCode::invalid_argument, accepted, text);
            return *value;
          },
          .print = [](const T& value) { return fmt::format("{}", value); }};
}

}  // namespace

tl::unexpected<Error> refuse(ErrorCode code, std::string_view accepted, std::string_view found,
                             std::string_view hint) {
  return fail(code, "expected {}, found \"{}\"{}", accepted, found, hint);
}

Kind<std::uint64_t> size_in(ByteRange range) {
  std::string accepted = fmt::format("a size from {} to {}", print_bytes(range.low), print_bytes(range.high));
  if (range.multiple > 1) accepted += fmt::format(", a multiple of {}", print_bytes(range.multiple));
  return {.type = "size",
          .accepted = accepted,
          .parse = [=](std::string_view text) -> Result<std::uint64_t> {
            const auto bytes = parse_bytes(text);
            if (!bytes) return fail(bytes.error().code, "expected {}: {}", accepted, bytes.error().message);
            if (*bytes < range.low || *bytes > range.high || *bytes % range.multiple != 0) {
              return refuse(ErrorCode::invalid_argument, accepted, text);
            }
            return *bytes;
          },
          .print = [](const std::uint64_t& bytes) { return print_bytes(bytes); }};
}

Kind<std::chrono::milliseconds> duration_in(std::chrono::milliseconds low, std::chrono::milliseconds high,
                                            bool zero_too) {
  const std::string accepted = fmt::format("{}a duration from {} to {}", zero_too ? "0 or " : "",
                                           print_duration(low), print_duration(high));
  return {.type = "duration",
          .accepted = accepted,
          .parse = [=](std::string_view text) -> Result<std::chrono::milliseconds> {
            const auto duration = parse_duration(text);
            if (!duration)
              return fail(duration.error().code, "expected {}: {}", accepted, duration.error().message);
            const bool zero = zero_too && duration->count() == 0;
            if (!zero && (*duration < low || *duration > high)) {
              return refuse(ErrorCode::invalid_argument, accepted, text);
            }
            return *duration;
          },
          .print = [](const std::chrono::milliseconds& duration) { return print_duration(duration); }};
}

Kind<int> integer_in(int low, int high) {
  return number_between<int>("integer", fmt::format("an integer from {} to {}", low, high), low, high);
}

Kind<double> number_in(double low, double high) {
  return number_between<double>("number", fmt::format("a number from {} to {}", low, high), low, high);
}

Kind<std::vector<int>> integers_from_zero() {
  return list_of<int>("list of integers", "a list of integers from 0, as in 0,0,1,1", 0);
}

Kind<std::vector<std::uint64_t>> lengths() {
  return list_of<std::uint64_t>("list of integers", "a list of integers from 1, as in 1,64,64", 1);
}

Kind<bool> toggle() { return choice<bool>({{"on", true}, {"off", false}}); }

Kind<std::vector<std::string>> words(std::string accepted) {
  Kind<std::vector<std::string>> kind{
      .type = "list", .accepted = std::move(accepted), .list = true, .parse = {}, .print = {}};
  kind.parse = [accepted = kind.accepted](std::string_view found) -> Result<std::vector<std::string>> {
    std::vector<std::string> list;
    for (std::string_view rest = found; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      std::string_view word = rest.substr(0, end);
      while (word.starts_with(' ')) word.remove_prefix(1);
      while (word.ends_with(' ')) word.remove_suffix(1);
      if (!word.empty()) list.emplace_back(word);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (list.empty()) return refuse(ErrorCode::invalid_argument, accepted, found);
    return list;
  };
  kind.print = [](const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ",")); };
  return kind;
}

Kind<std::string> text(std::string type, std::string accepted) {
  return {.type = std::move(type),
          .accepted = accepted,
          .parse = [accepted](std::string_view found) -> Result<std::string> {
            if (found.empty()) return refuse(ErrorCode::invalid_argument, accepted, found);
            return std::string(found);
          },
          .print = [](const std::string& value) { return value; }};
}

std::string_view canonical_choice(std::string_view text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), "on") == names.end()) return text;
  if (text == "true") return "on";
  if (text == "false") return "off";
  return text;
}

}  // namespace afterbay::config
