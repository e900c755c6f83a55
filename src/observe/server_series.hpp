// SPDX-License-Identifier: Apache-2.0
// ServerSeries: the state of a server over time, in bounded memory: the longer the run, the longer
// the interval between points.
#pragma once

#include <cstdint>
#include <vector>

namespace afterbay::observe {

/// The state at a moment, or since the previous point.
struct SeriesPoint {
  double at_s = 0;                  ///< since the start
  std::uint64_t backlog_bytes = 0;  ///< the maximum since the previous point
  std::uint64_t bytes_in = 0;       ///< totals
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t ranks_waiting = 0;  ///< the maximum since the previous point
  template <class A>
  void fields(A& a) {
    a(at_s, backlog_bytes, bytes_in, bytes_out, bytes_written, ranks_waiting);
  }
};

class ServerSeries {
 public:
  explicit ServerSeries(std::size_t most_points = 600, double shortest_gap_s = 0.05)
      : most_points_(most_points), gap_s_(shortest_gap_s) {
    points_.reserve(most_points);
  }
  /// A point that follows too soon is joined with the previous one.
  void add(const SeriesPoint& point);
  [[nodiscard]] const std::vector<SeriesPoint>& points() const noexcept { return points_; }

 private:
  void thin();

  std::size_t most_points_;
  double gap_s_;
  double last_began_s_ = 0;  ///< time of the first sample in the last point
  std::vector<SeriesPoint> points_;
};

}  // namespace afterbay::observe
