// SPDX-License-Identifier: Apache-2.0
#include "expression/evaluator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <utility>

#include "base/default_arithmetic.hpp"
#include "base/strict_floating_point.hpp"
#include "expression/kernel.hpp"

namespace afterbay::expression {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

void mark_missing(const double* __restrict operand, double* __restrict strip, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) strip[i] = operand[i] != operand[i] ? missing : strip[i];
}

/// Not a number becomes the canonical NaN. `to` may be the results.
void copy_results(const double* results, double* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = results[i] != results[i] ? missing : results[i];
}

}  // namespace

Evaluator::Evaluator(std::unique_ptr<Kernel> kernel, std::size_t operands)
    : kernel_(std::move(kernel)), operands_(operands) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::create(const Formula& formula) {
  AFTERBAY_TRY_ASSIGN(const Nodes nodes, nodes_of(formula.text));
  const std::size_t operands = formula.operands.size();
  const bool fit = std::ranges::all_of(
      nodes, [&](const Node& node) { return node.symbol != Symbol::operand || node.index < operands; });
  if (!fit)
    return fail(ErrorCode::invalid_argument,
                "the formula \"{}\" has more operands than the {} that are given", formula.text, operands);
  std::unique_ptr<Kernel> kernel = direct_kernel(nodes);
  if (!kernel) {
    AFTERBAY_TRY_ASSIGN(kernel, muparser_kernel(nodes, operands));
  }
  return Evaluator(std::move(kernel), operands);
}

void Evaluator::run(std::span<const double* const> operands, double* to, std::size_t count) {
  assert(operands.size() == operands_);
  if (count == 0) return;
  const DefaultArithmetic arithmetic;
  std::array<double, statistics::strip_points> strip;
  for (std::size_t begin = 0; begin < count; begin += strip.size()) {
    const std::size_t points = std::min(strip.size(), count - begin);
    const double* results = kernel_->run(operands, begin, points);
    if (!kernel_->keeps_missing()) {
      std::copy_n(results, points, strip.begin());
      for (const double* const operand : operands) mark_missing(operand + begin, strip.data(), points);
      results = strip.data();
    }
    copy_results(results, to + begin, points);
  }
}

}  // namespace afterbay::expression
