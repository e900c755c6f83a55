// SPDX-License-Identifier: Apache-2.0
#include "output/series.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/convert/kernels.hpp"
#include "model/fill_value.hpp"
#include "model/moves.hpp"
#include "output/refuse.hpp"
#include "output/sample_records.hpp"
#include "statistics/statistic_traits.hpp"

namespace afterbay::output {

namespace {

template <std::size_t bytes>
void gather_fixed(std::byte* to, const std::byte* from, const std::vector<std::uint32_t>& elements) {
  for (const std::uint32_t element : elements) {
    std::memcpy(to, from + std::size_t{element} * bytes, bytes);
    to += bytes;
  }
}

void gather(std::byte* to, const std::byte* from, const std::vector<std::uint32_t>& elements,
            std::size_t bytes) {
  switch (bytes) {
    case 1: return gather_fixed<1>(to, from, elements);
    case 2: return gather_fixed<2>(to, from, elements);
    case 4: return gather_fixed<4>(to, from, elements);
    default: return gather_fixed<8>(to, from, elements);
  }
}

/// Results of a statistic are taken in doubles, in which none is a fill value, unless they are
/// values of steps: integers of 64 bits stay what they are.
Form form_of_samples(const Series& of) {
  if (!of.gives_any_form() || of.gives_values_of_steps()) return of.form();
  Form taken;
  if (!of.form().missing.empty()) taken.missing = Values(std::numeric_limits<double>::quiet_NaN());
  return taken;
}

/// A bundle finds missing values by comparing: if there are none, it is not asked to.
Values to_compare(const Form& form) {
  return form.missing.empty() ? model::default_fill(form.type) : form.missing;
}

}  // namespace

statistics::Bundle bundle_for(const Form& form, std::size_t points) {
  return must(statistics::Bundle::create({form.type, to_compare(form)}, points));
}

void copy_section(std::byte* to, const std::vector<std::uint64_t>& lengths, const model::Box& section,
                  const std::byte* from, const MemoryLayout& layout, std::size_t bytes) {
  const model::Index whole(lengths);
  const model::Box part{model::Index::filled(lengths.size(), 0), whole};
  static_cast<void>(model::execute(model::gather(section, layout, part, whole, {bytes, bytes}), from, to,
                                   model::copy_kernel(bytes, false)));
}

void make_dense(std::byte* to, const std::byte* from, const MemoryLayout& layout,
                const std::vector<std::uint64_t>& lengths, std::size_t bytes) {
  const model::Index whole(lengths);
  copy_section(to, lengths, {model::Index::filled(lengths.size(), 0), whole}, from, layout, bytes);
}

bool Series::needed() const {
  return std::ranges::any_of(consumers_, [](const Use& use) { return use.consumer->needs(); });
}

bool Series::copies_layouts() const {
  return std::ranges::any_of(
      consumers_, [](const Use& use) { return !use.consumer->takes_layouts() && use.consumer->needs(); });
}

void Series::emit(const Value& value) {
  const Value* dense = &value;
  Value made;
  for (const Use& use : consumers_) {
    if (!use.consumer->needs()) continue;
    if (value.layout == nullptr || use.consumer->takes_layouts()) {
      use.consumer->take(use.slot, value);
      continue;
    }
    if (dense == &value) {
      const std::size_t bytes = size_of(form_.type);
      dense_.resize(space_->points * bytes);
      make_dense(dense_.data(), value.data, *value.layout, space_->local, bytes);
      made = value;
      made.data = dense_.data();
      made.layout = nullptr;
      dense = &made;
    }
    use.consumer->take(use.slot, *dense);
  }
}

void ConstantSeries::put(Value covered) {
  if (!needed()) return;
  covered.data = values_->bytes.data();
  covered.form = &form();
  emit(covered);
}

void SubsetSeries::take(std::size_t /*slot*/, const Value& value) {
  const std::size_t bytes = size_of(form().type);
  kept_.resize(space().points * bytes);
  gather(kept_.data(), value.data, space().from, bytes);
  for (const std::uint32_t element : space().outside)
    std::memcpy(kept_.data() + std::size_t{element} * bytes, form().missing.bytes.data(), bytes);
  Value kept = value;
  kept.data = kept_.data();
  emit(kept);
}

ReducedSeries::ReducedSeries(const Series& of, Form form, const Schedule& schedule,
                             statistics::StatisticKind kind)
    : Series(fmt::format("{} of {}", name_of(kind), of.name()), of.space(), std::move(form)),
      of_(&of),
      schedule_(&schedule),
      kind_(kind) {}

bool ReducedSeries::gives_values_of_steps() const { return statistics::traits_of(kind_).selects_a_value; }

std::size_t ReducedSeries::buffer_bytes() const {
  std::size_t largest = 0;
  for (const Use& use : uses()) largest = std::max(largest, size_of(use.consumer->wants(form()).type));
  return space().points * largest;
}

void ReducedSeries::emit_results(const statistics::Bundle& bundle, std::size_t number, const Value& period) {
  Form made;
  bool any = false;
  for (const Use& use : uses()) {
    if (!use.consumer->needs()) continue;
    Form form = use.consumer->wants(this->form());
    if (!any || form != made) {
      statistics::ResultFormat target{.type = form.type, .fill = to_compare(form)};
      results_.resize(space().points * size_of(form.type));
      const statistics::ResultCounts outcome =
          must(bundle.result(number, target, results_.data(), 0, space().points));
      if (outcome.out_of_range > 0)
        refuse(
            ErrorCode::wrong_type,
            "{}: {} results of a period do not fit into {}: give the variable another type, or other units",
            name(), outcome.out_of_range, afterbay::name_of(form.type));
      made = std::move(form);
      any = true;
    }
    Value value = period;
    value.data = results_.data();
    value.form = &made;
    use.consumer->take(use.slot, value);
  }
}

void ReducedSeries::emit_in_servers(Value period) {
  period.in_servers = true;
  for (const Use& use : uses()) {
    if (!use.consumer->needs()) continue;
    const Form form = use.consumer->wants(this->form());
    period.form = &form;
    use.consumer->take(use.slot, period);
  }
}

SeriesStatistics::SeriesStatistics(Series& of, const Schedule& schedule, std::string text)
    : of_(&of),
      taken_(form_of_samples(of)),
      schedule_(&schedule),
      text_(std::move(text)),
      bundle_(bundle_for(taken_, of.space().points)) {
  of.add(*this);
}

ReducedSeries& SeriesStatistics::add(const statistics::Statistic& statistic) {
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (bundle_.statistic(i) == statistic) return *results_[i];
  must(statistics::check(statistic, taken_.type));
  add_state(statistic);
  results_.push_back(std::make_unique<ReducedSeries>(*of_, taken_, *schedule_, statistic.kind));
  return *results_.back();
}

void SeriesStatistics::add_state(const statistics::Statistic& statistic) {
  states_.emplace_back(statistic, taken_.type, bundle_.points());
  must(bundle_.add(statistic, states_.back().bytes()));
}

/// A bundle without points goes on counting steps and their duration.
void SeriesStatistics::leave_to_servers(SampleTarget& samples, std::vector<InFile> variables,
                                        bool takes_operands) {
  samples_ = &samples;
  takes_operands_ = takes_operands;
  variables_ = std::move(variables);
  states_.clear();
  const statistics::Bundle all = std::exchange(bundle_, bundle_for(taken_, 0));
  for (std::size_t i = 0; i < all.size(); ++i) add_state(all.statistic(i));
}

void SeriesStatistics::begin_step() {
  if (samples_ == nullptr || !needs()) return;
  samples_->note_sample(bundle_.progress(0).steps == 0, schedule_->sample_seconds());
  if (!takes_operands_) samples_->need_sample(SampleRecords::no_operand);
}

void SeriesStatistics::take(std::size_t /*slot*/, const Value& value) {
  if (!takes_operands_)
    for (const InFile& it : variables_) samples_->put_sample(it.variable, SampleRecords::no_operand, value);
  must(bundle_.step(value.data, of_->is_reduced() ? value.seconds : schedule_->sample_seconds()));
  if (schedule_->ends()) emit();
}

bool SeriesStatistics::can_be_made_of(const SeriesStatistics& finer) const {
  if (is_left_to_servers() || finer.is_left_to_servers()) return false;
  if (&finer == this || &finer.of() != of_ || of_->is_reduced() || !schedule_->consists_of(finer.schedule()))
    return false;
  for (std::size_t i = 0; i < bundle_.size(); ++i) {
    const statistics::Statistic& wanted = bundle_.statistic(i);
    bool has = false;
    for (std::size_t k = 0; k < finer.bundle_.size(); ++k) has = has || finer.bundle_.statistic(k) == wanted;
    if (!has || !statistics::can_be_absorbed(wanted, taken_.type)) return false;
  }
  return true;
}

void SeriesStatistics::make_of(SeriesStatistics& finer) {
  finer_ = &finer;
  finer.made_of_it_.push_back(this);
}

bool SeriesStatistics::has_begun() const {
  for (std::size_t i = 0; i < bundle_.size(); ++i)
    if (bundle_.progress(i).steps > 0) return true;
  return finer_ != nullptr && finer_->has_begun();
}

void SeriesStatistics::take_period(const statistics::Bundle& finer) {
  if (takes_rest_) return;  // it has taken the values of this period itself
  must(bundle_.absorb(finer));
  if (schedule_->ends()) emit();
}

void SeriesStatistics::end_step() {
  if (finer_ != nullptr) finer_->end_step();
  if (schedule_->ends() && bundle_.size() > 0 && bundle_.progress(0).steps > 0) emit();
  takes_rest_ = takes_rest_ && !finer_->schedule().ends();
}

void SeriesStatistics::emit() {
  Value period;
  period.begin = schedule_->begin();
  period.end = schedule_->now();
  period.seconds = 0;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    period.seconds = bundle_.progress(i).duration;
    if (samples_ != nullptr)
      results_[i]->emit_in_servers(period);
    else
      results_[i]->emit_results(bundle_, i, period);
  }
  for (SeriesStatistics* const coarser : made_of_it_) coarser->take_period(bundle_);
  for (std::size_t i = 0; i < results_.size(); ++i) bundle_.begin_interval(i);
}

std::size_t SeriesStatistics::state_bytes(std::size_t points) const noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < results_.size(); ++i)
    bytes += statistics::StateMemory::bytes_of(bundle_.statistic(i), taken_.type, points);
  return bytes;
}

std::size_t SeriesStatistics::buffer_bytes() const {
  std::size_t bytes = 0;
  if (!is_left_to_servers())
    for (const auto& result : results_) bytes += result->buffer_bytes();
  return bytes;
}

}  // namespace afterbay::output
