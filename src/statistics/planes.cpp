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

std::uint32_t planes_of_column(const Layout& layout, std::uint32_t column) noexcept {
  return static_cast<std::uint32_t>(
      std::max<std::size_t>(1, bytes_of_column(layout, column) / layout.value_bytes));
}

/// What of a column is in a plane.
struct Plane {
  std::byte* entries;    ///< of the column, from the plane's part of the first one on
  std::size_t distance;  ///< bytes from entry to entry
  std::size_t bytes;     ///< of the plane's part of an entry
};

Plane plane_of(const State& state, std::uint32_t number) noexcept {
  const Layout& layout = state.layout();
  std::uint32_t column = 0;
  while (number >= planes_of_column(layout, column)) number -= planes_of_column(layout, column++);
  const std::size_t distance = bytes_of_column(layout, column);
  return {state.column(column).data + number * layout.value_bytes, distance,
          std::min(distance, layout.value_bytes)};
}

}  // namespace

std::uint32_t planes(const State& state) noexcept {
  std::uint32_t count = 0;
  for (std::uint32_t c = 0; c < state.layout().columns(); ++c) count += planes_of_column(state.layout(), c);
  return count;
}

void get_plane(const State& state, std::uint32_t number, std::byte* to) noexcept {
  const Plane plane = plane_of(state, number);
  const std::size_t element = state.layout().value_bytes;
  if (plane.bytes < element) std::memset(to, 0, state.points() * element);
  for (std::size_t i = 0; i < state.points(); ++i)
    std::memcpy(to + i * element, plane.entries + i * plane.distance, plane.bytes);
}

void set_plane(const State& state, std::uint32_t number, const std::byte* from) noexcept {
  const Plane plane = plane_of(state, number);
  const std::size_t element = state.layout().value_bytes;
  for (std::size_t i = 0; i < state.points(); ++i)
    std::memcpy(plane.entries + i * plane.distance, from + i * element, plane.bytes);
}

}  // namespace afterbay::statistics
