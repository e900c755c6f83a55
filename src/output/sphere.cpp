// SPDX-License-Identifier: Apache-2.0
#include "output/sphere.hpp"

#include <cmath>
#include <numbers>

namespace afterbay::output {

Direction direction_of(double lon, double lat) {
  constexpr double half_circle = 180;
  const double east = lon * (std::numbers::pi / half_circle);
  const double north = lat * (std::numbers::pi / half_circle);
  return {std::cos(north) * std::cos(east), std::cos(north) * std::sin(east), std::sin(north)};
}

/// The angle is twice that between a chord and a diameter: W. Kahan, "How Futile are Mindless
/// Assessments of Roundoff in Floating-Point Computation?" (2006), section 12.
double distance_m(const Direction& a, const Direction& b) {
  const double chord = std::sqrt(squared_chord(a, b));
  const double other = std::sqrt(squared_chord(a, {-b.x, -b.y, -b.z}));
  return 2 * std::atan2(chord, other) * earth_radius_m;
}

}  // namespace afterbay::output
