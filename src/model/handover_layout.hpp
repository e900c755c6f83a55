// SPDX-License-Identifier: Apache-2.0
// HandoverLayout: how the values that model ranks hand over are divided into pieces and frames.
//
// A *piece* is a box of one variable's record that ranks fill together. A *frame* is a group of pieces that
// is assembled in one buffer and passed to a sink at once. Ranks, endpoints and the intake of a server use
// this layout only. The sink of a collection writes files by a FileLayout (model/layout.hpp). Both are the
// same object, unless a stage between them needs a different one: see pipeline/plan.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/box.hpp"

namespace afterbay::model {

inline constexpr std::uint64_t page_bytes = 4096;  ///< alignment of direct I/O and of chunks in files

struct Piece {
  std::uint32_t variable = 0;  ///< index in the schema
  std::uint32_t number = 0;    ///< index among the variable's pieces
  std::uint32_t frame = 0;     ///< index in HandoverLayout::frames
  Box box;                     ///< valid points, in the variable's dimensions without the record dimension
  Index stored;             ///< lengths in the frame (>= box.count: edge chunks are padded); same rank as box
  std::uint64_t bytes = 0;  ///< size in the frame
  std::uint64_t frame_offset = 0;  ///< start of the piece in its frame
};

struct Frame {
  bool record = false;            ///< false: fixed variables, handed over once per file
  std::uint32_t first_piece = 0;  ///< pieces [first_piece, first_piece + piece_count)
  std::uint32_t piece_count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t phase = 0;  ///< for record 0: bytes to skip at the start of a page-aligned buffer
};

/// How one variable is handed over.
struct VariableLayout {
  bool record = false;           ///< has the unlimited dimension
  bool framed = false;           ///< numeric or text, put by ranks; false: constant or string
  Index shape;                   ///< lengths without the record dimension (scalar: rank 0)
  Index part;                    ///< lengths of a piece; pieces at the edges may be shorter
  std::uint64_t slab_bytes = 0;  ///< size of one record without gaps
  std::uint32_t first_piece = 0;
  std::uint32_t piece_count = 0;
};

struct HandoverLayout {
  bool big_endian = false;                ///< byte order of the values in frames
  std::vector<VariableLayout> variables;  ///< one per schema variable, same order
  std::vector<Piece> pieces;              ///< by frame, then by offset in the frame
  std::vector<Frame> frames;
  std::uint64_t record_phase = 0;  ///< increment of a frame's phase per record, modulo a page

  [[nodiscard]] std::span<const Piece> pieces_of(const Frame& frame) const {
    return {pieces.data() + frame.first_piece, frame.piece_count};
  }
  [[nodiscard]] std::span<const Piece> pieces_of_variable(std::uint32_t variable) const {
    return {pieces.data() + variables[variable].first_piece, variables[variable].piece_count};
  }
  /// Bytes to leave free at the start of a page-aligned buffer so that buffer and file are
  /// congruent modulo a page and the frame can be written without a copy; 0 if offsets are not arithmetic.
  [[nodiscard]] std::uint64_t phase(const Frame& frame, std::uint64_t record) const {
    return (frame.phase + (frame.record ? record % page_bytes * record_phase : 0)) % page_bytes;
  }
};

}  // namespace afterbay::model
