// SPDX-License-Identifier: Apache-2.0
// The largest difference between the values of a variable, converted to its type and to the units
// of the file, and those that readers get, and the attribute that holds it. The rounding of `put`,
// such as that of float64 for a variable of float32, comes before and is not in it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// A float64, NaN until it is known. Schemas reserve it, so that its place in the file does not
/// change when it is set.
inline constexpr std::string_view largest_error_attribute = "largest_error";

struct LargestError {
  std::uint32_t variable = 0;  ///< index in the schema
  double value = 0;            ///< in the units of the file
  template <class A>
  void fields(A& a) {
    a(variable, value);
  }
};

/// One entry per variable of which errors are known, ascending.
using LargestErrors = std::vector<LargestError>;

/// Gives each variable in `more` the larger one of both values.
void merge(LargestErrors& all, std::span<const LargestError> more);

/// Adds the attribute, or resets it.
void reserve_largest_error(Variable& variable);
/// Whether the variable has the attribute as `reserve_largest_error` makes it.
bool reserves_largest_error(const Variable& variable) noexcept;

}  // namespace afterbay::model
