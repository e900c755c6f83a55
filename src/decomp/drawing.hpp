// SPDX-License-Identifier: Apache-2.0
// A picture of who owns what: a colour for each rank, grey for points that nobody holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<Colour> pixels;  ///< rows from the top
};

inline constexpr Colour unowned{200, 200, 200};
inline constexpr Colour outside{255, 255, 255};  ///< what is left of the last line of a wrapped map

/// Neighbouring ranks get colours that differ much.
Colour colour_of(std::uint64_t rank) noexcept;

/// One dimension is wrapped to about a square, row by row. Of two, the last runs to the right and the first
/// downwards. Of three and more the last two are drawn, of the others (taken as one) the `level`, or the
/// first. With a `level` two dimensions are drawn as one: the longer, at that index of the shorter. Small
/// maps are scaled up; of large ones every nth point is drawn. Of a point that several ranks hold the highest
/// rank is seen.
Result<Picture> draw(const Decomposition& map, std::optional<std::uint64_t> level);

/// Writes it over a file that exists, which stays as it is when that fails.
Result<> write_png(const std::string& path, const Picture& picture);

}  // namespace afterbay::decomp
