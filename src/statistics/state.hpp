// SPDX-License-Identifier: Apache-2.0
// How the state of a statistic lies in its block of memory: 64 bytes of progress, then columns with
// one entry per point.
#pragma once

#include <cstddef>
#include <cstdint>

#include "statistics/statistic.hpp"

namespace afterbay::statistics {

/// Steps that an interval can have: they are counted per point in 32 bits.
inline constexpr std::uint64_t most_steps = ~std::uint32_t{0};

/// How far an interval is: at the beginning of a block.
struct IntervalProgress {
  std::uint64_t steps = 0;          ///< completed in this interval
  double duration = 0;              ///< sum of their durations
  std::uint64_t has_reference = 0;  ///< difference: whether there is a value to subtract (0 or 1)
};

/// The columns of a state. Values have the type of the field; others are doubles and counters of 32
/// bits.
///
/// | kind                       | doubles                | values             | per-point durations, counts |
/// |----------------------------|------------------------|--------------------|-----------------------------|
/// | mean, sum, rate            | sum                    |                    | durations if weighted or    |
/// | standard_deviation         | mean, sum of squares   |                    | rate, otherwise counts      |
/// | minimum, maximum           |                        | the extreme        | counts                      |
/// | range                      |                        | minimum, maximum   | counts                      |
/// | instant, once              |                        | the value          |                             |
/// | difference                 |                        | reference, last    |                             |
///
/// Durations and counts exist only for the policies `ignore` and `threshold`; for extremes only for
/// `threshold`.
struct Layout {
  std::uint32_t doubles = 0;  ///< columns; per-point durations, if any, are the last of them
  std::uint32_t values = 0;
  bool durations = false;
  bool counts = false;
  std::size_t value_bytes = 0;  ///< size of one value

  /// Bytes of the block for a number of points; the block must be aligned to 8 bytes (better: 64).
  [[nodiscard]] std::size_t state_bytes(std::size_t points) const noexcept;
  /// Bytes of all columns without the gaps between them.
  [[nodiscard]] std::size_t column_bytes(std::size_t points) const noexcept;
  [[nodiscard]] std::uint32_t columns() const noexcept { return doubles + values + (counts ? 1U : 0U); }
};

/// The statistic must have passed `check` for this type.
Layout layout_of(const Statistic& statistic, Type type) noexcept;

/// Bytes of memory that the state of a statistic of `points` values needs.
inline std::size_t state_bytes(const Statistic& statistic, Type type, std::size_t points) noexcept {
  return layout_of(statistic, type).state_bytes(points);
}

/// A block, with the places of its columns. Does not own the memory.
class State {
 public:
  State(const Layout& layout, std::byte* block, std::size_t points) noexcept
      : layout_(layout), block_(block), points_(points) {}

  [[nodiscard]] IntervalProgress& progress() const noexcept {
    return *reinterpret_cast<IntervalProgress*>(block_);
  }
  [[nodiscard]] double* doubles(std::uint32_t column) const noexcept;
  [[nodiscard]] std::byte* values(std::uint32_t column) const noexcept;
  [[nodiscard]] std::uint32_t* counts() const noexcept;
  [[nodiscard]] double* durations() const noexcept { return doubles(layout_.doubles - 1); }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::size_t points() const noexcept { return points_; }

  struct Column {
    std::byte* data;
    std::size_t bytes;
  };
  /// All columns in the order in which they are saved: doubles, values, counts.
  [[nodiscard]] Column column(std::uint32_t number) const noexcept;

 private:
  Layout layout_;
  std::byte* block_;
  std::size_t points_;
};

}  // namespace afterbay::statistics
