// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/served_formula.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/default_arithmetic.hpp"
#include "base/rounding.hpp"
#include "model/fill_value.hpp"

namespace afterbay::server {

namespace {

/// Strips of all operands and of the results of all steps have so many doubles together, and stay
/// in the caches.
constexpr std::size_t values_of_strips = std::size_t{16} << 10;
constexpr std::size_t line_bytes = 64;

/// Bytes from the beginning of an operand to that of the next one.
std::size_t distance_of(const ServedFormula& formula, std::size_t points) noexcept {
  return rounded_up(points * formula.element_bytes(), line_bytes);
}

}  // namespace

ServedFormula::ServedFormula(const wire::FormulaDefinition& formula, const Variable& variable)
    : units_{formula.multiply, formula.add},
      type_(variable.type),
      kernel_(model::kernel(Type::float64, variable.type, false)) {
  statistics::Widening(variable.type, {}).run(&fill_, model::fill_of(variable).bytes.data(), 1);
  if (type_ == Type::float32)
    not_a_number_ = Values(std::numeric_limits<float>::quiet_NaN()).bytes;
  else
    not_a_number_ = Values(std::numeric_limits<double>::quiet_NaN()).bytes;
  for (const wire::FormulaStep& step : formula.steps) {
    Step& made = steps_.emplace_back();
    made.formula.text = step.text;
    made.formula.operands.resize(step.operands.size());
    made.operands.assign(step.operands.begin(), step.operands.end());
  }
  for (const wire::OperandDefinition& operand : formula.operands)
    operands_.push_back({operand.source, operand.is_constant != 0, {variable.type, operand.missing}});
}

Result<std::unique_ptr<const ServedFormula>> ServedFormula::make(const wire::FormulaDefinition& formula,
                                                                 const Variable& variable) {
  const auto failed = [&](Error error) { return fail(std::move(error).in_variable(variable.name)); };
  if (variable.type != Type::float32 && variable.type != Type::float64)
    return failed(make_error(ErrorCode::wrong_type, "servers do not compute formulas of type {}",
                             name_of(variable.type)));
  for (const wire::OperandDefinition& operand : formula.operands)
    if (!operand.missing.empty() && operand.missing.type != variable.type)
      return failed(make_error(ErrorCode::internal, "a formula has missing values of type {}",
                               name_of(operand.missing.type)));
  std::size_t known = formula.operands.size();
  for (const wire::FormulaStep& step : formula.steps) {
    if (std::ranges::any_of(step.operands, [known](std::uint32_t operand) { return operand >= known; }))
      return failed(make_error(ErrorCode::internal, "\"{}\" is computed with what comes later", step.text));
    ++known;
  }
  if (formula.steps.empty()) return failed(make_error(ErrorCode::internal, "a formula has no steps"));
  std::unique_ptr<const ServedFormula> made(new ServedFormula(formula, variable));
  auto evaluators = made->evaluators();
  if (!evaluators) return failed(std::move(evaluators).error());
  const MutexLock lock(made->mutex_);
  made->evaluators_.push_back(*std::move(evaluators));
  return made;
}

std::optional<std::size_t> ServedFormula::operand_of(std::uint32_t source) const noexcept {
  const auto found = std::ranges::find(operands_, source, &Operand::source);
  if (found == operands_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - operands_.begin());
}

/// Some that no other thread uses, or new ones.
Result<ServedFormula::Evaluators> ServedFormula::evaluators() const {
  {
    const MutexLock lock(mutex_);
    if (!evaluators_.empty()) {
      Evaluators free = std::move(evaluators_.back());
      evaluators_.pop_back();
      return free;
    }
  }
  Evaluators made;
  for (const Step& step : steps_) {
    AFTERBAY_TRY_ASSIGN(expression::Evaluator evaluator, expression::Evaluator::create(step.formula));
    made.push_back(std::move(evaluator));
  }
  return made;
}

Result<> ServedFormula::run(std::span<const std::byte* const> samples, std::size_t points,
                            const Take& take) const {
  AFTERBAY_TRY_ASSIGN(Evaluators evaluators, this->evaluators());
  const std::size_t all = operands_.size() + steps_.size();
  const std::size_t strip = std::max(values_of_strips / all, std::size_t{1});
  std::vector<double> strips(all * strip);
  const auto values = [&](std::size_t number) { return strips.data() + number * strip; };
  std::vector<std::vector<const double*>> from;
  for (const Step& step : steps_) {
    std::vector<const double*>& of = from.emplace_back();
    for (const std::size_t operand : step.operands) of.push_back(values(operand));
  }
  for (std::size_t first = 0; first < points; first += strip) {
    const std::size_t count = std::min(strip, points - first);
    for (std::size_t i = 0; i < operands_.size(); ++i)
      operands_[i].widening.run(values(i), samples[i] + first * element_bytes(), count);
    for (std::size_t i = 0; i < steps_.size(); ++i)
      evaluators[i].run(from[i], values(operands_.size() + i), count);
    take({values(all - 1), count}, first);
  }
  const MutexLock lock(mutex_);
  evaluators_.push_back(std::move(evaluators));
  return {};
}

Result<> ServedFormula::write(std::span<const std::byte* const> samples, std::size_t points,
                              std::byte* to) const {
  const DefaultArithmetic arithmetic;  // also for the conversion to the variable's type
  std::uint64_t out_of_range = 0;
  const auto bytes = static_cast<std::ptrdiff_t>(element_bytes());
  AFTERBAY_TRY(run(samples, points, [&](std::span<double> results, std::size_t first) {
    expression::convert(results, units_);
    expression::replace_missing(results, fill_);
    out_of_range +=
        kernel_.convert(to + first * element_bytes(), reinterpret_cast<const std::byte*>(results.data()),
                        results.size(), bytes, sizeof(double));
  }));
  if (out_of_range == 0) return {};
  return fail(ErrorCode::wrong_type,
              "{} values of an expression do not fit into {}: give the variable another type, or other units",
              out_of_range, name_of(type_));
}

PieceOperands::PieceOperands(const ServedFormula& formula, std::size_t points,
                             std::pmr::memory_resource& memory)
    : formula_(formula),
      bytes_(points * formula.element_bytes()),
      distance_(distance_of(formula, points)),
      memory_(static_cast<std::byte*>(memory.allocate(formula.operands() * distance_, line_bytes))),
      is_there_(formula.operands()) {}

std::uint64_t PieceOperands::bytes_of(const ServedFormula& formula, std::size_t points) noexcept {
  return formula.operands() * distance_of(formula, points);
}

Result<> PieceOperands::take(std::size_t operand, const std::byte* samples) {
  if (is_there_[operand])
    return fail(ErrorCode::internal, "operand {} of the expression was handed over twice", operand);
  std::memcpy(memory_ + operand * distance_, samples, bytes_);
  is_there_[operand] = true;
  return {};
}

bool PieceOperands::are_there() const noexcept {
  return std::ranges::all_of(is_there_, [](bool it) { return it; });
}

std::vector<const std::byte*> PieceOperands::samples() const {
  std::vector<const std::byte*> all;
  for (std::size_t i = 0; i < is_there_.size(); ++i) all.push_back(memory_ + i * distance_);
  return all;
}

void PieceOperands::begin_step() noexcept {
  for (std::size_t i = 0; i < is_there_.size(); ++i) is_there_[i] = formula_.is_constant(i);
}

}  // namespace afterbay::server
