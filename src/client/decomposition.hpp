// SPDX-License-Identifier: Apache-2.0
// What a model rank keeps of its decompositions.
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

/// This rank's points of a map, and how they fall into the cells of the cuts seen so far.
class MapPart {
 public:
  MapPart(const model::Index& global, model::ListedRuns runs)
      : global_(global),
        runs_(std::move(runs.ascending)),
        list_(std::move(runs.list)),
        twins_(std::move(runs.twins)) {}

  [[nodiscard]] const model::Index& global() const noexcept { return global_; }
  [[nodiscard]] const model::PointRuns& runs() const noexcept { return runs_; }
  /// The same in the order of this rank's array; nothing when that is the file's.
  [[nodiscard]] const std::optional<model::PointRuns>& list() const noexcept { return list_; }
  /// Points that belong to other ranks after all. To be called before the first `cut`.
  void lose(std::span<const model::OffsetRun> lost) {
    described_ = std::exchange(runs_, runs_.without(lost));
    list_.reset();  // nothing is handed over packed then
  }

  struct Cut {
    model::Index part;
    model::MapCut cells;
    std::vector<model::CellPoints> points;  ///< by cell, ascending; only cells in which the rank has points
    std::vector<model::CellPoints> rows;    ///< the same, for packing: in the order of the rank's array
    std::vector<std::uint64_t> before;      ///< points of lower ranks in each, for what is handed over packed
    /// Nothing when the rank has no points there.
    [[nodiscard]] const model::CellPoints* find(std::uint64_t cell) const;
    [[nodiscard]] std::size_t number(const model::CellPoints& of) const {
      return static_cast<std::size_t>(&of - points.data());
    }
  };
  /// The map's index space cut into cells of lengths `part`; made at first use, then shared by all variables
  /// that are cut alike. Stays where it is as long as this object.
  const Cut& cut(const model::Index& part);
  /// Where this rank's points lie in pieces that are handed over packed, as the server says.
  Result<> set_packing(const model::Index& part, std::span<const std::uint32_t> cells,
                       std::vector<std::uint64_t> before);

  /// For reading: all points of the rank's array, whoever writes them.
  struct ReadCut {
    model::Index part;
    model::MapCut cells;
    std::vector<model::CellPoints> points;  ///< by cell, ascending, as `Cut::points`
    std::vector<model::CellPoints> out;     ///< the same, reversed: out of the cells
  };
  const ReadCut& read_cut(const model::Index& part);
  /// Elements that get their value from another one when it has been read.
  [[nodiscard]] const std::vector<model::ElementTwin>& twins() const noexcept { return twins_; }

 private:
  model::Index global_;
  model::PointRuns runs_;
  std::optional<model::PointRuns> described_;  ///< with what was lost
  std::optional<model::PointRuns> list_;
  std::vector<model::ElementTwin> twins_;
  std::vector<std::unique_ptr<Cut>> cuts_;
  std::vector<std::unique_ptr<ReadCut>> read_cuts_;
};

struct Decomposition {
  std::uint32_t id = 0;
  std::string name;
  Coverage coverage;
  Block block;                   ///< unless it is a map
  std::shared_ptr<MapPart> map;  ///< null: a block
};

}  // namespace afterbay::client
