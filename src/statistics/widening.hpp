// SPDX-License-Identifier: Apache-2.0
// Widening: values of a field as doubles, in which missing values are NaN.
#pragma once

#include <cstddef>
#include <memory>

#include "afterbay/schema.hpp"
#include "statistics/value_loops.hpp"

namespace afterbay::statistics {

/// Immutable; any thread.
class Widening {
 public:
  /// `type`: of numbers. `missing`: values of this type; empty: nothing is missing.
  Widening(Type type, const Values& missing);

  [[nodiscard]] Type type() const noexcept { return type_; }
  /// Integers with 64 bits become the nearest double. `from` needs no alignment.
  void run(double* to, const std::byte* from, std::size_t count) const;

 private:
  Type type_;
  bool finds_missing_;
  std::unique_ptr<const ValueLoops> loops_;
};

}  // namespace afterbay::statistics
