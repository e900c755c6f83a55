// SPDX-License-Identifier: Apache-2.0
#include "model/largest_error.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace afterbay::model {

void merge(LargestErrors& all, std::span<const LargestError> more) {
  for (const LargestError& it : more) {
    const auto at = std::ranges::lower_bound(all, it.variable, {}, &LargestError::variable);
    if (at == all.end() || at->variable != it.variable)
      all.insert(at, it);
    else
      at->value = std::max(at->value, it.value);
  }
}

void reserve_largest_error(Variable& variable) {
  variable.attribute(std::string(largest_error_attribute), Values(std::numeric_limits<double>::quiet_NaN()));
}

bool reserves_largest_error(const Variable& variable) noexcept {
  const auto found = std::ranges::find(variable.attributes, largest_error_attribute, &Attribute::name);
  return found != variable.attributes.end() && found->values.type == Type::float64 &&
         found->values.count() == 1;
}

}  // namespace afterbay::model
