// SPDX-License-Identifier: Apache-2.0
// The filters of a variable as one chain. In the interfaces, the fields `deflate` and `shuffle` of
// a Variable stand for two of them; nothing else in the library reads or writes these fields.
#pragma once

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// All filters of the variable, in the order in which they are applied.
FilterChain filters_of(const Variable& variable);

/// Replaces the variable's filters.
void set_filters(Variable& variable, FilterChain chain);

/// Whether chunks of the variable are encoded before they are written.
inline bool is_filtered(const Variable& variable) {
  return variable.deflate != 0 || variable.shuffle || !variable.filters.empty();
}

}  // namespace afterbay::model
