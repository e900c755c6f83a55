// SPDX-License-Identifier: Apache-2.0
#include "output/formula.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/fill_value.hpp"
#include "statistics/default_arithmetic.hpp"

namespace afterbay::output {

Form Computed::computed_form() { return {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())}; }

Computed::Computed(const std::string& name, const std::vector<Series*>& operands,
                   expression::Evaluator evaluator)
    : Series(name, operands.front()->space(), computed_form()), evaluator_(std::move(evaluator)) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Operand operand{operands[i], nullptr, {}, false};
    if (!operands[i]->is_reduced())
      operand.loops = statistics::value_loops(operands[i]->form().type,
                                              operands[i]->form().missing.empty()
                                                  ? model::default_fill(operands[i]->form().type)
                                                  : operands[i]->form().missing);
    operands_.push_back(std::move(operand));
    operands[i]->add(*this, i);
  }
}

bool Computed::available() const {
  return std::ranges::all_of(operands_, [](const Operand& it) { return it.series->available(); });
}

bool Computed::is_reduced() const {
  return std::ranges::any_of(operands_, [](const Operand& it) { return it.series->is_reduced(); });
}

void Computed::begin_step() noexcept {
  arrived_ = 0;
  for (Operand& operand : operands_) operand.arrived = false;
}

void Computed::take(std::size_t slot, const Value& value) {
  Operand& operand = operands_[slot];
  const std::size_t points = space().points;
  operand.values.resize(points);
  {
    const statistics::DefaultArithmetic arithmetic;
    if (operand.loops == nullptr || value.form->type == Type::float64) {
      // Computed values have the form that was asked for.
      if (points > 0) std::memcpy(operand.values.data(), value.data, points * sizeof(double));
      if (operand.loops != nullptr && !value.form->missing.empty())
        operand.loops->widen_poisoned(operand.values.data(), value.data, points);
    } else if (value.form->missing.empty()) {
      operand.loops->widen(operand.values.data(), value.data, points);
    } else {
      operand.loops->widen_poisoned(operand.values.data(), value.data, points);
    }
  }
  if (arrived_ == 0 || value.begin < begin_) begin_ = value.begin;
  seconds_ = arrived_ == 0 ? value.seconds : std::max(seconds_, value.seconds);
  if (!std::exchange(operand.arrived, true)) ++arrived_;
  if (arrived_ < operands_.size()) return;
  result_.resize(points);
  std::vector<const double*> from;
  for (const Operand& it : operands_) from.push_back(it.values.data());
  evaluator_.run(from, result_.data(), points);
  const Form form = this->form();
  Value computed{
      reinterpret_cast<const std::byte*>(result_.data()), &form, nullptr, begin_, value.end, seconds_};
  emit(computed);
}

std::size_t Computed::buffer_bytes(std::size_t points) const noexcept {
  return (operands_.size() + 1) * points * sizeof(double);
}

std::vector<const Series*> Computed::operands() const {
  std::vector<const Series*> all;
  for (const Operand& operand : operands_) all.push_back(operand.series);
  return all;
}

}  // namespace afterbay::output
