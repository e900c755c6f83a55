// SPDX-License-Identifier: Apache-2.0
// Kernel: computes a formula at the points of a strip.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "expression/nodes.hpp"
#include "statistics/strip.hpp"

namespace afterbay::expression {

class Kernel {
 public:
  virtual ~Kernel() = default;
  /// The results of `count` points from the point `begin` of the operands on, at most
  /// statistics::strip_points. They are an operand's, or the kernel's until its next call. The
  /// default floating-point environment is set.
  virtual const double* run(std::span<const double* const> operands, std::size_t begin,
                            std::size_t count) = 0;
  /// Whether a result is a NaN at each point at which an operand is.
  [[nodiscard]] virtual bool keeps_missing() const noexcept = 0;
};

/// Loops over strips; null if the formula contains what it has no loop for.
std::unique_ptr<Kernel> direct_kernel(std::span<const Node> nodes);

/// invalid_argument if the build has no muParser, or if muParser refuses the formula.
Result<std::unique_ptr<Kernel>> muparser_kernel(std::span<const Node> nodes, std::size_t operands);

}  // namespace afterbay::expression
