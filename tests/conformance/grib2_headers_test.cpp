// SPDX-License-Identifier: Apache-2.0
// What headers of GRIB2 messages say besides level and parameter, read by the tools of ecCodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "conformance/message_files.hpp"
#include "model/validate.hpp"

namespace afterbay::test {
namespace {

class Grib2Headers : public MessageFiles {
 protected:
  Grib2Headers() : MessageFiles(Format::grib2) {}
};

/// The parameter decides which statistics messages can state: 121 is a maximum.
TEST_F(Grib2Headers, the_parameter_has_the_statistic_of_the_cell_methods) {
  Schema schema = grib2_schema();
  schema.dimension("bnds", 2);
  schema.find_variable("time")->attribute("bounds", "time_bnds");
  schema.variable("time_bnds", Type::float64, {"time", "bnds"});
  Variable& ps = *schema.find_variable("ps");
  ps.attributes.clear();
  ps.attribute("GRIB_paramId", 121).attribute("units", "K").attribute("cell_methods", "time: maximum");
  write_all(schema, 1);
  EXPECT_EQ(grib_keys(path(), "stepType")[3].at("stepType"), "max");
  ps.attribute("cell_methods", "time: minimum");
  const auto refused = model::validate(schema, Format::grib2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().variable, "ps");
  EXPECT_NE(refused.error().message.find("correct cell_methods, or use another parameter"), std::string::npos)
      << refused.error().message;
}

TEST_F(Grib2Headers, writes_members_of_an_ensemble) {
  for (const bool over_time : {false, true}) {
    Schema schema = grib2_schema();
    schema.variable("member", Type::int32, {})
        .attribute("standard_name", "realization")
        .with_constant(Values(7));
    for (const char* name : {"ta", "ps", "lsm"})
      schema.find_variable(name)->attribute("coordinates", "member");
    schema.find_variable("ta")->attribute("GRIB_numberOfForecastsInEnsemble", 51);
    if (over_time) {
      schema.dimension("bnds", 2);
      schema.find_variable("time")->attribute("bounds", "time_bnds");
      schema.variable("time_bnds", Type::float64, {"time", "bnds"});
      schema.find_variable("ta")->attribute("cell_methods", "time: mean");
    }
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    write(request, all_jobs(request, 2), grib2_data(request.schema, *request.layout));
    const auto messages = grib_keys(path(),
                                    "productDefinitionTemplateNumber,perturbationNumber,"
                                    "numberOfForecastsInEnsemble,stepRange,validityTime,level");
    ASSERT_EQ(messages.size(), 9u);
    EXPECT_EQ(messages[1].at("productDefinitionTemplateNumber"), over_time ? "11" : "1");
    EXPECT_EQ(messages[1].at("perturbationNumber"), "7");
    EXPECT_EQ(messages[1].at("numberOfForecastsInEnsemble"), "51");
    EXPECT_EQ(messages[1].at("level"), "500");
    EXPECT_EQ(messages[4].at("stepRange"), over_time ? "0-6" : "0");
    EXPECT_EQ(messages[4].at("validityTime"), "1200");
    EXPECT_EQ(messages[3].at("productDefinitionTemplateNumber"), "1");  // no statistic
  }
}

TEST_F(Grib2Headers, writes_the_figure_of_the_earth) {
  struct Case {
    std::vector<std::pair<const char*, double>> axes;
    const char* shape;
    const char* radius;
  };
  for (const Case& it :
       std::vector<Case>{{{}, "0", "6367470"},
                         {{{"earth_radius", 6371229}}, "6", "6371229"},
                         {{{"earth_radius", 6371000}}, "1", "6371000"},
                         {{{"semi_major_axis", 6371220}}, "1", "6371220"},
                         {{{"semi_major_axis", 6378137}, {"inverse_flattening", 298.257223563}}, "5", ""},
                         {{{"semi_major_axis", 6378137}, {"semi_minor_axis", 6356752.314140}}, "4", ""},
                         {{{"semi_major_axis", 6378388}, {"inverse_flattening", 297}}, "7", ""}}) {
    Schema schema = grib2_schema();
    Variable& crs = schema.variable("crs", Type::int32, {})
                        .attribute("grid_mapping_name", "latitude_longitude")
                        .with_constant(Values(0));
    for (const auto& [name, value] : it.axes) crs.attribute(name, value);
    for (const char* name : {"ta", "ps", "lsm"}) schema.find_variable(name)->attribute("grid_mapping", "crs");
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    const auto messages = grib_keys(path(), "shapeOfTheEarth:l");
    EXPECT_EQ(messages[0].at("shapeOfTheEarth"), it.shape);
    if (it.radius[0] != '\0') {
      EXPECT_EQ(grib_keys(path(), "radius:l")[0].at("radius"), it.radius);
    }
    if (std::string(it.shape) != "7") continue;
    const auto axes = grib_keys(path(), "earthMajorAxis:l,earthMinorAxis:l");
    EXPECT_NEAR(std::stod(axes[0].at("earthMajorAxis")), 6378388, 1);
    EXPECT_NEAR(std::stod(axes[0].at("earthMinorAxis")), 6356911.9, 1);
  }
}

TEST_F(Grib2Headers, writes_regular_grids_of_float32) {
  for (const double step : {0.2, 1.0 / 3, 1.0 / 12}) {
    const auto count = static_cast<std::size_t>(std::lround(360 / step));
    Schema schema = grib2_schema();
    std::erase_if(schema.variables, [](const Variable& it) { return it.name == "ta" || it.name == "lsm"; });
    schema.dimensions[3].length = count;
    std::vector<float> points(count);
    for (std::size_t i = 0; i < count; ++i) points[i] = static_cast<float>(static_cast<double>(i) * step);
    Variable& lon = *schema.find_variable("lon");
    lon.type = Type::float32;
    lon.constant = Values(points);
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    const auto messages = grib_keys(path(), "Ni,longitudeOfLastGridPoint:l");
    EXPECT_EQ(messages[0].at("Ni"), std::to_string(count));
    EXPECT_NEAR(1e-6 * std::stod(messages[0].at("longitudeOfLastGridPoint")),
                static_cast<double>(count - 1) * step, 2e-5);
    const std::string last = output_of(fmt::format("grib_get_data {} | sed -n {}p", path(), count + 1));
    EXPECT_NE(last.find(fmt::format("{:.3f}", static_cast<double>(count - 1) * step)), std::string::npos)
        << last;
  }
}

/// The distance is not a whole number of 10^-6 degrees: the ends stay what they are.
TEST_F(Grib2Headers, grids_end_at_the_poles) {
  constexpr std::size_t count = 96;
  Schema schema = grib2_schema();
  std::erase_if(schema.variables, [](const Variable& it) { return it.name == "ta" || it.name == "lsm"; });
  schema.dimensions[2].length = count;
  std::vector<double> points(count);
  for (std::size_t i = 0; i < count; ++i) points[i] = 90 - 180.0 * static_cast<double>(i) / (count - 1);
  for (const bool float32 : {false, true}) {
    Variable& lat = *schema.find_variable("lat");
    lat.type = float32 ? Type::float32 : Type::float64;
    lat.constant = float32 ? Values(std::vector<float>(points.begin(), points.end())) : Values(points);
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    write(request, all_jobs(request, 1), grib2_data(request.schema, *request.layout));
    const auto messages = grib_keys(path(), "Nj,latitudeOfFirstGridPoint:l,latitudeOfLastGridPoint:l");
    EXPECT_EQ(messages[0].at("Nj"), std::to_string(count));
    EXPECT_EQ(messages[0].at("latitudeOfFirstGridPoint"), "90000000");
    EXPECT_EQ(messages[0].at("latitudeOfLastGridPoint"), "-90000000");
  }
}

/// Covers models that add up their time step, and models with 32-bit times or bounds.
TEST_F(Grib2Headers, times_that_are_sums_of_time_steps_are_whole_seconds) {
  for (const bool float32_time : {false, true}) {
    Schema schema = grib2_schema();
    std::erase_if(schema.variables, [](const Variable& it) { return it.name == "ta" || it.name == "lsm"; });
    schema.dimension("bnds", 2);
    Variable& time = *schema.find_variable("time");
    time.attribute("units", "days since 2026-11-01").attribute("bounds", "time_bnds");
    time.type = float32_time ? Type::float32 : Type::float64;
    schema.variable("time_bnds", float32_time ? Type::float64 : Type::float32, {"time", "bnds"});
    schema.find_variable("ps")->attribute("cell_methods", "time: mean");
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    const Source other = grib2_data(request.schema, *request.layout);
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      const Variable& of = request.schema.variables[v];
      if (of.name != "time" && of.name != "time_bnds") return other(v, record);
      std::vector<double> sums{0, 0};
      for (std::uint64_t i = 0; i < 163 + record; ++i) {
        sums[0] = sums[1];
        sums[1] += 1200 / 86400.0;
      }
      if (of.name == "time") sums.erase(sums.begin());
      const std::vector<float> single(sums.begin(), sums.end());
      const auto* const from = of.type == Type::float32 ? reinterpret_cast<const std::byte*>(single.data())
                                                        : reinterpret_cast<const std::byte*>(sums.data());
      return std::vector<std::byte>(from, from + sums.size() * size_of(of.type));
    };
    write(request, all_jobs(request, 3), source);
    const auto messages = grib_keys(path(), "validityDate,validityTime,lengthOfTimeRange");
    EXPECT_EQ(messages[0].at("validityDate") + messages[0].at("validityTime"), "20261103620");
    EXPECT_EQ(messages[2].at("validityDate") + messages[2].at("validityTime"), "20261103700");
    EXPECT_EQ(messages[2].at("lengthOfTimeRange"), "20");  // minutes
  }
}

}  // namespace
}  // namespace afterbay::test
