// SPDX-License-Identifier: Apache-2.0
#include "output/shared_sums.hpp"

#include <map>

namespace afterbay::output {

namespace {

/// `of_series`: statistics of one series.
void share(const std::vector<SeriesStatistics*>& of_series) {
  for (SeriesStatistics* const coarse : of_series) {
    SeriesStatistics* best = nullptr;
    for (SeriesStatistics* const finer : of_series)
      if (coarse->can_be_made_of(*finer) &&
          (best == nullptr || finer->schedule().consists_of(best->schedule())))
        best = finer;
    if (best != nullptr) coarse->make_of(*best);
  }
}

}  // namespace

void share_sums(const std::vector<std::unique_ptr<SeriesStatistics>>& all,
                const std::set<const SeriesStatistics*>& of_files) {
  std::map<const Series*, std::vector<SeriesStatistics*>> by_series;
  for (const auto& it : all)
    if (!of_files.contains(it.get()) && !it->schedule().cycle()) by_series[&it->of()].push_back(it.get());
  for (const auto& [series, statistics] : by_series) share(statistics);
}

}  // namespace afterbay::output
