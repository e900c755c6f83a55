// SPDX-License-Identifier: Apache-2.0
// The state of decompositions on a model rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "model/map_cells.hpp"
#include "model/map_moves.hpp"
#include "model/point_runs.hpp"

namespace afterbay::client {

/// This rank's points of a map, and how they are distributed over the cells of the cuts made so
/// far.
class MapPart {
 public:
  MapPart(const model::Index& global, model::ListedRuns runs)
      : global_(global),
        runs_(std::move(runs.ascending)),
        list_(std::move(runs.list)),
        twins_(std::move(runs.twins)) {}

  [[nodiscard]] const model::Index& global() const noexcept { return global_; }
  [[nodiscard]] const model::PointRuns& runs() const noexcept { return runs_; }
  /// The same in the order of this rank's array; nullopt if that is the order of the file.
  [[nodiscard]] const std::optional<model::PointRuns>& list() const noexcept { return list_; }
  /// Removes points that belong to other ranks. Call it before the first `cut`.
  void lose(std::span<const model::OffsetRun> lost) {
    described_ = std::exchange(runs_, runs_.without(lost));
    list_.reset();  // from now on nothing is handed over packed
  }

  struct Cut {
    model::Index part;
    model::MapCut cells;
    /// By cell, ascending; only cells in which the rank has points.
    std::vector<model::CellPoints> points;
    /// The same in the order of the rank's array, for packing.
    std::vector<model::CellPoints> rows;
    /// For packed pieces: number of points that lower ranks have in each cell.
    std::vector<std::uint64_t> before;
    /// Null if the rank has no points there.
    [[nodiscard]] const model::CellPoints* find(std::uint64_t cell) const;
    [[nodiscard]] std::size_t number(const model::CellPoints& of) const {
      return static_cast<std::size_t>(&of - points.data());
    }
  };
  /// The map's index space, cut into cells of lengths `part`. Made at first use, then shared by all
  /// variables that are cut alike. The reference is valid as long as this object.
  const Cut& cut(const model::Index& part);
  /// Sets the position of this rank's points in packed pieces, as the server decided.
  Result<> set_packing(const model::Index& part, std::span<const std::uint32_t> cells,
                       std::vector<std::uint64_t> before);

  /// For reading: all points of the rank's array, including those that other ranks write.
  struct ReadCut {
    model::Index part;
    model::MapCut cells;
    std::vector<model::CellPoints> points;  ///< by cell, ascending, as `Cut::points`
    /// The same with copies in the reverse direction, out of the cells.
    std::vector<model::CellPoints> out;
  };
  const ReadCut& read_cut(const model::Index& part);
  /// Elements that get a copy of another element's value after reading.
  [[nodiscard]] const std::vector<model::ElementTwin>& twins() const noexcept { return twins_; }

 private:
  model::Index global_;
  model::PointRuns runs_;
  std::optional<model::PointRuns> described_;  ///< the points before `lose`
  std::optional<model::PointRuns> list_;
  std::vector<model::ElementTwin> twins_;
  std::vector<std::unique_ptr<Cut>> cuts_;
  std::vector<std::unique_ptr<ReadCut>> read_cuts_;
};

struct Decomposition {
  std::uint32_t id = 0;
  std::string name;
  Coverage coverage;
  Block block;                   ///< used unless it is a map
  std::shared_ptr<MapPart> map;  ///< null: a block
};

}  // namespace afterbay::client
