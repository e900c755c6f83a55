// SPDX-License-Identifier: Apache-2.0
// Maps seen from all ranks: does every point belong to one rank? Memory depends on the number of gaps, never
// on the number of points or ranks; time on the number of runs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "model/point_runs.hpp"

namespace afterbay::model {

struct RankPoints {
  int rank = 0;
  std::span<const std::byte> encoded;  ///< by encode_offsets
};

struct MapCoverage {
  std::vector<OffsetRun> gaps;               ///< points that nobody holds, ascending
  std::vector<std::vector<OffsetRun>> lost;  ///< by entry: points that another rank's win from; may be empty
};

/// Fails with conflict: points held twice unless repeats are allowed (the first such point and both ranks),
/// points that nobody holds unless gaps are (how many, the first); with format when an encoding makes no
/// sense.
Result<MapCoverage> check_map_coverage(std::string_view name, std::uint64_t points,
                                       std::span<const RankPoints> ranks, const Coverage& coverage);

}  // namespace afterbay::model
