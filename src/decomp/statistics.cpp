// SPDX-License-Identifier: Apache-2.0
#include "decomp/statistics.hpp"

#include <algorithm>
#include <limits>

#include "base/printable.hpp"
#include "decomp/memory.hpp"
#include "decomp/point_set.hpp"

namespace afterbay::decomp {

Result<DecompositionStatistics> statistics_of(const Decomposition& map) {
  AFTERBAY_TRY(
      check_memory(static_cast<double>(map.points()) / 2,
                   fmt::format("the {} points of the map \"{}\"", map.points(), printable(map.name))));
  DecompositionStatistics all{
      .name = map.name, .global = map.global(), .ranks = map.ranks(), .points = map.points()};
  all.kept_runs = map.runs().size();
  all.kept_segments = map.segments().size();
  all.fewest_runs = all.fewest_points = std::numeric_limits<std::uint64_t>::max();
  PointSet once(map.points());
  PointSet several(map.points());  // ranks
  PointSet repeated(map.points());
  PointSet mine(map.points());
  for (std::size_t rank = 0; rank < map.ranks(); ++rank) {
    std::uint64_t runs = 0;
    std::uint64_t points = 0;
    map.for_each_run(rank, [&](const Run& run) {
      all.listed += run.length;
      if (run.offset == hole) {
        all.holes += run.length;
        return;
      }
      ++runs;
      points += run.length;
      mine.add(static_cast<std::uint64_t>(run.offset), run.length, &repeated);
    });
    map.for_each_run(rank, [&](const Run& run) {
      if (run.offset != hole) mine.move_to(once, static_cast<std::uint64_t>(run.offset), run.length, several);
    });
    all.runs += runs;
    all.fewest_runs = std::min(all.fewest_runs, runs);
    all.most_runs = std::max(all.most_runs, runs);
    all.fewest_points = std::min(all.fewest_points, points);
    all.most_points = std::max(all.most_points, points);
    all.empty_ranks += points == 0 ? 1 : 0;
  }
  all.held = once.count();
  all.held_by_several = several.count();
  all.repeated = repeated.count();
  several.add(repeated);
  all.held_again = several.count();
  return all;
}

}  // namespace afterbay::decomp
