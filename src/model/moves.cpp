// SPDX-License-Identifier: Apache-2.0
#include "model/moves.hpp"

#include <utility>

#include "base/caller_terms.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace afterbay::model {
namespace {

using Strides = std::array<std::ptrdiff_t, max_dimensions>;

// Long rows are stored past the caches if the rows are not contiguous in the destination, where the
// hardware would prefetch unused lines, or if they are very long; see design/0002-copy-kernels.md.
constexpr std::uint64_t streaming_row_bytes = 256;
constexpr std::uint64_t streaming_dense_row_bytes = 4096;

/// Strides, in elements, of a dense array in C order.
Strides dense_strides(const Index& lengths) {
  Strides strides{};
  std::ptrdiff_t stride = 1;
  for (std::size_t i = lengths.size; i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<std::ptrdiff_t>(lengths[i]);
  }
  return strides;
}

Strides strides_of(const MemoryLayout& memory, const Index& count) {
  if (memory.strides.empty()) return dense_strides(memory.shape.empty() ? count : Index(memory.shape));
  Strides strides{};
  std::copy(memory.strides.begin(), memory.strides.end(), strides.begin());
  return strides;
}

std::ptrdiff_t offset_of(const Index& at, const Index& origin, const Strides& strides) {
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i < at.size; ++i)
    offset += static_cast<std::ptrdiff_t>(at[i] - origin[i]) * strides[i];
  return offset;
}

/// Appends a dimension, or merges it into the previous one if both sides are contiguous.
void append(Move& move, std::uint64_t count, std::ptrdiff_t from_stride, std::ptrdiff_t to_stride) {
  if (count == 1) return;
  const auto length = static_cast<std::ptrdiff_t>(count);
  if (move.dims > 0) {
    const std::uint32_t last = move.dims - 1;
    if (move.from_strides[last] == from_stride * length && move.to_strides[last] == to_stride * length) {
      move.counts[last] *= count;
      move.from_strides[last] = from_stride;
      move.to_strides[last] = to_stride;
      return;
    }
  }
  move.counts[move.dims] = count;
  move.from_strides[move.dims] = from_stride;
  move.to_strides[move.dims] = to_stride;
  ++move.dims;
}

/// One side of a move: the position of the first common value, and the strides. In elements.
struct Side {
  std::ptrdiff_t offset = 0;
  Strides strides{};
  std::size_t bytes = 0;
};

Move between(const Box& common, const Side& from, const Side& to) {
  Move move;
  move.points = common.points();
  if (move.empty()) return move;
  const auto from_bytes = static_cast<std::ptrdiff_t>(from.bytes);
  const auto to_bytes = static_cast<std::ptrdiff_t>(to.bytes);
  move.from_offset = from.offset * from_bytes;
  move.to_offset = to.offset * to_bytes;
  for (std::size_t i = 0; i < common.rank(); ++i)
    append(move, common.count[i], from.strides[i] * from_bytes, to.strides[i] * to_bytes);
  return move;
}

Side in_memory(const Box& mine, const MemoryLayout& memory, const Box& common, std::size_t bytes) {
  Side side{0, strides_of(memory, mine.count), bytes};
  side.offset = offset_of(common.start, mine.start, side.strides);
  for (std::size_t i = 0; i < memory.offset.size(); ++i)
    side.offset += static_cast<std::ptrdiff_t>(memory.offset[i]) * side.strides[i];
  return side;
}

Side in_piece(const Box& piece, const Index& stored, const Box& common, std::size_t bytes) {
  const Strides strides = dense_strides(stored);
  return {offset_of(common.start, piece.start, strides), strides, bytes};
}

Side packed(const Box& common, std::size_t bytes) { return {0, dense_strides(common.count), bytes}; }

/// The rows of a move: its innermost dimension.
struct Rows {
  std::uint64_t length = 1;
  std::ptrdiff_t from_stride = 0;
  std::ptrdiff_t to_stride = 0;
  std::uint32_t outer_dims = 0;
  std::ptrdiff_t bytes = 0;  ///< bytes of a row in the destination
  bool large = false;        ///< the total size of all rows is large
  bool apart = false;        ///< there are gaps between the rows in the destination

  explicit Rows(const Move& move) {
    if (move.dims == 0) return;
    outer_dims = move.dims - 1;
    length = move.counts[outer_dims];
    from_stride = move.from_strides[outer_dims];
    to_stride = move.to_strides[outer_dims];
    if (to_stride <= 0) return;
    bytes = to_stride * static_cast<std::ptrdiff_t>(length);
    large = move.is_part_of_large || move.points * static_cast<std::uint64_t>(to_stride) >= large_move_bytes;
    apart = outer_dims > 0 && move.to_strides[outer_dims - 1] != bytes;
  }

  [[nodiscard]] bool want_streaming() const noexcept {
    return large &&
           static_cast<std::uint64_t>(bytes) >= (apart ? streaming_row_bytes : streaming_dense_row_bytes);
  }
};

/// The cache lines at the ends of a row are shared with its neighbours: they must be fetched before
/// they are written, and all later stores wait for that. Prefetching makes them available in time.
class RowEnds {
 public:
  RowEnds(const Move& move, const Rows& rows) noexcept
      : last_(rows.bytes - 1),
        ahead_(rows.large && rows.apart ? rows_ahead * move.to_strides[rows.outer_dims - 1] : 0) {}
  void fetch(const std::byte* row) const noexcept {
    if (ahead_ == 0) return;
    const std::uintptr_t later = reinterpret_cast<std::uintptr_t>(row) + static_cast<std::uintptr_t>(ahead_);
    __builtin_prefetch(reinterpret_cast<const void*>(later), 1);
    __builtin_prefetch(reinterpret_cast<const void*>(later + static_cast<std::uintptr_t>(last_)), 1);
  }

 private:
  static constexpr std::ptrdiff_t rows_ahead = 4;
  std::ptrdiff_t last_;
  std::ptrdiff_t ahead_;  ///< in bytes; 0: prefetching does not pay
};

/// Streamed stores must be visible before anything that the caller publishes next.
void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Calls `visit(to, from)` for each row.
template <class Visit>
void for_each_row(const Move& move, const Rows& rows, const std::byte* from, std::byte* to, Visit visit) {
  std::array<std::uint64_t, max_dimensions> at{};
  while (true) {
    visit(to, from);
    std::uint32_t i = rows.outer_dims;
    for (; i > 0; --i) {
      from += move.from_strides[i - 1];
      to += move.to_strides[i - 1];
      if (++at[i - 1] < move.counts[i - 1]) break;
      from -= move.from_strides[i - 1] * static_cast<std::ptrdiff_t>(move.counts[i - 1]);
      to -= move.to_strides[i - 1] * static_cast<std::ptrdiff_t>(move.counts[i - 1]);
      at[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

template <class Convert>
std::uint64_t run_rows(const Move& move, const Rows& rows, const Convert& convert, const std::byte* from,
                       std::byte* to) {
  const RowEnds ends(move, rows);
  std::uint64_t bad = 0;
  for_each_row(move, rows, from, to, [&](std::byte* row, const std::byte* values) {
    ends.fetch(row);
    bad += convert(row, values, rows.length, rows.to_stride, rows.from_stride);
  });
  return bad;
}

/// The term for the description of an array in memory: Fortran passes the array itself.
const char* array_word() { return terms() == Terms::fortran ? "array" : "memory layout"; }

Result<> check_list(std::string_view what, std::size_t length, const Index& count) {
  if (length == 0 || length == count.size) return {};
  return fail(ErrorCode::invalid_argument,
              "the {}'s {} has {} values, but the part to write has {} dimensions (without the record "
              "dimension): give one value for each, or none",
              array_word(), what, length, count.size);
}

}  // namespace

Result<> check(const MemoryLayout& memory, const Index& count) {
  AFTERBAY_TRY(check_list("shape", memory.shape.size(), count));
  AFTERBAY_TRY(check_list("offset", memory.offset.size(), count));
  AFTERBAY_TRY(check_list("strides", memory.strides.size(), count));
  if (memory.shape.empty() && memory.strides.empty() && !memory.offset.empty())
    return fail(
        ErrorCode::invalid_argument,
        "the memory layout has an offset but neither the array's shape nor strides: give one of them");
  if (memory.shape.empty() || count.product() == 0) return {};
  for (std::size_t i = 0; i < count.size; ++i) {
    const std::uint64_t offset = memory.offset.empty() ? 0 : memory.offset[i];
    if (memory.shape[i] < count[i] || offset > memory.shape[i] - count[i])
      return fail(
          ErrorCode::invalid_argument,
          "in dimension {} the part needs {} values from offset {} on, but the array in memory has only {}: "
          "check the {}'s shape and offset",
          said_dimension(i, count.size), count[i], offset, memory.shape[i], array_word());
    if (memory.offset.empty() && memory.shape[i] != count[i])
      return fail(ErrorCode::invalid_argument,
                  "in dimension {} the array in memory has {} values, the part to write {}: hand over the "
                  "part alone, or give the {}'s offset, which says where in the array the part lies",
                  said_dimension(i, count.size), memory.shape[i], count[i], array_word());
  }
  return {};
}

Move gather(const Box& mine, const MemoryLayout& memory, const Box& piece, const Index& stored,
            ElementBytes bytes) {
  const Box common = intersect(mine, piece);
  if (common.empty()) return {};
  return between(common, in_memory(mine, memory, common, bytes.from),
                 in_piece(piece, stored, common, bytes.to));
}

Move pack(const Box& mine, const MemoryLayout& memory, const Box& piece, ElementBytes bytes) {
  const Box common = intersect(mine, piece);
  if (common.empty()) return {};
  return between(common, in_memory(mine, memory, common, bytes.from), packed(common, bytes.to));
}

Move scatter(const Box& mine, const Box& piece, const Index& stored, std::size_t bytes) {
  const Box common = intersect(mine, piece);
  if (common.empty()) return {};
  return between(common, packed(common, bytes), in_piece(piece, stored, common, bytes));
}

Move fill(const Box& target, const Box& piece, const Index& stored, std::size_t bytes) {
  const Box common = intersect(target, piece);
  if (common.empty()) return {};
  return between(common, Side{0, {}, bytes}, in_piece(piece, stored, common, bytes));
}

Move reversed(const Move& move) {
  Move back = move;
  std::swap(back.from_strides, back.to_strides);
  std::swap(back.from_offset, back.to_offset);
  return back;
}

std::uint64_t execute(const Move& move, const void* from, std::byte* to, Kernel kernel) {
  if (move.empty()) return 0;
  const ArithmeticFor arithmetic(kernel);
  const Rows rows(move);
  const std::byte* const first = static_cast<const std::byte*>(from) + move.from_offset;
  if (kernel.custom != nullptr) {
    const auto convert = [&kernel](auto... row) { return kernel.custom->row(row...); };
    return run_rows(move, rows, convert, first, to + move.to_offset);
  }
  const bool streams = kernel.streaming != nullptr && rows.want_streaming();
  const std::uint64_t bad =
      run_rows(move, rows, streams ? kernel.streaming : kernel.row, first, to + move.to_offset);
  if (streams) fence();
  return bad;
}

std::uint64_t out_of_range(const Move& pack, const void* from, Kernel kernel) {
  if (pack.empty()) return 0;
  const ArithmeticFor arithmetic(kernel);
  constexpr std::uint64_t block_values = 512;  // they are converted into the first-level cache
  std::array<std::byte, block_values * sizeof(double)> block;
  const Rows rows(pack);
  if (kernel.custom != nullptr) {
    bool sure = true;
    for_each_row(pack, rows, static_cast<const std::byte*>(from) + pack.from_offset, block.data(),
                 [&](const std::byte* /*row*/, const std::byte* values) {
                   sure = sure && kernel.custom->surely_in_range(values, rows.length, rows.from_stride);
                 });
    if (sure) return 0;
  }
  std::uint64_t bad = 0;
  for_each_row(pack, rows, static_cast<const std::byte*>(from) + pack.from_offset, block.data(),
               [&](const std::byte* /*row*/, const std::byte* values) {
                 for (std::uint64_t done = 0; done < rows.length; done += block_values)
                   bad += kernel.convert(
                       block.data(), values + static_cast<std::ptrdiff_t>(done) * rows.from_stride,
                       std::min(block_values, rows.length - done), rows.to_stride, rows.from_stride);
               });
  return bad;
}

}  // namespace afterbay::model
