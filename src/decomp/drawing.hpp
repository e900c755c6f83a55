// SPDX-License-Identifier: Apache-2.0
// A picture of a decomposition: one colour per rank, grey for points that no rank holds.
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
  std::vector<Colour> pixels;  ///< row by row from the top
};

inline constexpr Colour unowned{200, 200, 200};
inline constexpr Colour outside{255, 255, 255};  ///< the rest of the last line of a wrapped map

/// Neighbouring ranks get clearly different colours.
Colour colour_of(std::uint64_t rank) noexcept;

/// A map with one dimension is wrapped row by row to about a square. With two dimensions, the last
/// is drawn to the right and the first downwards. With three or more, the last two are drawn for
/// the given `level`, or the first one, of the others taken as one. With a `level`, two dimensions
/// are drawn as one: the longer, at that index of the shorter. Small maps are scaled up; of large
/// ones every nth point is drawn. If several ranks hold a point, the highest rank is shown.
Result<Picture> draw(const Decomposition& map, std::optional<std::uint64_t> level);

/// Replaces an existing file, which stays unchanged if this fails.
Result<> write_png(const std::string& path, const Picture& picture);

}  // namespace afterbay::decomp
