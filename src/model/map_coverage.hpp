// SPDX-License-Identifier: Apache-2.0
// Checks of maps over all ranks: whether every point belongs to exactly one rank. Memory depends on
// the number of gaps, not on the number of points or ranks; time depends on the number of runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "model/point_runs.hpp"

namespace afterbay::model {

struct RankPoints {
  int rank = 0;
  std::span<const std::byte> encoded;  ///< as encoded by encode_offsets
};

/// The first point that two ranks hold, and these ranks.
struct HeldTwice {
  std::uint64_t offset = 0;
  int first = 0;
  int second = 0;
};

struct MapCoverage {
  std::vector<OffsetRun> gaps;  ///< points that no rank holds, ascending
  /// By entry: points that belong to other ranks; may be empty.
  std::vector<std::vector<OffsetRun>> lost;
  std::optional<HeldTwice> twice;  ///< only if repeats are refused
};

/// Finds out who holds the points of a part of the index space (`within`: ascending, not adjacent).
/// Other points may be listed or not. Fails with format for an invalid encoding.
Result<MapCoverage> find_map_coverage(std::string_view name, std::uint64_t points,
                                      std::span<const OffsetRun> within, std::span<const RankPoints> ranks,
                                      Repeats repeats);

/// The errors for what is not allowed. `count`: number of points that no rank holds; `first`: the
/// first ones.
Error held_twice(std::string_view name, const HeldTwice& twice);
Error missing_points(std::string_view name, std::uint64_t points, std::uint64_t count,
                     const OffsetRun& first);

/// Checks all ranks and points together. Fails with conflict for points held twice, unless repeats
/// are allowed (reports the first such point and both ranks), and for points that no rank holds,
/// unless gaps are allowed (reports their number and the first ones); with format for an invalid
/// encoding.
Result<MapCoverage> check_map_coverage(std::string_view name, std::uint64_t points,
                                       std::span<const RankPoints> ranks, const Coverage& coverage);

}  // namespace afterbay::model
