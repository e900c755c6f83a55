// SPDX-License-Identifier: Apache-2.0
// Levels of GRIB2 messages, read by the tools of ecCodes.
#include <gtest/gtest.h>

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

  /// What is said when a file is created.
  std::string refusal(const Schema& schema) {
    const auto valid = model::validate(schema, Format::grib2);
    EXPECT_TRUE(valid) << valid.error().text();
    auto file = store_->create(request_of(path(), schema, Format::grib2, storage::Existing::replace));
    if (!file) return file.error().text();
    (*file)->abandon();
    return "accepted";
  }
};

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
      // Which unit readers show is no part of a message.
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
  // Whole numbers that are no numbers of levels.
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

TEST_F(Grib2Levels, that_cannot_be_known_are_refused_at_the_definition) {
  const auto said = [](const Schema& schema) {
    const auto valid = model::validate(schema, Format::grib2);
    return valid ? std::string("accepted") : valid.error().message;
  };
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
