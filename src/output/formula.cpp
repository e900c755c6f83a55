// SPDX-License-Identifier: Apache-2.0
#include "output/formula.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

namespace afterbay::output {

Form FormulaSeries::computed_form() {
  return {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())};
}

FormulaSeries::FormulaSeries(const std::string& name, const std::vector<Series*>& operands,
                             expression::Formula formula, expression::Evaluator evaluator)
    : Series(name, operands.front()->space(), computed_form()),
      formula_(std::move(formula)),
      evaluator_(std::move(evaluator)) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Form& form = operands[i]->form();
    Operand operand{operands[i], std::nullopt, {}};
    if (!operands[i]->is_reduced()) operand.widening.emplace(form.type, form.missing);
    operands_.push_back(std::move(operand));
    operands[i]->add(*this, i);
    const auto* const inner = dynamic_cast<const FormulaSeries*>(operands[i]);
    if (inner == nullptr)
      add_leaf(operands[i]);
    else
      for (Series* const leaf : inner->leaves_) add_leaf(leaf);
  }
  for (Series* const operand : operands) {
    const auto leaf = std::ranges::find(leaves_, operand);
    const auto number = static_cast<std::size_t>(leaf - leaves_.begin());
    const bool is_new = std::ranges::find(leaf_of_slot_, number) == leaf_of_slot_.end();
    leaf_of_slot_.push_back(leaf != leaves_.end() && is_new ? number : no_leaf);
  }
  has_arrived_.assign(leaf_of_slot_.size(), false);
}

void FormulaSeries::add_leaf(Series* leaf) {
  if (std::ranges::find(leaves_, leaf) == leaves_.end()) leaves_.push_back(leaf);
}

std::vector<FormulaSeries::Step> FormulaSeries::steps() const {
  std::vector<Step> all;
  const auto number_of = [&](const Series* operand) {
    const auto leaf = std::ranges::find(leaves_, operand);
    if (leaf != leaves_.end()) return static_cast<std::size_t>(leaf - leaves_.begin());
    const auto step = std::ranges::find(all, operand, [](const Step& it) -> const Series* { return it.of; });
    return leaves_.size() + static_cast<std::size_t>(step - all.begin());
  };
  const auto add = [&](const auto& self, const FormulaSeries& of) -> void {
    if (std::ranges::find(all, &of, &Step::of) != all.end()) return;
    for (const Operand& operand : of.operands_)
      if (const auto* const inner = dynamic_cast<const FormulaSeries*>(operand.series)) self(self, *inner);
    Step step{&of, {}};
    for (const Operand& operand : of.operands_) step.operands.push_back(number_of(operand.series));
    all.push_back(std::move(step));
  };
  add(add, *this);
  return all;
}

bool FormulaSeries::available() const { return std::ranges::all_of(leaves_, &Series::available); }

bool FormulaSeries::is_reduced() const { return std::ranges::any_of(leaves_, &Series::is_reduced); }

const Schedule* FormulaSeries::periods() const {
  for (const Series* const leaf : leaves_)
    if (const Schedule* const periods = leaf->periods()) return periods;
  return nullptr;
}

void FormulaSeries::begin_step() noexcept {
  arrived_ = 0;
  has_arrived_.assign(has_arrived_.size(), false);
}

const FormulaSeries::InFile* FormulaSeries::find_in_file(const Consumer& consumer) const noexcept {
  const auto found = std::ranges::find(in_files_, &consumer, &InFile::consumer);
  return found == in_files_.end() ? nullptr : &*found;
}

void FormulaSeries::leave_to_servers(InFile file) {
  file.is_kept.assign(leaves_.size(), false);
  in_files_.push_back(std::move(file));
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (std::ranges::find(leaf_of_slot_, leaf) != leaf_of_slot_.end()) continue;
    leaves_[leaf]->add(*this, leaf_of_slot_.size());
    leaf_of_slot_.push_back(leaf);
    has_arrived_.push_back(false);
  }
}

void FormulaSeries::find_ends() {
  ends_.clear();
  std::set<std::pair<const FormulaSeries*, const Consumer*>> known;
  const auto add = [&](const End& end) {
    if (known.emplace(end.of, end.consumer).second) ends_.push_back(end);
  };
  for (const Use& use : uses())
    if (const auto* const outer = dynamic_cast<const FormulaSeries*>(use.consumer))
      for (const End& end : outer->ends_) add(end);
    else
      add({this, use.consumer});
}

bool FormulaSeries::needs() const {
  return available() &&
         std::ranges::any_of(ends_, [](const End& it) { return it.consumer->needs() && it.of->available(); });
}

bool FormulaSeries::uses_data() const {
  return std::ranges::any_of(ends_,
                             [](const End& it) { return it.of->find_in_file(*it.consumer) == nullptr; });
}

bool FormulaSeries::is_needed_here() const {
  return std::ranges::any_of(ends_, [](const End& it) {
    return it.of->find_in_file(*it.consumer) == nullptr && it.consumer->needs() && it.of->available();
  });
}

void FormulaSeries::announce_samples() const {
  if (!available()) return;
  for (const InFile& it : in_files_) {
    if (!it.consumer->needs()) continue;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (!it.is_kept[i]) it.samples->need_sample(it.sources[i]);
  }
}

void FormulaSeries::hand_over(std::size_t leaf, const Value& value) {
  for (InFile& it : in_files_) {
    if (it.is_kept[leaf] || !it.consumer->needs()) continue;
    for (const std::size_t variable : it.variables) it.samples->put_sample(variable, it.sources[leaf], value);
    it.is_kept[leaf] = leaves_[leaf]->is_constant();
  }
}

void FormulaSeries::take(std::size_t slot, const Value& value) {
  const std::size_t points = space().points;
  if (leaf_of_slot_[slot] != no_leaf) hand_over(leaf_of_slot_[slot], value);
  const bool computes = is_needed_here();
  if (computes && slot < operands_.size()) {
    Operand& operand = operands_[slot];
    operand.values.resize(points);
    // Values of statistics have the form that was asked for.
    if (operand.widening && operand.widening->type() == value.form->type)
      operand.widening->run(operand.values.data(), value.data, points);
    else if (points > 0)
      std::memcpy(operand.values.data(), value.data, points * sizeof(double));
  }
  if (arrived_ == 0 || value.begin < begin_) begin_ = value.begin;
  seconds_ = arrived_ == 0 ? value.seconds : std::max(seconds_, value.seconds);
  if (!has_arrived_[slot]) ++arrived_;
  has_arrived_[slot] = true;
  if (arrived_ < has_arrived_.size()) return;
  const Form form = this->form();
  Value computed{nullptr, &form, nullptr, begin_, value.end, seconds_};
  if (computes) {
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

std::size_t FormulaSeries::buffer_bytes(std::size_t points) const noexcept {
  return (operands_.size() + 1) * points * sizeof(double);
}

std::vector<const Series*> FormulaSeries::operands() const {
  std::vector<const Series*> all;
  for (const Operand& operand : operands_) all.push_back(operand.series);
  return all;
}

}  // namespace afterbay::output
