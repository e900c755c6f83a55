// SPDX-License-Identifier: Apache-2.0
// ServedMap: a map as described by all model ranks: the contributors of each cell, the points that
// no rank holds, and the positions of packed contributions. Used by the ingest thread. Workers read
// what is not guarded in cuts that are handed over packed: it is constant once ranks know of the cut.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "model/map_cells.hpp"
#include "model/map_coverage.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

class ServedMap {
 public:
  ServedMap() = default;
  ServedMap(const model::Index& global, std::size_t ranks) : global_(global), points_(ranks), lists_(ranks) {}

  /// Sets a rank's points, as encoded by model::encode_offsets. `list`: the points in the order of
  /// the rank's array; empty if that is the same.
  void set(std::size_t peer, std::vector<std::byte> points, std::vector<std::byte> list)
      AFTERBAY_REQUIRES(ingest_thread) {
    points_[peer] = std::move(points);
    lists_[peer] = std::move(list);
  }
  /// Checks all ranks together. Ranks that lose points to others find these in `losses`.
  Result<> check(std::string_view name, std::span<const int> session_ranks, const Coverage& coverage)
      AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] const model::Index& global() const noexcept { return global_; }
  [[nodiscard]] bool holds(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint32_t holders() const AFTERBAY_REQUIRES(ingest_thread);
  /// By model rank, after `check`: the points that it lost to other ranks.
  [[nodiscard]] const std::vector<std::vector<model::OffsetRun>>& losses() const noexcept
      AFTERBAY_REQUIRES(ingest_thread) {
    return losses_;
  }
  [[nodiscard]] std::uint64_t bytes() const AFTERBAY_REQUIRES(ingest_thread);  ///< memory in use

  struct Cut {
    model::Index part;
    model::MapCut cells;
    std::vector<std::uint32_t> expected;  ///< number of ranks with points, one per cell
    std::vector<model::CellPoints> gaps;  ///< by cell: points that no rank holds
    /// Points by model rank, for ranks that send packed data.
    std::vector<std::vector<model::CellPoints>> own AFTERBAY_GUARDED_BY(ingest_thread);
    std::vector<bool> has_own AFTERBAY_GUARDED_BY(ingest_thread);
    /// Points by model rank, for ranks that lost points.
    std::map<std::size_t, std::vector<model::CellPoints>> read AFTERBAY_GUARDED_BY(ingest_thread);
    std::uint64_t points = 0;  ///< total over all ranks
    std::uint64_t runs = 0;

    /// The points of a rank in a cell, in the order of its array. They follow those of lower ranks.
    struct Share {
      std::size_t peer = 0;
      model::CellPoints points;
      std::uint64_t before = 0;
    };
    std::vector<std::vector<Share>> shares;  ///< by cell, in rank order; set by `pack`
    [[nodiscard]] const model::CellPoints* gap(std::uint64_t cell) const;
    [[nodiscard]] const Share* share_of(std::uint64_t cell, std::size_t peer) const;
  };
  /// The reference is valid as long as this object.
  Cut& cut(const model::Index& part) AFTERBAY_REQUIRES(ingest_thread);
  /// The points of a rank in a cell; null if it has none.
  const model::CellPoints* points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// The same including points that the rank lost to others, which it reads nevertheless.
  const model::CellPoints* read_points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Whether pieces may be handed over packed: only if no rank lost points.
  [[nodiscard]] bool can_pack() const AFTERBAY_REQUIRES(ingest_thread);
  /// Prepares a cut for pieces that are handed over packed. Returns true if it was not prepared
  /// yet.
  bool pack(Cut& cut) const AFTERBAY_REQUIRES(ingest_thread);
  /// The positions of the points of rank `peer`, for cuts prepared by `pack`.
  [[nodiscard]] wire::MapPacking packing_of(std::uint32_t id, const Cut& cut, std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] Result<> check_list(std::string_view name, std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);

  model::Index global_;
  std::vector<std::vector<std::byte>> points_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank
  std::vector<std::vector<std::byte>> lists_ AFTERBAY_GUARDED_BY(ingest_thread);   ///< by model rank
  std::vector<model::OffsetRun> gaps_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::vector<model::OffsetRun>> losses_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// By model rank: points_ including lost points.
  std::map<std::size_t, std::vector<std::byte>> described_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::unique_ptr<Cut>> cuts_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
