// SPDX-License-Identifier: Apache-2.0
// Series: how a server fared over time, in bounded memory: the longer the run, the farther apart its points.
#pragma once

#include <cstdint>
#include <vector>

namespace afterbay::observe {

/// What is true at a moment, or since the point before it.
struct SeriesPoint {
  double at_s = 0;                  ///< since the start
  std::uint64_t backlog_bytes = 0;  ///< the most since the point before
  std::uint64_t bytes_in = 0;       ///< totals
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t ranks_waiting = 0;  ///< the most since the point before
  template <class A>
  void fields(A& a) {
    a(at_s, backlog_bytes, bytes_in, bytes_out, bytes_written, ranks_waiting);
  }
};

class Series {
 public:
  explicit Series(std::size_t most_points = 600, double shortest_gap_s = 0.05)
      : most_points_(most_points), gap_s_(shortest_gap_s) {
    points_.reserve(most_points);
  }
  /// Points that come too soon after the one before are joined with it.
  void add(const SeriesPoint& point);
  [[nodiscard]] const std::vector<SeriesPoint>& points() const noexcept { return points_; }

 private:
  void thin();

  std::size_t most_points_;
  double gap_s_;
  double last_began_s_ = 0;  ///< of the last point: when the first that was joined to it came
  std::vector<SeriesPoint> points_;
};

}  // namespace afterbay::observe
