// SPDX-License-Identifier: Apache-2.0
// Evaluates a formula point by point.
//
// Formulas of + - * /, of ^ with the exponents 2, 3 and 4, and of sqrt, sqr and abs are computed by
// loops over strips of points. All others are evaluated by muParser, if the build has it
// (AFTERBAY_WITH_MUPARSER).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "expression/expression.hpp"

namespace afterbay::expression {

class Kernel;

/// Whether this build has muParser, so that all expressions can be evaluated.
[[nodiscard]] bool has_muparser() noexcept;

/// Movable. One thread at a time uses an object; different objects are independent.
class Evaluator {
 public:
  /// Fails with invalid_argument if the formula needs muParser and the build has none, if its text
  /// is not that of a formula, or if it is too long for muParser.
  static Result<Evaluator> create(const Formula& formula);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  /// `operands[i][p]` is the value of the formula's operand i at the point p, `to[p]` its result,
  /// for `count` points. `to` may be one of the operands, but must not overlap them otherwise.
  ///
  /// A missing value is NaN. The result is missing if any operand is, even if a comparison or `?:`
  /// does not use it there, and if it is not a number (0/0, sqrt(-1)); infinities are results.
  /// Missing results are the same quiet NaN. The bits of a result depend on the values at its point
  /// only: not on the other points, the thread, or the caller's floating-point environment, which
  /// is restored.
  void run(std::span<const double* const> operands, double* to, std::size_t count);

 private:
  Evaluator(std::unique_ptr<Kernel> kernel, std::size_t operands);

  std::unique_ptr<Kernel> kernel_;
  std::size_t operands_ = 0;
};

}  // namespace afterbay::expression
