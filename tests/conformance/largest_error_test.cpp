// SPDX-License-Identifier: Apache-2.0
// The attribute for the largest error: in published, recovered and appended files.
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/crc64.hpp"
#include "conformance/shared_files.hpp"
#include "model/largest_error.hpp"
#include "storage/epoch/recover.hpp"

namespace afterbay::test {
namespace {

Schema measured_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 30);
  schema.variable("plain", Type::float32, {"time", "x"}).attribute("largest_error", "none");
  for (const char* const name : {"a", "b"}) {
    Variable& variable = schema.variable(name, Type::float32, {"time", "x"});
    model::reserve_largest_error(variable);
    for (int i = 0; i < 12; ++i)
      variable.attribute("more" + std::to_string(i), "so that HDF5 stores them densely");
  }
  return schema;
}

constexpr std::uint32_t measured_a = 1;

double largest_error_of(const std::string& path, const char* variable) {
  int file = 0, id = 0;
  double value = -1;
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, variable, &id), NC_NOERR);
  EXPECT_EQ(nc_get_att_double(file, id, "largest_error", &value), NC_NOERR);
  EXPECT_EQ(nc_close(file), NC_NOERR);
  return value;
}

class LargestError : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] storage::FileRequest request(storage::Existing existing = storage::Existing::refuse) const {
    storage::FileRequest made = request_of(path_, measured_schema(), GetParam(), existing);
    made.checksum = true;
    return made;
  }
  std::unique_ptr<storage::File> begin(storage::Existing existing = storage::Existing::refuse) {
    auto file = store_->create(request(existing));
    EXPECT_TRUE(file) << (file ? "" : file.error().text());
    return *std::move(file);
  }
  void write(storage::File& file, std::uint64_t record) const {
    const auto asked = request();
    write_record(file, asked, record, sample_data(asked.schema, *asked.layout));
  }

  TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  std::string path_ = directory_.file("out.nc");
};

TEST_P(LargestError, is_in_the_published_file_and_in_its_checksum) {
  auto file = begin();
  write(*file, 0);
  ASSERT_TRUE(file->note_errors({{0, 7}, {measured_a, 0.25}}));
  const auto published = file->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(largest_error_of(path_, "a"), 0.25);
  EXPECT_TRUE(std::isnan(largest_error_of(path_, "b")));
  std::ifstream stream(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  EXPECT_EQ(*published->checksum, crc64(std::as_bytes(std::span(bytes))));
}

TEST_P(LargestError, of_an_epoch_is_in_the_recovered_file) {
  auto file = begin();
  write(*file, 0);
  ASSERT_TRUE(file->note_errors({{measured_a, 0.25}}));
  ASSERT_TRUE(file->mark_epoch({1, "1", "2026-01-01T00:00:00Z", 1}, {}));
  write(*file, 1);
  ASSERT_TRUE(file->note_errors({{measured_a, 0.5}}));
  ASSERT_TRUE(file->mark_epoch({2, "2", "2026-01-01T00:00:00Z", 2}, {}));
  file->abandon();
  const auto found = storage::find_recoverable(path_, false);
  ASSERT_TRUE(found) << found.error().text();
  const auto recovered = storage::recover_file(*found, {1, true});
  ASSERT_TRUE(recovered) << recovered.error().text();
  EXPECT_EQ(largest_error_of(path_, "a"), 0.25);
}

TEST_P(LargestError, of_an_older_run_remains_if_it_is_larger) {
  const std::vector<std::pair<double, double>> runs{{0.25, 0.25}, {0.125, 0.25}, {0.5, 0.5}};
  for (std::size_t run = 0; run < runs.size(); ++run) {
    auto file = begin(run == 0 ? storage::Existing::refuse : storage::Existing::append);
    ASSERT_EQ(file->records(), run);
    write(*file, run);
    ASSERT_TRUE(file->note_errors({{measured_a, runs[run].first}}));
    const auto published = file->publish();
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_EQ(largest_error_of(path_, "a"), runs[run].second) << run;
  }
}

TEST_P(LargestError, that_a_file_has_no_place_for_is_refused_before_anything_is_written) {
  const auto refusal = [this](const Schema& first, const Schema& second) {
    const auto created = request_of(path_, first, GetParam(), storage::Existing::replace);
    auto file = store_->create(created);
    EXPECT_TRUE(file) << (file ? "" : file.error().text());
    write_record(**file, created, 0, sample_data(created.schema, *created.layout));
    EXPECT_TRUE((*file)->publish());
    const auto refused = store_->create(request_of(path_, second, GetParam(), storage::Existing::append));
    if (!refused) return refused.error().text();
    (*refused)->abandon();
    return std::string("accepted");
  };
  Schema unmeasured = measured_schema();
  std::erase_if(unmeasured.find_variable("a")->attributes,
                [](const Attribute& it) { return it.name == "largest_error"; });
  EXPECT_NE(refusal(unmeasured, measured_schema()).find("'a': its largest error is to be measured"),
            std::string::npos);
  EXPECT_EQ(refusal(measured_schema(), unmeasured), "accepted");  // values are as they were put
  Schema rounded = measured_schema();
  rounded.find_variable("a")->attribute("quantization", "q");
  unmeasured.find_variable("a")->attribute("quantization", "q");
  EXPECT_EQ(refusal(rounded, rounded), "accepted");
  EXPECT_NE(refusal(rounded, unmeasured).find("'a': values are rounded without a stated accuracy"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Formats, LargestError, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& it) { return std::string(name_of(it.param)); });

}  // namespace
}  // namespace afterbay::test
