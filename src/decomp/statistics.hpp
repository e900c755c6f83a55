// SPDX-License-Identifier: Apache-2.0
// Statistics of a decomposition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

struct DecompositionStatistics {
  std::string name;
  std::vector<std::uint64_t> global;  ///< C order
  std::uint64_t ranks = 0;
  std::uint64_t empty_ranks = 0;  ///< ranks that list no point
  std::uint64_t points = 0;       ///< in the index space
  std::uint64_t listed = 0;       ///< elements of all lists, including holes
  std::uint64_t holes = 0;        ///< holes in all lists
  std::uint64_t runs = 0;         ///< maximal runs of points in list order
  std::uint64_t fewest_runs = 0;  ///< per rank
  std::uint64_t most_runs = 0;    ///< per rank
  std::uint64_t kept_runs = 0;    ///< stored in a decomposition file, including repetition and
                                  ///< holes
  std::uint64_t kept_segments = 0;
  std::uint64_t held = 0;             ///< points that some rank lists
  std::uint64_t held_again = 0;       ///< points that are listed more than once
  std::uint64_t held_by_several = 0;  ///< the part of them listed by more than one rank
  std::uint64_t repeated = 0;         ///< the part of them listed more than once by the same rank
  std::uint64_t fewest_points = 0;    ///< per rank, including repeats
  std::uint64_t most_points = 0;      ///< per rank

  [[nodiscard]] std::uint64_t never_held() const noexcept { return points - held; }
  [[nodiscard]] double coverage_percent() const noexcept {
    return 100.0 * static_cast<double>(held) / static_cast<double>(points);
  }
  [[nodiscard]] double mean_runs() const noexcept {
    return static_cast<double>(runs) / static_cast<double>(ranks);
  }
  /// Maximum points per rank divided by the mean over all ranks; 1 is perfect, 0 if no rank lists
  /// any point.
  [[nodiscard]] double balance() const noexcept {
    return listed == holes ? 0.0
                           : static_cast<double>(most_points) * static_cast<double>(ranks) /
                                 static_cast<double>(listed - holes);
  }
};

/// Takes 4 bits of memory per point, and fails (resources) if there is not enough.
Result<DecompositionStatistics> statistics_of(const Decomposition& map);

}  // namespace afterbay::decomp
