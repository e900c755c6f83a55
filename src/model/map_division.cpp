// SPDX-License-Identifier: Apache-2.0
#include "model/map_division.hpp"

#include <algorithm>

namespace afterbay::model {
namespace {

std::uint64_t home_points(std::uint64_t points, std::size_t servers) {
  return std::max<std::uint64_t>(1, points / servers + (points % servers != 0 ? 1 : 0));
}

}  // namespace

std::vector<CellRange> cells_of_owners(const HandoverLayout& layout, std::uint32_t variable,
                                       const MapDimensions& mapped, const FrameOwners& owners) {
  std::vector<CellRange> cells;
  const PieceGrid* const grid = layout.cutting->grid_of(variable);
  if (grid == nullptr || grid->count == 0) return cells;
  std::uint64_t on_map = 1;
  std::uint64_t after = 1;
  for (std::size_t d = mapped.first; d < grid->parts.size; ++d)
    (d < mapped.after() ? on_map : after) *= grid->parts[d];
  const std::uint64_t end = grid->first_piece + grid->count;
  const auto add = [&](std::uint64_t first, std::uint64_t last, std::uint32_t owner) {
    cells.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last), owner});
  };
  const auto& ranges = owners.ranges();
  const auto first =
      std::ranges::upper_bound(ranges, grid->first_piece, {}, &FrameOwners::Range::first_piece) - 1;
  for (auto range = first; range != ranges.end() && range->first_piece < end; ++range) {
    const std::uint64_t begin_piece = std::max(range->first_piece, grid->first_piece) - grid->first_piece;
    const std::uint64_t last_piece = std::min<std::uint64_t>(range->end_piece, end) - grid->first_piece - 1;
    const std::uint64_t from = begin_piece / after;
    const std::uint64_t to = last_piece / after;
    if (to - from + 1 >= on_map) {
      add(0, on_map - 1, range->owner);
    } else if (from % on_map <= to % on_map) {
      add(from % on_map, to % on_map, range->owner);
    } else {  // the end of one index before the map's dimensions, and the beginning of the next
      add(from % on_map, on_map - 1, range->owner);
      add(0, to % on_map, range->owner);
    }
  }
  return cells;
}

OffsetRun home_of(std::uint64_t points, std::size_t servers, std::size_t server) {
  const std::uint64_t each = home_points(points, servers);
  const std::uint64_t begin = std::min(points, each * server);
  return {begin, std::min(points - begin, each)};
}

std::vector<OffsetRun> joined(std::vector<OffsetRun> runs) {
  std::ranges::sort(runs, {}, &OffsetRun::offset);
  std::vector<OffsetRun> result;
  for (const OffsetRun& run : runs) {
    if (run.length == 0) continue;
    if (result.empty() || result.back().offset + result.back().length < run.offset) {
      result.push_back(run);
      continue;
    }
    OffsetRun& last = result.back();
    last.length = std::max(last.length, run.offset + run.length - last.offset);
  }
  return result;
}

MapDivision::MapDivision(const Index& global, std::size_t servers, bool homes)
    : global_(global), points_(global.product()), homes_(homes), all_(servers, false) {}

void MapDivision::need(const Index& part, std::span<const CellRange> cells) {
  auto cut = std::ranges::find(cuts_, part, &Cut::part);
  if (cut == cuts_.end()) cut = cuts_.insert(cut, Cut{part, MapCut(global_, part), {}, {}});
  cut->needed.insert(cut->needed.end(), cells.begin(), cells.end());
}

const std::vector<std::uint32_t>& MapDivision::servers_of(Cut& cut, std::uint64_t cell) {
  auto [at, is_new] = cut.servers.try_emplace(cell);
  if (!is_new) return at->second;
  for (const CellRange& range : cut.needed)
    if (range.first <= cell && cell <= range.last && !all_[range.owner]) at->second.push_back(range.owner);
  std::ranges::sort(at->second);
  at->second.erase(std::unique(at->second.begin(), at->second.end()), at->second.end());
  return at->second;
}

void MapDivision::find_parts(const PointRun& run) {
  parts_.clear();
  const std::uint64_t end = run.offset + run.length;
  if (homes_) {
    const std::uint64_t each = home_points(points_, all_.size());
    for (std::uint64_t at = run.offset; at < end;) {
      const std::uint64_t server = at / each;
      const std::uint64_t until = std::min(end, (server + 1) * each);
      if (!all_[server]) parts_.push_back({static_cast<std::uint32_t>(server), at, until});
      at = until;
    }
  }
  for (Cut& cut : cuts_)
    cut.cells.split(run.offset, run.length,
                    [&](std::uint64_t cell, std::uint64_t, std::uint64_t from, std::uint64_t length) {
                      for (const std::uint32_t server : servers_of(cut, cell))
                        parts_.push_back({server, run.offset + from, run.offset + from + length});
                    });
  std::ranges::sort(parts_, [](const Part& a, const Part& b) {
    return a.server != b.server ? a.server < b.server : a.begin < b.begin;
  });
}

std::vector<std::vector<PointRun>> MapDivision::divide(const PointRuns& runs) {
  std::vector<std::vector<PointRun>> divided(all_.size());
  if (!homes_ && cuts_.empty()) return divided;
  runs.for_each([&](const PointRun& run) {
    find_parts(run);
    for (std::size_t i = 0; i < parts_.size();) {
      Part part = parts_[i];
      for (++i; i < parts_.size() && parts_[i].server == part.server && parts_[i].begin <= part.end; ++i)
        part.end = std::max(part.end, parts_[i].end);
      divided[part.server].push_back({part.begin,
                                      static_cast<std::uint32_t>(run.element + (part.begin - run.offset)),
                                      static_cast<std::uint32_t>(part.end - part.begin)});
    }
  });
  return divided;
}

}  // namespace afterbay::model
