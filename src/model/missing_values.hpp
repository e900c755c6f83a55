// SPDX-License-Identifier: Apache-2.0
// Missing values of a variable: stages keep them, statistics leave them out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"
#include "base/strict_floating_point.hpp"

namespace afterbay::model {

/// The fill value (given in the schema, or netCDF's default for the type) and the values of the
/// attribute `missing_value`, converted to the variable's type. A `missing_value` that the type
/// cannot hold is left out. Source: CF Conventions 1.11, section 2.5.1.
Values missing_values(const Variable& variable);

/// The same, but without netCDF's default fill value of bytes, which marks no missing points (see
/// `missing_fill_of`): may be empty.
Values missing_marks(const Variable& variable);

/// Values that readers take for valid: those from `low` to `high`.
template <class T>
struct ValidRange {
  bool exists = false;
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};

/// What the attributes valid_range, valid_min and valid_max of a variable say, in its type. T is
/// this type, or double. Limits that the type cannot hold, and NaN, are left out.
template <class T>
ValidRange<T> valid_range_of(const Variable& variable);

/// The missing values of a variable of type T, and NaN.
template <class T>
class MissingValues {
 public:
  explicit MissingValues(const Variable& variable) : MissingValues(missing_values(variable)) {}
  /// `all`: one or more values of type T.
  explicit MissingValues(const Values& all) {
    first_ = second_ = all.template at<T>(0);
    if (all.count() > 1) second_ = all.template at<T>(1);
    for (std::size_t i = 2; i < all.count(); ++i) others_.push_back(all.template at<T>(i));
  }

  [[nodiscard]] bool has(T value) const noexcept {
    return has_usual(value) || std::find(others_.begin(), others_.end(), value) != others_.end();
  }
  /// The first two, which may be equal.
  [[nodiscard]] T first() const noexcept { return first_; }
  [[nodiscard]] T second() const noexcept { return second_; }
  /// Whether `has_usual` finds all missing values.
  [[nodiscard]] bool are_usual() const noexcept { return others_.empty(); }
  /// Whether it is one of the first two, or NaN. Has no branches, so that loops can be vectorised.
  [[nodiscard]] bool has_usual(T value) const noexcept {
    bool found = (value == first_) | (value == second_);
    if constexpr (std::is_floating_point_v<T>) found |= value != value;
    return found;
  }

 private:
  T first_;
  T second_;
  std::vector<T> others_;
};

}  // namespace afterbay::model
