// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_cell_methods.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
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

/// Hours of a unit of time, by the names that UDUNITS knows; 0 if it is none.
double hours_per(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double hours;
  };
  static constexpr std::array units{Unit{"d", 24},
                                    Unit{"day", 24},
                                    Unit{"days", 24},
                                    Unit{"h", 1},
                                    Unit{"hr", 1},
                                    Unit{"hrs", 1},
                                    Unit{"hour", 1},
                                    Unit{"hours", 1},
                                    Unit{"min", 1.0 / 60},
                                    Unit{"mins", 1.0 / 60},
                                    Unit{"minute", 1.0 / 60},
                                    Unit{"minutes", 1.0 / 60},
                                    Unit{"s", 1.0 / 3600},
                                    Unit{"sec", 1.0 / 3600},
                                    Unit{"secs", 1.0 / 3600},
                                    Unit{"second", 1.0 / 3600},
                                    Unit{"seconds", 1.0 / 3600}};
  const auto* const found = std::ranges::find(units, unit, &Unit::name);
  return found == units.end() ? 0 : found->hours;
}

/// Whole hours of an interval; 0 if it is not 1 to 99.
int whole_hours(std::string_view number, std::string_view unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return 0;
  value *= hours_per(unit);
  const double nearest = std::round(value);
  // Minutes and seconds are not exact fractions of hours.
  constexpr double tolerance = 1e-9;
  return nearest >= 1 && nearest <= most_sampling_hours && std::abs(value - nearest) <= tolerance
             ? static_cast<int>(nearest)
             : 0;
}

/// Hours of "(interval: 20 minutes comment: ...)", which is of the dimension of this index among
/// `count` ones: the intervals have their order, or one is of all. 0 if there is none, or it is not
/// 1 to 99 whole hours.
int hours_of(std::string_view parentheses, std::size_t index, std::size_t count) {
  std::string_view rest = parentheses.substr(1);
  if (rest.ends_with(')')) rest.remove_suffix(1);
  std::vector<int> intervals;
  while (take_word(rest) == "interval:") {
    const std::string_view number = take_word(rest);
    intervals.push_back(whole_hours(number, take_word(rest)));
  }
  if (intervals.size() == 1) return intervals.front();
  return intervals.size() == count ? intervals[index] : 0;
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

/// "within years" or "over years" after a method; empty if there is neither.
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
  std::vector<std::string_view> sampled;  // dimensions of the method before, if it has an interval of samples
  bool over_years = false;
  const auto refused = [&](std::string_view what, std::string_view dimension) {
    return fail(
        ErrorCode::invalid_argument,
        "the cell methods '{}' have no code in PP headers (LBPROC, word 25), because of '{}'{}: time has "
        "mean, "
        "minimum, maximum, point, and mean within years with mean over years; longitude has mean; leave out "
        "others, or use netCDF",
        cell_methods, what, dimension.empty() ? std::string() : fmt::format(" over '{}'", dimension));
  };
  while (true) {
    const std::string_view word = take_word(rest);
    if (word.empty()) break;
    if (word.ends_with(':')) {
      dimensions.push_back(word.substr(0, word.size() - 1));
      continue;
    }
    if (word.starts_with('(')) {
      const auto time = std::ranges::find(sampled, "time");
      if (time != sampled.end())
        methods.sampling_hours =
            hours_of(word, static_cast<std::size_t>(time - sampled.begin()), sampled.size());
      continue;
    }
    const std::string_view years = take_years(rest);
    const std::string said = years.empty() ? std::string(word) : fmt::format("{} {} years", word, years);
    if (dimensions.empty()) return refused(said, {});
    if (years == "over" && over_years) return refused(said, dimensions.front());
    for (const std::string_view dimension : dimensions)
      if (!add_method(dimension, word, years, methods)) return refused(said, dimension);
    over_years = over_years || years == "over";
    sampled = std::move(dimensions);
    if (word == "point" || years == "over") sampled.clear();
    dimensions.clear();
  }
  if (!dimensions.empty()) return refused(dimensions.back(), {});
  if (methods.within_years && !over_years) return refused("mean within years", "time");
  if (!methods.over_time()) methods.sampling_hours = 0;
  return methods;
}

}  // namespace afterbay::packing
