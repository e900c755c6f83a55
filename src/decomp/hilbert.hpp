// SPDX-License-Identifier: Apache-2.0
// Hilbert's curve, along which points that are close in the plane stay close.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace afterbay::decomp {

/// The coordinates x, y of position `at` of the curve over a square of `side` cells (a power of 2).
inline std::pair<std::uint64_t, std::uint64_t> hilbert_point(std::uint64_t side, std::uint64_t at) noexcept {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  for (std::uint64_t half = 1; half < side; half *= 2, at /= 4) {
    const std::uint64_t right = at / 2 % 2;
    const std::uint64_t up = (at ^ right) % 2;
    if (up == 0) {
      if (right == 1) {
        x = half - 1 - x;
        y = half - 1 - y;
      }
      std::swap(x, y);
    }
    x += half * right;
    y += half * up;
  }
  return {x, y};
}

/// Calls `visit(x, y)` for the cells of a square or rectangle along the curve over the next power
/// of 2.
template <class Visit>
void along_hilbert_curve(std::uint64_t width, std::uint64_t height, Visit&& visit) {
  const std::uint64_t side = std::bit_ceil(width > height ? width : height);
  for (std::uint64_t at = 0; at < side * side; ++at) {
    const auto [x, y] = hilbert_point(side, at);
    if (x < width && y < height) visit(x, y);
  }
}

}  // namespace afterbay::decomp
