// SPDX-License-Identifier: Apache-2.0
#include "model/map_moves.hpp"

#include <algorithm>
#include <cstring>

namespace afterbay::model {
namespace {

using Strides = std::array<std::ptrdiff_t, max_dimensions>;

constexpr std::size_t stage_values =
    /// Values that are gathered, converted and scattered together: they fit into the first-level
    /// cache.
    512;
constexpr std::size_t fetch_ahead = 24;  ///< values

Strides dense_bytes(const Index& lengths, std::size_t element) {
  Strides strides{};
  auto stride = static_cast<std::ptrdiff_t>(element);
  for (std::size_t i = lengths.size; i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<std::ptrdiff_t>(lengths[i]);
  }
  return strides;
}

Strides memory_bytes(const MemoryLayout& memory, const Index& lengths, std::size_t element) {
  if (memory.strides.empty())
    return dense_bytes(memory.shape.empty() ? lengths : Index(memory.shape), element);
  Strides strides{};
  for (std::size_t i = 0; i < memory.strides.size(); ++i)
    strides[i] = memory.strides[i] * static_cast<std::ptrdiff_t>(element);
  return strides;
}

void add_dimension(Move& move, std::uint64_t count, std::ptrdiff_t from, std::ptrdiff_t to) {
  move.points *= count;
  if (count == 1) return;
  move.counts[move.dims] = count;
  move.from_strides[move.dims] = from;
  move.to_strides[move.dims] = to;
  ++move.dims;
}

/// `from_at`: the index of the from-stride for a dimension of the variable.
template <class FromDimension>
MapMove make(const CellPoints& points, const MapPiece& piece, const Strides& from, const Strides& to,
             FromDimension from_dimension) {
  MapMove move;
  move.points = &points;
  move.outer.points = move.inner.points = 1;
  for (std::size_t d = 0; d < piece.mapped.first; ++d)
    add_dimension(move.outer, piece.box.count[d], from[from_dimension(d)], to[d]);
  for (std::size_t d = piece.mapped.after(); d < piece.box.rank(); ++d)
    add_dimension(move.inner, piece.box.count[d], from[from_dimension(d)], to[d]);
  move.values = move.outer.points * move.inner.points * points.points;
  return move;
}

/// Values of a point that are contiguous on both sides, together with those of its neighbours, are
/// merged into rows.
void join_inner(MapMove& move) {
  Move joined;
  joined.points = 1;
  for (std::uint32_t d = 0; d < move.inner.dims; ++d) {
    const std::uint64_t count = move.inner.counts[d];
    const std::ptrdiff_t from = move.inner.from_strides[d];
    const std::ptrdiff_t to = move.inner.to_strides[d];
    const auto length = static_cast<std::ptrdiff_t>(count);
    if (joined.dims > 0 && joined.from_strides[joined.dims - 1] == from * length &&
        joined.to_strides[joined.dims - 1] == to * length) {
      joined.points *= count;
      joined.counts[joined.dims - 1] *= count;
      joined.from_strides[joined.dims - 1] = from;
      joined.to_strides[joined.dims - 1] = to;
    } else {
      add_dimension(joined, count, from, to);
    }
  }
  move.inner = joined;
}

// ---- single values, by index

template <std::size_t size>
void gather_values(const std::byte* from, const std::uint32_t* index, std::uint32_t shift, std::size_t count,
                   std::ptrdiff_t stride, std::byte* to) {
  const auto at = [&](std::size_t i) {
    return from + static_cast<std::ptrdiff_t>(static_cast<std::uint32_t>(index[i] + shift)) * stride;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i + fetch_ahead < count) __builtin_prefetch(at(i + fetch_ahead));
    std::memcpy(to + i * size, at(i), size);
  }
}

template <std::size_t size>
void scatter_values(std::byte* to, const std::uint32_t* index, std::uint32_t shift, std::size_t count,
                    std::ptrdiff_t stride, const std::byte* from) {
  const auto at = [&](std::size_t i) {
    return to + static_cast<std::ptrdiff_t>(static_cast<std::uint32_t>(index[i] + shift)) * stride;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i + fetch_ahead < count) __builtin_prefetch(at(i + fetch_ahead), 1);
    std::memcpy(at(i), from + i * size, size);
  }
}

void gather_any(std::ptrdiff_t size, const std::byte* from, const std::uint32_t* index, std::uint32_t shift,
                std::size_t count, std::ptrdiff_t stride, std::byte* to) {
  switch (size) {
    case 1: return gather_values<1>(from, index, shift, count, stride, to);
    case 2: return gather_values<2>(from, index, shift, count, stride, to);
    case 4: return gather_values<4>(from, index, shift, count, stride, to);
    default: return gather_values<8>(from, index, shift, count, stride, to);
  }
}

void scatter_any(std::ptrdiff_t size, std::byte* to, const std::uint32_t* index, std::uint32_t shift,
                 std::size_t count, std::ptrdiff_t stride, const std::byte* from) {
  switch (size) {
    case 1: return scatter_values<1>(to, index, shift, count, stride, from);
    case 2: return scatter_values<2>(to, index, shift, count, stride, from);
    case 4: return scatter_values<4>(to, index, shift, count, stride, from);
    default: return scatter_values<8>(to, index, shift, count, stride, from);
  }
}

/// The shift of a repetition of the pattern, modulo 2^32, so that it may be negative.
struct Shift {
  std::uint32_t element = 0;
  std::uint32_t within = 0;
};

/// Executes one move for a cell; the addresses of both sides change with `outer` and the
/// repetition.
class Runner {
 public:
  Runner(const MapMove& move, Kernel kernel) : move_(move), kernel_(kernel) {
    contiguous_ = move.inner.dims == 0;
    if (move.inner.dims == 1) {
      const auto count = static_cast<std::ptrdiff_t>(move.inner.counts[0]);
      const bool from_joins = move.from_packed || (move.inner.from_strides[0] == move.from_value &&
                                                   move.from_point == move.from_value * count);
      const bool to_joins = move.to_packed || (move.inner.to_strides[0] == move.to_value &&
                                               move.to_point == move.to_value * count);
      contiguous_ = from_joins && to_joins;
    }
    per_point_ = move.inner.points;
    plain_ = move.from_value == move.to_value && kernel.custom == nullptr &&
             kernel.row == copy_kernel(static_cast<std::size_t>(move.to_value), false).row;
  }

  std::uint64_t run(const std::byte* from, std::byte* to) {
    from_ = from;
    to_ = to;
    std::array<std::uint64_t, max_dimensions> at{};
    while (true) {
      cell(from, to);
      std::uint32_t d = move_.outer.dims;
      for (; d > 0; --d) {
        from += move_.outer.from_strides[d - 1];
        to += move_.outer.to_strides[d - 1];
        if (++at[d - 1] < move_.outer.counts[d - 1]) break;
        from -= move_.outer.from_strides[d - 1] * static_cast<std::ptrdiff_t>(move_.outer.counts[d - 1]);
        to -= move_.outer.to_strides[d - 1] * static_cast<std::ptrdiff_t>(move_.outer.counts[d - 1]);
        at[d - 1] = 0;
      }
      if (d == 0) return bad_;
    }
  }

 private:
  void cell(const std::byte* from, std::byte* to) {
    const CellPoints& points = *move_.points;
    const bool single = points.lengths.empty() && move_.inner.dims == 0;
    for (std::uint64_t i = 0; i < points.repeats; ++i) {
      const Shift shift{static_cast<std::uint32_t>(i * points.element_step),
                        static_cast<std::uint32_t>(i * points.within_step)};
      if (single)
        values(from, to, shift);
      else
        rows(from, to, shift);
    }
  }

  /// Moves all single values of the pattern, in stages.
  void values(const std::byte* from, std::byte* to, Shift shift) {
    const CellPoints& points = *move_.points;
    alignas(64) std::byte taken[stage_values * 8];
    alignas(64) std::byte converted[stage_values * 8];
    for (std::size_t i = 0; i < points.within.size(); i += stage_values) {
      const std::size_t count = std::min(stage_values, points.within.size() - i);
      const std::byte* source = from_;
      if (move_.from_packed) {
        from_ += static_cast<std::ptrdiff_t>(count) * move_.from_value;
      } else {
        gather_any(move_.from_value, from, points.elements.data() + i, shift.element, count, move_.from_point,
                   taken);
        source = taken;
      }
      if (plain_ && !move_.to_packed) {
        scatter_any(move_.to_value, to, points.within.data() + i, shift.within, count, move_.to_point,
                    source);
        continue;
      }
      std::byte* const target = move_.to_packed ? to_ : converted;
      bad_ += kernel_.convert(target, source, count, move_.to_value, move_.from_value);
      if (move_.to_packed)
        to_ += static_cast<std::ptrdiff_t>(count) * move_.to_value;
      else
        scatter_any(move_.to_value, to, points.within.data() + i, shift.within, count, move_.to_point,
                    converted);
    }
  }

  void rows(const std::byte* from, std::byte* to, Shift shift) {
    const CellPoints& points = *move_.points;
    for (std::size_t i = 0; i < points.within.size(); ++i) {
      const std::uint64_t length = points.lengths.empty() ? 1 : points.lengths[i];
      const std::uint32_t element = move_.from_packed ? 0 : points.elements[i] + shift.element;
      const std::byte* f = from + static_cast<std::ptrdiff_t>(element) * move_.from_point;
      const std::uint32_t within = points.within[i] + shift.within;
      std::byte* t = to + static_cast<std::ptrdiff_t>(within) * move_.to_point;
      if (contiguous_) {
        row(f, t, length);
        continue;
      }
      for (std::uint64_t k = 0; k < length; ++k) {
        point(f, t);
        f += move_.from_point;
        t += move_.to_point;
      }
    }
  }

  /// Moves `length` points whose values form one row on both sides.
  void row(const std::byte* from, std::byte* to, std::uint64_t length) {
    const std::uint64_t count = length * per_point_;
    const bool dense = per_point_ > 1;
    const std::ptrdiff_t from_stride = move_.from_packed ? move_.from_value
                                       : dense           ? move_.inner.from_strides[0]
                                                         : move_.from_point;
    const std::ptrdiff_t to_stride = move_.to_packed ? move_.to_value
                                     : dense         ? move_.inner.to_strides[0]
                                                     : move_.to_point;
    convert(from, to, count, from_stride, to_stride);
  }

  void convert(const std::byte* from, std::byte* to, std::uint64_t count, std::ptrdiff_t from_stride,
               std::ptrdiff_t to_stride) {
    const std::byte* const source = move_.from_packed ? from_ : from;
    std::byte* const target = move_.to_packed ? to_ : to;
    bad_ += kernel_.convert(target, source, count, to_stride, from_stride);
    if (move_.from_packed) from_ += static_cast<std::ptrdiff_t>(count) * move_.from_value;
    if (move_.to_packed) to_ += static_cast<std::ptrdiff_t>(count) * move_.to_value;
  }

  /// Moves the values of one point: rows along the innermost dimension.
  void point(const std::byte* from, std::byte* to) {
    const Move& inner = move_.inner;
    const std::uint32_t last = inner.dims - 1;
    std::array<std::uint64_t, max_dimensions> at{};
    while (true) {
      convert(from, to, inner.counts[last], move_.from_packed ? move_.from_value : inner.from_strides[last],
              move_.to_packed ? move_.to_value : inner.to_strides[last]);
      std::uint32_t d = last;
      for (; d > 0; --d) {
        from += inner.from_strides[d - 1];
        to += inner.to_strides[d - 1];
        if (++at[d - 1] < inner.counts[d - 1]) break;
        const auto count = static_cast<std::ptrdiff_t>(inner.counts[d - 1]);
        from -= inner.from_strides[d - 1] * count;
        to -= inner.to_strides[d - 1] * count;
        at[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

  const MapMove& move_;
  Kernel kernel_;
  bool contiguous_ = false;
  bool plain_ = false;  ///< values are copied unchanged
  std::uint64_t per_point_ = 1;
  const std::byte* from_ = nullptr;  ///< a packed source: the next address to read
  std::byte* to_ = nullptr;          ///< a packed target: the next address to write
  std::uint64_t bad_ = 0;
};

/// The pages of the destination, by number, that a move writes to.
class WrittenPages {
 public:
  WrittenPages(const MapMove& move, std::uint64_t page) : page_bytes_(page) {
    const CellPoints& points = *move.points;
    const auto to_point = static_cast<std::uint64_t>(move.to_point);
    auto point_bytes = static_cast<std::uint64_t>(move.to_value);
    for (std::uint32_t d = 0; d < move.inner.dims; ++d)
      point_bytes += (move.inner.counts[d] - 1) * static_cast<std::uint64_t>(move.inner.to_strides[d]);
    visit_dense_ranges(move.outer, 1, 0, 0, [&](std::uint64_t base, std::uint64_t /*bytes*/) {
      for (std::uint64_t i = 0; i < points.repeats; ++i) {
        const auto shift = static_cast<std::uint32_t>(i * points.within_step);
        for (std::size_t k = 0; k < points.within.size(); ++k) {
          const std::uint64_t length = points.lengths.empty() ? 1 : points.lengths[k];
          const std::uint64_t at = base + static_cast<std::uint32_t>(points.within[k] + shift) * to_point;
          mark(at, (length - 1) * to_point + point_bytes);
        }
      }
    });
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return written_.size(); }
  /// The end of the last byte that is written.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t pages) const {
    const auto begin = written_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::uint64_t length = std::min(pages, size() - first);
    return static_cast<std::uint64_t>(std::count(begin, begin + static_cast<std::ptrdiff_t>(length), true));
  }

 private:
  void mark(std::uint64_t at, std::uint64_t bytes) {
    const std::uint64_t last = (at + bytes - 1) / page_bytes_;
    end_ = std::max(end_, at + bytes);
    if (last >= written_.size()) written_.resize(last + 1);
    for (std::uint64_t page = at / page_bytes_; page <= last; ++page) written_[page] = true;
  }

  std::uint64_t page_bytes_;
  std::uint64_t end_ = 0;
  std::vector<bool> written_;
};

}  // namespace

Index array_lengths(const Index& shape, const MapDimensions& mapped, std::uint64_t elements) {
  Index lengths;
  for (std::size_t d = 0; d < mapped.first; ++d) lengths.push_back(shape[d]);
  lengths.push_back(elements);
  for (std::size_t d = mapped.after(); d < shape.size; ++d) lengths.push_back(shape[d]);
  return lengths;
}

MapMove gather(const CellPoints& points, std::uint64_t elements, const Index& shape,
               const MemoryLayout& memory, const MapPiece& piece, ElementBytes bytes) {
  const MapDimensions& mapped = piece.mapped;
  const Strides from = memory_bytes(memory, array_lengths(shape, mapped, elements), bytes.from);
  const Strides to = dense_bytes(piece.stored, bytes.to);
  const auto in_memory = [&](std::size_t d) { return d < mapped.first ? d : d - mapped.count + 1; };
  MapMove move = make(points, piece, from, to, in_memory);
  move.from_point = from[mapped.first];
  move.to_point = to[mapped.after() - 1];
  move.from_value = static_cast<std::ptrdiff_t>(bytes.from);
  move.to_value = static_cast<std::ptrdiff_t>(bytes.to);
  for (std::size_t i = 0; i < memory.offset.size(); ++i)
    move.outer.from_offset += static_cast<std::ptrdiff_t>(memory.offset[i]) * from[i];
  for (std::size_t d = 0; d < piece.box.rank(); ++d)
    if (d < mapped.first || d >= mapped.after())
      move.outer.from_offset += static_cast<std::ptrdiff_t>(piece.box.start[d]) * from[in_memory(d)];
  join_inner(move);
  return move;
}

namespace {

/// `to`: bytes between neighbours along each dimension of the variable; those along the map's are
/// not used.
MapMove gather_selected(const CellPoints& points, const Box& selected, const MemoryLayout& memory,
                        const MapPiece& piece, ElementBytes bytes, const Strides& to,
                        std::ptrdiff_t to_point) {
  const MapDimensions& mapped = piece.mapped;
  const Strides from = memory_bytes(memory, selected.count, bytes.from);
  MapMove move;
  move.points = &points;
  move.outer.points = move.inner.points = 1;
  move.from_point = from[mapped.first];
  move.to_point = to_point;
  move.from_value = static_cast<std::ptrdiff_t>(bytes.from);
  move.to_value = static_cast<std::ptrdiff_t>(bytes.to);
  for (std::size_t i = 0; i < memory.offset.size(); ++i)
    move.outer.from_offset += static_cast<std::ptrdiff_t>(memory.offset[i]) * from[i];
  for (std::size_t d = 0; d < piece.box.rank(); ++d) {
    if (d >= mapped.first && d < mapped.after()) continue;
    const std::size_t a = d < mapped.first ? d : d - mapped.count + 1;  // in the array
    const std::uint64_t first = std::max(piece.box.start[d], selected.start[a]);
    const std::uint64_t end =
        std::min(piece.box.start[d] + piece.box.count[d], selected.start[a] + selected.count[a]);
    if (first >= end) {
      move.values = 0;
      return move;
    }
    add_dimension(d < mapped.first ? move.outer : move.inner, end - first, from[a], to[d]);
    move.outer.from_offset += static_cast<std::ptrdiff_t>(first - selected.start[a]) * from[a];
    move.outer.to_offset += static_cast<std::ptrdiff_t>(first - piece.box.start[d]) * to[d];
  }
  move.values = move.outer.points * move.inner.points * points.points;
  join_inner(move);
  return move;
}

}  // namespace

MapMove gather(const CellPoints& points, const Box& selected, const MemoryLayout& memory,
               const MapPiece& piece, ElementBytes bytes) {
  const Strides to = dense_bytes(piece.stored, bytes.to);
  return gather_selected(points, selected, memory, piece, bytes, to, to[piece.mapped.after() - 1]);
}

MapMove gather_into_list(const CellPoints& points, std::uint64_t length, const Box& selected,
                         const MemoryLayout& memory, const MapPiece& piece, ElementBytes bytes) {
  const MapDimensions& mapped = piece.mapped;
  const Strides in_list = dense_bytes(array_lengths(piece.box.count, mapped, length), bytes.to);
  Strides to{};
  for (std::size_t d = 0; d < piece.box.rank(); ++d)
    if (d < mapped.first || d >= mapped.after()) to[d] = in_list[d < mapped.first ? d : d - mapped.count + 1];
  return gather_selected(points, selected, memory, piece, bytes, to, in_list[mapped.first]);
}

MapMove pack(const MapMove& gather) {
  MapMove move = gather;
  move.to_packed = true;
  move.to_point = 0;
  move.outer.to_strides = move.inner.to_strides = {};
  return move;
}

MapMove scatter(const CellPoints& points, const MapPiece& piece, std::size_t bytes) {
  const Strides to = dense_bytes(piece.stored, bytes);
  MapMove move = make(points, piece, Strides{}, to, [](std::size_t d) { return d; });
  move.to_point = to[piece.mapped.after() - 1];
  move.from_value = move.to_value = static_cast<std::ptrdiff_t>(bytes);
  move.from_packed = true;
  join_inner(move);
  return move;
}

MapMove fill(const CellPoints& points, const MapPiece& piece, std::size_t bytes) {
  const Strides to = dense_bytes(piece.stored, bytes);
  MapMove move = make(points, piece, Strides{}, to, [](std::size_t d) { return d; });
  move.to_point = to[piece.mapped.after() - 1];
  move.from_value = move.to_value = static_cast<std::ptrdiff_t>(bytes);
  return move;
}

MapMove reversed(const MapMove& move, const CellPoints& points) {
  MapMove back = move;
  back.points = &points;
  back.outer = reversed(move.outer);
  back.inner = reversed(move.inner);
  std::swap(back.from_point, back.to_point);
  std::swap(back.from_value, back.to_value);
  std::swap(back.from_packed, back.to_packed);
  return back;
}

CellPoints reversed(const CellPoints& points) {
  CellPoints back = points;
  if (points.elements.empty()) {
    back.elements = points.within;  // a packed side needs no positions
  } else {
    std::swap(back.within, back.elements);
  }
  std::swap(back.within_step, back.element_step);
  return back;
}

std::vector<WrittenWindows> written_windows(const MapMove& move, std::uint64_t page,
                                            std::uint64_t window_pages, std::uint64_t dense_pages) {
  std::vector<WrittenWindows> windows;
  if (move.values == 0) return windows;
  const WrittenPages pages(move, page);
  const std::uint64_t window_bytes = window_pages * page;
  for (std::uint64_t first = 0; first < pages.size(); first += window_pages) {
    const std::uint64_t written = pages.count(first, window_pages);
    if (written == 0) continue;
    const bool dense = written >= dense_pages;
    const std::uint64_t at = first * page;
    if (!windows.empty() && windows.back().dense == dense &&
        windows.back().range.at + windows.back().range.bytes == at)
      windows.back().range.bytes += window_bytes;
    else
      windows.push_back({{at, window_bytes}, dense});
    ByteRange& last = windows.back().range;
    last.bytes = std::min(last.bytes, pages.end() - last.at);
  }
  return windows;
}

std::uint64_t execute(const MapMove& move, const void* from, std::byte* to, Kernel kernel) {
  if (move.values == 0) return 0;
  const ArithmeticFor arithmetic(kernel);
  return Runner(move, kernel)
      .run(static_cast<const std::byte*>(from) + move.outer.from_offset, to + move.outer.to_offset);
}

}  // namespace afterbay::model
