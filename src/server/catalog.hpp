// SPDX-License-Identifier: Apache-2.0
// Catalog: the definitions of the model ranks, joined and checked: decompositions of all ranks,
// collections with their layout, the contributors of each piece, and the positions of gaps. Used by
// the ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "model/decomposition.hpp"
#include "model/frame_owners.hpp"
#include "model/handover_layout.hpp"
#include "model/map_moves.hpp"
#include "model/moves.hpp"
#include "server/served_map.hpp"
#include "server/sink.hpp"
#include "transport/link.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

/// A value that fills those points of a piece that no rank writes.
struct PieceFill {
  std::uint32_t piece = 0;  ///< index in HandoverLayout::pieces
  std::vector<model::Move> boxes;
  std::optional<model::MapMove> points;
};

/// Constant once the batch that defines it is complete, which is before the first file is opened:
/// from then on any thread may read it.
struct ServedCollection {
  std::uint32_t id = 0;
  std::string name;
  Format format = Format::netcdf4;
  Existing existing = Existing::refuse;
  model::Split split = model::Split::none;
  bool least = false;                  ///< each of its files goes to the least loaded server
  std::vector<std::uint32_t> servers;  ///< of its pool, ascending
  std::uint32_t first = 0;             ///< the server that makes its first file
  std::uint64_t gather_bytes = 0;      ///< used for its layout
  std::uint64_t schema_hash = 0;
  std::vector<wire::StageSetting> stages;  ///< as the ranks configured them
  Schema schema;
  std::vector<std::int32_t> decompositions;  ///< one per variable; -1: Whole
  std::vector<model::MapPlace> places;       ///< one per variable: position of a map's dimensions
  /// One per variable. If set, its pieces are handed over packed, and this is the cut of its map.
  std::vector<const ServedMap::Cut*> packed;
  std::shared_ptr<const model::HandoverLayout> layout;  ///< of its frames
  std::shared_ptr<const Sink> sink;                     ///< which writes its files
  std::uint32_t first_frame = 0;
  std::vector<PieceFill> fills;                     ///< sorted by piece
  std::vector<std::vector<std::byte>> fill_values;  ///< one per variable, in the byte order of frames
  std::vector<std::uint32_t> expected;              ///< number of contributions, one per piece
};

/// Bytes of a piece that belong to one point of its variable's map.
std::uint64_t bytes_of_a_point(const ServedCollection& collection, const model::Piece& piece);

class Catalog {
 public:
  /// `session_ranks`: the session ranks of the model ranks, in model-rank order, for messages.
  Catalog(std::vector<int> session_ranks, const config::Config& config);

  // Definitions from model rank `peer`. Each call fails if ranks disagree, and names them.
  Result<> add(std::size_t peer, const wire::DefineDecomposition& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> add(std::size_t peer, wire::DefineMap message) AFTERBAY_REQUIRES(ingest_thread);
  /// Returns the collection if this message brought its schema, and so its layout. One rank sends
  /// the schema.
  Result<const ServedCollection*> add(std::size_t peer, const wire::DefineCollection& message)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Returns true if this was the last rank of the batch: then `complete` must be called.
  Result<bool> end(std::size_t peer, const wire::DefineEnd& message) AFTERBAY_REQUIRES(ingest_thread);
  /// Model ranks whose definitions other ranks wait for.
  [[nodiscard]] std::vector<int> still_to_come() const AFTERBAY_REQUIRES(ingest_thread);
  /// Checks the batch, declares its frames and returns the answer to the ranks.
  Result<wire::Defined> complete(transport::FramePool& frames) AFTERBAY_REQUIRES(ingest_thread);
  /// The points of maps in the last `complete`d batch that model rank `peer` lost to other ranks.
  [[nodiscard]] std::vector<wire::MapLosses> losses(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);
  /// The positions of model rank `peer`'s points in cuts that are handed over packed and are new in
  /// that batch.
  [[nodiscard]] std::vector<wire::MapPacking> packings(std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] const ServedCollection* find(std::uint32_t id) const AFTERBAY_REQUIRES(ingest_thread);
  /// The collection that owns a frame of the pool.
  [[nodiscard]] const ServedCollection* owner(std::uint32_t pool_frame) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool contributes(const ServedCollection& collection, std::uint32_t variable,
                                 std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint32_t contributors(const ServedCollection& collection, std::uint32_t variable) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Puts a packed contribution in its place; returns false if it does not match the definitions.
  [[nodiscard]] bool scatter(std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece,
                             std::span<const std::byte> packed, std::byte* frame) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// A checked map decomposition; nullopt if there is none with that number.
  struct FoundMap {
    const std::string& name;
    ServedMap& map;
  };
  [[nodiscard]] std::optional<FoundMap> map(std::uint32_t id) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] int session_rank(std::size_t peer) const { return session_ranks_[peer]; }
  [[nodiscard]] std::size_t ranks() const noexcept { return session_ranks_.size(); }

 private:
  struct ServedDecomposition {
    std::string name;
    Coverage coverage;
    model::Index global;
    std::vector<model::Box> boxes;  ///< one per model rank; empty for a map
    std::unique_ptr<ServedMap> map;
    std::vector<bool> described;  ///< by model rank
    std::uint32_t holders = 0;    ///< number of ranks that hold points
    model::BoxTree tree;
    bool checked = false;
  };

  Result<ServedDecomposition*> join(std::size_t peer, std::uint32_t id, const std::string& name,
                                    const model::Index& global, const Coverage& coverage, bool is_map)
      AFTERBAY_REQUIRES(ingest_thread);
  Result<> check_described(const ServedDecomposition& decomposition) const AFTERBAY_REQUIRES(ingest_thread);
  Result<> check(ServedDecomposition& decomposition) const AFTERBAY_REQUIRES(ingest_thread);
  Result<> check_map(ServedDecomposition& decomposition) const AFTERBAY_REQUIRES(ingest_thread);
  Result<> describe(ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  Result<> find_places(ServedCollection& collection) const AFTERBAY_REQUIRES(ingest_thread);
  void choose_packed(ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  void describe_piece(ServedCollection& collection, std::uint32_t index) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Finds the points of the piece that no rank writes, in addition to its padding.
  void find_gaps(ServedCollection& collection, std::uint32_t index, std::vector<model::Box>& boxes,
                 PieceFill& fill) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] model::Box part(const ServedCollection& collection, std::uint32_t variable,
                                std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);

  std::vector<int> session_ranks_;
  const config::Config& config_;
  std::map<std::uint32_t, ServedDecomposition> decompositions_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::map<std::uint32_t, ServedCollection> collections_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::uint32_t> new_collections_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// The collection of each frame of the pool.
  std::vector<const ServedCollection*> owners_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::uint32_t> checked_maps_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< in the last batch
  /// Each (map, cut) that is new in the last batch.
  std::vector<std::pair<std::uint32_t, const ServedMap::Cut*>> new_packed_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t serial_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::size_t ended_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::vector<bool> has_ended_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank, while ended_ > 0
};

}  // namespace afterbay::server
