// SPDX-License-Identifier: Apache-2.0
// Synthetic maps of any size. Each kind makes one or several maps and passes them on one at a time,
// so that only one is in memory, as runs and repetition over levels. Equal requests always give
// equal maps. The memory for a map is estimated before it is made; if it is not available, the
// request fails (resources).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

using Receive = std::function<Result<>(const Decomposition&)>;

/// A latitude-longitude grid cut into boxes, as many as there are ranks if that makes the largest
/// box smaller. Maps: columns (lat, lon) and, with levels, columns_levels (lev, lat, lon).
struct BlocksRequest {
  std::uint64_t ranks = 1;
  std::uint64_t lat = 0;
  std::uint64_t lon = 0;
  std::uint64_t levels = 0;  ///< 0: none
};
Result<> make_blocks(const BlocksRequest& request, const Receive& receive);

/// A cubed sphere of 6 ne^2 spectral elements with 4 x 4 points each, of which 54 ne^2 + 2 are
/// distinct, as in E3SM's atmosphere. Maps:
/// - elements (col): for the dynamics. Elements follow a Hilbert curve over each face and are
///   distributed to the ranks in equal parts. A rank lists its elements in ascending order, with 16
///   points each, and a hole for each point that belongs to an element with a lower number.
/// - columns (col): for the physics, which balances its load by distributing distant columns:
///   chunks of at most 16 columns with a constant stride, padded with holes.
/// - with levels, columns_levels (lev, col): per chunk all levels, per level the chunk's columns.
/// With `columns` instead of `ne`: any number of columns, of which `elements` has equal parts
/// without holes.
struct CubedSphereRequest {
  std::uint64_t ranks = 1;
  std::uint64_t ne = 0;
  std::uint64_t columns = 0;  ///< 0: derived from ne
  std::uint64_t levels = 0;   ///< 0: none
};
Result<> make_cubed_sphere(const CubedSphereRequest& request, const Receive& receive);

/// An MPAS-like mesh of hexagons with 3 edges and 2 vertices per cell. Neighbours rarely have
/// consecutive numbers; ranks hold compact patches. Maps as in E3SM's ocean: cells, edges and, with
/// levels, cells_levels, edges_levels, vertices_levels (.., lev), cells_interfaces (.., lev + 1);
/// without levels: vertices.
struct MpasRequest {
  std::uint64_t ranks = 1;
  std::uint64_t cells = 0;
  std::uint64_t levels = 0;  ///< 0: none
};
Result<> make_mpas(const MpasRequest& request, const Receive& receive);

/// A latitude-longitude grid of which only land is held, distributed in short pieces; lists are
/// padded with holes to equal lengths. Maps: land (lat, lon) and, with levels, land_levels (lev,
/// lat, lon). Examines every point of the grid, at most 2^33.
struct LandRequest {
  std::uint64_t ranks = 1;
  std::uint64_t lat = 0;
  std::uint64_t lon = 0;
  std::uint64_t levels = 0;    ///< 0: none
  double land_percent = 41.0;  ///< approximate share of land
};
Result<> make_land(const LandRequest& request, const Receive& receive);

/// For the above: part `part` of `parts` of `all` items; the first parts are one item longer.
struct Share {
  std::uint64_t start = 0;
  std::uint64_t count = 0;
};
inline Share share_of(std::uint64_t all, std::uint64_t parts, std::uint64_t part) noexcept {
  const std::uint64_t rest = all % parts;
  return {part * (all / parts) + std::min(part, rest), all / parts + (part < rest ? 1 : 0)};
}

/// Refuses sizes that form no index space, lists of more than 2^32 - 1 elements, 0 or more than
/// 2^31 - 1 ranks, and ranks and runs of one map that do not fit into memory in addition to
/// `others_bytes`.
Result<> check_ranks(std::uint64_t ranks);
Result<> check_room(const std::string& what, std::uint64_t ranks, double runs, double others_bytes = 0);
Result<> check_sizes(const std::vector<std::uint64_t>& global);
Result<> check_lists(const Decomposition& map);

}  // namespace afterbay::decomp
