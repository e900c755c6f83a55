// SPDX-License-Identifier: Apache-2.0
#include "decomp/drawing.hpp"

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"
#include "decomp/wide.hpp"

namespace afterbay::decomp {
namespace {

constexpr std::uint64_t most_drawn = 2048;     ///< horizontally and vertically
constexpr std::uint64_t wanted_pixels = 1024;  ///< width or height to which small maps are scaled up
constexpr std::uint64_t widest = 4;            ///< maximum ratio of width to height; flatter
                                               ///< drawings are stretched

/// `drawn` of the `all` indices of an axis, evenly spaced: cell c shows index (2 c + 1) all / (2
/// drawn).
struct Axis {
  std::uint64_t all = 1;
  std::uint64_t drawn = 1;
  std::uint64_t stride = 1;  ///< in points of the index space

  [[nodiscard]] std::uint64_t index_of(std::uint64_t cell) const noexcept {
    return multiply_divide(2 * cell + 1, all, 2 * drawn);
  }
  /// The first cell that shows `index` or a later one.
  [[nodiscard]] std::uint64_t first_cell(std::uint64_t index) const noexcept {
    std::uint64_t cell = multiply_divide(index, drawn, all);
    while (cell > 0 && index_of(cell - 1) >= index) --cell;
    while (cell < drawn && index_of(cell) < index) ++cell;
    return cell;
  }
};

/// The drawn part of the index space: points `fixed` + i x down.stride + j x right.stride.
struct View {
  Axis down;
  Axis right;
  std::uint64_t fixed = 0;
  bool wrapped = false;  ///< a single axis, `right`, in lines below each other
};

Error level_error(const Decomposition& map, std::uint64_t level, std::uint64_t levels) {
  return make_error(ErrorCode::invalid_argument, "the map \"{}\" ({}) has the levels 0 ... {}, not {}",
                    printable(map.name), text_of_lengths(map.global()), levels - 1, level);
}

Result<View> view_of(const Decomposition& map, std::optional<std::uint64_t> level) {
  const std::vector<std::uint64_t>& global = map.global();
  View view;
  if (global.size() == 1) {
    if (level)
      return fail(ErrorCode::invalid_argument, "the map \"{}\" has one dimension and no levels",
                  printable(map.name));
    view.right = {global[0], 0, 1};
    view.wrapped = true;
  } else if (global.size() == 2 && level) {
    const bool levels_first = global[0] <= global[1];
    const std::uint64_t levels = std::min(global[0], global[1]);
    if (*level >= levels) return fail(level_error(map, *level, levels));
    view.right = levels_first ? Axis{global[1], 0, 1} : Axis{global[0], 0, global[1]};
    view.fixed = *level * (levels_first ? global[1] : 1);
    view.wrapped = true;
  } else {
    const std::uint64_t rows = global[global.size() - 2];
    const std::uint64_t levels = map.points() / rows / global.back();
    if (level.value_or(0) >= levels) return fail(level_error(map, *level, levels));
    view.right = {global.back(), std::min(global.back(), most_drawn), 1};
    view.down = {rows, std::min(rows, most_drawn), global.back()};
    view.fixed = level.value_or(0) * rows * global.back();
  }
  if (view.wrapped) view.right.drawn = std::min(view.right.all, most_drawn * most_drawn);
  return view;
}

/// The rank of each cell, or -1.
class Cells {
 public:
  explicit Cells(const View& view) : view_(view), owners_(view.down.drawn * view.right.drawn, -1) {}

  void mark(const Run& run, std::int64_t rank) {
    const auto first = static_cast<std::uint64_t>(run.offset);
    const std::uint64_t end = first + run.length;
    const std::uint64_t reach = view_.right.stride * view_.right.all;
    if (view_.right.stride > 1) return mark_strided(first, end, rank);
    if (end <= view_.fixed || first >= view_.fixed + reach * view_.down.all) return;
    const std::uint64_t from = std::max(first, view_.fixed) - view_.fixed;
    const std::uint64_t to = std::min(end - view_.fixed, reach * view_.down.all);
    for (std::uint64_t row = view_.down.first_cell(from / reach); row < view_.down.drawn; ++row) {
      const std::uint64_t start = view_.down.index_of(row) * reach;
      if (start >= to) return;
      const std::uint64_t last = std::min(to - start, view_.right.all);
      for (std::uint64_t cell = view_.right.first_cell(from > start ? from - start : 0);
           cell < view_.right.drawn && view_.right.index_of(cell) < last; ++cell)
        owners_[row * view_.right.drawn + cell] = rank;
    }
  }

  [[nodiscard]] std::int64_t owner(std::uint64_t cell) const { return owners_[cell]; }

 private:
  /// The single drawn axis has the points fixed, fixed + stride, fixed + 2 stride, ...
  void mark_strided(std::uint64_t first, std::uint64_t end, std::int64_t rank) {
    const std::uint64_t stride = view_.right.stride;
    const std::uint64_t from = first <= view_.fixed ? 0 : (first - view_.fixed + stride - 1) / stride;
    for (std::uint64_t cell = view_.right.first_cell(from); cell < view_.right.drawn; ++cell) {
      if (view_.fixed + view_.right.index_of(cell) * stride >= end) return;
      owners_[cell] = rank;
    }
  }

  const View& view_;
  std::vector<std::int64_t> owners_;
};

std::uint64_t scale(std::uint64_t cells) { return std::max<std::uint64_t>(1, wanted_pixels / cells); }

}  // namespace

Colour colour_of(std::uint64_t rank) noexcept {
  // Hues a golden section apart, alternating between three levels of saturation and brightness.
  constexpr double golden = 0.61803398874989484820;
  const double hue = std::fmod(static_cast<double>(rank % 1000003) * golden, 1.0) * 6.0;
  const double value = 0.95 - 0.2 * static_cast<double>(rank % 3);
  const double saturation = 0.9 - 0.25 * static_cast<double>(rank / 3 % 3);
  const auto channel = [&](double shift) {
    const double k = std::fmod(shift + hue, 6.0);
    const double level = value - value * saturation * std::max(0.0, std::min({k, 4.0 - k, 1.0}));
    return static_cast<std::uint8_t>(std::lround(level * 255.0));
  };
  return {channel(5.0), channel(3.0), channel(1.0)};
}

Result<Picture> draw(const Decomposition& map, std::optional<std::uint64_t> level) {
  AFTERBAY_TRY_ASSIGN(const View view, view_of(map, level));
  Cells cells(view);
  for (std::size_t rank = 0; rank < map.ranks(); ++rank)
    map.for_each_run(rank, [&](const Run& run) {
      if (run.offset != hole) cells.mark(run, static_cast<std::int64_t>(rank));
    });

  std::uint64_t across = view.right.drawn;
  std::uint64_t down = view.down.drawn;
  if (view.wrapped) {
    across = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(view.right.drawn))));
    down = (view.right.drawn + across - 1) / across;
  }
  const std::uint64_t even = scale(std::max(across, down));
  const std::uint64_t wide = std::max(even, down / (widest * across));
  const std::uint64_t high = std::max(even, across * even / (widest * down));
  Picture picture{static_cast<std::uint32_t>(across * wide), static_cast<std::uint32_t>(down * high), {}};
  picture.pixels.resize(static_cast<std::size_t>(picture.width) * picture.height);
  for (std::uint64_t y = 0; y < picture.height; ++y) {
    for (std::uint64_t x = 0; x < picture.width; ++x) {
      const std::uint64_t cell = y / high * across + x / wide;
      Colour& pixel = picture.pixels[y * picture.width + x];
      if (cell >= view.down.drawn * view.right.drawn) {
        pixel = outside;
      } else {
        const std::int64_t owner = cells.owner(cell);
        pixel = owner < 0 ? unowned : colour_of(static_cast<std::uint64_t>(owner));
      }
    }
  }
  return picture;
}

}  // namespace afterbay::decomp
