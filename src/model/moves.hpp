// SPDX-License-Identifier: Apache-2.0
// Moves: how one rank's part of a variable is copied into one piece, as strided loops over long
// rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "model/box.hpp"
#include "model/convert/kernels.hpp"

namespace afterbay::model {

/// Moves of so many bytes are stored past the caches, in long rows (design/0002-copy-kernels.md).
inline constexpr std::uint64_t large_move_bytes = 128 << 10;

/// A copy of a box of values between two strided arrays. Dimensions of length 1 are omitted and
/// neighbouring dimensions that are contiguous on both sides are merged, so that the innermost row
/// is as long as possible. `dims` = 0: one value, or nothing if `points` is 0. Plain data, fixed
/// size.
struct Move {
  std::uint64_t points = 0;
  std::uint32_t dims = 0;
  std::array<std::uint64_t, max_dimensions> counts{};         ///< slowest first
  std::array<std::ptrdiff_t, max_dimensions> from_strides{};  ///< bytes
  std::array<std::ptrdiff_t, max_dimensions> to_strides{};    ///< bytes
  std::ptrdiff_t from_offset = 0;  ///< bytes, from the source pointer to the first value
  std::ptrdiff_t to_offset = 0;    ///< bytes, from the destination pointer to the first value
  /// Other moves come right before or after it, and all together move large_move_bytes at least.
  bool is_part_of_large = false;
  [[nodiscard]] bool empty() const noexcept { return points == 0; }
};

/// The size of an element on both sides of a move, in bytes.
struct ElementBytes {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Checks whether a part with `count` values per dimension can have this layout in memory. Lists
/// must be empty or of the part's rank; offset + count must lie within shape, and without an offset
/// the shape must equal the count. Strides may be negative or 0. Empty parts and scalars are
/// accepted.
Result<> check(const MemoryLayout& memory, const Index& count);

/// Copies from the rank's array (part `mine` of the variable, with the layout `memory`, which
/// `check` has accepted) into a piece in its final layout: `piece` is the piece's box, `stored` its
/// stored lengths. Only the common points are moved; if there are none, the move is empty.
Move gather(const Box& mine, const MemoryLayout& memory, const Box& piece, const Index& stored,
            ElementBytes bytes);

/// Copies from the rank's array into a packed buffer: the common points of `mine` and `piece`,
/// dense, in C order.
Move pack(const Box& mine, const MemoryLayout& memory, const Box& piece, ElementBytes bytes);

/// Copies from such a packed buffer into the piece; both hold elements of `bytes`.
Move scatter(const Box& mine, const Box& piece, const Index& stored, std::size_t bytes);

/// Copies one value (stride 0 everywhere) into the part `target` of a piece, to fill gaps.
Move fill(const Box& target, const Box& piece, const Index& stored, std::size_t bytes);

/// The same copy in the reverse direction, for reading.
Move reversed(const Move& move);

/// Visits the ranges of the destination, bytes [at, at + bytes) counted from the destination
/// pointer, in which the move leaves no gap of `gap` bytes or more. Ranges that are shorter than
/// `least` are not visited.
template <class Visit>
void visit_dense_ranges(const Move& move, std::uint64_t element_bytes, std::uint64_t gap, std::uint64_t least,
                        Visit visit) {
  if (move.empty()) return;
  std::uint64_t bytes = element_bytes;
  std::uint32_t outer = move.dims;
  for (; outer > 0; --outer) {
    const auto stride = static_cast<std::uint64_t>(move.to_strides[outer - 1]);
    if (move.to_strides[outer - 1] < 0 || stride >= bytes + gap) break;
    bytes += (move.counts[outer - 1] - 1) * stride;
  }
  if (bytes < least) return;
  std::array<std::uint64_t, max_dimensions> index{};
  std::ptrdiff_t at = move.to_offset;
  for (;;) {
    visit(static_cast<std::uint64_t>(at), bytes);
    std::uint32_t d = outer;
    for (; d > 0; --d) {
      at += move.to_strides[d - 1];
      if (++index[d - 1] < move.counts[d - 1]) break;
      at -= move.to_strides[d - 1] * static_cast<std::ptrdiff_t>(move.counts[d - 1]);
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

/// Runs the move with `kernel` for each row. Returns the number of values out of range.
std::uint64_t execute(const Move& move, const void* from, std::byte* to, Kernel kernel);

/// The number of values out of range that `execute` of a `pack` would return. Reads the values
/// only.
std::uint64_t out_of_range(const Move& pack, const void* from, Kernel kernel);

}  // namespace afterbay::model
