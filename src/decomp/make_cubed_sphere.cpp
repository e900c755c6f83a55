// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <limits>

#include "decomp/hilbert.hpp"
#include "decomp/make.hpp"
#include "decomp/point_set.hpp"

namespace afterbay::decomp {
namespace {

constexpr std::uint64_t element_points = 16;  ///< np x np, np = 4
constexpr std::uint64_t chunk_columns = 16;   ///< E3SM's pcols
constexpr std::uint64_t largest_ne = 8192;    ///< 3.6e9 columns

/// The surface of a cube with 3 ne intervals per edge: the position in space of a point (i, j) of a
/// face, so that points on edges and corners are identical for all their faces.
class Cube {
 public:
  explicit Cube(std::uint64_t ne) : ne_(ne), n_(3 * ne) {}

  [[nodiscard]] std::uint64_t elements() const { return 6 * ne_ * ne_; }
  [[nodiscard]] std::uint64_t slots() const { return 6 * (n_ + 1) * (n_ + 1); }

  /// A number for point `node` (0 to 15, first index fastest) of an element, the same for all
  /// elements and faces that share it.
  [[nodiscard]] std::uint64_t slot(std::uint64_t element, std::uint64_t node) const {
    const std::uint64_t face = element / (ne_ * ne_);
    const std::uint64_t i = element % ne_ * 3 + node % 4;
    const std::uint64_t j = element / ne_ % ne_ * 3 + node / 4;
    const auto [x, y, z] = in_space(face, i, j);
    // The first in this order of the faces that have the point.
    if (x == 0) return (0 * (n_ + 1) + y) * (n_ + 1) + z;
    if (x == n_) return (1 * (n_ + 1) + y) * (n_ + 1) + z;
    if (y == 0) return (2 * (n_ + 1) + x) * (n_ + 1) + z;
    if (y == n_) return (3 * (n_ + 1) + x) * (n_ + 1) + z;
    return ((z == 0 ? 4 : 5) * (n_ + 1) + x) * (n_ + 1) + y;
  }

 private:
  /// Faces 0 to 3 follow the equator, each to the right of the previous one; 4 is the bottom, 5 the
  /// top.
  [[nodiscard]] std::array<std::uint64_t, 3> in_space(std::uint64_t face, std::uint64_t i,
                                                      std::uint64_t j) const {
    switch (face) {
      case 0: return {n_, i, j};
      case 1: return {n_ - i, n_, j};
      case 2: return {0, n_ - i, j};
      case 3: return {i, 0, j};
      case 4: return {n_ - j, i, 0};
      default: return {j, i, n_};
    }
  }

  std::uint64_t ne_;
  std::uint64_t n_;
};

/// The points that first occur in an element, numbered from `first` in order.
struct Owned {
  std::uint64_t first = 0;
  std::uint16_t nodes = 0;  ///< one bit for each of its 16 points
};

/// Points are numbered in the order in which elements 0, 1, 2, ... first contain them.
std::vector<Owned> number_points(const Cube& cube) {
  std::vector<Owned> all(cube.elements());
  PointSet seen(cube.slots());
  std::uint64_t next = 0;
  for (std::uint64_t element = 0; element < all.size(); ++element) {
    Owned& owned = all[element];
    owned.first = next;
    for (std::uint64_t node = 0; node < element_points; ++node) {
      const std::uint64_t slot = cube.slot(element, node);
      if (seen.has(slot)) continue;
      seen.add(slot, 1);
      owned.nodes = static_cast<std::uint16_t>(owned.nodes | 1U << node);
    }
    next += static_cast<std::uint64_t>(std::popcount(owned.nodes));
  }
  return all;
}

Decomposition elements_of_sphere(std::uint64_t ranks, std::uint64_t ne) {
  const std::vector<Owned> owned = number_points(Cube(ne));
  std::vector<std::uint64_t> curve;
  curve.reserve(owned.size());
  for (std::uint64_t face = 0; face < 6; ++face)
    along_hilbert_curve(ne, ne,
                        [&](std::uint64_t x, std::uint64_t y) { curve.push_back((face * ne + y) * ne + x); });

  Decomposition map("elements", {54 * ne * ne + 2});
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const Share share = share_of(curve.size(), ranks, rank);
    const auto mine = curve.begin() + static_cast<std::ptrdiff_t>(share.start);
    const auto end = mine + static_cast<std::ptrdiff_t>(share.count);
    std::sort(mine, end);
    RunList list;
    for (auto element = mine; element != end; ++element) {
      std::uint64_t next = owned[*element].first;
      for (std::uint64_t node = 0; node < element_points; ++node)
        list.add((owned[*element].nodes >> node & 1) != 0 ? static_cast<std::int64_t>(next++) : hole);
    }
    map.add_rank(std::move(list));
  }
  return map;
}

Decomposition elements_of_columns(std::uint64_t ranks, std::uint64_t columns) {
  Decomposition map("elements", {columns});
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const Share share = share_of(columns, ranks, rank);
    RunList list;
    if (share.count > 0) list.add(static_cast<std::int64_t>(share.start), share.count);
    map.add_rank(std::move(list));
  }
  return map;
}

/// levels 0: the map for one level, without that dimension.
Decomposition physics(std::uint64_t ranks, std::uint64_t columns, std::uint64_t levels) {
  Decomposition map =
      levels == 0 ? Decomposition("columns", {columns}) : Decomposition("columns_levels", {levels, columns});
  const std::uint64_t chunks_of_rank = (columns + ranks * chunk_columns - 1) / (ranks * chunk_columns);
  const std::uint64_t stride = chunks_of_rank * ranks;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    std::vector<Segment> segments;
    std::vector<Run> runs;
    for (std::uint64_t chunk = rank * chunks_of_rank; chunk < (rank + 1) * chunks_of_rank; ++chunk) {
      const std::size_t before = runs.size();
      if (chunk >= columns) break;  // more chunks than columns
      for (std::uint64_t column = chunk; column < columns; column += stride)
        runs.push_back({static_cast<std::int64_t>(column), 1});
      const std::uint64_t used = runs.size() - before;
      if (used < chunk_columns) runs.push_back({hole, chunk_columns - used});
      if (levels == 0)
        segments.push_back({runs.size() - before, 1, 0});
      else
        segments.push_back({runs.size() - before, levels, static_cast<std::int64_t>(columns)});
    }
    map.add_rank(segments, runs);
  }
  return map;
}

/// A physics column is a run, and a chunk a segment. Elements need their points (Owned), their
/// place on the curve, and one bit per point of the cube.
Result<> check_sphere(const CubedSphereRequest& request, std::uint64_t columns) {
  const double elements = 6.0 * static_cast<double>(request.ne) * static_cast<double>(request.ne);
  const double chunks = static_cast<double>(columns) / chunk_columns;
  const double others =
      elements * (sizeof(Owned) + sizeof(std::uint64_t) + 9.0 / 8) + chunks * 2 * sizeof(Segment);
  return check_room(fmt::format("{} columns", columns), request.ranks, static_cast<double>(columns), others);
}

}  // namespace

Result<> make_cubed_sphere(const CubedSphereRequest& request, const Receive& receive) {
  AFTERBAY_TRY(check_ranks(request.ranks));
  if ((request.ne == 0) == (request.columns == 0))
    return fail(ErrorCode::invalid_argument, "give either --ne or --columns");
  if (request.ne > largest_ne)
    return fail(ErrorCode::invalid_argument, "ne is {}: it must be 1 ... {}", request.ne, largest_ne);
  const std::uint64_t columns = request.ne > 0 ? 54 * request.ne * request.ne + 2 : request.columns;
  AFTERBAY_TRY(check_sizes({std::max<std::uint64_t>(request.levels, 1), columns}));
  AFTERBAY_TRY(check_sphere(request, columns));
  const auto hand_on = [&](const Decomposition& map) -> Result<> {
    AFTERBAY_TRY(check_lists(map));
    return receive(map);
  };
  AFTERBAY_TRY(hand_on(request.ne > 0 ? elements_of_sphere(request.ranks, request.ne)
                                      : elements_of_columns(request.ranks, columns)));
  AFTERBAY_TRY(hand_on(physics(request.ranks, columns, 0)));
  return request.levels > 0 ? hand_on(physics(request.ranks, columns, request.levels)) : Result<>{};
}

}  // namespace afterbay::decomp
