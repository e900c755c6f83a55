// SPDX-License-Identifier: Apache-2.0
// ServedFormula: the formula by which servers compute the values of a variable, point by point, and
// PieceOperands: what it is computed from, at the points of a piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "expression/evaluator.hpp"
#include "expression/units.hpp"
#include "model/convert/kernels.hpp"
#include "statistics/widening.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

/// Computes as model ranks do, with the same bits. Any thread.
class ServedFormula {
 public:
  /// `variable`: whose type the samples have. Fails if the formula cannot be evaluated by this
  /// build, if a step uses later ones, and for variables that are not of floating point; names the
  /// variable.
  static Result<std::unique_ptr<const ServedFormula>> make(const wire::FormulaDefinition& formula,
                                                           const Variable& variable);

  [[nodiscard]] std::size_t operands() const noexcept { return operands_.size(); }
  /// The operand with samples of this source; nullopt: there is none.
  [[nodiscard]] std::optional<std::size_t> operand_of(std::uint32_t source) const noexcept;
  [[nodiscard]] bool is_constant(std::size_t operand) const { return operands_[operand].is_constant; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return size_of(type_); }

  /// A NaN of the variable's type.
  [[nodiscard]] const std::vector<std::byte>& not_a_number() const noexcept { return not_a_number_; }

  /// Computes `points` results from the samples of all operands, which need no alignment, and calls
  /// `take(results, first)` for one strip of them after the other. Missing results are NaN.
  using Take = std::function<void(std::span<double> results, std::size_t first)>;
  [[nodiscard]] Result<> run(std::span<const std::byte* const> samples, std::size_t points,
                             const Take& take) const;
  /// Computes them in the units and the type of the variable, with its fill value for missing ones.
  /// Fails (wrong_type) if the type cannot hold some.
  [[nodiscard]] Result<> write(std::span<const std::byte* const> samples, std::size_t points,
                               std::byte* to) const;

 private:
  struct Operand {
    std::uint32_t source = 0;
    bool is_constant = false;
    statistics::Widening widening;
  };
  struct Step {
    expression::Formula formula;
    std::vector<std::size_t> operands;  ///< wire::FormulaStep::operands
  };
  using Evaluators = std::vector<expression::Evaluator>;  ///< one per step
  explicit ServedFormula(const wire::FormulaDefinition& formula, const Variable& variable);
  [[nodiscard]] Result<Evaluators> evaluators() const AFTERBAY_EXCLUDES(mutex_);

  std::vector<Step> steps_;
  std::vector<Operand> operands_;
  expression::Linear units_;
  Type type_;
  double fill_ = 0;
  model::Kernel kernel_;
  std::vector<std::byte> not_a_number_;
  mutable Mutex mutex_;
  /// Evaluators that no thread uses.
  mutable std::vector<Evaluators> evaluators_ AFTERBAY_GUARDED_BY(mutex_);
};

/// The samples of one step at the points of a piece. One thread at a time.
class PieceOperands {
 public:
  /// Both outlive it.
  PieceOperands(const ServedFormula& formula, std::size_t points, std::pmr::memory_resource& memory);
  /// The memory that it takes.
  [[nodiscard]] static std::uint64_t bytes_of(const ServedFormula& formula, std::size_t points) noexcept;

  /// Keeps samples of an operand. Fails (internal) if there are some already.
  [[nodiscard]] Result<> take(std::size_t operand, const std::byte* samples);
  /// Whether there are samples of all operands.
  [[nodiscard]] bool are_there() const noexcept;
  [[nodiscard]] std::vector<const std::byte*> samples() const;
  /// The next step begins: only constant operands are still there.
  void begin_step() noexcept;

 private:
  const ServedFormula& formula_;
  std::size_t bytes_;     ///< size of an operand
  std::size_t distance_;  ///< from operand to operand
  std::byte* memory_;     ///< belongs to the resource
  std::vector<bool> is_there_;
};

}  // namespace afterbay::server
