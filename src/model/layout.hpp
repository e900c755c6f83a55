// SPDX-License-Identifier: Apache-2.0
// FileLayout: how a file's records are divided into pieces and frames.
//
// A *piece* is a box of one variable's record whose bytes lie together in the file: an HDF5
// chunk, or a run of whole rows of a classic or contiguous variable. A *frame* is a group of
// pieces that are adjacent in the file and are written at once. The layout is a pure function of
// schema, format and sizes, so that model ranks and servers compute the same one and never exchange
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/box.hpp"
#include "model/format.hpp"
#include "model/handover_layout.hpp"

namespace afterbay::model {

struct LayoutSizes {
  std::uint64_t frame_bytes = 4u << 20;  ///< most bytes of a frame: what a block holds
  std::uint64_t chunk_bytes = 4u << 20;  ///< most bytes of a chunk that the library chooses
  /// A frame of this size gets no more pieces, so that each server of a shared file gets its part
  /// of a record; 0: frame_bytes.
  std::uint64_t gather_bytes = 0;
  /// Each variable has frames of its own. For variables that are put in different records, such as
  /// samples: a frame of several would not be complete before the step ends, and ranks that wait
  /// for room could wait for it.
  bool apart = false;

  [[nodiscard]] std::uint64_t gathered_bytes() const noexcept {
    return gather_bytes == 0 ? frame_bytes : std::min(gather_bytes, frame_bytes);
  }
};

/// How the file stores one variable.
struct StoredVariable {
  bool chunked = false;           ///< HDF5 chunks; else dense
  Index chunk;                    ///< chunk lengths without the record dimension, when chunked
  Index slab;                     ///< formats of messages: lengths of a slab; empty: no messages
  std::uint64_t record_span = 1;  ///< chunk length along the record dimension
  std::uint64_t section_offset =
      0;  ///< arithmetic places: start of the variable, from the start of its section
};

/// A file layout is also a handover layout: its frames go into the file unchanged, and ranks can
/// fill them without knowing about files. It shares the tables and adds what only storage needs.
struct FileLayout : HandoverLayout {
  Format format{};
  std::vector<StoredVariable> stored;  ///< one per schema variable, same order
  std::uint64_t record_bytes = 0;      ///< arithmetic places: distance between records

  /// Start of the piece in its variable's record (dense storage only).
  [[nodiscard]] std::uint64_t slab_offset(const Piece& piece) const {
    return cutting->grid_of(piece.variable)->slab_offset(piece.box);
  }
};

/// Makes the layout of `schema` for `format`. Fails with invalid_argument, wrong_type or resources
/// and names the variable: for types or dimensions that the format cannot hold, and for filtered
/// chunks that are larger than a frame.
Result<FileLayout> make_layout(const Schema& schema, Format format, const LayoutSizes& sizes);

}  // namespace afterbay::model
