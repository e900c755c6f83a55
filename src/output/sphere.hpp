// SPDX-License-Identifier: Apache-2.0
// Distances on the sphere.
#pragma once

namespace afterbay::output {

/// Radius of the sphere on which distances are measured: GRIB's shape of the earth number 6.
inline constexpr double earth_radius_m = 6'371'229;

/// A unit vector.
struct Direction {
  double x = 0;
  double y = 0;
  double z = 0;
};

/// Longitude and latitude in degrees.
Direction direction_of(double lon, double lat);
/// The square of the chord between two points of the unit sphere: ascends with their distance.
inline double squared_chord(const Direction& a, const Direction& b) {
  const double x = a.x - b.x;
  const double y = a.y - b.y;
  const double z = a.z - b.z;
  return x * x + y * y + z * z;
}
/// Great-circle distance; exact to about 1e-8 m, also between neighbours and antipodes.
double distance_m(const Direction& a, const Direction& b);

}  // namespace afterbay::output
