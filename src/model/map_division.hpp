// SPDX-License-Identifier: Apache-2.0
// The division of a map among servers. A server gets the points of the cells in which its pieces
// lie, and those of its home: a part of the index space whose coverage it checks for all servers.
// The same functions are used by model ranks, which divide their points, and by servers, which must
// know what they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/frame_owners.hpp"
#include "model/map_cells.hpp"
#include "model/point_runs.hpp"

namespace afterbay::model {

/// Cells [first, last] of a cut in which pieces of one owner lie.
struct CellRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t owner = 0;
};

/// The cells in which the owners have pieces of a variable on a map. Ranges of one owner may
/// overlap.
std::vector<CellRange> cells_of_owners(const HandoverLayout& layout, std::uint32_t variable,
                                       const MapDimensions& mapped, const FrameOwners& owners);

/// The part of an index space that one of `servers` servers checks; length 0: none.
OffsetRun home_of(std::uint64_t points, std::size_t servers, std::size_t server);

/// Sorted, without overlaps, and neighbours joined.
std::vector<OffsetRun> joined(std::vector<OffsetRun> runs);

/// Which servers need which points of one map.
class MapDivision {
 public:
  /// `homes`: whether each server checks a part of the index space.
  MapDivision(const Index& global, std::size_t servers, bool homes);

  /// The server needs all points.
  void need_all(std::size_t server) { all_[server] = true; }
  [[nodiscard]] bool needs_all(std::size_t server) const { return all_[server]; }
  /// Servers need cells of the index space cut into parts of lengths `part`. CellRange::owner:
  /// their numbers.
  void need(const Index& part, std::span<const CellRange> cells);

  /// The runs by server, in the given order. Runs are cut where a server needs only a part of them.
  /// Servers that need all points get nothing here.
  [[nodiscard]] std::vector<std::vector<PointRun>> divide(const PointRuns& runs);

 private:
  struct Cut {
    Index part;
    MapCut cells;
    std::vector<CellRange> needed;
    /// By cell, as far as asked.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> servers;
  };
  /// A part of a run that a server needs.
  struct Part {
    std::uint32_t server = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  const std::vector<std::uint32_t>& servers_of(Cut& cut, std::uint64_t cell);
  void find_parts(const PointRun& run);

  Index global_;
  std::uint64_t points_;
  bool homes_;
  std::vector<bool> all_;
  std::vector<Cut> cuts_;
  std::vector<Part> parts_;  ///< parts of the current run
};

}  // namespace afterbay::model
