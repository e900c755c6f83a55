// SPDX-License-Identifier: Apache-2.0
// ServedMap: a map as all model ranks described it: who contributes to which cell, where nobody does, and how
// packed contributions are put in their places. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/map_cells.hpp"
#include "model/map_coverage.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

class ServedMap {
 public:
  ServedMap() = default;
  ServedMap(const model::Index& global, std::size_t ranks) : global_(global), points_(ranks), lists_(ranks) {}

  /// A rank's points, as model::encode_offsets wrote them; `list`: in the order of its array, empty when that
  /// is the same.
  void set(std::size_t peer, std::vector<std::byte> points, std::vector<std::byte> list) {
    points_[peer] = std::move(points);
    lists_[peer] = std::move(list);
  }
  /// Checks all ranks together; ranks that lose points to others are told by `losses`.
  Result<> check(std::string_view name, std::span<const int> session_ranks, const Coverage& coverage);

  [[nodiscard]] const model::Index& global() const noexcept { return global_; }
  [[nodiscard]] bool holds(std::size_t peer) const;
  [[nodiscard]] std::uint32_t holders() const;
  /// By model rank, after check: what it does not hold after all.
  [[nodiscard]] const std::vector<std::vector<model::OffsetRun>>& losses() const noexcept { return losses_; }
  [[nodiscard]] std::uint64_t bytes() const;  ///< of memory

  struct Cut {
    model::Index part;
    model::MapCut cells;
    std::vector<std::uint32_t> expected;              ///< ranks with points, one a cell
    std::vector<model::CellPoints> gaps;              ///< by cell: points that nobody holds
    std::vector<std::vector<model::CellPoints>> own;  ///< by model rank, for those that send packed data
    std::vector<bool> has_own;
    std::map<std::size_t, std::vector<model::CellPoints>> read;  ///< by model rank, of those that lost points
    std::uint64_t points = 0;                                    ///< of all ranks
    std::uint64_t runs = 0;

    /// A rank's points in a cell in the order of its array, behind those of lower ranks.
    struct Share {
      std::size_t peer = 0;
      model::CellPoints points;
      std::uint64_t before = 0;
    };
    std::vector<std::vector<Share>> shares;  ///< by cell, in the order of the ranks; once `pack` was called
    [[nodiscard]] const model::CellPoints* gap(std::uint64_t cell) const;
    [[nodiscard]] const Share* share_of(std::uint64_t cell, std::size_t peer) const;
  };
  /// Stays where it is as long as this object.
  Cut& cut(const model::Index& part);
  /// A rank's points in a cell, null when it has none.
  const model::CellPoints* points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const;
  /// The same with the points that it lost to others: it reads them all the same.
  const model::CellPoints* read_points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const;
  /// Whether pieces may be handed over packed: not where ranks lost points.
  [[nodiscard]] bool can_pack() const;
  /// Prepares a cut for pieces that are handed over packed. True: it was not yet.
  bool pack(Cut& cut) const;
  /// Where rank `peer` puts its points, for `pack`ed cuts.
  [[nodiscard]] wire::MapPacking packing_of(std::uint32_t id, const Cut& cut, std::size_t peer) const;

 private:
  [[nodiscard]] Result<> check_list(std::string_view name, std::size_t peer) const;

  model::Index global_;
  std::vector<std::vector<std::byte>> points_;  ///< by model rank
  std::vector<std::vector<std::byte>> lists_;   ///< by model rank
  std::vector<model::OffsetRun> gaps_;
  std::vector<std::vector<model::OffsetRun>> losses_;
  std::map<std::size_t, std::vector<std::byte>> described_;  ///< by model rank: points_ with what it lost
  std::vector<std::unique_ptr<Cut>> cuts_;
};

}  // namespace afterbay::server
