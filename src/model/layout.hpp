// SPDX-License-Identifier: Apache-2.0
// FileLayout: how a file's records are cut into pieces and frames.
//
// A *piece* is a box of one variable's record whose bytes lie together in the file: an HDF5
// chunk, or a run of whole rows of a classic or contiguous variable. A *frame* is what is
// assembled in one buffer and handed to the writer at once: pieces that are neighbours in the
// file. The layout is a pure function of schema, format and sizes, so that model ranks and
// servers compute the same one and never exchange it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/box.hpp"
#include "model/format.hpp"

namespace afterbay::model {

inline constexpr std::uint64_t page_bytes = 4096;  ///< alignment of direct I/O and of chunks in files

struct LayoutSizes {
  std::uint64_t frame_bytes = 4u << 20;  ///< most bytes of a frame: what a block holds
  std::uint64_t chunk_bytes = 4u << 20;  ///< most bytes of a chunk that the library chooses
  /// Frames take no more pieces once they have as many bytes, so that each server of a shared file gets its
  /// part of a record; 0: frame_bytes.
  std::uint64_t gather_bytes = 0;

  [[nodiscard]] std::uint64_t gathered_bytes() const noexcept {
    return gather_bytes == 0 ? frame_bytes : std::min(gather_bytes, frame_bytes);
  }
};

struct Piece {
  std::uint32_t variable = 0;  ///< index in the schema
  std::uint32_t number = 0;    ///< index among the variable's pieces
  std::uint32_t frame = 0;     ///< index in FileLayout::frames
  Box box;                     ///< valid points, in the variable's dimensions without the record dimension
  Index stored;                ///< stored lengths (>= box.count: edge chunks are padded); same rank as box
  std::uint64_t bytes = 0;     ///< stored bytes
  std::uint64_t frame_offset = 0;  ///< where the piece begins in its frame
  std::uint64_t slab_offset = 0;   ///< where it begins in the variable's record (dense storage only)
};

struct Frame {
  bool record = false;            ///< false: fixed variables, written once a file
  std::uint32_t first_piece = 0;  ///< pieces [first_piece, first_piece + piece_count)
  std::uint32_t piece_count = 0;
  std::uint64_t bytes = 0;
  /// Arithmetic places: offset from the start of the fixed or record section (page aligned in the file).
  std::uint64_t section_offset = 0;
};

/// How one variable is stored.
struct VariableLayout {
  bool record = false;               ///< has the unlimited dimension
  bool framed = false;               ///< numeric or text, put by ranks; false: constant or string
  bool chunked = false;              ///< HDF5 chunks; else dense
  Index shape;                       ///< lengths without the record dimension (scalar: rank 0)
  Index chunk;                       ///< chunk lengths without the record dimension, when chunked
  Index part;                        ///< lengths of a piece; those at the edges may have less
  std::uint64_t record_span = 1;     ///< chunk length along the record dimension
  std::uint64_t slab_bytes = 0;      ///< dense bytes of one record
  std::uint64_t section_offset = 0;  ///< arithmetic places: begin, from the start of its section
  std::uint32_t first_piece = 0;
  std::uint32_t piece_count = 0;
};

struct FileLayout {
  Format format = Format::netcdf4;
  bool big_endian = false;
  std::vector<VariableLayout> variables;  ///< one a schema variable, same order
  std::vector<Piece> pieces;              ///< by frame, then by place in the frame
  std::vector<Frame> frames;
  std::uint64_t record_bytes = 0;  ///< arithmetic places: distance between records

  [[nodiscard]] std::span<const Piece> pieces_of(const Frame& frame) const {
    return {pieces.data() + frame.first_piece, frame.piece_count};
  }
  [[nodiscard]] std::span<const Piece> pieces_of_variable(std::uint32_t variable) const {
    return {pieces.data() + variables[variable].first_piece, variables[variable].piece_count};
  }
  /// Bytes to leave free at the start of a page-aligned buffer so that buffer and file are
  /// congruent modulo a page and the frame can be written without a copy; 0 if offsets are not arithmetic.
  [[nodiscard]] std::uint64_t phase(const Frame& frame, std::uint64_t record) const {
    return (frame.section_offset + (frame.record ? record * record_bytes : 0)) % page_bytes;
  }
};

/// Cuts `schema` for `format`. Fails with invalid_argument/wrong_type/resources naming the variable:
/// types or dimensions that the format cannot hold, chunks larger than a frame that must be encoded.
Result<FileLayout> make_layout(const Schema& schema, Format format, const LayoutSizes& sizes);

}  // namespace afterbay::model
