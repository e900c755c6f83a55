// SPDX-License-Identifier: Apache-2.0
#include "observe/server_series.hpp"

#include <algorithm>

namespace afterbay::observe {
namespace {

/// `later` with the maximum of both points.
SeriesPoint joined(const SeriesPoint& earlier, SeriesPoint later) {
  later.backlog_bytes = std::max(earlier.backlog_bytes, later.backlog_bytes);
  later.ranks_waiting = std::max(earlier.ranks_waiting, later.ranks_waiting);
  return later;
}

}  // namespace

void ServerSeries::add(const SeriesPoint& point) {
  if (!points_.empty() && point.at_s - last_began_s_ < gap_s_) {
    points_.back() = joined(points_.back(), point);
    return;
  }
  if (points_.size() >= most_points_) thin();
  points_.push_back(point);
  last_began_s_ = point.at_s;
}

/// Joins pairs of points, which halves their number.
void ServerSeries::thin() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2)
    points_[kept++] = i + 1 < points_.size() ? joined(points_[i], points_[i + 1]) : points_[i];
  points_.resize(kept);
  gap_s_ *= 2;
}

}  // namespace afterbay::observe
