// SPDX-License-Identifier: Apache-2.0
// A schema that all formats of messages can hold, to which tests add what they are about.
#pragma once

#include <string>

#include "afterbay/schema.hpp"

namespace afterbay::test {

/// A temperature `ta` on two levels and a grid of 3 x 4 points. `levels`: the vertical dimension;
/// `plev` has values, others none.
inline Schema temperature_on(const std::string& levels) {
  Schema schema;
  schema.dimension("time", unlimited).dimension(levels, 2).dimension("lat", 3).dimension("lon", 4);
  schema.variable("time", Type::float64, {"time"}).attribute("units", "hours since 2000-01-01");
  if (levels == "plev")
    schema.variable("plev", Type::float64, {"plev"})
        .attribute("units", "Pa")
        .with_constant(Values({85000.0, 50000.0}));
  schema.variable("lat", Type::float64, {"lat"})
      .attribute("units", "degrees_north")
      .with_constant(Values({-30.0, 0.0, 30.0}));
  schema.variable("lon", Type::float64, {"lon"})
      .attribute("units", "degrees_east")
      .with_constant(Values({-90.0, 0.0, 90.0, 180.0}));
  schema.variable("ta", Type::float32, {"time", levels, "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("units", "K");
  return schema;
}

}  // namespace afterbay::test
