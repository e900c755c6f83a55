// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "decomp/make.hpp"

namespace afterbay::decomp {
namespace {

struct Grid {
  std::uint64_t down = 1;
  std::uint64_t across = 1;
};

/// Slightly larger boxes are accepted if they are closer to squares: shorter edges, longer rows.
constexpr std::uint64_t tolerance_percent = 5;

/// Among all grids of at most `ranks` boxes whose largest box is close to the minimum: the one with
/// the shortest edges and, among equals, the longest rows.
Grid best_grid(std::uint64_t ranks, std::uint64_t lat, std::uint64_t lon) {
  const auto box = [&](std::uint64_t down) {
    const std::uint64_t across = std::min(ranks / down, lon);
    return std::pair{(lat + down - 1) / down, (lon + across - 1) / across};
  };
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t down = 1; down <= std::min(ranks, lat); ++down) {
    const auto [high, wide] = box(down);
    smallest = std::min(smallest, high * wide);
  }
  Grid best;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t down = 1; down <= std::min(ranks, lat); ++down) {
    const auto [high, wide] = box(down);
    if (high * wide > smallest + smallest * tolerance_percent / 100 || high + wide > shortest) continue;
    shortest = high + wide;
    best = {down, std::min(ranks / down, lon)};
  }
  return best;
}

}  // namespace

Result<> make_blocks(const BlocksRequest& request, const Receive& receive) {
  const auto [ranks, lat, lon, levels] = request;
  AFTERBAY_TRY(check_ranks(ranks));
  AFTERBAY_TRY(check_sizes({std::max<std::uint64_t>(levels, 1), lat, lon}));
  AFTERBAY_TRY(check_room(fmt::format("blocks of {} x {} points", lat, lon), ranks, 0));
  const Grid grid = best_grid(ranks, lat, lon);
  const double runs_in_all =
      static_cast<double>(grid.across) * static_cast<double>(grid.across > 1 ? lat : 1);
  AFTERBAY_TRY(check_room(fmt::format("blocks of {} x {} points", lat, lon), ranks, runs_in_all));
  for (const bool with_levels : {false, true}) {
    if (with_levels && levels == 0) break;
    Decomposition map = with_levels ? Decomposition("columns_levels", {levels, lat, lon})
                                    : Decomposition("columns", {lat, lon});
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      if (rank >= grid.down * grid.across) {
        map.add_rank(std::span<const Segment>{}, {});
        continue;
      }
      const Share rows = share_of(lat, grid.down, rank / grid.across);
      const Share columns = share_of(lon, grid.across, rank % grid.across);
      std::vector<Run> runs;
      if (columns.count == lon)
        runs.push_back({static_cast<std::int64_t>(rows.start * lon), rows.count * lon});
      else
        for (std::uint64_t row = rows.start; row < rows.start + rows.count; ++row)
          runs.push_back({static_cast<std::int64_t>(row * lon + columns.start), columns.count});
      const Segment segment = with_levels ? Segment{runs.size(), levels, static_cast<std::int64_t>(lat * lon)}
                                          : Segment{runs.size(), 1, 0};
      map.add_rank(std::span(&segment, 1), runs);
    }
    AFTERBAY_TRY(check_lists(map));
    AFTERBAY_TRY(receive(map));
  }
  return {};
}

}  // namespace afterbay::decomp
