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
  MapPlace place;
};

/// Copies from the rank's array into the piece in its final layout. The array has the dimensions of
/// the variable, with the map's dimensions replaced by one, the list of points; `memory` (which
/// `check` has accepted) describes the array in this form. `elements`: length of the list. `points`
/// is kept by reference.
MapMove gather(const CellPoints& points, std::uint64_t elements, const Index& shape,
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

/// The lengths of a rank's array of a variable of `shape`, with the map's dimensions replaced by
/// the list of points, as `check` of a memory layout and `gather` require them.
Index array_lengths(const Index& shape, const MapPlace& place, std::uint64_t elements);

/// Consecutive bytes, counted from the destination pointer of a move.
struct ByteRange {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The parts of the destination, ascending, that the move writes densely: windows of `window_pages`
/// pages of `page` bytes, in each of which it writes to at least `least_pages` pages. Neighbouring
/// windows are merged. The move must not pack. Time O(runs) for each index of the outer dimensions.
std::vector<ByteRange> dense_windows(const MapMove& move, std::uint64_t page, std::uint64_t window_pages,
                                     std::uint64_t least_pages);

/// Runs the move. Returns the number of values out of range.
std::uint64_t execute(const MapMove& move, const void* from, std::byte* to, Kernel kernel);

}  // namespace afterbay::model
