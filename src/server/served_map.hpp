// SPDX-License-Identifier: Apache-2.0
// ServedMap: the part of a map that this server needs: the points of its home and of the cells of
// its pieces, by model rank (model/map_division.hpp). From them it computes the contributors of
// each cell, the points that no rank holds, and the positions of packed contributions. Used by the
// ingest thread. Workers read the members without annotation in cuts that are handed over packed:
// these are constant once ranks know of the cut.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "model/map_cells.hpp"
#include "model/map_coverage.hpp"
#include "model/map_division.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class ServedMap {
 public:
  ServedMap() = default;
  ServedMap(const model::Index& global, std::size_t ranks) : global_(global), held_(ranks, 0) {}

  /// Sets what a rank describes. Points that it described before are replaced.
  void set(std::size_t peer, wire::DefineMap message) AFTERBAY_REQUIRES(ingest_thread);
  /// Pieces of this server lie in these cells of the index space cut into parts of lengths `part`.
  void need(const model::Index& part, std::span<const model::CellRange> cells)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Checks the points that were described, in the part of the index space that this server knows.
  /// `home`: the part of it that no other server reports on. Ranks that lose points to others find
  /// these in `losses`. Fails if a description is invalid.
  Result<wire::MapVerdict> check(std::string_view name, std::span<const int> session_ranks,
                                 const Coverage& coverage, const model::OffsetRun& home)
      AFTERBAY_REQUIRES(ingest_thread);
  /// What the checks of all servers found.
  void set_checked(const wire::CheckedMap& found) AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] const model::Index& global() const noexcept { return global_; }
  /// Whether ranks described all of their points to this server.
  [[nodiscard]] bool has_all() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return all_; }
  /// The number of points that a rank holds, here and elsewhere, with those that it loses to other
  /// ranks.
  [[nodiscard]] std::uint64_t held(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread) {
    return held_[peer];
  }
  /// Whether a rank holds points, here or elsewhere.
  [[nodiscard]] bool holds(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread) {
    return held_[peer] > 0;
  }
  [[nodiscard]] std::uint32_t holders() const AFTERBAY_REQUIRES(ingest_thread);
  /// After `check`: the points that a rank lost to other ranks, as far as this server knows.
  [[nodiscard]] std::span<const model::OffsetRun> losses(std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint64_t bytes() const AFTERBAY_REQUIRES(ingest_thread);  ///< memory in use

  struct Cut {
    model::Index part;
    model::MapCut cells;
    std::uint64_t version = 0;            ///< version of the map's points
    std::vector<std::uint32_t> expected;  ///< number of ranks with points, one per cell
    std::vector<model::CellPoints> gaps;  ///< by cell: points that no rank holds
    /// Points by model rank, for ranks that send packed data.
    std::map<std::size_t, std::vector<model::CellPoints>> own AFTERBAY_GUARDED_BY(ingest_thread);
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
  /// Describes the cells of this server's pieces; others may be described incompletely. The
  /// reference is valid as long as this object. A new one is made once points were replaced.
  Cut& cut(const model::Index& part) AFTERBAY_REQUIRES(ingest_thread);
  /// The points of a rank in a cell; null if it has none.
  const model::CellPoints* points_of(Cut& cut, std::size_t peer, std::uint64_t cell) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Whether pieces may be handed over packed: only if no rank lost points.
  [[nodiscard]] bool can_pack() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return !lost_; }
  /// By model rank: the positions of its points.
  using Packings = std::map<std::size_t, wire::MapPacking>;
  /// Prepares a cut for pieces that are handed over packed. Returns the ranks' positions if it was
  /// not prepared yet. `id`: of the map.
  std::optional<Packings> pack(std::uint32_t id, Cut& cut) const AFTERBAY_REQUIRES(ingest_thread);

 private:
  /// The points of a rank that were described here, as encoded by model::encode_offsets.
  struct Described {
    std::vector<std::byte> points;
    std::vector<std::byte> list;  ///< in the order of the rank's array; empty if that is the same
  };
  struct Need {
    model::Index part;
    std::vector<model::CellRange> cells;
  };

  [[nodiscard]] Result<> check_list(std::string_view name, std::size_t peer, const Described& it) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// The part of the index space that this server knows.
  [[nodiscard]] std::vector<model::OffsetRun> known_part(const model::OffsetRun& home) const
      AFTERBAY_REQUIRES(ingest_thread);

  model::Index global_;
  std::vector<std::uint64_t> held_ AFTERBAY_GUARDED_BY(ingest_thread);             ///< by model rank
  std::map<std::size_t, Described> described_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank
  bool all_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  bool lost_ AFTERBAY_GUARDED_BY(ingest_thread) = false;  ///< some rank lost points
  std::vector<Need> needs_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<model::OffsetRun> gaps_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::map<std::size_t, std::vector<model::OffsetRun>> losses_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t version_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::vector<std::unique_ptr<Cut>> cuts_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
