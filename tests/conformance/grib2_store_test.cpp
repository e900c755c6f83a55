// SPDX-License-Identifier: Apache-2.0
// GRIB2 files, read by the tools of ecCodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <tuple>

#include "conformance/message_files.hpp"
#include "model/largest_error.hpp"
#include "model/message_accuracy.hpp"
#include "model/validate.hpp"
#include "storage/grib2/definition.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

Variable variable(const char* name, Type type, const std::vector<std::string>& dimensions) {
  Variable made;
  made.name = name;
  made.type = type;
  made.dimensions = dimensions;
  return made;
}

class Grib2Store : public MessageFiles {
 protected:
  Grib2Store() : MessageFiles(Format::grib2) {}

  /// Compares a message with the values of a variable; `slab` counts its levels.
  void expect_values(const storage::FileRequest& request, std::size_t message, const char* name,
                     std::uint64_t record, std::uint64_t slab, double tolerance) {
    std::uint32_t v = 0;
    while (request.schema.variables[v].name != name) ++v;
    const auto bytes = grib2_data(request.schema, *request.layout)(v, record);
    const std::vector<double> read = grib_values(path(), message);
    ASSERT_EQ(read.size(), request.layout->stored[v].slab.product());
    for (std::size_t i = 0; i < read.size(); ++i) {
      const std::size_t at = slab * read.size() + i;
      double wanted = 0;
      if (request.schema.variables[v].type == Type::float32) {
        float value = 0;
        std::memcpy(&value, bytes.data() + at * 4, 4);
        wanted = value;
      } else {
        std::memcpy(&wanted, bytes.data() + at * 8, 8);
      }
      ASSERT_NEAR(read[i], wanted, tolerance) << name << " point " << i;
    }
  }
};

TEST_F(Grib2Store, writes_messages_of_each_record_variable_and_level_in_order) {
  const auto request = write_all(grib2_schema(), 2);
  const auto messages =
      grib_keys(path(), "shortName,typeOfLevel,level,dataDate,dataTime,step,Ni,Nj,gridType,bitsPerValue");
  ASSERT_EQ(messages.size(), 9u);  // 2 x (3 ta, ps), lsm
  const std::vector<std::string> names{"t", "t", "t", "sp", "t", "t", "t", "sp", "lsm"};
  const std::vector<std::string> levels{"850", "500", "250", "0", "850", "500", "250", "0", "0"};
  for (std::size_t m = 0; m < messages.size(); ++m) {
    EXPECT_EQ(messages[m].at("shortName"), names[m]) << m;
    EXPECT_EQ(messages[m].at("level"), levels[m]) << m;
    EXPECT_EQ(messages[m].at("dataDate"), "20261101") << m;
    EXPECT_EQ(messages[m].at("dataTime"), m >= 4 && m < 8 ? "1200" : "600") << m;
    EXPECT_EQ(messages[m].at("step"), "0") << m;
    EXPECT_EQ(messages[m].at("gridType"), "regular_ll") << m;
    EXPECT_EQ(messages[m].at("Ni") + "x" + messages[m].at("Nj"), "36x19") << m;
  }
  EXPECT_EQ(messages[0].at("typeOfLevel"), "isobaricInhPa");
  EXPECT_EQ(messages[3].at("typeOfLevel"), "surface");
  for (const std::uint64_t record : {0u, 1u}) {
    for (const std::uint64_t level : {0u, 1u, 2u})
      expect_values(request, record * 4 + level, "ta", record, level, 1e-3);
    expect_values(request, record * 4 + 3, "ps", record, 0, 1e-3);
  }
  expect_values(request, 8, "lsm", 0, 0, 1e-3);
}

TEST_F(Grib2Store, leaves_out_slabs_and_records_that_were_never_put) {
  const auto request = request_of(path(), grib2_schema(), Format::grib2);
  const Source source = grib2_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  for (const std::uint64_t record : {5u, 2u}) {
    for (const model::Piece& piece : request.layout->pieces) {
      const std::string& name = request.schema.variables[piece.variable].name;
      if (name == "lsm" || (name == "ta" && piece.number == 1)) continue;
      ASSERT_TRUE(write_pieces(**file, request, {piece}, record, source));
    }
  }
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(published->records, 6u);
  const auto messages = grib_keys(path(), "shortName,level,dataDate,dataTime");
  ASSERT_EQ(messages.size(), 6u);
  EXPECT_EQ(messages[1].at("level"), "250");
  EXPECT_EQ(messages[0].at("dataTime"), "1800");
  EXPECT_EQ(messages[3].at("dataDate"), "20261102");
  EXPECT_EQ(messages[3].at("dataTime"), "1200");
}

TEST_F(Grib2Store, writes_statistics_with_their_intervals) {
  Schema schema = grib2_schema();
  schema.dimension("bnds", 2);
  schema.find_variable("time")->attribute("bounds", "time_bnds");
  schema.variable("time_bnds", Type::float64, {"time", "bnds"});
  schema.find_variable("ta")->attribute("cell_methods", "area: mean time: mean (interval: 20 minutes)");
  schema.find_variable("ps")->attribute("cell_methods", "time: maximum");
  write_all(schema, 2);
  const auto messages =
      grib_keys(path(), "shortName,stepType,dataDate,dataTime,stepRange,validityDate,validityTime");
  ASSERT_EQ(messages.size(), 9u);
  EXPECT_EQ(messages[0].at("stepType"), "avg");
  EXPECT_EQ(messages[3].at("stepType"), "max");
  EXPECT_EQ(messages[8].at("stepType"), "instant");
  EXPECT_EQ(messages[4].at("dataTime"), "600");
  EXPECT_EQ(messages[4].at("stepRange"), "0-6");
  EXPECT_EQ(messages[4].at("validityTime"), "1200");
}

TEST_F(Grib2Store, counts_steps_from_the_forecasts_reference_time) {
  Schema schema = grib2_schema();
  schema.variable("reference", Type::float64, {})
      .attribute("standard_name", "forecast_reference_time")
      .attribute("units", "hours since 2026-11-01")
      .with_constant(Values(-1.5));
  schema.find_variable("ta")->attribute("coordinates", "reference");
  write_all(schema, 1);
  const auto messages = grib_keys(path(), "dataDate,dataTime,stepUnits,stepRange,validityDate,validityTime");
  EXPECT_EQ(messages[0].at("dataDate"), "20261031");
  EXPECT_EQ(messages[0].at("dataTime"), "2230");
  EXPECT_EQ(messages[0].at("validityTime"), "600");
}

/// Messages had a negative step.
TEST_F(Grib2Store, refuses_a_forecasts_reference_time_after_the_time) {
  Schema schema = grib2_schema();
  schema.variable("reference", Type::float64, {})
      .attribute("standard_name", "forecast_reference_time")
      .attribute("units", "hours since 2026-11-01")
      .with_constant(Values(7.0));
  schema.find_variable("ta")->attribute("coordinates", "reference");
  const auto request = request_of(path(), schema, Format::grib2);
  const Source source = grib2_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  Result<> written;
  for (std::size_t f = 0; written && f < request.layout->frames.size(); ++f)
    if (auto frame = write_frame(**file, request, f, 0, source); !frame) written = fail(frame.error());
  if (written)
    if (auto published = (*file)->publish(); !published) written = fail(published.error());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().text().find("the forecast reference time 2026-11-01 07:00:00 is after the time "
                                        "2026-11-01 06:00:00"),
            std::string::npos)
      << written.error().text();
}

TEST_F(Grib2Store, marks_missing_values_in_a_bitmap) {
  Schema schema = grib2_schema();
  schema.find_variable("ta")->with_fill(Values(-999.0f));
  const auto request = request_of(path(), schema, Format::grib2);
  const Source smooth = grib2_data(request.schema, *request.layout);
  const Source source = [&](std::uint32_t v, std::uint64_t record) {
    auto bytes = smooth(v, record);
    if (request.schema.variables[v].name != "ta") return bytes;
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
      const float missing = -999;
      // Some of the first level, all of the second.
      if ((i < 684 && i % 5 == 0) || (i >= 684 && i < 1368)) std::memcpy(bytes.data() + i * 4, &missing, 4);
    }
    return bytes;
  };
  write(request, all_jobs(request, 1), source);
  const auto messages = grib_keys(path(), "bitmapPresent,numberOfMissing");
  EXPECT_EQ(messages[0].at("numberOfMissing"), "137");
  EXPECT_EQ(messages[1].at("numberOfMissing"), "684");
  EXPECT_EQ(messages[2].at("bitmapPresent"), "0");
  const std::vector<double> values = grib_values(path(), 0);
  const auto wanted = smooth(4, 0);
  for (std::size_t i = 0; i < 684; ++i) {
    float value = 0;
    std::memcpy(&value, wanted.data() + i * 4, 4);
    EXPECT_EQ(std::isnan(values[i]), i % 5 == 0) << i;
    if (i % 5 != 0) {
      EXPECT_NEAR(values[i], value, 1e-3);
    }
  }
}

TEST_F(Grib2Store, values_of_missing_value_are_missing_too) {
  const std::vector<float> missing{-999, 1e20F, -1};
  Schema schema = grib2_schema();
  schema.find_variable("ta")->with_fill(Values(missing[0])).attribute("missing_value", Values({1e20, -1.0}));
  const auto request = request_of(path(), schema, Format::grib2);
  const Source smooth = grib2_data(request.schema, *request.layout);
  const Source source = [&](std::uint32_t v, std::uint64_t record) {
    auto bytes = smooth(v, record);
    if (request.schema.variables[v].name == "ta")
      for (std::size_t i = 0; i < missing.size(); ++i)
        std::memcpy(bytes.data() + 40 * i, &missing[i], sizeof(float));
    return bytes;
  };
  write(request, all_jobs(request, 1), source);
  EXPECT_EQ(grib_keys(path(), "numberOfMissing")[0].at("numberOfMissing"), "3");
  const std::vector<double> values = grib_values(path(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool gone = i % 10 == 0 && i / 10 < missing.size();
    ASSERT_EQ(std::isnan(values[i]), gone) << i;
    if (!gone) {
      ASSERT_NEAR(values[i], 254, 21) << i;
    }
  }
}

TEST_F(Grib2Store, refuses_values_that_cannot_be_packed) {
  const auto request = request_of(path(), grib2_schema(), Format::grib2);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      auto bytes = grib2_data(request.schema, *request.layout)(v, record);
      if (request.schema.variables[v].name == "ta") std::memcpy(bytes.data() + 40, &bad, 4);
      return bytes;
    };
    auto file = store_->create(request);
    ASSERT_TRUE(file) << file.error().text();
    Result<storage::WriteCost> written;
    for (std::size_t f = 0; written && f < request.layout->frames.size(); ++f)
      written = write_frame(**file, request, f, 0, source);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().variable, "ta");
    EXPECT_NE(written.error().message.find("record 0 of variable 'ta'"), std::string::npos)
        << written.error().text();
  }
}

TEST_F(Grib2Store, packs_by_the_keys_of_attributes) {
  Schema schema = grib2_schema();
  schema.find_variable("ta")->attribute("GRIB_packingType", "grid_ccsds").attribute("GRIB_bitsPerValue", 24);
  schema.find_variable("ps")->attribute("GRIB_decimalScaleFactor", 1);
  schema.attribute("GRIB_centre", "ecmf");
  const auto request = write_all(schema, 1);
  const auto messages = grib_keys(path(), "packingType,bitsPerValue,centre");
  EXPECT_EQ(messages[0].at("packingType"), "grid_ccsds");
  EXPECT_EQ(messages[0].at("bitsPerValue"), "24");
  EXPECT_EQ(messages[0].at("centre"), "ecmf");
  EXPECT_EQ(messages[3].at("packingType"), "grid_simple");
  expect_values(request, 0, "ta", 0, 0, 1e-5);
  expect_values(request, 3, "ps", 0, 0, 0.05 + 1e-6);
}

TEST_F(Grib2Store, states_the_largest_error_of_packing) {
  const std::vector<std::pair<const char*, Values>> keys{{"GRIB_bitsPerValue", 4},
                                                         {"GRIB_bitsPerValue", 10},
                                                         {"GRIB_decimalScaleFactor", 1},
                                                         {"GRIB_decimalScaleFactor", -1},
                                                         {"GRIB_decimalScaleFactor", 3}};
  for (const char* type : {"grid_simple", "grid_ccsds"})
    for (const auto& [key, value] : keys) {
      Schema schema = grib2_schema();
      schema.find_variable("ta")->attribute("GRIB_packingType", type).attribute(key, value);
      const auto request = request_of(path(), schema, Format::grib2, Existing::replace);
      const Source source = grib2_data(request.schema, *request.layout);
      auto file = store_->create(request);
      ASSERT_TRUE(file) << file.error().text();
      double said = -1;
      for (std::size_t f = 0; f < request.layout->frames.size(); ++f) {
        const auto written = write_frame(**file, request, f, 0, source);
        ASSERT_TRUE(written) << written.error().text();
        for (const model::LargestError& it : written->errors)
          if (request.schema.variables[it.variable].name == "ta") said = std::max(said, it.value);
      }
      ASSERT_TRUE((*file)->publish());
      double found = 0;
      std::uint32_t v = 0;
      while (request.schema.variables[v].name != "ta") ++v;
      const auto bytes = source(v, 0);
      for (std::size_t slab = 0; slab < 3; ++slab) {
        const std::vector<double> read = grib_values(path(), slab);
        for (std::size_t i = 0; i < read.size(); ++i) {
          float wanted = 0;
          std::memcpy(&wanted, bytes.data() + (slab * read.size() + i) * 4, 4);
          found = std::max(found, std::abs(read[i] - static_cast<double>(wanted)));
        }
      }
      // The tool prints nine digits or so.
      EXPECT_NEAR(said, found, 1e-6 * std::max(1.0, said)) << type << ' ' << key;
      EXPECT_GT(said, 0) << type << ' ' << key;
    }
}

TEST_F(Grib2Store, keeps_a_single_value_and_the_accuracy_of_the_file) {
  Schema schema = grib2_schema();
  schema.attribute("GRIB_decimalScaleFactor", 2).attribute("GRIB_packingType", "grid_ccsds");
  schema.find_variable("ps")->attribute("GRIB_bitsPerValue", 8);
  const auto request = request_of(path(), schema, Format::grib2);
  const float constant = 273.15F;
  const Source source = [&](std::uint32_t v, std::uint64_t record) {
    auto bytes = grib2_data(request.schema, *request.layout)(v, record);
    if (request.schema.variables[v].name != "ta") return bytes;
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) std::memcpy(bytes.data() + i * 4, &constant, 4);
    return bytes;
  };
  write(request, all_jobs(request, 1), source);
  const auto messages = grib_keys(path(), "decimalScaleFactor,bitsPerValue,packingType");
  EXPECT_EQ(messages[0].at("decimalScaleFactor"), "0");
  EXPECT_EQ(messages[0].at("bitsPerValue"), "0");
  EXPECT_EQ(messages[3].at("bitsPerValue"), "8");
  EXPECT_EQ(messages[3].at("packingType"), "grid_ccsds");
  EXPECT_NEAR(grib_values(path(), 0)[5], 273.15, 1e-4);
  expect_values(request, 4, "lsm", 0, 0, 0.005 + 1e-6);
}

TEST_F(Grib2Store, stores_values_unpacked_if_packing_cannot_keep_the_decimal_scale) {
  // 32 bits hold the float32 values of ta exactly.
  for (const auto& [type, name] : {std::pair("grid_simple", "ta"), std::pair("grid_ccsds", "ps")})
    for (const int decimals : {12, 15, 20, 38}) {
      Schema schema = grib2_schema();
      schema.find_variable(name)
          ->attribute("GRIB_packingType", type)
          .attribute("GRIB_decimalScaleFactor", decimals);
      const auto request = request_of(path(), schema, Format::grib2, Existing::replace);
      auto file = store_->create(request);
      ASSERT_TRUE(file) << file.error().text();
      std::uint64_t unpacked = 0;
      for (std::size_t f = 0; f < request.layout->frames.size(); ++f) {
        const auto written = write_frame(**file, request, f, 0, grib2_data(request.schema, *request.layout));
        ASSERT_TRUE(written) << written.error().text();
        unpacked += written->unpacked_messages;
      }
      ASSERT_TRUE((*file)->publish());
      const bool levels = std::string(name) == "ta";
      EXPECT_EQ(unpacked, levels ? 3u : 1u) << type << ' ' << decimals;
      expect_values(request, levels ? 0 : 3, name, 0, 0, 1e-9);
      EXPECT_EQ(grib_keys(path(), "packingType")[levels ? 0 : 3].at("packingType"), "grid_ieee");
    }
}

TEST_F(Grib2Store, refuses_keys_of_packing_that_no_message_can_have) {
  const auto said = [](const std::vector<std::pair<const char*, Values>>& keys) {
    Schema schema = grib2_schema();
    for (const auto& [key, value] : keys) schema.find_variable("ta")->attribute(key, value);
    const auto valid = model::validate(schema, Format::grib2);
    return valid ? std::string("accepted") : valid.error().text();
  };
  const auto expect = [&](const std::vector<std::pair<const char*, Values>>& keys, const char* text) {
    EXPECT_NE(said(keys).find(text), std::string::npos) << said(keys);
  };
  for (const int bits : {0, -1, 33, 200})
    expect({{"GRIB_bitsPerValue", bits}}, "it must be a whole number from 1 to 32");
  expect({{"GRIB_bitsPerValue", 2.5}}, "it must be a whole number from 1 to 32");
  expect({{"GRIB_decimalScaleFactor", 300}}, "it must be a whole number from -38 to 38");
  expect({{"GRIB_packingType", "grid_ccds"}}, "did you mean");
  expect({{"GRIB_packingType", "grid_jpeg"}}, "it must be grid_simple or grid_ccsds");
  expect({{"GRIB_bitsPerValue", 4}, {"GRIB_decimalScaleFactor", 2}}, "of which each sets the accuracy");
  expect({{"GRIB_changeDecimalPrecision", 2}}, "which follows from packing");
  EXPECT_EQ(said({{"GRIB_decimalScaleFactor", 2}, {"GRIB_packingType", "grid_ccsds"}}), "accepted");
}

TEST_F(Grib2Store, an_absolute_error_sets_the_decimal_scale) {
  const MessageAccuracy* const accuracy = message_accuracy_of(Format::grib2);
  ASSERT_NE(accuracy, nullptr);
  const auto decimals = [&](double error, Variable made = {}) {
    const auto kept = accuracy->keep_error(made, error);
    if (!kept) return kept.error().message;
    EXPECT_TRUE(*kept);
    const auto found = std::ranges::find(made.attributes, "GRIB_decimalScaleFactor", &Attribute::name);
    return std::to_string(found->values.at<std::int32_t>(0));
  };
  EXPECT_EQ(decimals(0.01), "2");
  EXPECT_EQ(decimals(0.005), "2");
  EXPECT_EQ(decimals(0.0049), "3");
  EXPECT_EQ(decimals(50), "-2");
  EXPECT_EQ(decimals(1e-30), "30");
  EXPECT_NE(decimals(1e-40).find("at most 38 is possible"), std::string::npos);
  Variable given;
  given.attribute("GRIB_decimalScaleFactor", 3);
  EXPECT_EQ(decimals(0.01, given), "3");
  EXPECT_NE(decimals(1e-4, given).find("let it be 4"), std::string::npos) << decimals(1e-4, given);
  Variable bits;
  bits.attribute("GRIB_bitsPerValue", 12);
  EXPECT_NE(decimals(1, bits).find("remove the attribute"), std::string::npos);
}

TEST_F(Grib2Store, writes_levels_of_every_kind) {
  struct Case {
    const char* name;
    const char* units;
    std::vector<double> values;
    const char* type_of_level;
    std::vector<std::string> levels;
  };
  for (const Case& it : std::vector<Case>{
           {"height", "m", {2, 10, 100}, "heightAboveGround", {"2", "10", "100"}},
           {"altitude", "m", {50, 500, 5000}, "heightAboveSea", {"50", "500", "5000"}},
           {"depth", "m", {1, 2, 3}, "depthBelowLand", {"1", "2", "3"}},
           {"model_level_number", "1", {1, 2, 137}, "hybrid", {"1", "2", "137"}},
           {"atmosphere_hybrid_sigma_pressure_coordinate", "1", {0.1, 0.5, 0.99}, "hybrid", {"1", "2", "3"}},
           {"air_pressure", "Pa", {85000, 50000, 50}, "isobaricInPa", {"85000", "50000", "50"}}}) {
    Schema schema = grib2_schema();
    *schema.find_variable("plev") = variable("plev", Type::float64, {"plev"});
    schema.find_variable("plev")->with_constant(Values(it.values));
    schema.find_variable("plev")->attribute("standard_name", it.name).attribute("units", it.units);
    auto request = request_of(path(), schema, Format::grib2, Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    const auto messages = grib_keys(path(), "typeOfLevel,level,scaledValueOfFirstFixedSurface");
    for (std::size_t k = 0; k < 3; ++k) {
      if (std::string(it.name) != "air_pressure") {
        EXPECT_EQ(messages[k].at("typeOfLevel"), it.type_of_level) << it.name;
        EXPECT_EQ(messages[k].at("level"), it.levels[k]) << it.name;
      }
      EXPECT_EQ(messages[k].at("scaledValueOfFirstFixedSurface"), it.levels[k]) << it.name;
    }
  }
}

TEST_F(Grib2Store, takes_the_level_of_a_scalar_coordinate) {
  Schema schema = grib2_schema();
  schema.variable("height", Type::float64, {})
      .attribute("standard_name", "height")
      .attribute("units", "m")
      .with_constant(Values(2.0));
  schema.variable("tas", Type::float32, {"time", "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("units", "K")
      .attribute("coordinates", "height");
  write_all(schema, 1);
  const auto messages = grib_keys(path(), "shortName,typeOfLevel,level");
  EXPECT_EQ(messages[4].at("shortName"), "2t");
  EXPECT_EQ(messages[4].at("typeOfLevel"), "heightAboveGround");
}

TEST_F(Grib2Store, takes_parameters_by_short_name_and_number) {
  Schema schema = grib2_schema();
  Variable& ta = *schema.find_variable("ta");
  ta = variable("ta", Type::float32, ta.dimensions);
  ta.attribute("units", "kg kg-1").attribute("GRIB_shortName", "q");
  Variable& ps = *schema.find_variable("ps");
  ps = variable("ps", Type::float64, ps.dimensions);
  ps.attribute("GRIB_paramId", 167).attribute("units", "K");
  write_all(schema, 1);
  const auto messages = grib_keys(path(), "shortName,paramId,typeOfLevel,level");
  EXPECT_EQ(messages[1].at("shortName"), "q");
  EXPECT_EQ(messages[1].at("level"), "500");
  EXPECT_EQ(messages[3].at("shortName"), "2t");
  EXPECT_EQ(messages[3].at("level"), "2");
}

/// A file with one field on a grid; `name` names the coordinates of the grid.
Schema on_grid(const std::vector<Dimension>& grid, const std::vector<Variable>& coordinates,
               const char* named) {
  Schema schema;
  schema.dimension("time", unlimited);
  schema.variable("time", Type::float64, {"time"}).attribute("units", "hours since 2026-11-01");
  for (const Dimension& dimension : grid) schema.dimension(dimension.name, dimension.length);
  for (const Variable& coordinate : coordinates) schema.variables.push_back(coordinate);
  std::vector<std::string> dimensions{"time"};
  for (const Dimension& dimension : grid) dimensions.push_back(dimension.name);
  Variable& ta = schema.variable("ta", Type::float32, dimensions);
  ta.attribute("standard_name", "air_temperature").attribute("units", "K");
  if (named[0] != '\0') ta.attribute("coordinates", named);
  return schema;
}

Variable coordinate(const char* name, const char* dimension, const char* units,
                    const std::vector<double>& values) {
  Variable made = variable(name, Type::float64, {dimension});
  made.attribute("units", units).with_constant(Values(values));
  return made;
}

/// Latitudes of N16, as ecCodes computes them.
std::vector<double> latitudes_n16() {
  return {85.760587120446, 80.268779072251, 74.744540368639, 69.212976169371,
          63.678635561097, 58.142954049203, 52.606526034345, 47.069642059688,
          41.532461246656, 35.995078411272, 30.457553961152, 24.919928629948,
          19.382231346434, 13.844483734385, 8.306702856519,  2.768903007736};
}

TEST_F(Grib2Store, writes_regular_gaussian_grids) {
  std::vector<double> latitudes = latitudes_n16();
  for (std::size_t j = 16; j-- > 0;) latitudes.push_back(-latitudes[j]);
  std::vector<double> longitudes;
  for (int i = 0; i < 64; ++i) longitudes.push_back(i * 5.625);
  const Schema schema = on_grid({{"lat", 32}, {"lon", 64}},
                                {coordinate("lat", "lat", "degrees_north", latitudes),
                                 coordinate("lon", "lon", "degrees_east", longitudes)},
                                "");
  const auto request = write_all(schema, 1);
  const auto messages = grib_keys(path(), "gridType,N,Ni,Nj,numberOfDataPoints,global");
  EXPECT_EQ(messages[0].at("gridType"), "regular_gg");
  EXPECT_EQ(messages[0].at("N"), "16");
  EXPECT_EQ(messages[0].at("global"), "1");
  expect_values(request, 0, "ta", 0, 0, 1e-3);
  const std::string text = output_of("grib_get_data " + path() + " | sed -n 66p");
  EXPECT_NE(text.find("80.269"), std::string::npos) << text;
}

TEST_F(Grib2Store, writes_reduced_gaussian_grids) {
  std::vector<double> parallels = latitudes_n16();
  for (std::size_t j = 16; j-- > 0;) parallels.push_back(-parallels[j]);
  std::vector<double> latitudes;
  std::vector<double> longitudes;
  for (std::size_t j = 0; j < 32; ++j) {
    const std::size_t count = 20 + 4 * std::min(j, 31 - j);  // as octahedral grids
    for (std::size_t i = 0; i < count; ++i) {
      latitudes.push_back(parallels[j]);
      longitudes.push_back(360.0 * static_cast<double>(i) / static_cast<double>(count));
    }
  }
  const Schema schema = on_grid({{"cell", latitudes.size()}},
                                {coordinate("lat", "cell", "degrees_north", latitudes),
                                 coordinate("lon", "cell", "degrees_east", longitudes)},
                                "lat lon");
  const auto request = write_all(schema, 1);
  const auto messages = grib_keys(path(), "gridType,N,gridName,numberOfDataPoints");
  EXPECT_EQ(messages[0].at("gridType"), "reduced_gg");
  EXPECT_EQ(messages[0].at("gridName"), "O16");
  EXPECT_EQ(messages[0].at("numberOfDataPoints"), std::to_string(latitudes.size()));
  expect_values(request, 0, "ta", 0, 0, 1e-3);
}

TEST_F(Grib2Store, writes_unstructured_grids) {
  Schema schema = on_grid({{"cell", 500}}, {}, "");
  schema.attribute("GRIB_numberOfGridUsed", 26).attribute("GRIB_numberOfGridInReference", 1);
  schema.attribute("GRIB_uuidOfHGrid", "a27b8de6185811e4820eb5b098c6a5c0");
  write_all(schema, 1);
  const auto messages = grib_keys(
      path(), "gridType,gridDefinitionTemplateNumber,numberOfDataPoints,numberOfGridUsed,uuidOfHGrid");
  EXPECT_EQ(messages[0].at("gridDefinitionTemplateNumber"), "101");
  EXPECT_EQ(messages[0].at("numberOfDataPoints"), "500");
  EXPECT_EQ(messages[0].at("numberOfGridUsed"), "26");
  EXPECT_EQ(messages[0].at("uuidOfHGrid"), "a27b8de6185811e4820eb5b098c6a5c0");
}

TEST_F(Grib2Store, writes_healpix_grids_or_says_which_version_of_eccodes_does) {
  Schema schema = on_grid({{"cell", 192}}, {}, "");
  schema.variable("crs", Type::int32, {})
      .attribute("grid_mapping_name", "healpix")
      .attribute("indexing_scheme", "nested")
      .with_constant(Values(0));
  schema.find_variable("ta")->attribute("grid_mapping", "crs");
  if (const auto valid = model::validate(schema, Format::grib2); !valid) {
    EXPECT_EQ(valid.error().variable, "ta");
    EXPECT_NE(valid.error().message.find("need ecCodes 2.32 or newer"), std::string::npos)
        << valid.error().message;
    return;
  }
  write_all(schema, 1);
  EXPECT_EQ(grib_keys(path(), "gridDefinitionTemplateNumber,Nside")[0].at("Nside"), "4");
}

/// Every row of the table of parameters is known to ecCodes, in the same units.
TEST_F(Grib2Store, has_a_parameter_for_every_standard_name_of_its_table) {
  namespace grib2 = storage::grib2;
  Schema schema = grib2_schema();
  std::erase_if(schema.variables,
                [](const Variable& it) { return it.name == "ta" || it.name == "ps" || it.name == "lsm"; });
  for (const std::string& name : grib2::standard_names())
    schema.variable(name, Type::float32, {"time", "lat", "lon"})
        .attribute("standard_name", name)
        .attribute("units", std::string(grib2::parameter_of(name)->units));
  write_all(schema, 1);
  const std::string names = output_of("grib_get -p shortName,cfName " + path());
  const auto units = output_of("grib_get -p units " + path());
  std::istringstream lines(units);
  std::istringstream short_names(names);
  std::string line;
  for (const std::string& name : grib2::standard_names()) {
    ASSERT_TRUE(std::getline(lines, line));
    while (!line.empty() && line.back() == ' ') line.pop_back();
    EXPECT_TRUE(grib2::same_units(grib2::parameter_of(name)->units, line)) << name << ": " << line;
    ASSERT_TRUE(std::getline(short_names, line));
    EXPECT_FALSE(line.starts_with("unknown")) << name;
  }
}

}  // namespace
}  // namespace afterbay::test
