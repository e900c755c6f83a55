// SPDX-License-Identifier: Apache-2.0
#include "base/regular_axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace afterbay {

double float32_tolerance(std::span<const double> points) {
  if (points.empty()) return 0;
  const double largest = std::max(std::abs(points.front()), std::abs(points.back()));
  return 2 * static_cast<double>(std::numeric_limits<float>::epsilon()) * largest;
}

double mean_step(std::span<const double> points) {
  return points.size() < 2 ? 0 : (points.back() - points.front()) / static_cast<double>(points.size() - 1);
}

bool is_regular(std::span<const double> points, double tolerance) {
  const double step = mean_step(points);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!(std::abs(points[i] - (points.front() + static_cast<double>(i) * step)) <= tolerance)) return false;
  return true;
}

}  // namespace afterbay
