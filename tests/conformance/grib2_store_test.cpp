// SPDX-License-Identifier: Apache-2.0
// GRIB2 files, read by the tools of ecCodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "conformance/grib2_files.hpp"
#include "model/validate.hpp"
#include "storage/epoch/recover.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

class Grib2Store : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_grib2()) GTEST_SKIP() << "this needs ecCodes (libeccodes-dev) and its tools (libeccodes-tools)";
  }
  [[nodiscard]] std::string path(const std::string& name = "out.grib2") const { return directory_.file(name); }

  /// Writes everything, with the frames in the given order, and publishes.
  void write(const storage::FileRequest& request, const std::vector<std::pair<std::size_t, std::uint64_t>>& jobs,
             const Source& source) {
    auto file = store_->create(request);
    ASSERT_TRUE(file) << file.error().text();
    for (const auto& [frame, record] : jobs) {
      const auto written = write_frame(**file, request, frame, record, source);
      ASSERT_TRUE(written) << written.error().text();
    }
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
    expect_checksum(request, *published);
  }

  static std::vector<std::pair<std::size_t, std::uint64_t>> all_jobs(const storage::FileRequest& request,
                                                                     std::uint64_t records) {
    std::vector<std::pair<std::size_t, std::uint64_t>> jobs;
    for (std::uint64_t record = 0; record < records; ++record)
      for (std::size_t f = 0; f < request.layout->frames.size(); ++f)
        if (request.layout->frames[f].record || record == 0) jobs.emplace_back(f, record);
    return jobs;
  }

  /// Writes `records` records of a schema and returns the request, of which the source refers to.
  storage::FileRequest write_all(const Schema& schema, std::uint64_t records) {
    const auto request = request_of(path(), schema, Format::grib2);
    write(request, all_jobs(request, records), grib2_data(request.schema, *request.layout));
    return request;
  }

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

  std::unique_ptr<storage::Store> store_ = storage::make_store(Format::grib2);
  TemporaryDirectory directory_;
};

TEST_F(Grib2Store, writes_messages_of_each_record_variable_and_level_in_order) {
  const auto request = write_all(grib2_schema(), 2);
  const auto messages = grib_keys(path(), "shortName,typeOfLevel,level,dataDate,dataTime,step,Ni,Nj,gridType,bitsPerValue");
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
    for (const std::uint64_t level : {0u, 1u, 2u}) expect_values(request, record * 4 + level, "ta", record, level, 1e-3);
    expect_values(request, record * 4 + 3, "ps", record, 0, 1e-3);
  }
  expect_values(request, 8, "lsm", 0, 0, 1e-3);
}

}  // namespace
}  // namespace afterbay::test
