// SPDX-License-Identifier: Apache-2.0
// What GRIB2 refuses when a schema is defined, and how schemas are understood.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/layout.hpp"
#include "model/validate.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"
#include "unit/storage/messages/message_schema.hpp"

namespace afterbay::storage::grib2 {
namespace {

Schema sound_schema() { return test::temperature_on("plev"); }

/// Adds a field with a scalar coordinate, and returns the coordinate.
Variable& scalar(Schema& schema, const char* standard_name, const char* units, const Values& value) {
  schema.variable("tas", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("units", "K")
      .attribute("coordinates", "z");
  return schema.variable("z", value.type, {})
      .attribute("standard_name", standard_name)
      .attribute("units", units)
      .with_constant(value);
}

/// Gives `ta` a grid_mapping, and returns it.
Variable& mapping(Schema& schema, const char* name) {
  schema.find_variable("ta")->attribute("grid_mapping", "crs");
  return schema.variable("crs", Type::int32, {})
      .attribute("grid_mapping_name", name)
      .with_constant(Values(0));
}

/// Whether this build encodes GRIB2; without ecCodes everything is refused.
bool encodes() { return model::validate(sound_schema(), Format::grib2).has_value(); }

TEST(Grib2Definition, says_what_a_message_cannot_hold) {
  struct Case {
    std::function<void(Schema&)> change;
    std::string variable;
    std::string text;
  };
  const std::vector<Case> cases{
      {[](Schema& s) { s.variable("mean", Type::float32, {"time"}).attribute("units", "K"); }, "mean",
       "has no horizontal grid"},
      {[](Schema& s) { s.variable("n", Type::string, {"time"}); }, "n", "is string"},
      {[](Schema& s) { s.find_variable("ta")->type = Type::text; }, "ta", "is text"},
      {[](Schema& s) { s.find_variable("ta")->type = Type::int64; }, "ta", "use float64"},
      {[](Schema& s) { s.find_variable("ta")->attribute("scale_factor", 2.0); }, "ta",
       "has the attribute 'scale_factor', which no GRIB2 message can hold"},
      {[](Schema& s) { s.find_variable("ta")->attribute("unit", "K"); }, "ta", "did you mean \"units\"?"},
      {[](Schema& s) { s.find_variable("ta")->attribute("units", "degC"); }, "ta", "is in 'K' in GRIB2"},
      {[](Schema& s) { s.find_variable("ta")->attribute("standard_name", "air_temperatur"); }, "ta",
       "did you mean \"air_temperature\"?"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "time: mean"); }, "ta",
       "the time has no bounds"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "time: median"); }, "ta", "'median'"},
      {[](Schema& s) {
         s.dimension("bnds", 2);
         s.find_variable("time")->attribute("bounds", "limits");
         s.variable("limits", Type::float64, {"time", "bnds"});
         s.find_variable("ta")->attribute(
             "cell_methods", "time: maximum (interval: 1 day comment: of time: steps) time: mean");
       },
       "ta", "has the methods 'maximum', 'mean' over time"},
      {[](Schema& s) {
         s.dimension("bnds", 2);
         s.find_variable("time")->attribute("climatology", "limits");
         s.variable("limits", Type::float64, {"time", "bnds"});
         s.find_variable("ta")->attribute("cell_methods",
                                          "time: mean within years (interval: 6 hour) time: mean over years");
       },
       "ta", "has the method 'mean within years' over time"},
      {[](Schema& s) { s.find_variable("time")->attribute("calendar", "360_day"); }, "time",
       "has the calendar '360_day'"},
      {[](Schema& s) { s.find_variable("time")->attribute("units", "hours"); }, "time", "gives no time"},
      {[](Schema& s) { s.find_variable("plev")->attribute("units", "K"); }, "ta",
       "'plev' in 'K', which is not a vertical coordinate"},
      {[](Schema& s) { s.find_variable("lon")->constant = Values({0.0, 1.0, 2.0, 4.0}); }, "ta",
       "without equal, ascending distances"},
      {[](Schema& s) { s.find_variable("lat")->constant = Values({-30.0, 0.0, 31.0}); }, "ta",
       "neither of equal distances"},
      {[](Schema& s) { s.find_variable("lat")->constant = Values(); }, "ta", "give them as constant values"},
      {[](Schema& s) {
         s.find_variable("lon")->attribute("standard_name", "longitude").attribute("units", "radian");
       },
       "ta", "has the coordinate 'lon' in 'radian': GRIB2 messages have degrees"},
      {[](Schema& s) {
         s.variable("reference", Type::float64, {})
             .attribute("standard_name", "forecast_reference_time")
             .attribute("units", "hours since 2000-01-01")
             .attribute("calendar", "360_day")
             .with_constant(Values(0.0));
         s.find_variable("ta")->attribute("coordinates", "reference");
       },
       "reference", "but the time has 'standard': a GRIB2 message has one calendar"},
      {[](Schema& s) {
         s.variable("z", Type::float32, {"lat", "lon"}).constant = Values(std::vector<float>(12));
       },
       "z", "has constant values"},
      // One dimension that is not a grid.
      {[](Schema& s) { s.find_variable("ta")->dimensions = {"time", "plev"}; }, "ta",
       "'plev' is a vertical coordinate"},
      {[](Schema& s) { s.find_variable("ta")->dimensions = {"time", "plev", "lat"}; }, "ta",
       "'lat' is a latitude without longitudes"},
      {[](Schema& s) {
         s.dimension("level", 5);
         s.variable("p", Type::float64, {"level"})
             .attribute("units", "hPa")
             .with_constant(Values({1.0, 2.0, 3.0, 4.0, 5.0}));
         s.variable("profile", Type::float32, {"time", "level"})
             .attribute("standard_name", "air_temperature")
             .attribute("units", "K")
             .attribute("coordinates", "p");
       },
       "profile", "'p' is a vertical coordinate"},
      // Scalar coordinates that messages cannot state.
      {[](Schema& s) {
         s.variable("reference", Type::float64, {})
             .attribute("standard_name", "forecast_reference_time")
             .attribute("units", "hours since 2000-01-01");
         s.find_variable("ta")->attribute("coordinates", "reference");
       },
       "ta", "'reference', whose value is not known when the file is defined"},
      {[](Schema& s) {
         s.variable("number", Type::int32, {"plev"}).attribute("standard_name", "model_level_number");
         s.find_variable("ta")->attribute("coordinates", "number");
       },
       "ta", "'number', whose value is not known"},
      {[](Schema& s) { scalar(s, "height", "furlong", Values(2.0)); }, "tas",
       "has the scalar coordinate 'z' in 'furlong', which is not a vertical coordinate that GRIB2 knows"},
      {[](Schema& s) { scalar(s, "geopotential_height", "m", Values(2.0)); }, "tas",
       "has the scalar coordinate 'z'"},
      {[](Schema& s) { scalar(s, "realization", "1", Values(1.5)); }, "tas", "with the value 1.5"},
      {[](Schema& s) { scalar(s, "realization", "1", Values(255)); }, "tas", "from 0 to 254"},
      {[](Schema& s) { scalar(s, "realization", "1", Values("3")); }, "tas", "which is text"},
      {[](Schema& s) { scalar(s, "forecast_reference_time", "hours since 2000-01-01", Values("3")); }, "z",
       "is a time and text"},
      {[](Schema& s) { scalar(s, "height", "m", Values("3")); }, "tas", "which is text"},
      // Second vertical coordinates, and pressures of water.
      {[](Schema& s) {
         scalar(s, "height", "m", Values(2.0));
         s.find_variable("tas")->attribute("coordinates", "z h");
         s.variable("h", Type::float64, {})
             .attribute("standard_name", "altitude")
             .attribute("units", "m")
             .with_constant(Values(10.0));
       },
       "tas", "has the vertical coordinates 'z' and 'h', but a GRIB2 message has one level"},
      {[](Schema& s) {
         scalar(s, "height", "m", Values(2.0));
         s.find_variable("ta")->attribute("coordinates", "z");
       },
       "ta", "has the vertical coordinates 'plev' and 'z'"},
      {[](Schema& s) { s.find_variable("plev")->attribute("standard_name", "sea_water_pressure"); }, "ta",
       "'plev' in 'Pa', which is not a vertical coordinate that GRIB2 knows"},
      // Grids.
      {[](Schema& s) { mapping(s, "rotated_latitude_longitude"); }, "ta",
       "rotated latitudes and longitudes 'lat' and 'lon'"},
      {[](Schema& s) { s.find_variable("lat")->attribute("standard_name", "grid_latitude"); }, "ta",
       "rotated latitudes"},
      {[](Schema& s) { mapping(s, "lambert_conformal_conic"); }, "ta",
       "grid_mapping_name 'lambert_conformal_conic', but lies on 'lat' and 'lon'"},
      {[](Schema& s) { mapping(s, "latitude_longitude").attribute("earth_radius", 6371.0 / 1000); }, "ta",
       "expected metres"},
      {[](Schema& s) { mapping(s, "latitude_longitude").attribute("longitude_of_prime_meridian", 2.5); },
       "ta", "counted from Greenwich"},
      // Methods over other dimensions, and coefficients.
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "realization: mean"); }, "ta",
       "has the method 'mean' over 'realization'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "area: maximum"); }, "ta",
       "has the method 'maximum' over 'area'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "lat: lon: sum"); }, "ta",
       "has the method 'sum' over 'lat'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "time: area: maximum"); }, "ta",
       "has the method 'maximum' over 'area'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "area: mean where land"); }, "ta",
       "has the method 'mean where land' over 'area'"},
      {[](Schema& s) {
         s.find_variable("ta")->attribute("cell_methods", "time: mean where sea_ice over sea");
       },
       "ta", "has the method 'mean where sea_ice' over 'time'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("cell_methods", "plev: mean"); }, "ta",
       "has the method 'mean' over 'plev'"},
      {[](Schema& s) {
         Variable& plev = *s.find_variable("plev");
         plev.attributes = {{"standard_name", "atmosphere_hybrid_sigma_pressure_coordinate"},
                            {"formula_terms", "ap: ap b: b ps: ps"}};
         s.variable("ap", Type::float64, {"plev"}).with_constant(Values({1000.0, 0.0}));
         s.variable("b", Type::float64, {"plev"}).with_constant(Values({0.1, 1.0}));
       },
       "ta", "give the bounds of its terms"},
      // What only ecCodes knows.
      {[](Schema& s) { s.find_variable("ta")->attribute("GRIB_shortName", "no_such_name"); }, "ta",
       "shortName"},
      {[](Schema& s) { s.find_variable("ta")->attribute("GRIB_shortName", "q"); }, "ta",
       "the parameter 'q' is in 'kg kg**-1'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("GRIB_noSuchKey", 1); }, "ta", "'noSuchKey'"},
      {[](Schema& s) { s.attribute("GRIB_noSuchKey", 1); }, "ta", "'noSuchKey'"},
      {[](Schema& s) { s.find_variable("ta")->attribute("GRIB_iScansNegatively", 1); }, "ta",
       "the attribute GRIB_iScansNegatively changes the grid or the packing"},
      {[](Schema& s) { s.attribute("GRIB_latitudeOfFirstGridPointInDegrees", 12.5); }, "ta",
       "the attribute GRIB_latitudeOfFirstGridPointInDegrees changes the grid"},
      {[](Schema& s) {
         mapping(s, "latitude_longitude").attribute("earth_radius", 6371229.0);
         s.attribute("GRIB_shapeOfTheEarth", 5);
       },
       "ta", "the attribute GRIB_shapeOfTheEarth changes the grid"},
      // A parameter that is a maximum.
      {[](Schema& s) { s.find_variable("ta")->attribute("GRIB_paramId", 121); }, "ta",
       "the key 'paramId' cannot be 121"},
      {[](Schema& s) {
         scalar(s, "realization", "1", Values(3));
         s.find_variable("tas")->attribute("GRIB_perturbationNumber", 4);
       },
       "tas", "gives messages the perturbationNumber 4"},
  };
  if (!encodes()) GTEST_SKIP() << "this build has no ecCodes";
  for (const Case& it : cases) {
    Schema schema = sound_schema();
    it.change(schema);
    const auto refused = model::validate(schema, Format::grib2);
    ASSERT_FALSE(refused) << it.text;
    EXPECT_NE(refused.error().message.find(it.text), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().variable, it.variable) << refused.error().message;
  }
}

TEST(Grib2Definition, takes_means_of_areas_and_levels_that_are_named) {
  if (!encodes()) GTEST_SKIP() << "this build has no ecCodes";
  Schema schema = sound_schema();
  schema.find_variable("plev")->attribute("standard_name", "air_pressure");
  scalar(schema, "height", "m", Values(2.0));
  schema.find_variable("tas")->attribute("coordinates", "number z");
  schema.variable("number", Type::int32, {})
      .attribute("standard_name", "model_level_number")
      .with_constant(Values(3));
  for (const char* const methods :
       {"area: mean", "lat: lon: mean", "area: point", "area: mean time: point"}) {
    schema.find_variable("ta")->attribute("cell_methods", methods);
    const auto valid = model::validate(schema, Format::grib2);
    EXPECT_TRUE(valid) << methods << ": " << valid.error().text();
  }
}

TEST(Grib2Definition, takes_a_statistic_of_the_same_statistic) {
  if (!encodes()) GTEST_SKIP() << "this build has no ecCodes";
  for (const char* const methods :
       {"time: mean time: mean", "time: maximum time: maximum (interval: 1 hour)"}) {
    Schema schema = sound_schema();
    schema.find_variable("ta")->attribute("cell_methods", methods);
    const auto found = statistic_of(schema, *schema.find_variable("ta"));
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_TRUE(found->has_value()) << methods;
  }
}

TEST(Grib2Definition, needs_a_time_for_records) {
  if (!encodes()) GTEST_SKIP() << "this build has no ecCodes";
  Schema schema = sound_schema();
  schema.variables.erase(schema.variables.begin());
  const auto refused = model::validate(schema, Format::grib2);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the unlimited dimension 'time' has no time"), std::string::npos);
  Schema fixed = sound_schema();
  fixed.dimensions.erase(fixed.dimensions.begin());
  fixed.variables.erase(fixed.variables.begin());
  fixed.find_variable("ta")->dimensions.erase(fixed.find_variable("ta")->dimensions.begin());
  const auto timeless = model::validate(fixed, Format::grib2);
  ASSERT_FALSE(timeless);
  EXPECT_NE(timeless.error().message.find("'ta' has no time, which each GRIB2 message contains"),
            std::string::npos)
      << timeless.error().message;
  fixed.variable("time", Type::float64, {})
      .attribute("standard_name", "time")
      .attribute("units", "hours since 2000-01-01")
      .with_constant(Values(0.0));
  fixed.find_variable("ta")->attribute("coordinates", "time");
  EXPECT_TRUE(model::validate(fixed, Format::grib2)) << model::validate(fixed, Format::grib2).error().text();
}

TEST(Grib2Definition, needs_the_order_of_healpix) {
  const auto nested = [](const char* attribute, const char* order) -> std::string {
    Schema schema;
    schema.dimension("cell", 12);
    schema.variable("crs", Type::int32, {})
        .attribute("grid_mapping_name", "healpix")
        .attribute(attribute, order)
        .with_constant(Values(0));
    schema.variable("ta", Type::float32, {"cell"}).attribute("grid_mapping", "crs");
    const auto grid = grid_of(schema, *schema.find_variable("ta"));
    if (!grid) return grid.error().message;
    return grid->nested ? "nested" : "ring";
  };
  EXPECT_EQ(nested("indexing_scheme", "nested"), "nested");
  EXPECT_EQ(nested("indexing_scheme", "ring"), "ring");
  EXPECT_EQ(nested("healpix_order", "nest"), "nested");
  EXPECT_EQ(nested("healpix_order", "ring"), "ring");
  for (const char* order : {"nuniq", "Ring", ""})
    EXPECT_NE(nested("indexing_scheme", order).find("GRIB2 knows nested and ring"), std::string::npos);
  EXPECT_NE(nested("long_name", "grid").find("GRIB2 knows nested and ring"), std::string::npos);
}

TEST(Grib2Definition, a_build_without_eccodes_says_so) {
  if (encodes()) GTEST_SKIP() << "this build has ecCodes";
  EXPECT_NE(model::validate(sound_schema(), Format::grib2).error().message.find("has no ecCodes"),
            std::string::npos);
}

TEST(Grib2Definition, pieces_are_slabs) {
  const auto layout = model::make_layout(sound_schema(), Format::grib2, {});
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->variables[4].piece_count, 2u);
  for (const model::Piece& piece : layout->pieces_of_variable(4)) EXPECT_EQ(piece.box.points(), 12u);
  const auto refused = model::make_layout(sound_schema(), Format::grib2, {40, 40});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resources);
  EXPECT_NE(refused.error().message.find("raise memory.block"), std::string::npos) << refused.error().message;
}

/// Messages had the numbers as they were.
TEST(Grib2Definition, coefficients_of_hybrid_levels_are_converted_by_their_units) {
  Schema schema = sound_schema();
  schema.dimension("bnds", 2);
  schema.find_variable("plev")->attributes = {
      {"standard_name", "atmosphere_hybrid_sigma_pressure_coordinate"}, {"bounds", "plev_bnds"}};
  schema.variable("plev_bnds", Type::float64, {"plev", "bnds"}).with_constant(Values({0.0, 0.3, 0.3, 1.0}));
  for (const char* name : {"A", "B"}) {
    schema.variable(name, Type::float64, {"plev"}).with_constant(Values({0.25, 0.5}));
    schema.variable(name + std::string("_bnds"), Type::float64, {"plev", "bnds"})
        .with_constant(Values({0.0, 0.5, 0.5, 1.0}));
  }
  schema.variable("P", Type::float64, {}).with_constant(Values(1000.0));
  const auto found = [&](const std::string& first) {
    schema.find_variable("plev")->attribute("formula_terms", first + ": A b: B p0: P");
    schema.find_variable("plev_bnds")->attribute("formula_terms", first + ": A_bnds b: B_bnds p0: P");
    return levels_of(schema, *schema.find_variable("ta"));
  };
  const auto coefficients = [&](const std::string& first) {
    const auto levels = found(first);
    EXPECT_TRUE(levels) << levels.error().text();
    return levels ? levels->coefficients : std::vector<double>();
  };
  const auto refusal = [&](const std::string& first) {
    const auto levels = found(first);
    return levels ? std::string("accepted") : levels.error().message;
  };
  EXPECT_EQ(coefficients("ap"), (std::vector<double>{0, 0.5, 1, 0, 0.5, 1}));
  EXPECT_EQ(coefficients("a"), (std::vector<double>{0, 500, 1000, 0, 0.5, 1}));
  schema.find_variable("P")->attribute("units", "hPa");
  EXPECT_EQ(coefficients("a"), (std::vector<double>{0, 50000, 100000, 0, 0.5, 1}));
  schema.find_variable("A")->attribute("units", "hPa");
  EXPECT_EQ(coefficients("ap"), (std::vector<double>{0, 50, 100, 0, 0.5, 1}));
  EXPECT_NE(refusal("a").find("'A' as its term a, which is in 'hPa'"), std::string::npos) << refusal("a");
  schema.find_variable("A")->attribute("units", "km");
  EXPECT_NE(refusal("ap").find("expected a pressure in Pa, hPa, mbar or kPa"), std::string::npos)
      << refusal("ap");
}

TEST(Grib2Definition, understands_a_regular_grid) {
  const Schema schema = sound_schema();
  const auto grid = grid_of(schema, schema.variables[4]);
  ASSERT_TRUE(grid) << grid.error().text();
  EXPECT_EQ(grid->kind, GridKind::regular_ll);
  EXPECT_EQ(grid->first_longitude, 270);
  EXPECT_EQ(grid->last_longitude, 180);
  EXPECT_EQ(grid->di, 90);
  EXPECT_EQ(grid->dj, 30);
}

/// Distances that 32-bit numbers do not hold.
TEST(Grib2Definition, understands_regular_longitudes_of_float32) {
  for (const double step : {0.2, 0.05, 0.08, 1.0 / 3, 1.0 / 6, 1.0 / 12, 0.1, 1.25}) {
    const auto count = static_cast<std::size_t>(std::lround(360 / step));
    Schema schema = sound_schema();
    schema.dimensions[3].length = count;
    std::vector<float> points(count);
    for (std::size_t i = 0; i < count; ++i) points[i] = static_cast<float>(static_cast<double>(i) * step);
    schema.find_variable("lon")->type = Type::float32;
    schema.find_variable("lon")->constant = Values(points);
    const auto grid = grid_of(schema, schema.variables[4]);
    ASSERT_TRUE(grid) << step << ": " << grid.error().text();
    EXPECT_NEAR(grid->di, step, 1e-6) << step;
    EXPECT_NEAR(grid->last_longitude, static_cast<double>(count - 1) * step, 2e-5) << step;
    points[count / 2] += static_cast<float>(step / 10);
    schema.find_variable("lon")->constant = Values(points);
    EXPECT_FALSE(grid_of(schema, schema.variables[4])) << step;
  }
}

/// What netCDF files of rounded values contain.
TEST(Grib2Definition, what_describes_rounded_values_is_left_out) {
  if (!encodes()) GTEST_SKIP() << "this build has no ecCodes";
  Schema schema = sound_schema();
  schema.find_variable("ta")
      ->attribute("largest_error", 0.5)
      .attribute("_QuantizeBitRoundNumberOfSignificantBits", 7)
      .attribute("quantization", "quantization_info_bitround")
      .attribute("quantization_nsb", 7);
  for (const char* const name : {"quantization_info_bitround", "quantization_info_bitgroom"})
    schema.variable(name, Type::int8, {})
        .attribute("algorithm", "bitround")
        .attribute("implementation", "any")
        .with_constant(Values(std::int8_t{0}));
  const auto valid = model::validate(schema, Format::grib2);
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(CfTimes, are_whole_seconds_within_the_precision_of_their_type) {
  const auto seconds = [](Type type, const char* units, double number) {
    Variable time;
    time.name = "time";
    time.type = type;
    time.attribute("units", units);
    const auto axis = cf::time_axis_of(time);
    EXPECT_TRUE(axis) << axis.error().text();
    const auto date = axis->date(number);
    EXPECT_TRUE(date) << date.error().text();
    return static_cast<double>(axis->seconds(axis->reference, *date)) + 1e-9 * date->nanosecond;
  };
  const char* const days = "days since 1850-01-01";
  double sum = 0;
  for (int step = 1; step <= 20000; ++step) {
    sum += 1200 / 86400.0;
    ASSERT_EQ(seconds(Type::float64, days, sum), step * 1200.0) << step;
    ASSERT_EQ(seconds(Type::float64, days, -step * (1200 / 86400.0)), step * -1200.0) << step;
  }
  // A float32 does not tell seconds apart after some months, nor minutes after centuries.
  for (int hour = 1; hour < 200000; ++hour) {
    const auto number = static_cast<double>(static_cast<float>(hour / 24.0));
    ASSERT_EQ(seconds(Type::float32, days, number), hour * 3600.0) << hour;
  }
  EXPECT_EQ(seconds(Type::float64, "hours since 2000-01-01", 1 + 0.0009 / 3600), 3600);
  EXPECT_NEAR(seconds(Type::float64, "hours since 2000-01-01", 1 + 0.0011 / 3600), 3600.0011, 1e-8);
  EXPECT_NEAR(seconds(Type::float64, "seconds since 2000-01-01", -0.25), -0.25, 1e-9);
}

/// Source of the values: the Gaussian grid F48 as published by ECMWF.
TEST(Grib2Definition, gaussian_latitudes_are_those_of_others) {
  const std::vector<double> latitudes = gaussian_latitudes(48);
  ASSERT_EQ(latitudes.size(), 96u);
  EXPECT_NEAR(latitudes[0], 88.572169, 1e-6);
  EXPECT_NEAR(latitudes[1], 86.722531, 1e-6);
  EXPECT_NEAR(latitudes[47], 0.932630, 1e-6);
  for (std::size_t j = 0; j < 96; ++j) EXPECT_EQ(latitudes[j], -latitudes[95 - j]);
}

TEST(CfRoles, fields_times_and_coordinates) {
  Schema schema = sound_schema();
  schema.dimension("bnds", 2);
  schema.find_variable("time")->attribute("bounds", "time_bnds");
  schema.variable("time_bnds", Type::float64, {"time", "bnds"});
  schema.variable("ps", Type::float32, {"time", "lat", "lon"});
  schema.variable("height", Type::float64, {});
  schema.find_variable("ta")->attribute("coordinates", "height");
  schema.find_variable("plev")->attribute("formula_terms", "ps: ps");
  const auto role = [&](const char* name) { return cf::role_of(schema, *schema.find_variable(name)); };
  EXPECT_EQ(role("time"), cf::Role::time);
  EXPECT_EQ(role("time_bnds"), cf::Role::time_bounds);
  EXPECT_EQ(role("ps"), cf::Role::field);
  EXPECT_EQ(role("height"), cf::Role::coordinate);
  EXPECT_EQ(role("lat"), cf::Role::coordinate);
  EXPECT_EQ(cf::slab_dimensions(schema, *schema.find_variable("ta")), 2u);
  EXPECT_EQ(cf::slab_dimensions(schema, *schema.find_variable("time")), 0u);
}

TEST(CfRoles, method_of_the_time) {
  const auto method = [](const char* text) {
    Schema schema = sound_schema();
    schema.find_variable("ta")->attribute("cell_methods", text);
    return std::string(cf::time_method_of(schema, *schema.find_variable("ta")));
  };
  EXPECT_EQ(method("time: mean"), "mean");
  EXPECT_EQ(method("area: mean time: maximum (interval: 1 hour)"), "maximum");
  EXPECT_EQ(method("time: lat: lon: mean"), "mean");
  EXPECT_EQ(method("area: mean"), "");
  EXPECT_EQ(method("area: mean (time: of 1 hour) time: maximum"), "maximum");
}

}  // namespace
}  // namespace afterbay::storage::grib2
