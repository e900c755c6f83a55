// SPDX-License-Identifier: Apache-2.0
// Stations: the points of a grid that are nearest to given places. All ranks find them together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/coordinate_box.hpp"

namespace afterbay::output {

/// The points of stations, the same on all ranks. All lists are in the order of the description.
struct Stations {
  std::string name;  ///< name of the description's grid
  std::string grid;  ///< name of the model's grid
  std::vector<std::string> names;
  std::vector<double> wanted_lon;  ///< longitudes of the places, in degrees
  std::vector<double> wanted_lat;
  std::vector<std::uint64_t> points;  ///< in the grid, row-major
  std::vector<double> lon;            ///< longitudes of the points, in degrees
  std::vector<double> lat;
  std::vector<double> distance_m;  ///< distances of the points from the places
  /// Names of the model's coordinates that were used.
  std::string lon_name;
  std::string lat_name;
  /// False if definitions on file do not have these coordinates: the points are not known then.
  bool are_known = true;

  [[nodiscard]] std::size_t count() const noexcept { return names.size(); }
  /// Tells sets of stations apart.
  [[nodiscard]] std::uint64_t digest() const;
};

/// Collective, if the grid has a session. Throws, on all ranks alike and at the place in the
/// description: unknown_name if the field has no longitudes and latitudes on its grid, or no
/// coordinate `mask`; invalid_argument if there is no point, or if stations are farther away than
/// `max_distance`.
Stations find_stations(const SharedGrid& grid, const Field& field, const describe::GridSubset& described);

/// Elements of this rank's array that are points of stations, with the number of the station;
/// ascending. A point may serve several stations.
struct StationElements {
  std::vector<std::uint32_t> elements;
  std::vector<std::uint32_t> stations;
};
StationElements elements_of(const Stations& stations, const SharedGrid& grid);

}  // namespace afterbay::output
