// SPDX-License-Identifier: Apache-2.0
// What files contain of stations, besides their values: names, places, distances.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "output/stations.hpp"

namespace afterbay::output {

/// Names in a file.
struct StationNames {
  /// `suffix`: of all names, in files that contain other variables, too.
  explicit StationNames(const std::string& suffix);

  std::string dimension;
  std::string characters;  ///< the dimension of the characters of names
  std::string name;
  std::string lon;
  std::string lat;
  std::string requested_lon;
  std::string requested_lat;
  std::string distance;
};

/// Bytes of the longest name.
std::uint64_t length_of_names(const Stations& stations);

/// Constant variables. `is_feature`: the file is a CF time series, in which the name identifies a
/// station. Source: CF Conventions 1.11, chapter 9 and appendix H, and section 2.2 for names as
/// characters, which all formats have.
std::vector<Variable> station_variables(const Stations& stations, const StationNames& names, bool is_feature);

}  // namespace afterbay::output
