// SPDX-License-Identifier: Apache-2.0
// MapMove: how one rank's points of a Map get into one piece: gather by index, convert, scatter by index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/map_cells.hpp"
#include "model/moves.hpp"

namespace afterbay::model {

/// The points of a cell, for every combination of indices of the dimensions before those of the map
/// (`outer`), each with its values along the dimensions after them (`inner`). A packed side holds the values
/// one after the other in the order of the move; its strides are not used.
struct MapMove {
  const CellPoints* points = nullptr;
  Move outer;
  Move inner;
  std::ptrdiff_t from_point = 0;  ///< bytes between neighbours among the elements of the rank's array
  std::ptrdiff_t to_point = 0;    ///< bytes between neighbours among the points of the cell's array
  std::ptrdiff_t from_value = 0;  ///< bytes of a value
  std::ptrdiff_t to_value = 0;
  bool from_packed = false;
  bool to_packed = false;
  std::uint64_t values = 0;
};

/// How a piece of a variable on a map is laid out.
struct MapPiece {
  const Box& box;       ///< of the piece, in the variable's dimensions
  const Index& stored;  ///< its stored lengths
  MapPlace place;
};

/// From the rank's array into the piece in its final layout. The array's dimensions are those of the variable
/// with the map's replaced by one, the list of points; `memory` (which `check` accepted) describes it so.
/// `elements`: length of the list. `points` is kept by reference.
MapMove gather(const CellPoints& points, std::uint64_t elements, const Index& shape,
               const MemoryLayout& memory, const MapPiece& piece, ElementBytes bytes);
/// The same into a packed buffer.
MapMove pack(const MapMove& gather);
/// From such a packed buffer, whose values have the file's type, into the piece.
MapMove scatter(const CellPoints& points, const MapPiece& piece, std::size_t bytes);
/// From one value into the points.
MapMove fill(const CellPoints& points, const MapPiece& piece, std::size_t bytes);

/// The same values the other way round, for reading: `points` are `reversed` ones of those of the move, and
/// kept by reference.
MapMove reversed(const MapMove& move, const CellPoints& points);
/// The same points as they are told for moves out of the cell: its places are the elements, and the elements
/// of the rank's array the places; where those are left out because they count up, so do these.
CellPoints reversed(const CellPoints& points);

/// The lengths of a rank's array of a variable of `shape`, its map's dimensions replaced by the list of
/// points: what `check` of a memory layout and `gather` want.
Index array_lengths(const Index& shape, const MapPlace& place, std::uint64_t elements);

/// Runs the move. Returns the number of values out of range.
std::uint64_t execute(const MapMove& move, const void* from, std::byte* to, Kernel kernel);

}  // namespace afterbay::model
