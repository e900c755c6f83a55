// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "output/series.hpp"

namespace afterbay::output {

/// Makes statistics over long periods of those over shorter ones that are computed anyway: of the
/// longest of these. `of_files`: statistics that are not shared.
void share_sums(const std::vector<std::unique_ptr<SeriesStatistics>>& all,
                const std::set<const SeriesStatistics*>& of_files);

}  // namespace afterbay::output
