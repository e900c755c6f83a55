// SPDX-License-Identifier: Apache-2.0
#include "statistics/widening.hpp"

#include "base/default_arithmetic.hpp"
#include "model/fill_value.hpp"

namespace afterbay::statistics {

Widening::Widening(Type type, const Values& missing)
    : type_(type),
      finds_missing_(!missing.empty()),
      loops_(value_loops(type, missing.empty() ? model::default_fill(type) : missing)) {}

void Widening::run(double* to, const std::byte* from, std::size_t count) const {
  if (count == 0) return;
  const DefaultArithmetic arithmetic;
  if (finds_missing_)
    loops_->widen_poisoned(to, from, count);
  else
    loops_->widen(to, from, count);
}

}  // namespace afterbay::statistics
