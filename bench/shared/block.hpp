// SPDX-License-Identifier: Apache-2.0
// The workload of the shared-file benchmark: every process holds a block of a 3-D float array and
// writes some records of it; the array grows with the number of processes (weak scaling).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "common/workload.hpp"

namespace bench::shared {

/// Points of a process's block in latitude and in longitude; one level of a block is 256 KiB.
inline constexpr std::size_t side = 256;

/// The whole array for `ranks` processes with blocks of `levels` levels.
Grid grid_for(int ranks, std::size_t levels);

/// A process's part of the array in memory: page-aligned (so that O_DIRECT can use it directly),
/// touched, dense as (level, lat, lon). Values are those of value_at.
class Block {
 public:
  Block(const Grid& grid, const Tile& tile);

  /// Sets the values for a record; only every 32nd point in each direction changes.
  void stamp(int record);

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const Tile& tile() const { return tile_; }
  [[nodiscard]] const float* data() const { return values_.get(); }
  [[nodiscard]] std::size_t points() const { return grid_.levels * tile_.plane(); }
  [[nodiscard]] std::size_t bytes() const { return points() * sizeof(float); }

 private:
  struct Free {
    void operator()(float* memory) const;
  };

  Grid grid_;
  Tile tile_;
  std::unique_ptr<float, Free> values_;
};

}  // namespace bench::shared
