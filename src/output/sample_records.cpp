// SPDX-License-Identifier: Apache-2.0
#include "output/sample_records.hpp"

#include <algorithm>

namespace afterbay::output {

void SampleRecords::note(bool begins_interval, double seconds) noexcept {
  begins_interval_ = begins_interval;
  seconds_ = seconds;
}

void SampleRecords::begin(Target& target) {
  auto more = static_cast<std::uint32_t>(std::ranges::count(needed_, true));
  for (std::size_t source = 0; source <= most_sources; ++source) {
    if (!needed_[source]) continue;
    records_[source] = next_++;
    target.begin_sample(records_[source], {.source = static_cast<std::uint32_t>(source),
                                           .more_of_step = --more,
                                           .begins_interval = begins_interval_,
                                           .seconds = seconds_});
  }
}

void SampleRecords::put(Target& target, std::string_view variable, std::size_t source,
                        const Value& value) const {
  target.put_sample(variable, records_[source], value.data, value.form->type,
                    value.layout == nullptr ? MemoryLayout{} : *value.layout);
}

void SampleRecords::end_step() noexcept {
  std::ranges::fill(needed_, false);
  begins_interval_ = false;
  seconds_ = 1;
}

}  // namespace afterbay::output
