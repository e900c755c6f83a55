// SPDX-License-Identifier: Apache-2.0
// What PP files refuse when a schema is defined, and how schemas are understood.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "model/layout.hpp"
#include "model/validate.hpp"
#include "storage/pp/file_kind.hpp"
#include "unit/storage/messages/message_schema.hpp"

namespace afterbay::storage::pp {
namespace {

using packing::PpLevelKind;
using packing::PpPacking;
using um::cell_methods_of;
using um::Field;
using um::slab_dimensions;

Schema sound_pp_schema() { return test::temperature_on("plev"); }

/// Adds a field with a scalar coordinate.
void scalar(Schema& schema, const char* standard_name, const char* units, const Values& value) {
  schema.variable("wind", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("PP_stash", "m01s03i236")
      .attribute("coordinates", "z");
  schema.variable("z", value.type, {})
      .attribute("standard_name", standard_name)
      .attribute("units", units)
      .with_constant(value);
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Gives the levels of `ta` hybrid heights and these numbers.
void numbered(Schema& schema, const std::vector<double>& numbers) {
  schema.find_variable("plev")->attributes = {{"standard_name", "model_level_number"}};
  schema.find_variable("plev")->constant = Values(numbers);
  schema.variable("z", Type::float64, {"plev"})
      .attribute("long_name", "level_height")
      .with_constant(Values({20.0, 80.0}));
  schema.variable("s", Type::float64, {"plev"})
      .attribute("long_name", "sigma")
      .with_constant(Values({0.9, 0.8}));
  schema.find_variable("ta")->attribute("coordinates", "z s");
}

std::string refusal_of(const Schema& schema) {
  const auto valid = model::validate(schema, Format::pp);
  return valid ? "accepted" : valid.error().message;
}

/// Gives `ta` a grid_mapping, and returns it.
Variable& mapping(Schema& schema, const char* name) {
  schema.find_variable("ta")->attribute("grid_mapping", "pole");
  return schema.variable("pole", Type::int32, {})
      .attribute("grid_mapping_name", name)
      .with_constant(Values(0));
}

Field field_in(const Schema& schema, const char* name = "ta") {
  auto field = um::field_of(schema, *schema.find_variable(name), file_kind);
  EXPECT_TRUE(field) << field.error().text();
  return field ? *std::move(field) : Field();
}

TEST(PpDefinition, says_what_a_header_cannot_hold) {
  struct Case {
    std::function<void(Schema&)> change;
    std::string variable;
    std::string text;
  };
  const auto ta = [](Schema& s) -> Variable& { return *s.find_variable("ta"); };
  const std::vector<Case> cases{
      {[](Schema& s) { s.variable("mean", Type::float32, {"time"}).attribute("units", "K"); }, "mean",
       "has no horizontal grid"},
      {[&](Schema& s) { ta(s).type = Type::int64; }, "ta", "use float32, float64, int32"},
      {[&](Schema& s) { ta(s).type = Type::uint32; }, "ta", "is uint32"},
      {[&](Schema& s) { ta(s).attribute("scale_factor", 2.0); }, "ta",
       "has the attribute 'scale_factor', which no PP header can hold"},
      {[&](Schema& s) { ta(s).attribute("PP_LBEX", 7); }, "ta", "did you mean \"PP_LBEXP\"?"},
      {[&](Schema& s) { ta(s).attribute("PP_LBEXP", 1.5); }, "ta", "it must be a whole number"},
      {[&](Schema& s) { ta(s).attribute("units", "degC"); }, "ta", "for 'K': convert"},
      {[&](Schema& s) { ta(s).attribute("units", "degC").attribute("um_stash_source", "m01s16i203"); }, "ta",
       "STASH code 16203 (LBUSER4, word 42) for 'K': convert"},
      {[&](Schema& s) { ta(s).attribute("units", "degC").attribute("PP_stash", 3236); }, "ta",
       "STASH code 3236 (LBUSER4, word 42) for 'K': convert"},
      {[&](Schema& s) { ta(s).attribute("standard_name", "air_temperatur"); }, "ta",
       "did you mean \"air_temperature\"?"},
      {[](Schema& s) {
         s.variable("tas", Type::float32, {"time", "lat", "lon"})
             .attribute("standard_name", "air_temperature");
       },
       "tas", "such as a scalar height of 1.5 m"},
      {[&](Schema& s) { ta(s).attribute("cell_methods", "time: mean"); }, "ta", "the time has no bounds"},
      {[&](Schema& s) { ta(s).attribute("cell_methods", "area: time: mean"); }, "ta",
       "because of 'mean' over 'area'"},
      {[](Schema& s) { s.find_variable("time")->attribute("calendar", "julian"); }, "time",
       "has the calendar 'julian'"},
      {[](Schema& s) { s.find_variable("time")->attribute("units", "hours"); }, "time", "gives no time"},
      {[](Schema& s) { s.find_variable("plev")->attribute("units", "1"); }, "ta",
       "'plev', which is not a vertical coordinate"},
      // Levels.
      {[](Schema& s) { s.find_variable("plev")->constant = Values({85000.0, nan}); }, "ta",
       "pressure in hPa (BLEV, word 52) is nan"},
      {[](Schema& s) { s.find_variable("plev")->constant = Values({85000.0, 1e15}); }, "ta",
       "pressure in hPa (LBLEV, word 33) is 10000000000000: it must be 0 to 8887"},
      {[](Schema& s) { numbered(s, {1.0, nan}); }, "ta", "model_level_number with the value nan"},
      {[](Schema& s) { numbered(s, {1.0, 3e9}); }, "ta", "from 1 to 8887 in PP headers (LBLEV, word 33)"},
      {[](Schema& s) { numbered(s, {1.0, 1.5}); }, "ta", "model_level_number with the value 1.5"},
      {[](Schema& s) {
         scalar(s, "height", "m", Values(2.0));
         s.find_variable("ta")->attribute("coordinates", "z");
       },
       "ta", "has the vertical coordinates 'plev' and 'z', but a PP header has one level"},
      {[](Schema& s) {
         scalar(s, "height", "m", Values(1.5));
         s.find_variable("wind")->attribute("coordinates", "z p");
         s.variable("p", Type::float64, {}).attribute("units", "hPa").with_constant(Values(500.0));
       },
       "wind", "has the vertical coordinates 'z' and 'p'"},
      {[](Schema& s) { s.find_variable("lon")->constant = Values({0.0, 1.0, 1.0, 4.0}); }, "ta",
       "must rise or fall strictly"},
      {[](Schema& s) { s.find_variable("lat")->constant = Values(); }, "ta", "give them as constant values"},
      {[](Schema& s) {
         s.find_variable("lat")->attribute("standard_name", "latitude").attribute("units", "radians");
       },
       "ta", "has the coordinate 'lat' in 'radians': PP headers have degrees"},
      {[&](Schema& s) { ta(s).attribute("PP_packing", "wgdos"); }, "ta", "give it the attribute PP_accuracy"},
      {[&](Schema& s) { ta(s).attribute("PP_packing", "wgdo"); }, "ta", "did you mean \"wgdos\"?"},
      {[&](Schema& s) { ta(s).attribute("PP_packing", "none").attribute("PP_accuracy", -3); }, "ta",
       "is not packed by WGDOS"},
      {[&](Schema& s) { ta(s).attribute("PP_accuracy", -200); }, "ta", "from -126 to 126"},
      {[&](Schema& s) { ta(s).attribute("PP_accuracy", -3).type = Type::int32; }, "ta",
       "is of type int32, which WGDOS cannot pack"},
      {[&](Schema& s) { ta(s).with_fill(Values(-1.0f)).attribute("missing_value", -2.0f); }, "ta",
       "has the missing_value -2 besides its fill value -1"},
      {[&](Schema& s) { ta(s).attribute("missing_value", -2.0f); }, "ta", "(that of netCDF)"},
      {[&](Schema& s) { ta(s).attribute("PP_packing", "land").attribute("PP_mask", "lat"); }, "ta",
       "is not a variable with constant values on its grid"},
      {[&](Schema& s) { ta(s).attribute("PP_outside_mask", "drop"); }, "ta", "is not packed by a mask"},
      {[&](Schema& s) {
         ta(s).attribute("PP_packing", "land").attribute("PP_mask", "m").attribute("PP_outside_mask", "keep");
       },
       "ta", "it must be drop or refuse"},
      {[](Schema& s) {
         s.variable("reference", Type::float64, {})
             .attribute("standard_name", "forecast_reference_time")
             .attribute("units", "hours since 2000-01-01")
             .attribute("calendar", "360_day")
             .with_constant(Values(0.0));
         s.find_variable("ta")->attribute("coordinates", "reference");
       },
       "reference", "a PP header has one calendar"},
      // Scalar coordinates that headers cannot state.
      {[](Schema& s) {
         s.variable("reference", Type::float64, {})
             .attribute("standard_name", "forecast_reference_time")
             .attribute("units", "hours since 2000-01-01");
         s.find_variable("ta")->attribute("coordinates", "reference");
       },
       "ta", "'reference', whose value is not known when the file is defined"},
      {[](Schema& s) {
         s.variable("member", Type::int32, {}).attribute("standard_name", "realization");
         s.find_variable("ta")->attribute("coordinates", "member");
       },
       "ta", "'member', whose value is not known"},
      {[](Schema& s) { scalar(s, "realization", "1", Values(1.5)); }, "wind", "with the value 1.5"},
      {[](Schema& s) { scalar(s, "realization", "1", Values("3")); }, "wind", "which is text"},
      {[](Schema& s) { scalar(s, "forecast_reference_time", "hours since 2000-01-01", Values("3")); }, "z",
       "is a time and text"},
      {[](Schema& s) { scalar(s, "height", "furlong", Values(2.0)); }, "wind",
       "has the scalar coordinate 'z' (height in 'furlong')"},
      {[](Schema& s) { scalar(s, "model_level_number", "1", Values(2)); }, "wind",
       "which is not a vertical coordinate that PP headers know"},
      // Grids.
      {[](Schema& s) { mapping(s, "lambert_conformal_conic"); }, "ta",
       "PP headers know latitude_longitude and rotated_latitude_longitude"},
      {[](Schema& s) { mapping(s, "latitude_longitude").attribute("semi_major_axis", 6378137.0); }, "ta",
       "has a grid_mapping with an Earth of 6378137 m"},
      {[](Schema& s) {
         mapping(s, "rotated_latitude_longitude").attribute("grid_north_pole_latitude", 37.5);
         s.find_variable("lat")->attribute("standard_name", "latitude");
       },
       "ta", "'lat' of standard name latitude, but lies on a rotated grid"},
  };
  for (const Case& it : cases) {
    Schema schema = sound_pp_schema();
    it.change(schema);
    const auto refused = model::validate(schema, Format::pp);
    ASSERT_FALSE(refused) << it.text;
    EXPECT_NE(refused.error().message.find(it.text), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().variable, it.variable) << refused.error().message;
  }
  EXPECT_TRUE(model::validate(sound_pp_schema(), Format::pp));
}

/// Only codes can be given by the attributes.
TEST(PpDefinition, refusals_name_attributes_for_codes_only_if_a_code_is_missing) {
  Schema schema = sound_pp_schema();
  schema.find_variable("ta")->attribute("cell_methods", "area: mean");
  EXPECT_EQ(refusal_of(schema).find("PP_stash"), std::string::npos) << refusal_of(schema);
  schema = sound_pp_schema();
  schema.find_variable("ta")->attribute("standard_name", "air_temperatur");
  EXPECT_NE(refusal_of(schema).find("(attributes PP_stash and PP_LBFC)"), std::string::npos)
      << refusal_of(schema);
}

/// The parts of a hybrid level as iris writes them.
TEST(PpDefinition, scalar_coefficients_and_numbers_are_of_one_level) {
  Schema schema = sound_pp_schema();
  scalar(schema, "atmosphere_hybrid_height_coordinate", "m", Values(20.0));
  schema.find_variable("z")->attribute("positive", "up").attribute("formula_terms", "a: z b: sigma");
  schema.variable("sigma", Type::float64, {})
      .attribute("long_name", "sigma")
      .attribute("positive", "up")
      .with_constant(Values(0.9));
  schema.variable("number", Type::int32, {})
      .attribute("standard_name", "model_level_number")
      .with_constant(Values(3));
  schema.find_variable("wind")->attribute("coordinates", "number z sigma");
  EXPECT_EQ(refusal_of(schema), "accepted");
  schema.find_variable("z")->attributes = {{"long_name", "level_height"}, {"positive", "up"}};
  EXPECT_EQ(refusal_of(schema), "accepted");
  EXPECT_EQ(field_in(schema, "wind").places[0].level.number, 3);
}

/// They became winds along the grid.
TEST(PpDefinition, winds_by_the_compass_on_rotated_grids_are_refused) {
  for (const bool eastward : {true, false}) {
    const std::string name = eastward ? "eastward_wind" : "northward_wind";
    const std::string along = eastward ? "x_wind" : "y_wind";
    Schema schema = sound_pp_schema();
    mapping(schema, "rotated_latitude_longitude")
        .attribute("grid_north_pole_latitude", 37.5)
        .attribute("grid_north_pole_longitude", 177.5);
    Variable& wind = *schema.find_variable("ta");
    wind.attribute("standard_name", name).attribute("units", "m s-1");
    const std::string refused = refusal_of(schema);
    EXPECT_NE(refused.find("standard_name " + name + ", but lies on a rotated grid"), std::string::npos)
        << refused;
    EXPECT_NE(refused.find(along), std::string::npos) << refused;
    EXPECT_NE(refused.find("attribute PP_stash"), std::string::npos) << refused;
    wind.attribute("standard_name", along);
    EXPECT_EQ(refusal_of(schema), "accepted");
    wind.attribute("standard_name", name).attribute("PP_stash", eastward ? 15201 : 15202);
    EXPECT_EQ(refusal_of(schema), "accepted");
    std::erase_if(wind.attributes, [](const Attribute& it) { return it.name == "PP_stash"; });
    // Turned about the pole of the Earth, both directions are the same.
    schema.find_variable("pole")
        ->attribute("grid_north_pole_latitude", 90.0)
        .attribute("grid_north_pole_longitude", 40.0);
    EXPECT_EQ(refusal_of(schema), "accepted");
  }
}

/// Missing points were land.
TEST(PpDefinition, land_masks_with_missing_values_are_refused) {
  const auto masked = [](Values values) {
    Schema schema = sound_pp_schema();
    schema.find_variable("ta")->attribute("PP_packing", "land").attribute("PP_mask", "lsm");
    schema.variable("lsm", values.type, {"lat", "lon"})
        .attribute("standard_name", "land_binary_mask")
        .attribute("units", "1")
        .with_constant(std::move(values));
    return schema;
  };
  std::vector<std::int32_t> land(12, 1);
  EXPECT_EQ(refusal_of(masked(Values(land))), "accepted");
  land[2] = -1;
  EXPECT_EQ(refusal_of(masked(Values(land))), "accepted");
  Schema filled = masked(Values(land));
  filled.find_variable("lsm")->with_fill(Values(-1));
  EXPECT_NE(refusal_of(filled).find("PP_mask = 'lsm', whose value -1 at point 2"), std::string::npos)
      << refusal_of(filled);
  Schema named = masked(Values(land));
  named.find_variable("lsm")->attribute("valid_range", Values({0, 1}));
  EXPECT_NE(refusal_of(named).find("is a missing value"), std::string::npos) << refusal_of(named);
  land[2] = -2147483647;  // netCDF's default
  EXPECT_NE(refusal_of(masked(Values(land))).find("is a missing value"), std::string::npos);
  EXPECT_EQ(refusal_of(masked(Values(std::vector<std::int8_t>(12, -127)))), "accepted");
  std::vector<float> reals(12, 0.0F);
  reals[11] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(refusal_of(masked(Values(reals))).find("whose value nan at point 11"), std::string::npos)
      << refusal_of(masked(Values(reals)));
}

TEST(PpDefinition, rows_of_more_points_than_wgdos_holds_are_refused) {
  Schema schema = sound_pp_schema();
  schema.dimensions[3].length = 65536;
  std::vector<double> longitudes(65536);
  for (std::size_t i = 0; i < longitudes.size(); ++i) longitudes[i] = 0.005 * static_cast<double>(i);
  schema.find_variable("lon")->constant = Values(longitudes);
  EXPECT_TRUE(model::validate(schema, Format::pp));
  schema.find_variable("ta")->attribute("PP_accuracy", -3);
  const auto refused = model::validate(schema, Format::pp);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("WGDOS holds at most 65535"), std::string::npos)
      << refused.error().message;
}

TEST(PpDefinition, needs_a_time) {
  Schema schema = sound_pp_schema();
  schema.variables.erase(schema.variables.begin());
  const auto refused = model::validate(schema, Format::pp);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the unlimited dimension 'time' has no time"), std::string::npos);
  Schema fixed = sound_pp_schema();
  fixed.dimensions.erase(fixed.dimensions.begin());
  fixed.variables.erase(fixed.variables.begin());
  fixed.find_variable("ta")->dimensions.erase(fixed.find_variable("ta")->dimensions.begin());
  const auto timeless = model::validate(fixed, Format::pp);
  ASSERT_FALSE(timeless);
  EXPECT_NE(timeless.error().message.find("add a scalar constant"), std::string::npos)
      << timeless.error().message;
}

TEST(PpDefinition, a_scalar_time_between_seconds_is_refused_at_the_definition) {
  Schema schema = sound_pp_schema();
  schema.variable("reference", Type::float64, {})
      .attribute("standard_name", "forecast_reference_time")
      .attribute("units", "hours since 2000-01-01")
      .with_constant(Values(1.0 + 1e-5));
  schema.find_variable("ta")->attribute("coordinates", "reference");
  const auto refused = model::validate(schema, Format::pp);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().variable, "reference");
  EXPECT_NE(refused.error().message.find("PP headers hold whole seconds: round it"), std::string::npos)
      << refused.error().message;
  schema.find_variable("reference")->constant = Values(1.0);
  EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
}

TEST(PpDefinition, pieces_are_slabs) {
  const auto layout = model::make_layout(sound_pp_schema(), Format::pp, {});
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->variables[4].piece_count, 2u);
}

TEST(PpDefinition, understands_packing_and_words) {
  Schema schema = sound_pp_schema();
  schema.attribute("PP_LBEXP", 4000).attribute("PP_LBSRCE", 11011111);
  schema.find_variable("ta")
      ->attribute("PP_accuracy", -6)
      .attribute("PP_LBEXP", 5000)
      .attribute("um_stash_source", "m01s30i204");
  const Field field = field_in(schema);
  EXPECT_EQ(field.storage.method, PpPacking::wgdos);
  EXPECT_EQ(field.storage.accuracy, -6);
  const auto described = describe_slab(field, 1);
  ASSERT_TRUE(described) << described.error().text();
  using packing::PpInteger;
  EXPECT_EQ(described->header[static_cast<PpInteger>(28)], 5000);
  EXPECT_EQ(described->header[PpInteger::lbsrce], 11011111);
  EXPECT_EQ(described->header[PpInteger::lbuser4], 30204);
  EXPECT_EQ(described->header[PpInteger::lblev], 500);
}

TEST(PpDefinition, understands_hybrid_heights_with_bounds_and_numbers) {
  Schema schema = sound_pp_schema();
  schema.dimension("bnds", 2);
  *schema.find_variable("plev") = Variable();
  Variable& number = *std::ranges::find(schema.variables, std::string(), &Variable::name);
  number.name = "plev";
  number.type = Type::int32;
  number.dimensions = {"plev"};
  number.attribute("standard_name", "model_level_number").with_constant(Values({3, 7}));
  schema.variable("height", Type::float64, {"plev"})
      .attribute("standard_name", "atmosphere_hybrid_height_coordinate")
      .attribute("units", "m")
      .attribute("bounds", "height_bnds")
      .attribute("formula_terms", "a: height b: sigma orog: surface_altitude")
      .with_constant(Values({20.0, 80.0}));
  schema.variable("height_bnds", Type::float64, {"plev", "bnds"})
      .with_constant(Values({0.0, 50.0, 50.0, 120.0}));
  schema.variable("sigma", Type::float64, {"plev"}).with_constant(Values({0.99, 0.95}));
  schema.find_variable("ta")->attribute("coordinates", "height sigma");
  ASSERT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
  const Field field = field_in(schema);
  ASSERT_EQ(field.places.size(), 2u);
  EXPECT_EQ(field.places[1].level.kind, PpLevelKind::hybrid_height);
  EXPECT_EQ(field.places[1].level.number, 7);
  EXPECT_EQ(field.places[1].level.value, 80);
  EXPECT_EQ(field.places[1].level.coefficient, 0.95);
  EXPECT_EQ(field.places[1].level.bounds->upper, 120);
  EXPECT_FALSE(field.places[1].level.coefficient_bounds);
}

TEST(PpDefinition, understands_level_heights_without_orography_as_iris_names_them) {
  Schema schema = sound_pp_schema();
  schema.find_variable("plev")->attributes = {{"standard_name", "model_level_number"}};
  schema.find_variable("plev")->constant = Values({3.0, 7.0});
  schema.variable("z", Type::float64, {"plev"})
      .attribute("long_name", "level_height")
      .with_constant(Values({20.0, 80.0}));
  schema.variable("s", Type::float64, {"plev"})
      .attribute("long_name", "sigma")
      .with_constant(Values({0.99, 0.95}));
  schema.find_variable("ta")->attribute("coordinates", "z s").attribute("um_version", "12.1");
  const Field field = field_in(schema);
  ASSERT_EQ(field.places.size(), 2u);
  EXPECT_EQ(field.places[1].level.kind, PpLevelKind::hybrid_height);
  EXPECT_EQ(field.places[1].level.value, 80);
  EXPECT_EQ(field.places[1].level.number, 7);
  EXPECT_EQ(field.description.um_version, 1201);
  schema.find_variable("ta")->attribute("um_version", "12");
  EXPECT_FALSE(um::field_of(schema, *schema.find_variable("ta"), file_kind));
}

TEST(PpDefinition, understands_members_before_levels) {
  Schema schema = sound_pp_schema();
  schema.dimension("member", 3);
  schema.variable("member", Type::int32, {"member"})
      .attribute("standard_name", "realization")
      .with_constant(Values({1, 2, 5}));
  schema.find_variable("ta")->dimensions = {"time", "member", "plev", "lat", "lon"};
  const Field field = field_in(schema);
  ASSERT_EQ(field.places.size(), 6u);
  EXPECT_EQ(field.places[3].member, 2);
  EXPECT_EQ(field.places[3].level.value, 500);
  EXPECT_EQ(field.places[4].member, 5);
  EXPECT_EQ(field.places[4].level.value, 850);
}

TEST(PpDefinition, understands_rotated_grids) {
  Schema schema = sound_pp_schema();
  schema.find_variable("lat")->attributes = {{"standard_name", "grid_latitude"}, {"units", "degrees"}};
  schema.find_variable("lon")->attributes = {{"standard_name", "grid_longitude"}, {"units", "degrees"}};
  const auto refused = model::validate(schema, Format::pp);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("has no grid_mapping"), std::string::npos)
      << refused.error().message;
  schema.variable("pole", Type::int32, {})
      .attribute("grid_mapping_name", "rotated_latitude_longitude")
      .attribute("grid_north_pole_latitude", 37.5)
      .attribute("grid_north_pole_longitude", 177.5)
      .with_constant(Values(0));
  schema.find_variable("ta")->attribute("grid_mapping", "pole");
  const Field field = field_in(schema);
  EXPECT_EQ(field.description.grid.pole_latitude, 37.5);
  EXPECT_EQ(field.description.grid.pole_longitude, 177.5);
}

/// Some models give rotated latitudes the units degrees_north, and no standard name.
TEST(PpDefinition, the_grid_mapping_says_that_a_grid_is_rotated) {
  Schema schema = sound_pp_schema();
  mapping(schema, "rotated_latitude_longitude")
      .attribute("grid_north_pole_latitude", 37.5)
      .attribute("grid_north_pole_longitude", 177.5)
      .attribute("earth_radius", 6371229.0);
  ASSERT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
  EXPECT_EQ(field_in(schema).description.grid.pole_latitude, 37.5);
}

/// They became unrotated grids.
TEST(PpDefinition, rotated_grids_without_the_place_of_the_pole_are_refused) {
  struct Case {
    std::function<void(Variable&)> change;
    const char* text;
  };
  const std::vector<Case> cases{
      {[](Variable& pole) { pole.attribute("grid_north_pole_longitude", 177.5); },
       "'pole', which does not have the attribute grid_north_pole_latitude"},
      {[](Variable& pole) { pole.attribute("grid_north_pole_latitude", 37.5); },
       "'pole', which does not have the attribute grid_north_pole_longitude"},
      {[](Variable& pole) {
         pole.attribute("grid_north_pole_latitude", "37.5").attribute("grid_north_pole_longitude", 177.5);
       },
       "whose value is text for the attribute grid_north_pole_latitude"},
      {[](Variable& pole) {
         pole.attribute("grid_north_pole_latitude", 37.5)
             .attribute("grid_north_pole_longitude", Values({177.5, 0.0}));
       },
       "which has 2 values for the attribute grid_north_pole_longitude"},
      {[](Variable& pole) {
         pole.attribute("grid_north_pole_latitude", std::numeric_limits<double>::quiet_NaN())
             .attribute("grid_north_pole_longitude", 177.5);
       },
       "whose value is not finite for the attribute grid_north_pole_latitude"},
      {[](Variable& pole) {
         pole.attribute("grid_north_pole_latitude", 90.0).attribute("grid_north_pole_longitude", 0.0);
       },
       "by CF its longitudes are shifted by 180 degrees"},
      {[](Variable& pole) {
         pole.attribute("grid_north_pole_latitude", 37.5)
             .attribute("grid_north_pole_longitude", 177.5)
             .attribute("north_pole_grid_longitude", "10");
       },
       "whose value is text for the attribute north_pole_grid_longitude"},
  };
  for (const Case& it : cases) {
    Schema schema = sound_pp_schema();
    it.change(mapping(schema, "rotated_latitude_longitude"));
    const auto refused = model::validate(schema, Format::pp);
    ASSERT_FALSE(refused) << it.text;
    EXPECT_NE(refused.error().message.find(it.text), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().variable, "ta");
  }
  for (const double longitude : {40.0, 180.0}) {
    Schema schema = sound_pp_schema();
    mapping(schema, "rotated_latitude_longitude")
        .attribute("grid_north_pole_latitude", 90.0)
        .attribute("grid_north_pole_longitude", longitude);
    ASSERT_TRUE(model::validate(schema, Format::pp));
    EXPECT_EQ(field_in(schema).description.grid.pole_longitude, longitude);
  }
}

TEST(PpDefinition, what_describes_rounded_values_is_left_out) {
  Schema schema = sound_pp_schema();
  schema.find_variable("ta")
      ->attribute("largest_error", 0.5)
      .attribute("_QuantizeGranularBitRoundNumberOfSignificantDigits", 3)
      .attribute("quantization", "quantization_info_granular_bitround")
      .attribute("quantization_nsd", 3);
  schema.variable("quantization_info_granular_bitround", Type::int8, {})
      .attribute("algorithm", "granular_bitround")
      .attribute("implementation", "any")
      .with_constant(Values(std::int8_t{0}));
  EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
}

TEST(PpDefinition, cell_methods_have_the_names_of_cf) {
  Schema schema = sound_pp_schema();
  schema.find_variable("ta")->attribute("cell_methods", "lon: mean lat: point");
  EXPECT_EQ(cell_methods_of(schema, *schema.find_variable("ta")), "longitude: mean lat: point");
}

TEST(PpDefinition, formula_terms_that_change_are_fields_also_if_they_are_coordinates) {
  Schema schema = sound_pp_schema();
  schema.find_variable("plev")->attribute("formula_terms", "a: plev b: plev orog: height");
  schema.variable("height", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "surface_altitude")
      .attribute("units", "m");
  schema.find_variable("ta")->attribute("coordinates", "height");
  EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
  EXPECT_EQ(slab_dimensions(schema, *schema.find_variable("height")), 2u);
  schema.find_variable("height")->dimensions.erase(schema.find_variable("height")->dimensions.begin());
  EXPECT_EQ(slab_dimensions(schema, *schema.find_variable("height")), 0u);
}

/// Its values were discarded.
TEST(PpDefinition, a_coordinate_with_attributes_for_headers_is_refused_if_it_is_put) {
  for (const char* attribute : {"coordinates", "cell_measures", "formula_terms"}) {
    Schema schema = sound_pp_schema();
    const bool of_level = std::string(attribute) == "formula_terms";
    schema.find_variable(of_level ? "plev" : "ta")->attribute(attribute, "area: area");
    schema.variable("area", Type::float32, {"lat", "lon"})
        .attribute("standard_name", "cell_area")
        .attribute("units", "m2");
    EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
    schema.find_variable("area")->attribute("PP_stash", "m01s00i505");
    const auto refused = model::validate(schema, Format::pp);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().variable, "area");
    EXPECT_NE(
        refused.error().message.find(fmt::format("has the attribute 'PP_stash', but '{}' names it in '{}'",
                                                 of_level ? "plev" : "ta", attribute)),
        std::string::npos)
        << refused.error().message;
    schema.find_variable("area")->with_constant(Values(std::vector<float>(12)));
    EXPECT_TRUE(model::validate(schema, Format::pp));
  }
  Schema schema = sound_pp_schema();
  schema.variable("area", Type::float32, {"lat", "lon"})
      .attribute("PP_stash", "m01s00i505")
      .attribute("units", "1");
  EXPECT_EQ(slab_dimensions(schema, *schema.find_variable("area")), 2u);
  EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
}

TEST(PpDefinition, climatologies_have_bounds_of_their_own_name) {
  Schema schema = sound_pp_schema();
  schema.dimension("bnds", 2);
  schema.variable("limits", Type::float64, {"time", "bnds"});
  schema.find_variable("ta")->attribute("cell_methods", "time: mean within years time: mean over years");
  const auto refused = model::validate(schema, Format::pp);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the time has no bounds"), std::string::npos);
  schema.find_variable("time")->attribute("climatology", "limits");
  EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
  EXPECT_TRUE(field_in(schema).over_time);
}

TEST(PpDefinition, understands_bounds_of_latitudes_and_longitudes) {
  Schema schema = sound_pp_schema();
  schema.dimension("bnds", 2);
  schema.find_variable("lon")->attribute("bounds", "lon_bnds").constant = Values({0.0, 1.0, 3.0, 6.0});
  schema.variable("lon_bnds", Type::float64, {"lon", "bnds"})
      .with_constant(Values({-0.5, 0.5, 0.5, 2.0, 2.0, 4.5, 4.5, 8.0}));
  const Field field = field_in(schema);
  ASSERT_EQ(field.description.grid.longitude_bounds.size(), 4u);
  EXPECT_EQ(field.description.grid.longitude_bounds[3].upper, 8);
  EXPECT_TRUE(field.description.grid.latitude_bounds.empty());
  const auto described = describe_slab(field, 0);
  ASSERT_TRUE(described) << described.error().text();
  EXPECT_EQ(described->extra.size(), 3u * 5);  // longitudes, their lower and upper bounds
}

TEST(PpDefinition, levels_without_coordinates_are_those_of_the_quantity) {
  Schema schema = sound_pp_schema();
  schema.variable("psl", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "air_pressure_at_mean_sea_level")
      .attribute("units", "Pa");
  schema.variable("height", Type::float64, {})
      .attribute("standard_name", "height")
      .attribute("units", "m")
      .with_constant(Values(1.5));
  schema.variable("tas", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("units", "K")
      .attribute("coordinates", "height");
  EXPECT_EQ(field_in(schema, "psl").places[0].level.kind, PpLevelKind::mean_sea_level);
  EXPECT_EQ(field_in(schema, "tas").places[0].level.kind, PpLevelKind::height);
  EXPECT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
}

}  // namespace
}  // namespace afterbay::storage::pp
