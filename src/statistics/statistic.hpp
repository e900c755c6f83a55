// SPDX-License-Identifier: Apache-2.0
// What can be computed from the values of a field over an interval of time, point by point.
// Formulas and their sources: docs/explanation/statistics.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "afterbay/types.hpp"
#include "base/result.hpp"

namespace afterbay::statistics {

/// The numbers are part of saved states (encoding.hpp): they never change.
enum class StatisticKind : std::uint8_t {
  instant = 1,             ///< the value of the last step
  mean = 2,                ///< sum / number of steps
  sum = 3,                 ///< sum of the steps' values
  minimum = 4,             ///< smallest value
  maximum = 5,             ///< largest value
  range = 6,               ///< maximum - minimum
  standard_deviation = 7,  ///< standard deviation of the population, or of a sample
  rate = 8,                ///< sum / duration of the interval
  once = 9,                ///< the value of the first step
  difference = 10,         ///< last value - last value of the interval before; first interval: - first value
};

/// What happens to missing values (model::MissingValues: fill value, `missing_value`, NaN). Saved
/// in states.
enum class Missing : std::uint8_t {
  none = 0,       ///< they are not looked for: all values are numbers, and a NaN makes results NaN
  ignore = 1,     ///< left out; missing if there is no other value
  poison = 2,     ///< one missing value makes the result missing
  threshold = 3,  ///< left out; missing if less than a fraction of the values (or of the duration) is left
};

/// One statistic. `instant`, `once` and `difference` use the values of single steps: for them, all
/// policies but `none` mean that the result is missing if a value that it uses is.
struct Statistic {
  StatisticKind kind = StatisticKind::mean;
  Missing missing = Missing::none;
  double threshold = 0;  ///< least fraction of valid values, in (0, 1]; only with Missing::threshold
  bool weighted =
      false;            ///< by the durations of steps: mean, sum (an integral over time), standard deviation
  bool sample = false;  ///< standard deviation: divided by n - 1, not n; not weighted

  friend bool operator==(const Statistic&, const Statistic&) = default;
};

/// Whether missing values are left out of sums, so that each point has a number of values of its
/// own.
inline bool leaves_out(Missing policy) noexcept {
  return policy == Missing::ignore || policy == Missing::threshold;
}

/// Whether Bundle::absorb makes, from the states of the parts of an interval, what its steps would
/// have made. Extremes always are the same. Sums of up to 32 bits per value are, too, as long as
/// double precision holds them exactly: of float32, if the values at a point differ by less than a
/// factor of 2^29 / number of steps. So must the sum of the durations be, for rates: whole seconds
/// are.
bool can_be_absorbed(const Statistic& statistic, Type type) noexcept;

/// "mean", "standard_deviation", ...; "unknown" for other numbers.
std::string_view name_of(StatisticKind kind) noexcept;

/// For messages: "mean, weighted by duration, missing values ignored".
std::string text_of(const Statistic& statistic);

/// Whether the statistic can be computed for fields of this type (invalid_argument, wrong_type).
Result<> check(const Statistic& statistic, Type type);

}  // namespace afterbay::statistics
