// SPDX-License-Identifier: Apache-2.0
// ServedCollection: a collection as a server knows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "config/config.hpp"
#include "model/frame_owners.hpp"
#include "model/handover_layout.hpp"
#include "model/map_moves.hpp"
#include "model/moves.hpp"
#include "server/served_map.hpp"
#include "server/sink.hpp"
#include "wire/model_messages.hpp"

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
  Format format{};
  Existing existing = Existing::refuse;
  model::FileSharing sharing = model::FileSharing::none;
  std::vector<std::uint32_t> servers;                 ///< servers of its pool, ascending
  std::uint32_t first = 0;                            ///< the server that makes its first file
  std::uint64_t gather_bytes = 0;                     ///< used for its layout
  std::uint64_t digest = 0;                           ///< see wire::DefineCollection
  std::vector<wire::StageSettingValue> stages;        ///< as the ranks configured them
  std::vector<wire::ReductionDefinition> reductions;  ///< reductions that servers compute from samples
  std::vector<std::string> trial_compressors;         ///< see wire::CollectionDefinition
  Schema schema;
  std::vector<std::int32_t> decompositions;  ///< one per variable; -1: Whole
  std::vector<model::MapDimensions> mapped;  ///< one per variable: position of a map's dimensions
  /// One per variable. If set, its pieces are handed over packed, and this is the cut of its map.
  std::vector<const ServedMap::Cut*> packed;
  std::shared_ptr<const model::HandoverLayout> layout;  ///< layout of its frames
  std::shared_ptr<const Sink> sink;                     ///< writes its files
  model::FrameOwners owners;                            ///< the parts of its servers in its files
  std::uint16_t part = 0;         ///< number of this server's part, the only one described here
  std::uint32_t first_frame = 0;  ///< its first frame in this server's table
  std::vector<PieceFill> fills;   ///< fills of this server's pieces, sorted by piece
  std::vector<std::vector<std::byte>> fill_values;  ///< one per variable, in the byte order of frames
  std::vector<std::uint32_t> expected;              ///< number of contributions, one per piece of this server

  /// Whether the values of the variable are computed of samples.
  [[nodiscard]] bool reduces(std::uint32_t variable) const {
    return std::ranges::find(reductions, variable, &wire::ReductionDefinition::variable) != reductions.end();
  }
  /// The number of frames that this server has.
  [[nodiscard]] std::uint32_t frames() const { return owners.frames_of(part); }
  /// The frame, in the layout, that has this number here.
  [[nodiscard]] std::uint32_t frame(std::uint32_t number) const { return owners.frame(part, number); }
  /// Numbers of contributions of the pieces of a frame of this server, given by its index in the
  /// layout.
  [[nodiscard]] std::span<const std::uint32_t> expected_in(std::uint32_t frame) const;
};

/// Bytes of a piece that belong to one point of its variable's map.
std::uint64_t bytes_of_a_point(const ServedCollection& collection, const model::Piece& piece);

}  // namespace afterbay::server
