// SPDX-License-Identifier: Apache-2.0
// Levels of GRIB2 messages, read by the tools of ecCodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/message_files.hpp"
#include "model/validate.hpp"

namespace afterbay::test {
namespace {

using LevelKeys = std::vector<std::pair<std::string, Values>>;

class Grib2Levels : public MessageFiles {
 protected:
  Grib2Levels() : MessageFiles(Format::grib2) {}

  /// grib2_schema with another vertical coordinate of three values.
  static Schema on_levels(const char* standard_name, const char* units, const std::vector<double>& values,
                          const LevelKeys& keys = {}) {
    Schema schema = grib2_schema();
    Variable& levels = *schema.find_variable("plev");
    levels.attribute("standard_name", standard_name).attribute("units", units).with_constant(Values(values));
    for (const auto& [key, value] : keys) schema.find_variable("ta")->attribute(key, value);
    return schema;
  }

  /// Keys of the messages of `ta`.
  std::vector<std::map<std::string, std::string>> written(const Schema& schema, const std::string& keys) {
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    auto messages = grib_keys(path(), keys);
    messages.resize(3);
    return messages;
  }

  /// What is said at the definition.
  static std::string refusal(const Schema& schema) {
    const auto valid = model::validate(schema, Format::grib2);
    return valid ? std::string("accepted") : valid.error().message;
  }
};

TEST_F(Grib2Levels, have_numbers_if_they_have_a_type_but_no_coordinate) {
  Schema schema = on_levels("air_pressure", "hPa", {850, 500, 250}, {{"GRIB_typeOfLevel", "hybrid"}});
  std::erase_if(schema.variables, [](const Variable& it) { return it.name == "plev"; });
  const auto messages = written(schema, "typeOfLevel,level,PVPresent");
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(messages[k].at("typeOfLevel"), "hybrid");
    EXPECT_EQ(messages[k].at("level"), std::to_string(k + 1));
    EXPECT_EQ(messages[k].at("PVPresent"), "0");
  }
}

TEST_F(Grib2Levels, have_the_value_of_the_coordinate_also_if_their_type_is_named) {
  struct Case {
    const char* type;
    const char* name;
    const char* units;
    std::vector<double> values;
    std::vector<std::string> levels;
    std::vector<std::string> scaled;
    const char* factor;
  };
  for (const Case& it : std::vector<Case>{
           {"isobaricInhPa",
            "air_pressure",
            "hPa",
            {850, 500, 250},
            {"850", "500", "250"},
            {"85000", "50000", "25000"},
            "0"},
           {"isobaricInPa",
            "air_pressure",
            "hPa",
            {850, 500, 250},
            {"85000", "50000", "25000"},
            {"85000", "50000", "25000"},
            "0"},
           {"heightAboveGround",
            "height",
            "m",
            {1.5, 2.5, 10.5},
            {"1.5", "2.5", "10.5"},
            {"15", "25", "105"},
            "1"},
           {"sigma",
            "atmosphere_sigma_coordinate",
            "1",
            {0.995, 0.975, 0.125},
            {"0.995", "0.975", "0.125"},
            {"995", "975", "125"},
            "3"},
           {"depthBelowSea", "depth", "m", {0.5, 1.5, 2.5}, {"0.5", "1.5", "2.5"}, {"5", "15", "25"}, "1"},
           {"theta", "air_potential_temperature", "K", {300, 315.5, 330}, {"300", "315.5", "330"}, {}, ""}}) {
    const auto messages = written(on_levels(it.name, it.units, it.values, {{"GRIB_typeOfLevel", it.type}}),
                                  "typeOfLevel,level:d,scaledValueOfFirstFixedSurface,"
                                  "scaleFactorOfFirstFixedSurface");
    for (std::size_t k = 0; k < 3; ++k) {
      // Which unit readers show is not part of a message.
      if (std::string(it.type) != "isobaricInPa") {
        EXPECT_EQ(messages[k].at("typeOfLevel"), it.type);
        EXPECT_EQ(messages[k].at("level"), it.levels[k]) << it.type;
      }
      if (!it.scaled.empty()) {
        EXPECT_EQ(messages[k].at("scaledValueOfFirstFixedSurface"), it.scaled[k]) << it.type;
        EXPECT_EQ(messages[k].at("scaleFactorOfFirstFixedSurface"), it.factor) << it.type;
      }
    }
  }
}

TEST_F(Grib2Levels, a_type_of_level_that_contradicts_the_coordinate_is_refused) {
  const auto said = [&](const char* type, const char* name, const char* units) {
    return refusal(on_levels(name, units, {1, 2, 3}, {{"GRIB_typeOfLevel", type}}));
  };
  for (const auto& [type, name, units] :
       {std::tuple{"heightAboveGround", "air_pressure", "hPa"}, std::tuple{"isobaricInhPa", "height", "m"},
        std::tuple{"heightAboveSea", "height", "m"}, std::tuple{"hybrid", "altitude", "m"},
        std::tuple{"isobaricInhPa", "model_level_number", "1"}}) {
    const std::string text = said(type, name, units);
    for (const std::string& part : {std::string("'ta'"), std::string("those of the coordinate 'plev'"),
                                    fmt::format("the type of level '{}'", type)})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(said("generalVertical", "model_level_number", "1"), "accepted");
  EXPECT_EQ(said("soil", "model_level_number", "1"), "accepted");
  EXPECT_NE(refusal(on_levels("air_pressure", "hPa", {1, 2, 3}, {{"GRIB_typeOfFirstFixedSurface", 103}}))
                .find("'heightAboveGround'"),
            std::string::npos);
}

TEST_F(Grib2Levels, model_levels_have_numbers_whatever_the_values_of_hybrid_coordinates) {
  using Levels = std::vector<std::string>;
  const auto levels = [&](const Schema& schema, const char* type) {
    Levels found;
    for (const auto& message : written(schema,
                                       "typeOfFirstFixedSurface:l,scaleFactorOfFirstFixedSurface,"
                                       "scaledValueOfFirstFixedSurface")) {
      EXPECT_EQ(message.at("typeOfFirstFixedSurface"), type);
      EXPECT_EQ(message.at("scaleFactorOfFirstFixedSurface"), "0");
      found.push_back(message.at("scaledValueOfFirstFixedSurface"));
    }
    return found;
  };
  Schema heights = on_levels("atmosphere_hybrid_height_coordinate", "m", {20, 53.5, 100});
  EXPECT_EQ(levels(heights, "118"), (Levels{"1", "2", "3"}));
  heights.variable("number", Type::int32, {"plev"})
      .attribute("standard_name", "model_level_number")
      .with_constant(Values({3, 5, 70}));
  heights.find_variable("ta")->attribute("coordinates", "number");
  EXPECT_EQ(levels(heights, "118"), (Levels{"3", "5", "70"}));
  // Whole numbers that are not numbers of levels.
  EXPECT_EQ(levels(on_levels("atmosphere_hybrid_sigma_pressure_coordinate", "1", {0.5, 1, 1}), "105"),
            (Levels{"1", "2", "3"}));
  EXPECT_EQ(levels(on_levels("model_level_number", "1", {0, 60, 2}), "105"), (Levels{"0", "60", "2"}));
}

TEST_F(Grib2Levels, depths_lie_below_the_sea_surface_if_the_parameter_is_of_the_ocean) {
  const auto type = [&](const char* standard_name, const LevelKeys& keys) {
    Schema schema = on_levels("depth", "m", {0.5, 5, 100}, keys);
    Variable& ta = *schema.find_variable("ta");
    std::erase_if(ta.attributes, [](const Attribute& it) { return it.name == "units"; });
    ta.attribute("standard_name", standard_name);
    const auto messages = written(schema, "typeOfLevel,level,paramId");
    EXPECT_EQ(messages[2].at("level"), "100");
    return messages[0].at("typeOfLevel") + ' ' + messages[0].at("paramId");
  };
  EXPECT_EQ(type("", {{"GRIB_paramId", 3088}}), "depthBelowSea 3088");  // salinity
  EXPECT_EQ(type("", {{"GRIB_discipline", 10}, {"GRIB_parameterCategory", 4}, {"GRIB_parameterNumber", 3}}),
            "depthBelowSea 3088");
  EXPECT_EQ(type("sea_water_salinity", {{"GRIB_paramId", 3088}}), "depthBelowSea 3088");
  EXPECT_EQ(type("", {{"GRIB_paramId", 3088}, {"GRIB_typeOfLevel", "depthBelowLand"}}),
            "depthBelowLand 3088");
  EXPECT_EQ(type("", {{"GRIB_paramId", 260360}}), "depthBelowLand 260360");  // soil temperature
  // This salinity is one of layers of an ocean model.
  Schema layers = on_levels("depth", "m", {0.5, 5, 100}, {{"GRIB_paramId", 262500}});
  std::erase_if(layers.find_variable("ta")->attributes,
                [](const Attribute& it) { return it.name == "units"; });
  EXPECT_NE(refusal(layers).find("the type of level 'oceanModelLayer'"), std::string::npos)
      << refusal(layers);
}

/// Soil levels, for example, are layers; so are means over heights.
TEST_F(Grib2Levels, with_bounds_are_layers) {
  struct Case {
    const char* name;
    const char* units;
    std::vector<double> values, bounds;
    const char* type;
    std::vector<std::string> first, second;
  };
  for (const Case& it : std::vector<Case>{{"depth",
                                           "m",
                                           {0.05, 0.2, 0.65},
                                           {0, 0.1, 0.1, 0.35, 0.35, 1},
                                           "106",
                                           {"0", "1", "35"},
                                           {"1", "35", "1"}},
                                          {"height",
                                           "km",
                                           {1, 2, 3},
                                           {0.5, 1.5, 1.5, 2.5, 2.5, 3.5},
                                           "103",
                                           {"1500", "2500", "3500"},
                                           {"500", "1500", "2500"}},
                                          {"air_pressure",
                                           "hPa",
                                           {850, 500, 250},
                                           {900, 700, 700, 400, 400, 200},
                                           "100",
                                           {"70000", "40000", "20000"},
                                           {"90000", "70000", "40000"}}}) {
    Schema schema = on_levels(it.name, it.units, it.values);
    schema.dimension("bnds", 2);
    schema.find_variable("plev")->attribute("bounds", "plev_bnds");
    schema.variable("plev_bnds", Type::float64, {"plev", "bnds"}).with_constant(Values(it.bounds));
    schema.find_variable("ta")->attribute("cell_methods", "plev: mean");
    const auto messages = written(schema,
                                  "typeOfFirstFixedSurface:l,typeOfSecondFixedSurface:l,"
                                  "scaledValueOfFirstFixedSurface,scaledValueOfSecondFixedSurface");
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(messages[k].at("typeOfFirstFixedSurface"), it.type);
      EXPECT_EQ(messages[k].at("typeOfSecondFixedSurface"), it.type);
      EXPECT_EQ(messages[k].at("scaledValueOfFirstFixedSurface"), it.first[k]) << it.name;
      EXPECT_EQ(messages[k].at("scaledValueOfSecondFixedSurface"), it.second[k]) << it.name;
    }
    EXPECT_EQ(grib_keys(path(), "typeOfSecondFixedSurface:l")[3].at("typeOfSecondFixedSurface"), "255");
  }
}

/// 4e-8 Pa became 0 Pa.
TEST_F(Grib2Levels, small_ones_keep_their_digits) {
  const auto read = [&](const Schema& schema) {
    std::vector<std::string> levels;
    for (const auto& it : written(schema, "scaleFactorOfFirstFixedSurface,scaledValueOfFirstFixedSurface"))
      levels.push_back(it.at("scaledValueOfFirstFixedSurface") + "e-" +
                       it.at("scaleFactorOfFirstFixedSurface"));
    return levels;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(read(on_levels("air_pressure", "Pa", {4e-8, 7e-5, 1.5e-3})), (Texts{"4e-8", "7e-5", "15e-4"}));
  EXPECT_EQ(read(on_levels("height", "m", {100000.01, 100000.02, 2})),
            (Texts{"10000001e-2", "10000002e-2", "2e-0"}));
  EXPECT_EQ(read(on_levels("air_pressure", "hPa", {0.3, 0.7, 1013.25})),
            (Texts{"30e-0", "70e-0", "101325e-0"}));
  // Sums of steps.
  EXPECT_EQ(read(on_levels("height", "m", {2.0000000000001, 30.000000000001, 4}))[1], "30e-0");
  // As many digits as there is room for.
  EXPECT_EQ(read(on_levels("air_pressure", "Pa", {1.0 / 3, 2.0 / 3, 1}))[0], "333333333e-9");
  // 32-bit reals as they are written in decimals.
  Schema single = on_levels("air_pressure", "hPa", {});
  single.find_variable("plev")->type = Type::float32;
  single.find_variable("plev")->with_constant(Values({0.1f, 0.3f, 700.7f}));
  EXPECT_EQ(read(single), (Texts{"10e-0", "30e-0", "70070e-0"}));
  EXPECT_EQ(read(on_levels("height", "m", {100000.0625, 1.5, 2}))[0], "1000000625e-4");
}

TEST_F(Grib2Levels, that_would_have_the_same_numbers_are_refused) {
  const std::string said = refusal(on_levels("height", "m", {1000000.0001, 1000000.0002, 2}));
  EXPECT_NE(said.find("the levels 0 and 1 (from 0), 1000000.0001 and 1000000.0002, would both be written as "
                      "1000000 times 10^0"),
            std::string::npos)
      << said;
  EXPECT_NE(refusal(on_levels("model_level_number", "1", {1, 2, 1})).find("the levels 0 and 2"),
            std::string::npos);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal(on_levels("height", "m", {1, nan, 2})).find("FirstFixedSurface is nan"),
            std::string::npos);
}

TEST_F(Grib2Levels, scalar_ones_are_converted) {
  for (const auto& [name, units, value, type, scaled] :
       {std::tuple{"air_pressure", "Pascal", 50000.0, "100", "50000"},
        std::tuple{"height", "km", 1.5, "103", "1500"}, std::tuple{"height", "metres", 2.0, "103", "2"}}) {
    Schema schema = grib2_schema();
    schema.variable("z", Type::float64, {})
        .attribute("standard_name", name)
        .attribute("units", units)
        .with_constant(Values(value));
    schema.find_variable("ps")->attribute("coordinates", "z");
    written(schema, "level");
    const auto messages = grib_keys(path(), "typeOfFirstFixedSurface:l,scaledValueOfFirstFixedSurface");
    EXPECT_EQ(messages[3].at("typeOfFirstFixedSurface"), type) << units;
    EXPECT_EQ(messages[3].at("scaledValueOfFirstFixedSurface"), scaled) << units;
  }
}

/// In any order of levels, and with the bounds of terms that CF and CMIP have.
TEST_F(Grib2Levels, of_hybrid_pressures_have_the_coefficients_of_half_levels) {
  const auto schema_of = [](bool downwards, bool own_bounds) {
    Schema schema = on_levels("atmosphere_hybrid_sigma_pressure_coordinate", "1", {0.2, 0.6, 0.9});
    schema.dimension("bnds", 2);
    Variable& lev = *schema.find_variable("plev");
    lev.attribute("formula_terms", "ap: ap b: b ps: ps");
    const auto turned = [&](std::vector<double> values) {
      if (!downwards) std::ranges::reverse(values);
      return Values(values);
    };
    schema.variable("ap", Type::float64, {"plev"}).with_constant(turned({500, 900, 400}));
    schema.variable("b", Type::float64, {"plev"}).with_constant(turned({0.1, 0.5, 0.9}));
    schema.variable("ap_bnds", Type::float64, {"plev", "bnds"})
        .with_constant(turned({0, 1000, 1000, 800, 800, 0}));
    schema.variable("b_bnds", Type::float64, {"plev", "bnds"})
        .with_constant(turned({0, 0.25, 0.25, 0.75, 0.75, 1}));
    schema.variable("number", Type::int32, {"plev"})
        .attribute("standard_name", "model_level_number")
        .with_constant(downwards ? Values({1, 2, 3}) : Values({3, 2, 1}));
    schema.find_variable("ta")->attribute("coordinates", "number");
    if (own_bounds) {
      schema.find_variable("ap")->attribute("bounds", "ap_bnds");
      schema.find_variable("b")->attribute("bounds", "b_bnds");
    } else {
      schema.find_variable("plev")->attribute("bounds", "lev_bnds");
      schema.variable("lev_bnds", Type::float64, {"plev", "bnds"})
          .attribute("formula_terms", "ap: ap_bnds b: b_bnds ps: ps")
          .with_constant(Values({0.0, 0.3, 0.3, 0.8, 0.8, 1.0}));
    }
    return schema;
  };
  for (const bool downwards : {true, false})
    for (const bool own_bounds : {true, false}) {
      const auto messages = written(schema_of(downwards, own_bounds), "PVPresent,NV,level");
      EXPECT_EQ(messages[0].at("PVPresent"), "1");
      EXPECT_EQ(messages[0].at("NV"), "8");
      EXPECT_EQ(messages[0].at("level"), downwards ? "1" : "3");
      std::istringstream pv(
          output_of("echo 'if (count == 1) { print \"[pv]\"; }' | grib_filter - " + path()));
      std::vector<double> found;
      for (double value = 0; pv >> value;) found.push_back(value);
      EXPECT_EQ(found, (std::vector<double>{0, 1000, 800, 0, 0, 0.25, 0.75, 1}));
    }
  Schema part = schema_of(true, true);
  part.find_variable("number")->constant = Values({4, 5, 6});
  EXPECT_NE(refusal(part).find("for levels 1 to 3, or leave out formula_terms"), std::string::npos)
      << refusal(part);
}

TEST_F(Grib2Levels, that_cannot_be_known_are_refused_at_the_definition) {
  const auto said = [](const Schema& schema) { return refusal(schema); };
  EXPECT_NE(said(on_levels("model_level_number", "1", {1, 2.5, 3})).find("with the value 2.5"),
            std::string::npos);
  EXPECT_NE(said(on_levels("model_level_number", "1", {1, -2, 3})).find("with the value -2"),
            std::string::npos);
  Schema unknown = on_levels("height", "m", {});
  unknown.find_variable("plev")->constant = Values();
  EXPECT_NE(said(unknown).find("values are not known when the file is defined"), std::string::npos)
      << said(unknown);
}

}  // namespace
}  // namespace afterbay::test
