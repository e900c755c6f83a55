// SPDX-License-Identifier: Apache-2.0
// The state of decompositions on a model rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
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
  /// All points of the rank's array, including those that `lose` removed.
  [[nodiscard]] const model::PointRuns& described() const noexcept {
    return described_ ? *described_ : runs_;
  }
  /// Removes points that belong to other ranks. Call it before the first `cut`, at most once.
  void lose(std::span<const model::OffsetRun> lost) {
    described_ = std::exchange(runs_, runs_.without(lost));
    list_.reset();  // from now on nothing is handed over packed
  }

  [[nodiscard]] bool has_lost() const noexcept { return described_.has_value(); }

  struct Cut {
    model::Index part;
    model::MapCut cells;
    /// By cell, ascending; only cells in which the rank has points.
    std::vector<model::CellPoints> points;
    /// The same in the order of the rank's array, for packing.
    std::vector<model::CellPoints> rows;
    /// For packed pieces of a server, in the cells that it knows: number of points of lower ranks.
    struct Packing {
      std::vector<std::uint32_t> cells;
      std::vector<std::uint64_t> before;
    };
    std::map<std::size_t, Packing> packings;  ///< by server
    /// nullopt if the server has not named the cell. See MapPart::before.
    [[nodiscard]] std::optional<std::uint64_t> before(std::size_t server, std::uint32_t cell) const;
    /// Null if the rank has no points there.
    [[nodiscard]] const model::CellPoints* find(std::uint64_t cell) const;
    [[nodiscard]] std::size_t number(const model::CellPoints& of) const {
      return static_cast<std::size_t>(&of - points.data());
    }
  };
  /// The map's index space, cut into cells of lengths `part`. Made at first use, then shared by all
  /// variables that are cut alike. The reference is valid as long as this object.
  const Cut& cut(const model::Index& part) AFTERBAY_EXCLUDES(mutex_);
  /// Cut::before for a cut of this map; nullopt if the server has not named the cell. Any thread.
  std::optional<std::uint64_t> before(const Cut& cut, std::size_t server, std::uint32_t cell)
      AFTERBAY_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return cut.before(server, cell);
  }
  /// The position in the rank's packed contribution to a cell, by position in the cell, and the
  /// number of the points of lower ranks before it; nothing if the server has not named the cell.
  /// Any thread.
  struct Packed {
    std::unordered_map<std::uint32_t, std::uint32_t> at;
    std::uint64_t before = 0;
  };
  std::optional<Packed> packed(std::size_t server, const model::Index& part, std::uint32_t cell);
  /// Sets the position of this rank's points in packed pieces of a server, as it decided.
  Result<> set_packing(std::size_t server, const model::Index& part, Cut::Packing packing);

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
  Cut& cut_locked(const model::Index& part) AFTERBAY_REQUIRES(mutex_);

  model::Index global_;
  model::PointRuns runs_;
  std::optional<model::PointRuns> described_;  ///< the points before `lose`
  std::optional<model::PointRuns> list_;
  std::vector<model::ElementTwin> twins_;
  Mutex mutex_;  ///< endpoints ask for positions while the session defines more
  std::vector<std::unique_ptr<Cut>> cuts_ AFTERBAY_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<ReadCut>> read_cuts_;
};

struct Decomposition {
  std::uint32_t id = 0;
  std::uint32_t list = 0;  ///< 0: of the rank; otherwise the part of an endpoint, by a number of its own
  std::string name;
  Coverage coverage;
  Block block;                   ///< used unless it is a map
  std::shared_ptr<MapPart> map;  ///< null: a block
};

}  // namespace afterbay::client
