// SPDX-License-Identifier: Apache-2.0
#include "model/map_cells.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/caller_terms.hpp"
#include "base/rounding.hpp"
#include "model/variable_shape.hpp"

namespace afterbay::model {
namespace {

std::string text_of_lengths(const Index& lengths) { return said_lengths({lengths.begin(), lengths.size}); }

/// Collects the runs of each cell, then finds their repetition.
class Dealer {
 public:
  Dealer() = default;

  void add(std::uint64_t cell, std::uint64_t within, std::uint64_t element, std::uint64_t length) {
    append(of(cell), within, element, length);
  }
  /// The elements are the numbers of the cell's points, as in a packed contribution.
  void add_counted(std::uint64_t cell, std::uint64_t within, std::uint64_t length) {
    Dealt& dealt = of(cell);
    append(dealt, within, dealt.points, length);
  }

  std::vector<CellPoints> cells() {
    std::ranges::sort(dealt_, {}, &Dealt::cell);
    std::vector<CellPoints> result;
    result.reserve(dealt_.size());
    for (Dealt& dealt : dealt_) {
      result.push_back(compact(dealt.cell, PointRuns(std::move(dealt.runs), 0)));
      dealt.runs = {};
    }
    return result;
  }

 private:
  struct Dealt {
    std::uint64_t cell = 0;
    std::uint64_t points = 0;
    std::vector<PointRun> runs;
  };

  /// A rank has points in few of all cells.
  Dealt& of(std::uint64_t cell) {
    if (!dealt_.empty() && dealt_[last_].cell == cell) return dealt_[last_];
    const auto [slot, is_new] = slots_.try_emplace(cell, static_cast<std::uint32_t>(dealt_.size()));
    if (is_new) dealt_.push_back({cell, 0, {}});
    last_ = slot->second;
    return dealt_[last_];
  }

  static void append(Dealt& to, std::uint64_t within, std::uint64_t element, std::uint64_t length) {
    const PointRun run{within, static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(length)};
    to.points += length;
    if (!to.runs.empty()) {
      PointRun& before = to.runs.back();
      if (before.offset + before.length == within && before.element + before.length == run.element) {
        before.length += run.length;
        return;
      }
    }
    to.runs.push_back(run);
  }

  static CellPoints compact(std::uint64_t cell, const PointRuns& runs) {
    CellPoints points;
    points.cell = static_cast<std::uint32_t>(cell);
    points.repeats = runs.repeats();
    points.within_step = static_cast<std::uint32_t>(runs.offset_step());
    points.element_step = runs.element_step();
    points.points = runs.points();
    const auto pattern = runs.pattern();
    points.within.reserve(pattern.size());
    points.elements.reserve(pattern.size());
    const bool single = std::ranges::all_of(pattern, [](const PointRun& run) { return run.length == 1; });
    if (!single) points.lengths.reserve(pattern.size());
    for (const PointRun& run : pattern) {
      points.within.push_back(static_cast<std::uint32_t>(run.offset));
      points.elements.push_back(run.element);
      if (!single) points.lengths.push_back(run.length);
    }
    return points;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> slots_;  ///< by cell
  std::uint32_t last_ = 0;                                  ///< the slot that was used last
  std::vector<Dealt> dealt_;
};

}  // namespace

Result<MapDimensions> dimensions_of_map(const Schema& schema, const Variable& variable,
                                        std::string_view decomposition, const Index& global) {
  const Index shape = shape_of(schema, variable);
  std::vector<std::size_t> positions;
  for (std::size_t first = 0; first + global.size <= shape.size; ++first)
    if (part_of(shape, {first, global.size}) == global) positions.push_back(first);
  if (!positions.empty() && (positions.size() == 1 || positions.back() + global.size == shape.size))
    return MapDimensions{positions.back(), global.size};
  if (shape.size < global.size)
    return fail(make_error(ErrorCode::conflict,
                           "variable '{}' has {} dimensions besides the unlimited one, too few for "
                           "decomposition '{}' over {} points",
                           variable.name, shape.size, decomposition, text_of_lengths(global))
                    .in_variable(variable.name));
  if (positions.empty())
    return fail(make_error(ErrorCode::conflict,
                           "variable '{}' has the lengths {} besides the unlimited dimension: nowhere among "
                           "them are the {} of decomposition '{}'",
                           variable.name, text_of_lengths(shape), text_of_lengths(global), decomposition)
                    .in_variable(variable.name));
  return fail(
      make_error(ErrorCode::conflict,
                 "variable '{}' has the lengths {} besides the unlimited dimension: the {} of decomposition "
                 "'{}' stand at {} places among them, and not at the {}; change the order of the dimensions",
                 variable.name, text_of_lengths(shape), text_of_lengths(global), decomposition,
                 positions.size(), terms() == Terms::fortran ? "beginning" : "end")
          .in_variable(variable.name));
}

Index part_of(const Index& lengths, const MapDimensions& mapped) {
  Index part;
  for (std::size_t d = mapped.first; d < mapped.after(); ++d) part.push_back(lengths[d]);
  return part;
}

MapCut::MapCut(const Index& global, const Index& part) : full_global_(global), full_part_(part) {
  for (std::size_t d = 0; d < global.size; ++d) {
    if (global_.size > 0 && part[d] == global[d]) {
      global_[global_.size - 1] *= global[d];
      part_[part_.size - 1] *= part[d];
    } else {
      global_.push_back(global[d]);
      part_.push_back(part[d]);
    }
  }
  for (std::size_t d = 0; d < global_.size; ++d) {
    grid_.push_back(divided_up(global_[d], part_[d]));
    cells_ *= grid_[d];
  }
}

std::uint64_t MapCut::cell_of(const Index& start) const {
  std::uint64_t cell = 0;
  for (std::size_t d = 0; d < full_global_.size; ++d)
    cell = cell * divided_up(full_global_[d], full_part_[d]) + start[d] / full_part_[d];
  return cell;
}

CellPoints rows_of(const CellPoints& points) {
  CellPoints rows;
  rows.cell = points.cell;
  rows.repeats = points.repeats;
  rows.element_step = points.element_step;
  rows.points = points.points;
  for (std::size_t i = 0; i < points.within.size(); ++i) {
    const std::uint32_t length = points.lengths.empty() ? 1 : points.lengths[i];
    if (!rows.elements.empty() && rows.elements.back() + rows.lengths.back() == points.elements[i]) {
      rows.lengths.back() += length;
      continue;
    }
    rows.elements.push_back(points.elements[i]);
    rows.lengths.push_back(length);
  }
  if (rows.elements.size() == 1 && rows.repeats > 1 && rows.element_step == rows.lengths[0]) {
    rows.lengths[0] *= static_cast<std::uint32_t>(rows.repeats);
    rows.repeats = 1;
  }
  const bool single = std::ranges::all_of(rows.lengths, [](std::uint32_t length) { return length == 1; });
  if (single) rows.lengths = {};
  rows.within.resize(rows.elements.size(), 0);
  return rows;
}

std::vector<CellPoints> deal(const PointRuns& runs, const MapCut& cut) {
  Dealer dealer;
  runs.for_each([&](const PointRun& run) {
    cut.split(run.offset, run.length,
              [&](std::uint64_t cell, std::uint64_t within, std::uint64_t from, std::uint64_t length) {
                dealer.add(cell, within, run.element + from, length);
              });
  });
  return dealer.cells();
}

namespace {

template <class Next>
std::vector<CellPoints> deal_packed(Next next, const MapCut& cut) {
  Dealer dealer;
  for (OffsetRun run = next(); run.length > 0; run = next())
    cut.split(run.offset, run.length,
              [&](std::uint64_t cell, std::uint64_t within, std::uint64_t, std::uint64_t length) {
                dealer.add_counted(cell, within, length);
              });
  return dealer.cells();
}

}  // namespace

std::vector<CellPoints> deal(OffsetReader runs, const MapCut& cut) {
  return deal_packed([&] { return runs.next(); }, cut);
}

std::vector<CellPoints> deal(std::span<const OffsetRun> runs, const MapCut& cut) {
  return deal_packed(
      [&]() -> OffsetRun {
        if (runs.empty()) return {};
        const OffsetRun run = runs.front();
        runs = runs.subspan(1);
        return run;
      },
      cut);
}

}  // namespace afterbay::model
