// SPDX-License-Identifier: Apache-2.0
// What GRIB2 refuses when a schema is defined, and how schemas are understood.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/layout.hpp"
#include "model/validate.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

Schema sound_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("plev", 2).dimension("lat", 3).dimension("lon", 4);
  schema.variable("time", Type::float64, {"time"}).attribute("units", "hours since 2000-01-01");
  schema.variable("plev", Type::float64, {"plev"})
      .attribute("units", "Pa")
      .with_constant(Values({85000.0, 50000.0}));
  schema.variable("lat", Type::float64, {"lat"})
      .attribute("units", "degrees_north")
      .with_constant(Values({-30.0, 0.0, 30.0}));
  schema.variable("lon", Type::float64, {"lon"})
      .attribute("units", "degrees_east")
      .with_constant(Values({-90.0, 0.0, 90.0, 180.0}));
  schema.variable("ta", Type::float32, {"time", "plev", "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("units", "K");
  return schema;
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
       "'plev', which is no vertical coordinate"},
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
