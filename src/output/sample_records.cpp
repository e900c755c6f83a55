// SPDX-License-Identifier: Apache-2.0
#include "output/sample_records.hpp"

#include <algorithm>

namespace afterbay::output {

void SampleRecords::define(Target& target, const std::vector<FileVariable>& variables) noexcept {
  target_ = &target;
  variables_ = &variables;
}

void SampleRecords::note_sample(bool begins_interval, double seconds) {
  begins_interval_ = begins_interval;
  seconds_ = seconds;
}

void SampleRecords::begin_step() {
  for (std::size_t source = 0; source <= most_sources; ++source)
    if (needed_[source]) records_[source] = next_++;
  begin_all();
}

void SampleRecords::begin_again() {
  if (target_->cuts() != cuts_) begin_all();
}

void SampleRecords::begin_all() {
  cuts_ = target_->cuts();
  auto more = static_cast<std::uint32_t>(std::ranges::count(needed_, true));
  for (std::size_t source = 0; source <= most_sources; ++source)
    if (needed_[source])
      target_->begin_sample(records_[source], {.source = static_cast<std::uint32_t>(source),
                                               .more_of_step = --more,
                                               .begins_interval = begins_interval_,
                                               .seconds = seconds_});
}

void SampleRecords::put_sample(std::size_t variable, std::size_t source, const Value& value) {
  begin_again();
  target_->put_sample((*variables_)[variable].name, records_[source], value.data, value.form->type,
                      value.layout == nullptr ? MemoryLayout{} : *value.layout);
}

void SampleRecords::end_step() noexcept {
  std::ranges::fill(needed_, false);
  begins_interval_ = false;
  seconds_ = 1;
}

/// Samples are numbered after the planes.
void SampleRecords::begin_state(std::uint32_t plane, std::uint32_t more,
                                const statistics::IntervalProgress& progress) {
  next_ = plane + 1;
  target_->begin_state(plane, more, progress);
}

void SampleRecords::put_state(std::size_t variable, std::uint32_t plane, const std::byte* values, Type type) {
  target_->put_sample((*variables_)[variable].name, plane, values, type, {});
}

}  // namespace afterbay::output
