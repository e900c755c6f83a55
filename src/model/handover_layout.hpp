// SPDX-License-Identifier: Apache-2.0
// HandoverLayout: how the values that model ranks hand over are divided into pieces and frames.
//
// A *piece* is a box of one variable's record that ranks fill together. A *frame* is a group of
// pieces that is assembled in one buffer and passed to a sink at once. Ranks, endpoints and the
// intake of a server use this layout only. The sink of a collection writes files by a FileLayout
// (model/layout.hpp). Both are the same object, unless a stage between them needs a different one:
// see pipeline/plan.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/box.hpp"
#include "model/cutting.hpp"

namespace afterbay::model {

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
  std::shared_ptr<const Cutting> cutting;
  Pieces pieces;                   ///< by frame, then by offset in the frame
  Frames frames;                   ///< those of fixed variables come first
  std::uint64_t record_phase = 0;  ///< increment of a frame's phase per record, modulo a page

  [[nodiscard]] Pieces pieces_of(const Frame& frame) const {
    return {cutting, frame.first_piece, frame.piece_count};
  }
  [[nodiscard]] Pieces pieces_of_variable(std::uint32_t variable) const {
    return {cutting, variables[variable].first_piece, variables[variable].piece_count};
  }
  /// Calls `visit(index)` for the pieces of a variable that share points with `box`, ascending.
  template <class Visit>
  void for_each_touching(std::uint32_t variable, const Box& box, Visit&& visit) const;
  /// Bytes to leave free at the start of a page-aligned buffer so that buffer and file are
  /// congruent modulo a page and the frame can be written without a copy; 0 if offsets are not
  /// arithmetic.
  [[nodiscard]] std::uint64_t phase(const Frame& frame, std::uint64_t record) const {
    return (frame.phase + (frame.record ? record % page_bytes * record_phase : 0)) % page_bytes;
  }
};

/// Calls `visit(number)` for the parts [first, last] of a grid, ascending; both limits are
/// included.
template <class Visit>
void for_each_part(const Index& parts, const Index& first, const Index& last, Visit&& visit) {
  Index at = first;
  while (true) {
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < parts.size; ++d) number = number * parts[d] + at[d];
    visit(static_cast<std::uint32_t>(number));
    std::size_t d = parts.size;
    for (; d > 0; --d) {
      if (++at[d - 1] <= last[d - 1]) break;
      at[d - 1] = first[d - 1];
    }
    if (d == 0) return;
  }
}

template <class Visit>
void HandoverLayout::for_each_touching(std::uint32_t variable, const Box& box, Visit&& visit) const {
  const PieceGrid* const grid = cutting->grid_of(variable);
  if (grid == nullptr || box.empty()) return;
  Index first = box.start;
  Index last = box.start;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    first[d] = box.start[d] / grid->part[d];
    last[d] = (box.start[d] + box.count[d] - 1) / grid->part[d];
  }
  for_each_part(grid->parts, first, last, [&](std::uint32_t number) { visit(grid->first_piece + number); });
}

}  // namespace afterbay::model
