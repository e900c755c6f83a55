// SPDX-License-Identifier: Apache-2.0
#include "output/station_variables.hpp"

#include <algorithm>

namespace afterbay::output {

StationNames::StationNames(const std::string& suffix)
    : dimension("station" + suffix),
      characters("station_name_length" + suffix),
      name("station_name" + suffix),
      lon("lon" + suffix),
      lat("lat" + suffix),
      requested_lon("requested_lon" + suffix),
      requested_lat("requested_lat" + suffix),
      distance("station_distance" + suffix) {}

std::uint64_t length_of_names(const Stations& stations) {
  std::size_t length = 1;
  for (const std::string& name : stations.names) length = std::max(length, name.size());
  return length;
}

std::vector<Variable> station_variables(const Stations& stations, const StationNames& names,
                                        bool is_feature) {
  std::vector<Variable> all;
  const auto add = [&](const std::string& name, const char* long_name) -> Variable& {
    Variable& variable = all.emplace_back();
    variable.name = name;
    variable.type = Type::float64;
    variable.dimensions = {names.dimension};
    variable.attribute("long_name", long_name);
    return variable;
  };
  std::string characters;
  for (std::string name : stations.names) {
    name.resize(length_of_names(stations), '\0');
    characters += name;
  }
  Variable& name = add(names.name, "name of the station");
  name.type = Type::text;
  name.dimensions.push_back(names.characters);
  name.attribute("_Encoding", "utf-8");
  if (is_feature) name.attribute("cf_role", "timeseries_id");
  name.constant = Values(characters);
  add(names.lat, "latitude of the grid point")
      .attribute("standard_name", "latitude")
      .attribute("units", "degrees_north")
      .with_constant(stations.lat);
  add(names.lon, "longitude of the grid point")
      .attribute("standard_name", "longitude")
      .attribute("units", "degrees_east")
      .with_constant(stations.lon);
  add(names.requested_lat, "requested latitude")
      .attribute("units", "degrees_north")
      .with_constant(stations.wanted_lat);
  add(names.requested_lon, "requested longitude")
      .attribute("units", "degrees_east")
      .with_constant(stations.wanted_lon);
  add(names.distance, "great-circle distance of the grid point from the requested place")
      .attribute("units", "m")
      .with_constant(stations.distance_m);
  return all;
}

}  // namespace afterbay::output
