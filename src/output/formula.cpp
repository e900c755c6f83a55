// SPDX-License-Identifier: Apache-2.0
#include "output/formula.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace afterbay::output {

Form Computed::computed_form() { return {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())}; }

Computed::Computed(const std::string& name, const std::vector<Series*>& operands, expression::Formula formula,
                   expression::Evaluator evaluator)
    : Series(name, operands.front()->space(), computed_form()),
      formula_(std::move(formula)),
      evaluator_(std::move(evaluator)) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Form& form = operands[i]->form();
    Operand operand{operands[i], std::nullopt, {}, false};
    if (!operands[i]->is_reduced()) operand.widening.emplace(form.type, form.missing);
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

const Computed::InFile* Computed::find_in_file(const Consumer& consumer) const noexcept {
  const auto found = std::ranges::find(in_files_, &consumer, &InFile::consumer);
  return found == in_files_.end() ? nullptr : &*found;
}

void Computed::leave_to_servers(InFile file) {
  file.is_kept.assign(operands_.size(), false);
  in_files_.push_back(std::move(file));
}

void Computed::announce_samples() const {
  if (!available()) return;
  for (const InFile& it : in_files_) {
    if (!it.consumer->needs()) continue;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (!it.is_kept[i]) it.samples->need_sample(it.sources[i]);
  }
}

void Computed::hand_over(std::size_t operand, const Value& value) {
  for (InFile& it : in_files_) {
    if (it.is_kept[operand] || !it.consumer->needs()) continue;
    for (const std::size_t variable : it.variables)
      it.samples->put_sample(variable, it.sources[operand], value);
    it.is_kept[operand] = operands_[operand].series->is_constant();
  }
}

void Computed::take(std::size_t slot, const Value& value) {
  Operand& operand = operands_[slot];
  const std::size_t points = space().points;
  hand_over(slot, value);
  const bool is_needed_here = std::ranges::any_of(uses(), [&](const Use& use) {
    return find_in_file(*use.consumer) == nullptr && use.consumer->needs();
  });
  if (is_needed_here) {
    operand.values.resize(points);
    // Values of statistics have the form that was asked for.
    if (operand.widening && operand.widening->type() == value.form->type)
      operand.widening->run(operand.values.data(), value.data, points);
    else if (points > 0)
      std::memcpy(operand.values.data(), value.data, points * sizeof(double));
  }
  if (arrived_ == 0 || value.begin < begin_) begin_ = value.begin;
  seconds_ = arrived_ == 0 ? value.seconds : std::max(seconds_, value.seconds);
  if (!std::exchange(operand.arrived, true)) ++arrived_;
  if (arrived_ < operands_.size()) return;
  const Form form = this->form();
  Value computed{nullptr, &form, nullptr, begin_, value.end, seconds_};
  if (is_needed_here) {
    result_.resize(points);
    std::vector<const double*> from;
    for (const Operand& it : operands_) from.push_back(it.values.data());
    evaluator_.run(from, result_.data(), points);
    computed.data = reinterpret_cast<const std::byte*>(result_.data());
  }
  for (const Use& use : uses()) {
    if (!use.consumer->needs()) continue;
    Value given = computed;
    given.in_servers = find_in_file(*use.consumer) != nullptr;
    if (given.in_servers) given.data = nullptr;
    use.consumer->take(use.slot, given);
  }
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
