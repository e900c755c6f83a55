// SPDX-License-Identifier: Apache-2.0
// CoordinateBox: the points of a curvilinear or unstructured grid whose coordinates lie in ranges.
// All ranks find out together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "client/decomposition.hpp"
#include "output/coordinates.hpp"
#include "output/dimension_choice.hpp"
#include "output/field_definitions.hpp"

namespace afterbay::output {

/// A grid whose points the model ranks hold together.
struct SharedGrid {
  Session* session;  ///< null: there are no other ranks, and this one holds all points
  const FieldDefinitions& definitions;
  const Grid& grid;
  const client::Decomposition* decomposition;  ///< null: every rank holds all points

  [[nodiscard]] std::vector<std::uint64_t> lengths() const;
  [[nodiscard]] std::vector<GridPoint> points() const { return points_of(lengths(), decomposition); }
  /// Whether this rank reports its points: if every rank holds all, only the first one does.
  [[nodiscard]] bool reports() const;
};

/// What is kept of a grid of several dimensions: the same on all ranks.
struct IndexBox {
  std::vector<std::vector<std::uint64_t>> places;  ///< per dimension of the grid, ascending
};

/// The points that a box selects of a grid with one dimension.
struct SelectedPoints {
  std::uint64_t count = 0;              ///< number of points of all ranks; the same on all ranks
  std::uint64_t digest = 0;             ///< digest of the points; the same on all ranks
  std::vector<std::uint64_t> places;    ///< all points, in the order of the grid; only if they were asked for
  std::vector<std::uint32_t> elements;  ///< elements of this rank's array, ascending
  std::vector<std::uint64_t> positions;  ///< positions of these elements in the set
};

class CoordinateBox {
 public:
  /// `ranges`: all of coordinates of the grid. `choice`: what is kept of the field's dimensions
  /// otherwise, of which those of the grid begin at `axes`. All of them outlive this object. Throws
  /// wrong_type, at the place in the description.
  CoordinateBox(const SharedGrid& grid, const Field& field, const describe::GridSubset& described,
                const DimensionChoice& choice, std::size_t axes);

  /// Whether points lie inside all ranges, by element of this rank's array.
  [[nodiscard]] const std::vector<bool>& inside() const noexcept { return inside_; }
  /// Collective. The smallest box of indices with all points that are kept and inside; along a
  /// dimension whose ends are neighbours it may go around. Throws invalid_argument, on all ranks,
  /// if there is no such point.
  [[nodiscard]] IndexBox index_box() const;
  /// Collective, of grids with one dimension. The points that are kept and inside. `listed`: all
  /// ranks get all of them. Throws invalid_argument, on all ranks, if there is none.
  [[nodiscard]] SelectedPoints selected_points(bool listed) const;

 private:
  void look();
  [[nodiscard]] std::string text() const;
  [[noreturn]] void refuse_empty(const std::vector<double>& extents) const;
  /// Longitudes and latitudes of the first two and last two places of a dimension, amid the others.
  [[nodiscard]] std::vector<double> ends_of(std::size_t dimension) const;

  const SharedGrid& grid_;
  const Field& field_;
  const describe::GridSubset& described_;
  const DimensionChoice& choice_;
  std::size_t axes_;
  std::vector<std::uint64_t> lengths_;
  std::vector<GridPoint> points_;  ///< points of this rank
  std::vector<PointValues> values_;
  std::vector<bool> inside_;
  std::vector<GridPoint> found_;  ///< inside, and kept otherwise
  /// Per range: the least and the greatest value of this rank.
  std::vector<double> extents_;
};

/// The places of a dimension from the first to the last that is hit; if it is circular and this is
/// less, all but the longest run of places without one. At least one is hit.
std::vector<std::uint64_t> hit_range(const std::vector<std::uint8_t>& hit, bool is_circular);

}  // namespace afterbay::output
