// SPDX-License-Identifier: Apache-2.0
#include "common/workload.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t stamp_spacing = 32;

float base_value(std::size_t level, std::size_t lat, std::size_t lon) {
  return static_cast<float>((level * 73 + lat * 37 + lon * 11) & 4095) * 0.0625F;
}

/// Start and length of part `index` of `parts` of `length` points; the first parts get the
/// remainder.
void cut(std::size_t length, std::size_t parts, std::size_t index, std::size_t& start, std::size_t& count) {
  const std::size_t share = length / parts;
  const std::size_t rest = length % parts;
  start = index * share + std::min(index, rest);
  count = share + (index < rest ? 1 : 0);
}

std::size_t first_stamped(std::size_t start) {
  return (start + stamp_spacing - 1) / stamp_spacing * stamp_spacing;
}

}  // namespace

Grid parse_grid(const std::string& text) {
  Grid grid;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%zux%zux%zu%c", &grid.lon, &grid.lat, &grid.levels, &rest) != 3 ||
      grid.lon * grid.lat * grid.levels == 0) {
    throw std::invalid_argument("grid '" + text + "' is not LONxLATxLEVELS, for example 360x181x72");
  }
  return grid;
}

Tile tile_of(const Grid& grid, int rank, int ranks) {
  int columns = 1;
  for (int candidate = 1; candidate * candidate <= ranks; ++candidate) {
    if (ranks % candidate == 0) columns = candidate;
  }
  const int rows = ranks / columns;
  Tile tile;
  cut(grid.lat, static_cast<std::size_t>(rows), static_cast<std::size_t>(rank / columns), tile.lat_start,
      tile.lat_count);
  cut(grid.lon, static_cast<std::size_t>(columns), static_cast<std::size_t>(rank % columns), tile.lon_start,
      tile.lon_count);
  return tile;
}

float value_at(std::size_t level, std::size_t lat, std::size_t lon, int step) {
  const bool stamped = lat % stamp_spacing == 0 && lon % stamp_spacing == 0;
  return base_value(level, lat, lon) + (stamped ? 256.0F * static_cast<float>(step + 1) : 0.0F);
}

Fields::Fields(const Grid& grid, const Tile& tile)
    : grid_(grid), tile_(tile), volume_(grid.levels * tile.plane()), surface_(tile.plane()) {
  for (std::size_t level = 0; level <= grid.levels; ++level) {
    float* plane = level < grid.levels ? volume_.data() + level * tile.plane() : surface_.data();
    for (std::size_t j = 0; j < tile.lat_count; ++j) {
      for (std::size_t i = 0; i < tile.lon_count; ++i) {
        plane[j * tile.lon_count + i] = base_value(level, tile.lat_start + j, tile.lon_start + i);
      }
    }
  }
}

void Fields::stamp(int step) {
  for (std::size_t level = 0; level < grid_.levels; ++level) {
    stamp_plane(volume_.data() + level * tile_.plane(), level, step);
  }
  stamp_plane(surface_.data(), grid_.levels, step);
}

void Fields::stamp_plane(float* values, std::size_t level, int step) {
  const std::size_t lat_end = tile_.lat_start + tile_.lat_count;
  const std::size_t lon_end = tile_.lon_start + tile_.lon_count;
  for (std::size_t lat = first_stamped(tile_.lat_start); lat < lat_end; lat += stamp_spacing) {
    for (std::size_t lon = first_stamped(tile_.lon_start); lon < lon_end; lon += stamp_spacing) {
      values[(lat - tile_.lat_start) * tile_.lon_count + lon - tile_.lon_start] =
          value_at(level, lat, lon, step);
    }
  }
}

}  // namespace bench
