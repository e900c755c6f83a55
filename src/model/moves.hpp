// SPDX-License-Identifier: Apache-2.0
// Moves: how one rank's part of a variable gets into one piece, as strided loops over long rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "model/box.hpp"
#include "model/convert/kernels.hpp"

namespace afterbay::model {

/// A copy of a box of values between two strided arrays. Dimensions of length 1 are left out and
/// neighbours that are contiguous on both sides are merged, so that the innermost row is as long
/// as can be. `dims` = 0: one value, or nothing when `points` is 0. Plain data, fixed size.
struct Move {
  std::uint64_t points = 0;
  std::uint32_t dims = 0;
  std::array<std::uint64_t, max_dimensions> counts{};         ///< slowest first
  std::array<std::ptrdiff_t, max_dimensions> from_strides{};  ///< bytes
  std::array<std::ptrdiff_t, max_dimensions> to_strides{};    ///< bytes
  std::ptrdiff_t from_offset = 0;  ///< bytes, from the source pointer to the first value
  std::ptrdiff_t to_offset = 0;    ///< bytes, from the destination pointer to the first value
  [[nodiscard]] bool empty() const noexcept { return points == 0; }
};

/// Bytes of an element on both sides of a move.
struct ElementBytes {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Can a part of `count` values a dimension lie in memory like that? Lists must be empty or of
/// the part's rank; offset + count within shape, which without an offset must be the count. Strides may be
/// negative or 0. Empty parts and scalars are fine.
Result<> check(const MemoryLayout& memory, const Index& count);

/// From the rank's array (part `mine` of the variable, laid out as `memory`, which `check`
/// accepted) into a piece in its final layout: `piece` is the piece's box, `stored` its stored
/// lengths. Only the common points are moved; none: an empty move.
Move gather(const Box& mine, const MemoryLayout& memory, const Box& piece, const Index& stored,
            ElementBytes bytes);

/// From the rank's array into a packed buffer: the common points of `mine` and `piece`, dense, C order.
Move pack(const Box& mine, const MemoryLayout& memory, const Box& piece, ElementBytes bytes);

/// From such a packed buffer into the piece; both hold elements of `bytes`.
Move scatter(const Box& mine, const Box& piece, const Index& stored, std::size_t bytes);

/// From a value (stride 0 everywhere) into the part `target` of a piece: filling gaps.
Move fill(const Box& target, const Box& piece, const Index& stored, std::size_t bytes);

/// The same values the other way round: for reading.
Move reversed(const Move& move);

/// Runs the move with `kernel` for each row. Returns the number of values out of range.
std::uint64_t execute(const Move& move, const void* from, std::byte* to, Kernel kernel);

/// The number of values out of range that `execute` of a `pack` would return. Reads the values only.
std::uint64_t out_of_range(const Move& pack, const void* from, Kernel kernel);

}  // namespace afterbay::model
