// SPDX-License-Identifier: Apache-2.0
#include "conformance/grib2_files.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "model/validate.hpp"

namespace afterbay::test {
namespace {

std::vector<double> spread(double first, double step, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<double>(i);
  return values;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

}  // namespace

bool has_grib2() {
  static const bool has = std::system("command -v grib_get > /dev/null 2>&1") == 0 &&
                          model::validate(grib2_schema(), Format::grib2).has_value();
  return has;
}

Schema grib2_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("plev", 3).dimension("lat", 19).dimension("lon", 36);
  schema.variable("time", Type::float64, {"time"})
      .attribute("standard_name", "time")
      .attribute("units", "hours since 2026-11-01 00:00:00")
      .attribute("calendar", "standard");
  schema.variable("plev", Type::float64, {"plev"})
      .attribute("standard_name", "air_pressure")
      .attribute("units", "hPa")
      .with_constant(Values({850.0, 500.0, 250.0}));
  schema.variable("lat", Type::float64, {"lat"})
      .attribute("units", "degrees_north")
      .with_constant(Values(spread(90, -10, 19)));
  schema.variable("lon", Type::float64, {"lon"})
      .attribute("units", "degrees_east")
      .with_constant(Values(spread(0, 10, 36)));
  schema.variable("ta", Type::float32, {"time", "plev", "lat", "lon"})
      .attribute("standard_name", "air_temperature")
      .attribute("units", "K");
  schema.variable("ps", Type::float64, {"time", "lat", "lon"})
      .attribute("standard_name", "surface_air_pressure")
      .attribute("units", "Pa");
  schema.variable("lsm", Type::float32, {"lat", "lon"})
      .attribute("standard_name", "land_area_fraction")
      .attribute("units", "1");
  return schema;
}

Source grib2_data(const Schema& schema, const model::FileLayout& layout) {
  return [&schema, &layout](std::uint32_t v, std::uint64_t record) {
    const Variable& variable = schema.variables[v];
    const std::uint64_t points = layout.variables[v].shape.product();
    std::vector<double> values(points);
    for (std::uint64_t i = 0; i < points; ++i) {
      values[i] = 250 + 20 * std::sin(static_cast<double>(i + 7 * record + 3 * v) * 0.05) + v;
      if (variable.name == "time") values[i] = 6.0 * static_cast<double>(record + 1);
      if (variable.name == "time_bnds") values[i] = 6.0 * static_cast<double>(record + i);
    }
    std::vector<std::byte> bytes;
    const auto put = [&](auto number) {
      const auto* const from = reinterpret_cast<const std::byte*>(&number);
      bytes.insert(bytes.end(), from, from + sizeof number);
    };
    for (const double value : values) {
      if (variable.type == Type::float32)
        put(static_cast<float>(value));
      else if (variable.type == Type::int16)
        put(static_cast<std::int16_t>(value));
      else
        put(value);
    }
    return bytes;
  };
}

std::vector<std::map<std::string, std::string>> grib_keys(const std::string& path, const std::string& keys) {
  const std::string output = output_of("grib_get -p " + keys + " " + path);
  std::vector<std::string> names;
  std::istringstream list(keys);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name.substr(0, name.find(':')));
  std::vector<std::map<std::string, std::string>> messages;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> found = words(line);
    EXPECT_EQ(found.size(), names.size()) << line;
    auto& message = messages.emplace_back();
    for (std::size_t i = 0; i < std::min(found.size(), names.size()); ++i) message[names[i]] = found[i];
  }
  return messages;
}

std::vector<double> grib_values(const std::string& path, std::size_t message) {
  const std::string output =
      output_of(fmt::format("grib_get_data -w count={} -m nan -F %.12g {}", message + 1, path));
  std::vector<double> values;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> found = words(line);
    if (found.size() != 3 || found[0].find_first_not_of("-0123456789.") != std::string::npos) continue;
    values.push_back(found[2] == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::stod(found[2]));
  }
  return values;
}

}  // namespace afterbay::test
