// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_cell_methods.hpp"

#include <charconv>
#include <vector>

namespace afterbay::packing {
namespace {

constexpr int most_sampling_hours = 99;

std::string_view take_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::size_t end = text.front() == '(' ? text.find(')') : text.find(' ');
  const std::size_t length = end == std::string_view::npos
                                 ? text.size()
                                 : end + (text.front() == '(' ? std::size_t{1} : std::size_t{0});
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

/// Hours of "(interval: 20 minutes comment: ...)"; 0 if there is none, or it is not whole hours.
int hours_of(std::string_view parentheses) {
  constexpr std::string_view label = "(interval:";
  if (!parentheses.starts_with(label)) return 0;
  std::string_view rest = parentheses.substr(label.size());
  if (rest.ends_with(')')) rest.remove_suffix(1);
  const std::string_view number = take_word(rest);
  const std::string_view unit = take_word(rest);
  double value = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc()) return 0;
  if (unit.starts_with("day") || unit == "d") {
    value *= 24;
  } else if (unit.starts_with("min")) {
    value /= 60;
  } else if (unit.starts_with("s")) {
    value /= 3600;
  } else if (!unit.starts_with("h")) {
    return 0;
  }
  const int hours = value >= 0 && value <= most_sampling_hours ? static_cast<int>(value) : 0;
  return static_cast<double>(hours) == value ? hours : 0;
}

int code_of(std::string_view dimension, std::string_view method) {
  if (dimension == "time") {
    if (method == "mean") return pp_time_mean;
    if (method == "minimum") return pp_minimum;
    if (method == "maximum") return pp_maximum;
  }
  const bool zonal = dimension == "longitude" || dimension == "grid_longitude";
  return zonal && method == "mean" ? pp_zonal_mean : -1;
}

/// "within years" or "over years" behind a method; empty if there is neither.
std::string_view take_years(std::string_view& text) {
  std::string_view ahead = text;
  const std::string_view word = take_word(ahead);
  if ((word != "within" && word != "over") || take_word(ahead) != "years") return {};
  text = ahead;
  return word;
}

/// Adds the method of a dimension. False if it has no code, or not after those before it.
bool add_method(std::string_view dimension, std::string_view method, std::string_view years,
                PpMethods& methods) {
  if (!years.empty() && (dimension != "time" || method != "mean")) return false;
  if (method == "point") return true;
  if (years == "over") return methods.within_years;
  const int code = code_of(dimension, method);
  if (code < 0 || (dimension == "time" && methods.over_time())) return false;
  methods.lbproc |= code;
  methods.within_years = methods.within_years || years == "within";
  return true;
}

}  // namespace

std::string_view PpMethods::time_name() const noexcept {
  return (lbproc & pp_time_mean) != 0 ? "mean" : (lbproc & pp_minimum) != 0 ? "minimum" : "maximum";
}

Result<PpMethods> pp_methods(std::string_view cell_methods) {
  PpMethods methods;
  std::string_view rest = cell_methods;
  std::vector<std::string_view> dimensions;
  bool over_years = false;
  const auto refused = [&](std::string_view what) {
    return fail(
        ErrorCode::invalid_argument,
        "the cell methods '{}' have no code in PP headers (LBPROC, word 25), because of '{}': time has mean, "
        "minimum, maximum, point, and mean within years with mean over years; longitude has mean",
        cell_methods, what);
  };
  while (true) {
    const std::string_view word = take_word(rest);
    if (word.empty()) break;
    if (word.ends_with(':')) {
      dimensions.push_back(word.substr(0, word.size() - 1));
      continue;
    }
    if (word.starts_with('(')) {
      methods.sampling_hours = hours_of(word);
      continue;
    }
    const std::string_view years = take_years(rest);
    const std::string_view said = years.empty() ? word : years == "over" ? "over years" : "within years";
    if (dimensions.empty() || (years == "over" && over_years)) return refused(said);
    for (const std::string_view dimension : dimensions)
      if (!add_method(dimension, word, years, methods)) return refused(said);
    over_years = over_years || years == "over";
    dimensions.clear();
  }
  if (!dimensions.empty()) return refused(dimensions.back());
  if (methods.within_years && !over_years) return refused("within years");
  if (!methods.over_time()) methods.sampling_hours = 0;
  return methods;
}

}  // namespace afterbay::packing
