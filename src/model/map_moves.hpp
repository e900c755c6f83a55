// SPDX-License-Identifier: Apache-2.0
// MapMove: how one rank's points of a Map are copied into one piece: gather by index, convert,
// scatter by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/map_cells.hpp"
#include "model/moves.hpp"

namespace afterbay::model {

/// The points of a cell, for every combination of indices of the dimensions before those of the map
/// (`outer`), each with its values along the dimensions after them (`inner`). A packed side holds
/// the values consecutively in the order of the move; its strides are not used.
struct MapMove {
  const CellPoints* points = nullptr;
  Move outer;
  Move inner;
  std::ptrdiff_t from_point = 0;  ///< bytes between neighbouring elements of the rank's array
  std::ptrdiff_t to_point = 0;    ///< bytes between neighbouring points of the cell's array
  std::ptrdiff_t from_value = 0;  ///< bytes between consecutive values of a point
  std::ptrdiff_t to_value = 0;
  bool from_packed = false;
  bool to_packed = false;
  std::uint64_t values = 0;
};

/// The layout of a piece of a variable on a map.
struct MapPiece {
  const Box& box;       ///< the box of the piece, in the variable's dimensions
  const Index& stored;  ///< its stored lengths
  MapDimensions mapped;
};

/// Copies from the rank's array into the piece in its final layout. The array has the dimensions of
/// the variable, with the map's dimensions replaced by one, the list of points; `memory` (which
/// `check` has accepted) describes the array in this form. `elements`: length of the list. `points`
/// is kept by reference.
MapMove gather(const CellPoints& points, std::uint64_t elements, const Index& shape,
               const MemoryLayout& memory, const MapPiece& piece, ElementBytes bytes);
/// The same for some of the values of a part of the rank's array. `selected`: their box in the
/// dimensions of the variable, with the map's dimensions replaced by one, whose start is 0 and
/// whose length is that of the list that the elements of `points` refer to; `memory` describes an
/// array of these lengths. Values outside the piece are not moved; if none is inside, the move has
/// no values.
MapMove gather(const CellPoints& points, const Box& selected, const MemoryLayout& memory,
               const MapPiece& piece, ElementBytes bytes);
/// The same into a dense array of a piece in which the map's dimensions are one, a list of `length`
/// points: `points.within` are positions in this list. A packed contribution and the array of a
/// rank are such arrays.
MapMove gather_into_list(const CellPoints& points, std::uint64_t length, const Box& selected,
                         const MemoryLayout& memory, const MapPiece& piece, ElementBytes bytes);
/// The same copy into a packed buffer.
MapMove pack(const MapMove& gather);
/// Copies from such a packed buffer, whose values have the file's type, into the piece.
MapMove scatter(const CellPoints& points, const MapPiece& piece, std::size_t bytes);
/// Copies one value into the points.
MapMove fill(const CellPoints& points, const MapPiece& piece, std::size_t bytes);

/// The same copy in the reverse direction, for reading: `points` must be the `reversed` points of
/// the move, and are kept by reference.
MapMove reversed(const MapMove& move, const CellPoints& points);
/// The same points for moves out of the cell: positions become elements, and elements become
/// positions. If the elements are omitted because they are consecutive, the positions are omitted
/// as well.
CellPoints reversed(const CellPoints& points);

/// Calls `visit(within, element)` for every point, in order.
template <class Visit>
void for_each_point(const CellPoints& points, Visit&& visit) {
  for (std::uint64_t i = 0; i < points.repeats; ++i) {
    const auto within_shift = static_cast<std::uint32_t>(i * points.within_step);
    const auto element_shift = static_cast<std::uint32_t>(i * points.element_step);
    for (std::size_t k = 0; k < points.within.size(); ++k) {
      const std::uint32_t length = points.lengths.empty() ? 1 : points.lengths[k];
      for (std::uint32_t j = 0; j < length; ++j)
        visit(points.within[k] + within_shift + j, points.elements[k] + element_shift + j);
    }
  }
}

/// Calls `visit(element)` for every point, in order.
template <class Visit>
void for_each_element(const CellPoints& points, Visit&& visit) {
  for (std::uint64_t i = 0; i < points.repeats; ++i) {
    const auto shift = static_cast<std::uint32_t>(i * points.element_step);
    for (std::size_t k = 0; k < points.elements.size(); ++k) {
      const std::uint32_t length = points.lengths.empty() ? 1 : points.lengths[k];
      for (std::uint32_t j = 0; j < length; ++j) visit(points.elements[k] + shift + j);
    }
  }
}

/// The lengths of a rank's array of a variable of `shape`, with the map's dimensions replaced by
/// the list of points, as `check` of a memory layout and `gather` require them.
Index array_lengths(const Index& shape, const MapDimensions& mapped, std::uint64_t elements);

/// Consecutive bytes, counted from the destination pointer of a move.
struct ByteRange {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Windows of the destination that a move writes to.
struct WrittenWindows {
  ByteRange range;
  bool dense = false;
  friend bool operator==(const WrittenWindows&, const WrittenWindows&) = default;
};

/// The windows of `window_pages` pages of `page` bytes that the move writes to, ascending; dense
/// are those in which it writes to at least `dense_pages` pages. Neighbours of the same kind are
/// merged. The move must not pack. Time O(runs) for each index of the outer dimensions.
std::vector<WrittenWindows> written_windows(const MapMove& move, std::uint64_t page,
                                            std::uint64_t window_pages, std::uint64_t dense_pages);

/// Runs the move. Returns the number of values out of range.
std::uint64_t execute(const MapMove& move, const void* from, std::byte* to, Kernel kernel);

}  // namespace afterbay::model
