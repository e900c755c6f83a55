// SPDX-License-Identifier: Apache-2.0
// GRIB2 messages that are made from the handle of an earlier message, and times that are entered
// without ecCodes: the same bytes as without these shortcuts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "conformance/message_files.hpp"

namespace afterbay::test {
namespace {

constexpr float missing_value = -999;

class Grib2Handles : public MessageFiles {
 protected:
  Grib2Handles() : MessageFiles(Format::grib2) {}

  /// One record in a file of its own, whose encoder has made no other message.
  std::vector<std::byte> bytes_of_record(const Schema& schema, std::uint64_t record, const Source& source) {
    auto request = request_of(path("record"), schema, Format::grib2, storage::Existing::replace);
    Jobs jobs;
    for (const auto& [frame, of] : all_jobs(request, record + 1))
      if (of == record && request.layout->frames[frame].record) jobs.emplace_back(frame, record);
    write(request, jobs, source);
    return file_bytes(request.path);
  }
};

/// A field with one of several shapes, after which packing has another state.
float value_of(std::mt19937& random, unsigned shape, std::size_t i) {
  const float noise = static_cast<float>(random() % 10000) / 10000;
  switch (shape) {
    case 0: return 0;
    case 1: return 273.15f;
    case 2: return 1e-8f * noise;
    case 3: return -1e6f * noise;
    case 4: return static_cast<float>(random() % 3);
    case 5: return 280 + (i % 97 == 0 ? 3e-5f : 0);
    case 6: return i == 0 ? 1e10f : 1;
    default: return 280 + 20 * std::sin(static_cast<float>(i) * 0.01f);
  }
}

/// Some points missing, none, all, or all but one.
bool is_missing(std::mt19937& random, unsigned which, std::size_t i) {
  if (which == 1) return random() % 5 == 0;
  return which == 2 || (which == 3 && i != 7);
}

TEST_F(Grib2Handles, messages_do_not_depend_on_those_before) {
  using Keys = std::vector<std::pair<std::string, Values>>;
  const std::vector<Keys> packings{
      {},
      {{"GRIB_packingType", Values("grid_simple")}, {"GRIB_bitsPerValue", Values(std::int32_t{24})}},
      {{"GRIB_packingType", Values("grid_ccsds")}},
      {{"GRIB_packingType", Values("grid_ccsds")}, {"GRIB_decimalScaleFactor", Values(std::int32_t{1})}},
      {{"GRIB_decimalScaleFactor", Values(std::int32_t{1})}}};
  constexpr std::uint64_t records = 25;
  for (std::size_t p = 0; p < packings.size(); ++p) {
    Schema schema = grib2_schema();
    schema.find_variable("ta")->with_fill(Values(missing_value));
    for (const auto& [key, value] : packings[p]) schema.find_variable("ta")->attribute(key, value);
    const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
    const Source smooth = grib2_data(request.schema, *request.layout);
    const Source source = [&](std::uint32_t v, std::uint64_t record) {
      auto bytes = smooth(v, record);
      if (request.schema.variables[v].name != "ta") return bytes;
      std::mt19937 random(static_cast<unsigned>(record * 7 + p));
      unsigned shape = 0, which = 0;
      for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
        if (i % 684 == 0) {  // a level
          // Packing by a decimal scale refuses ranges that need too many bits.
          shape = p < 3 ? static_cast<unsigned>(random() % 8) : std::array{0u, 3u, 4u, 7u}[random() % 4];
          which = static_cast<unsigned>(random() % 6);
        }
        const float value =
            is_missing(random, which, i % 684) ? missing_value : value_of(random, shape, i % 684);
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
      }
      return bytes;
    };
    Jobs jobs;
    for (const auto& job : all_jobs(request, records))
      if (request.layout->frames[job.first].record) jobs.push_back(job);
    write(request, jobs, source);
    std::vector<std::byte> apart;
    for (std::uint64_t record = 0; record < records; ++record) {
      const auto bytes = bytes_of_record(schema, record, source);
      apart.insert(apart.end(), bytes.begin(), bytes.end());
    }
    const auto together = file_bytes(path());
    ASSERT_EQ(together.size(), apart.size()) << "packing " << p;
    EXPECT_TRUE(together == apart) << "packing " << p;
  }
}

/// Enters other times by ecCodes, and then those that were there.
void expect_times_of_eccodes(const std::string& file, const std::string& keys,
                             const std::string& other_keys) {
  const auto run = [](const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; };
  const std::string changed = file + ".changed", back = file + ".back";
  const auto& found = grib_keys(file, keys);
  ASSERT_EQ(found.size(), 1u);
  std::string same_keys;
  for (const auto& [key, value] : found.front())
    same_keys += (same_keys.empty() ? "" : ",") + key.substr(0, key.find(':')) + "=" + value;
  run("grib_set -s " + other_keys + " " + file + " " + changed);
  EXPECT_FALSE(file_bytes(changed) == file_bytes(file));
  run("grib_set -s " + same_keys + " " + changed + " " + back);
  EXPECT_TRUE(file_bytes(back) == file_bytes(file)) << same_keys;
}

TEST_F(Grib2Handles, times_are_those_that_eccodes_enters) {
  const std::string instant = "year,month,day,hour,minute,second,indicatorOfUnitOfTimeRange:l,forecastTime:l";
  const std::string interval =
      ",yearOfEndOfOverallTimeInterval,monthOfEndOfOverallTimeInterval,dayOfEndOfOverallTimeInterval,"
      "hourOfEndOfOverallTimeInterval,minuteOfEndOfOverallTimeInterval,secondOfEndOfOverallTimeInterval,"
      "indicatorOfUnitForTimeRange:l,lengthOfTimeRange:l";
  const std::string other =
      "year=1871,month=7,day=9,hour=5,minute=4,second=3,indicatorOfUnitOfTimeRange=2,forecastTime=77";
  const std::string other_interval =
      ",yearOfEndOfOverallTimeInterval=1872,monthOfEndOfOverallTimeInterval=7,dayOfEndOfOverallTimeInterval="
      "6,"
      "hourOfEndOfOverallTimeInterval=5,minuteOfEndOfOverallTimeInterval=4,secondOfEndOfOverallTimeInterval="
      "3,"
      "indicatorOfUnitForTimeRange=2,lengthOfTimeRange=99";
  for (const bool statistic : {false, true})
    for (const double hours : {1.0, 1.5, 25.0 + 1.0 / 3600, 24.0 * 59, 24.0 * 365 * 4000}) {
      Schema schema = grib2_schema();
      std::erase_if(schema.variables, [](const Variable& it) { return it.name == "ta" || it.name == "lsm"; });
      schema.variable("reference", Type::float64, {})
          .attribute("standard_name", "forecast_reference_time")
          .attribute("units", "hours since 2026-11-01")
          .with_constant(Values(-1.5));
      schema.dimension("bnds", 2);
      if (statistic) {
        schema.find_variable("time")->attribute("bounds", "time_bnds");
        schema.variable("time_bnds", Type::float64, {"time", "bnds"});
        schema.find_variable("ps")->attribute("cell_methods", "time: mean");
      }
      const auto request = request_of(path(), schema, Format::grib2, storage::Existing::replace);
      const Source smooth = grib2_data(request.schema, *request.layout);
      write(request, all_jobs(request, 1), [&](std::uint32_t v, std::uint64_t record) {
        auto bytes = smooth(v, record);
        const std::string& name = request.schema.variables[v].name;
        const double times[] = {0.5, hours};
        if (name == "time") std::memcpy(bytes.data(), &hours, sizeof hours);
        if (name == "time_bnds") std::memcpy(bytes.data(), times, sizeof times);
        return bytes;
      });
      expect_times_of_eccodes(path(), instant + (statistic ? interval : ""),
                              other + (statistic ? other_interval : ""));
      const auto messages = grib_keys(path(), "year:l,month:l,day:l,hour:l,minute:l,second:l");
      EXPECT_EQ(messages.front().at("year"), "2026");
      EXPECT_EQ(messages.front().at("minute"), "30");
    }
}

}  // namespace
}  // namespace afterbay::test
