// SPDX-License-Identifier: Apache-2.0
// A map's index space is cut into the cells that correspond to the pieces of a variable; a rank's
// points are distributed over the cells once, and all variables that are cut alike share the same
// lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/box.hpp"
#include "model/layout.hpp"
#include "model/point_runs.hpp"

namespace afterbay::model {

/// The position of a decomposition's dimensions among those of a variable (without the record
/// dimension).
struct MapDimensions {
  std::size_t first = 0;
  std::size_t count = 0;
  [[nodiscard]] std::size_t after() const noexcept { return first + count; }
};

/// The trailing dimensions if their lengths are those of the map; otherwise the only position with
/// these lengths. Fails if there is none, or several, and names variable, decomposition and
/// lengths.
Result<MapDimensions> dimensions_of_map(const Schema& schema, const Variable& variable,
                                        std::string_view decomposition, const Index& global);

/// The dimensions [first, first + count) of a list.
Index part_of(const Index& lengths, const MapDimensions& mapped);

/// The cells of an index space of lengths `global` cut into parts of lengths `part`, row-major.
class MapCut {
 public:
  MapCut(const Index& global, const Index& part);
  [[nodiscard]] std::uint64_t cells() const noexcept { return cells_; }
  [[nodiscard]] std::uint64_t cell_of(const Index& start) const;  ///< the cell of a point

  /// Calls `visit(cell, within, from, length)` for each part of a run: points [within, within +
  /// length) of the cell's array (of lengths `part`), which are the run's points beginning with
  /// number `from`.
  template <class Visit>
  void split(std::uint64_t offset, std::uint64_t length, Visit&& visit) const;
  /// Calls `visit(OffsetRun)` for the points of a cell, ascending, as few runs.
  template <class Visit>
  void for_each_row(std::uint64_t cell, Visit&& visit) const;

 private:
  Index global_;  ///< trailing dimensions that are not cut are merged
  Index part_;
  Index grid_;
  Index full_global_;
  Index full_part_;
  std::uint64_t cells_ = 1;
};

/// The points of one rank in one cell, as single points or runs, with repetition as in PointRuns,
/// in the order of the file or of the rank's array.
struct CellPoints {
  std::uint32_t cell = 0;
  std::vector<std::uint32_t> within;    ///< positions in the cell's array
  std::vector<std::uint32_t> elements;  ///< indices in the rank's array
  std::vector<std::uint32_t> lengths;   ///< empty: single points
  std::uint64_t repeats = 1;
  std::uint32_t within_step = 0;   ///< modulo 2^32
  std::uint32_t element_step = 0;  ///< modulo 2^32
  std::uint64_t points = 0;        ///< including repetition
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return (within.capacity() + elements.capacity() + lengths.capacity()) * sizeof(std::uint32_t);
  }
};

/// The same points in the form for packing them in the file's order: consecutive elements of the
/// rank's array form a run, independent of the positions of their points in the cell.
CellPoints rows_of(const CellPoints& points);

/// Calls `visit(index, cell)` for the pieces of a variable on a map that lie in the given cells, in
/// the order of the layout. `cells` must be ascending by `Cell::cell`.
template <class Cells, class Visit>
void for_each_piece_on(const HandoverLayout& layout, std::uint32_t variable, const MapDimensions& mapped,
                       const Cells& cells, Visit&& visit) {
  const PieceGrid* const grid = layout.cutting->grid_of(variable);
  if (grid == nullptr || grid->count == 0) return;
  std::uint64_t before = 1;
  std::uint64_t on_map = 1;
  std::uint64_t after = 1;
  for (std::size_t d = 0; d < grid->parts.size; ++d)
    (d < mapped.first ? before : d < mapped.after() ? on_map : after) *= grid->parts[d];
  for (std::uint64_t b = 0; b < before; ++b)
    for (const auto& cell : cells)
      for (std::uint64_t a = 0; a < after; ++a)
        visit(grid->first_piece + static_cast<std::uint32_t>((b * on_map + cell.cell) * after + a), cell);
}

/// The points of all cells in which the rank has points, ascending.
std::vector<CellPoints> deal(const PointRuns& runs, const MapCut& cut);
/// The same for offsets alone: the elements number the points of the cell in the file's order, as
/// in a packed contribution.
std::vector<CellPoints> deal(OffsetReader runs, const MapCut& cut);
std::vector<CellPoints> deal(std::span<const OffsetRun> runs, const MapCut& cut);

template <class Visit>
void MapCut::for_each_row(std::uint64_t cell, Visit&& visit) const {
  Index first = global_;
  Index end = global_;
  for (std::size_t d = global_.size; d-- > 0; cell /= grid_[d]) {
    first[d] = cell % grid_[d] * part_[d];
    end[d] = std::min(first[d] + part_[d], global_[d]);
  }
  const std::size_t last = global_.size - 1;
  for (Index at = first;;) {
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < global_.size; ++d) offset = offset * global_[d] + at[d];
    visit(OffsetRun{offset, end[last] - first[last]});
    std::size_t d = last;
    for (; d > 0; --d) {
      if (++at[d - 1] < end[d - 1]) break;
      at[d - 1] = first[d - 1];
    }
    if (d == 0) return;
  }
}

template <class Visit>
void MapCut::split(std::uint64_t offset, std::uint64_t length, Visit&& visit) const {
  const std::size_t last = global_.size - 1;
  std::uint64_t done = 0;
  while (done < length) {
    std::uint64_t rest = offset + done;
    std::uint64_t cell = 0;
    std::uint64_t within = 0;
    std::uint64_t cell_stride = 1;
    std::uint64_t within_stride = 1;
    std::uint64_t room = 0;
    for (std::size_t d = last + 1; d-- > 0;) {
      const std::uint64_t at = d == 0 ? rest : rest % global_[d];
      rest = d == 0 ? 0 : rest / global_[d];
      const std::uint64_t number = at / part_[d];
      const std::uint64_t inside = at - number * part_[d];
      if (d == last) room = std::min(part_[d] - inside, global_[d] - at);
      cell += number * cell_stride;
      within += inside * within_stride;
      cell_stride *= grid_[d];
      within_stride *= part_[d];
    }
    const std::uint64_t count = std::min(room, length - done);
    visit(cell, within, done, count);
    done += count;
  }
}

}  // namespace afterbay::model
