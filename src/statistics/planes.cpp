// SPDX-License-Identifier: Apache-2.0
#include "statistics/planes.hpp"

#include <algorithm>
#include <cstring>

namespace afterbay::statistics {

namespace {

std::size_t bytes_of_column(const Layout& layout, std::uint32_t column) noexcept {
  if (column < layout.doubles) return sizeof(double);
  return column < layout.doubles + layout.values ? layout.value_bytes : sizeof(std::uint32_t);
}

std::uint32_t planes_of_column(const Layout& layout, std::uint32_t column, std::size_t element) noexcept {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, bytes_of_column(layout, column) / element));
}

/// The part of a column that is in a plane.
struct Plane {
  std::byte* entries;    ///< entries of the column, starting at the plane's part of the first one
  std::size_t distance;  ///< bytes from entry to entry
  std::size_t bytes;     ///< size of the plane's part of an entry
};

Plane plane_of(const State& state, std::uint32_t number, std::size_t element) noexcept {
  const Layout& layout = state.layout();
  std::uint32_t column = 0;
  while (number >= planes_of_column(layout, column, element))
    number -= planes_of_column(layout, column++, element);
  const std::size_t distance = bytes_of_column(layout, column);
  return {state.column(column).data + number * element, distance, std::min(distance, element)};
}

}  // namespace

std::uint32_t Planes::count() const noexcept {
  const Layout& layout = state_.layout();
  std::uint32_t count = 0;
  for (std::uint32_t c = 0; c < layout.columns(); ++c) count += planes_of_column(layout, c, element_);
  return count;
}

void Planes::get(std::uint32_t number, std::byte* to) const noexcept {
  const Plane plane = plane_of(state_, number, element_);
  if (plane.bytes < element_) std::memset(to, 0, state_.points() * element_);
  for (std::size_t i = 0; i < state_.points(); ++i)
    std::memcpy(to + i * element_, plane.entries + i * plane.distance, plane.bytes);
}

void Planes::set(std::uint32_t number, const std::byte* from) const noexcept {
  const Plane plane = plane_of(state_, number, element_);
  for (std::size_t i = 0; i < state_.points(); ++i)
    std::memcpy(plane.entries + i * plane.distance, from + i * element_, plane.bytes);
}

}  // namespace afterbay::statistics
