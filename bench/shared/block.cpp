// SPDX-License-Identifier: Apache-2.0
#include "shared/block.hpp"

#include <cstdlib>
#include <new>

namespace bench::shared {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t stamp_spacing = 32;

}  // namespace

Grid grid_for(int ranks, std::size_t levels) {
  int columns = 1;  // the cut of tile_of
  for (int candidate = 1; candidate * candidate <= ranks; ++candidate) {
    if (ranks % candidate == 0) columns = candidate;
  }
  return {side * static_cast<std::size_t>(columns), side * static_cast<std::size_t>(ranks / columns), levels};
}

void Block::Free::operator()(float* memory) const { std::free(memory); }

Block::Block(const Grid& grid, const Tile& tile) : grid_(grid), tile_(tile) {
  values_.reset(static_cast<float*>(std::aligned_alloc(page_bytes, bytes())));
  if (!values_) throw std::bad_alloc();
  float* to = values_.get();
  for (std::size_t level = 0; level < grid.levels; ++level) {
    for (std::size_t lat = 0; lat < tile.lat_count; ++lat) {
      for (std::size_t lon = 0; lon < tile.lon_count; ++lon) {
        *to++ = value_at(level, tile.lat_start + lat, tile.lon_start + lon, 0);
      }
    }
  }
}

void Block::stamp(int record) {
  for (std::size_t level = 0; level < grid_.levels; ++level) {
    for (std::size_t lat = 0; lat < tile_.lat_count; lat += stamp_spacing) {
      for (std::size_t lon = 0; lon < tile_.lon_count; lon += stamp_spacing) {
        values_.get()[level * tile_.plane() + lat * tile_.lon_count + lon] =
            value_at(level, tile_.lat_start + lat, tile_.lon_start + lon, record);
      }
    }
  }
}

}  // namespace bench::shared
