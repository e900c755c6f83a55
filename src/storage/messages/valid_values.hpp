// SPDX-License-Identifier: Apache-2.0
// ValidValues: the values that readers of netCDF take for valid, by the attributes valid_range,
// valid_min and valid_max. Messages have no such attributes, so that others must become missing.
#pragma once

#include <limits>

#include "afterbay/schema.hpp"
#include "model/missing_values.hpp"

namespace afterbay::storage {

class ValidValues {
 public:
  ValidValues() = default;
  explicit ValidValues(const Variable& variable) {
    const auto range = model::valid_range_of<double>(variable);
    limited_ = range.exists;
    if (range.low > std::numeric_limits<double>::lowest()) low_ = range.low;
    if (range.high < std::numeric_limits<double>::max()) high_ = range.high;
  }

  /// Whether there are limits.
  [[nodiscard]] bool limited() const noexcept { return limited_; }
  /// True for NaN, which is missing or not by other rules.
  [[nodiscard]] bool has(double value) const noexcept { return !(value < low_ || value > high_); }

 private:
  bool limited_ = false;
  double low_ = -std::numeric_limits<double>::infinity();
  double high_ = std::numeric_limits<double>::infinity();
};

}  // namespace afterbay::storage
