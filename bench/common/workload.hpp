// SPDX-License-Identifier: Apache-2.0
// The workload of the history benchmark: a 3-D and a 2-D float variable on a regular grid, cut in
// two dimensions (lat, lon) over the model ranks, with values that are cheap to compute and that a
// reader can recompute for any point and step (bench/verify.py does).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Global lengths. In memory and in files: (level, lat, lon), lon fastest.
struct Grid {
  std::size_t lon = 360;
  std::size_t lat = 181;
  std::size_t levels = 72;
  [[nodiscard]] std::size_t plane() const { return lon * lat; }
  [[nodiscard]] std::size_t record_bytes() const { return plane() * (levels + 1) * sizeof(float); }
};

/// "360x181x72" (lon x lat x levels); throws std::invalid_argument on anything else.
Grid parse_grid(const std::string& text);

/// The part of the grid that one rank holds: all levels of a box in (lat, lon).
struct Tile {
  std::size_t lat_start = 0;
  std::size_t lat_count = 0;
  std::size_t lon_start = 0;
  std::size_t lon_count = 0;
  [[nodiscard]] std::size_t plane() const { return lat_count * lon_count; }
};

/// The tile of `rank` of `ranks`: ranks form the most nearly square grid, lat rows first.
Tile tile_of(const Grid& grid, int rank, int ranks);

/// A rank's arrays, dense: volume (level, lat, lon) and surface (lat, lon).
class Fields {
 public:
  Fields(const Grid& grid, const Tile& tile);

  /// Sets the values for `step`. Only every 32nd point in each direction changes, so that the cost
  /// of computing data does not hide the cost of writing them.
  void stamp(int step);

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const Tile& tile() const { return tile_; }
  [[nodiscard]] const std::vector<float>& volume() const { return volume_; }
  [[nodiscard]] const std::vector<float>& surface() const { return surface_; }
  [[nodiscard]] std::array<std::span<const std::byte>, 2> arrays() const {
    return {std::as_bytes(std::span(volume_)), std::as_bytes(std::span(surface_))};
  }
  [[nodiscard]] std::size_t bytes() const { return (volume_.size() + surface_.size()) * sizeof(float); }

 private:
  void stamp_plane(float* values, std::size_t level, int step);

  Grid grid_;
  Tile tile_;
  std::vector<float> volume_;
  std::vector<float> surface_;
};

/// The value at a global point; the surface is level `grid.levels`. Exact in float32.
float value_at(std::size_t level, std::size_t lat, std::size_t lon, int step);

}  // namespace bench
