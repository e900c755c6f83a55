// SPDX-License-Identifier: Apache-2.0
// Tests specific to the classic formats: same bytes in any order of writing, limits, foreign files.
#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "conformance/store_harness.hpp"
#include "storage/cdf/header.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

void ok(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }

Schema mixed_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 31).dimension("x", 41);
  schema.variable("mask", Type::int8, {"y", "x"});
  schema.variable("lat", Type::float64, {"y"});
  schema.variable("level", Type::int32, {}).with_constant(Values(7));
  schema.variable("a", Type::int16, {"time", "x"});
  schema.variable("b", Type::float32, {"time", "y", "x"}).attribute("units", "m");
  schema.variable("c", Type::int8, {"time"});
  schema.variable("d", Type::float64, {"time", "y"});
  return schema;
}

class CdfStoreTest : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "out.nc") const { return directory_.file(name); }

  /// Writes the frames of the records in a given order.
  void write(const storage::FileRequest& request, std::vector<std::pair<std::size_t, std::uint64_t>> jobs,
             const Source& source) {
    auto file = store_->create(request);
    ASSERT_TRUE(file) << file.error().text();
    for (const auto& [frame, record] : jobs) {
      const auto written = write_frame(**file, request, frame, record, source);
      ASSERT_TRUE(written) << written.error().text();
    }
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
  }

  static std::vector<std::pair<std::size_t, std::uint64_t>> all_jobs(const storage::FileRequest& request,
                                                                     std::uint64_t first,
                                                                     std::uint64_t records) {
    std::vector<std::pair<std::size_t, std::uint64_t>> jobs;
    for (std::uint64_t record = first; record < records; ++record)
      for (std::size_t f = 0; f < request.layout->frames.size(); ++f)
        if (request.layout->frames[f].record || record == 0) jobs.emplace_back(f, record);
    return jobs;
  }

  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(CdfStoreTest, gives_the_same_bytes_whatever_the_order_and_the_frames) {
  const auto request = request_of(path(), mixed_schema(), GetParam());
  const Source source = sample_data(request.schema, *request.layout);
  auto jobs = all_jobs(request, 0, 6);
  write(request, jobs, source);
  expect_contents(read_netcdf(path()), request, 6, source);
  std::reverse(jobs.begin(), jobs.end());
  auto backwards = request;
  backwards.path = path("backwards.nc");
  write(backwards, jobs, source);
  EXPECT_TRUE(file_bytes(path()) == file_bytes(backwards.path));
  const auto small = request_of(path("small.nc"), mixed_schema(), GetParam(), Existing::refuse, {4096, 4096});
  EXPECT_GT(small.layout->frames.size(), request.layout->frames.size());
  write(small, all_jobs(small, 0, 6), source);
  EXPECT_TRUE(file_bytes(path()) == file_bytes(small.path));
  auto appended = request;
  appended.path = path("appended.nc");
  write(appended, all_jobs(appended, 0, 2), source);
  appended.existing = Existing::append;
  write(appended, all_jobs(appended, 2, 6), source);
  EXPECT_TRUE(file_bytes(path()) == file_bytes(appended.path));
}

TEST_P(CdfStoreTest, begins_the_sections_on_pages_where_the_layout_says) {
  const auto request = request_of(path(), mixed_schema(), GetParam());
  write(request, all_jobs(request, 0, 2), sample_data(request.schema, *request.layout));
  const auto header = storage::parse_cdf_header(file_bytes(path()));
  ASSERT_TRUE(header) << header.error().text();
  EXPECT_EQ(header->version, GetParam() == Format::cdf5 ? 5 : 2);
  EXPECT_EQ(header->records, 2u);
  EXPECT_EQ(header->record_bytes, request.layout->record_bytes);
  for (std::size_t v = 0; v < request.schema.variables.size(); ++v) {
    const model::VariableLayout& layout = request.layout->variables[v];
    EXPECT_EQ((header->variables[v].begin - request.layout->stored[v].section_offset) % model::page_bytes, 0u)
        << v;
    EXPECT_EQ(header->variables[v].slab_bytes, layout.slab_bytes) << v;
    EXPECT_EQ(header->variables[v].record, layout.record) << v;
  }
  EXPECT_EQ(file_bytes(path()).size(), header->file_bytes(2, 0));
}

TEST_P(CdfStoreTest, reads_as_the_same_text_as_a_file_of_netcdf) {
  const auto request = request_of(path("ours/f.nc"), mixed_schema(), GetParam());
  const Source source = sample_data(request.schema, *request.layout);
  write(request, all_jobs(request, 0, 3), source);
  std::filesystem::create_directory(directory_.path() / "theirs");
  output_of("nccopy -k " + std::string(GetParam() == Format::cdf5 ? "cdf5" : "'64-bit offset'") + " " +
            path("ours/f.nc") + " " + path("theirs/f.nc"));
  EXPECT_EQ(output_of("ncdump " + path("ours/f.nc")), output_of("ncdump " + path("theirs/f.nc")));
}

TEST_P(CdfStoreTest, appends_to_a_file_whose_offsets_are_not_ours) {
  const auto ours = request_of(path("ours.nc"), mixed_schema(), GetParam());
  const Source source = sample_data(ours.schema, *ours.layout);
  write(ours, all_jobs(ours, 0, 3), source);
  // nccopy packs the sections directly after the header.
  output_of("nccopy -k " + std::string(GetParam() == Format::cdf5 ? "cdf5" : "'64-bit offset'") + " " +
            path("ours.nc") + " " + path());
  ASSERT_LT(file_bytes(path()).size(), file_bytes(path("ours.nc")).size());
  const auto request = request_of(path(), mixed_schema(), GetParam(), Existing::append);
  write(request, all_jobs(request, 3, 5), source);
  expect_contents(read_netcdf(path()), request, 5, source);
}

TEST_P(CdfStoreTest, the_netcdf_library_can_go_on_with_our_files) {
  const auto request = request_of(path(), mixed_schema(), GetParam());
  const Source source = sample_data(request.schema, *request.layout);
  write(request, all_jobs(request, 0, 2), source);
  int id = -1;
  ok(nc_open(path().c_str(), NC_WRITE, &id));
  const std::size_t start[] = {2, 0, 0};
  const std::size_t count[] = {1, 31, 41};
  ok(nc_put_vara(id, 4, start, count, source(4, 2).data()));
  ok(nc_close(id));
  const ReadFile file = read_netcdf(path());
  EXPECT_EQ(file.records, 3u);
  EXPECT_TRUE(
      file.variables.at("b").values ==
      expected_values(request.schema, *request.layout, 4, 3, [](std::uint64_t) { return true; }, source));
}

TEST_P(CdfStoreTest, says_what_the_format_cannot_hold) {
  Schema schema;
  schema.dimension("x", 3000000000u).dimension("y", 2);
  schema.variable("big", Type::float32, {"x", "y"});
  if (GetParam() == Format::cdf2) {
    const auto refused = store_->create(request_of(path(), schema, GetParam()));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("use netcdf4 or cdf5"), std::string::npos);
    EXPECT_EQ(refused.error().file, path());
    schema.dimensions[0].length = 1500000000u;
    const auto large = store_->create(request_of(path(), schema, GetParam()));
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().variable, "big");
    schema = Schema();
    schema.variable("n", Type::int64, {});
    const auto type = store_->create(request_of(path(), schema, GetParam()));
    ASSERT_FALSE(type);
    EXPECT_EQ(type.error().code, ErrorCode::wrong_type);
    EXPECT_EQ(type.error().variable, "n");
  }
  schema = Schema();
  schema.variable("n", Type::int32, {}).attribute("names", Values(std::vector<std::string>{"a"}));
  const auto strings = store_->create(request_of(path(), schema, GetParam()));
  ASSERT_FALSE(strings);
  EXPECT_EQ(strings.error().code, ErrorCode::wrong_type);
  EXPECT_NE(strings.error().message.find("'names'"), std::string::npos);
}

TEST_P(CdfStoreTest, refuses_a_damaged_header) {
  const auto request = request_of(path(), mixed_schema(), GetParam());
  write(request, all_jobs(request, 0, 1), sample_data(request.schema, *request.layout));
  std::vector<std::byte> bytes = file_bytes(path());
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{20}, std::size_t{200}}) {
    const auto cut = storage::parse_cdf_header(std::span(bytes).first(length));
    ASSERT_FALSE(cut) << length;
    EXPECT_EQ(cut.error().code, ErrorCode::would_block) << length;
  }
  for (std::size_t at = 0; at < 400; ++at) {  // any damage causes an error or a valid header, never
                                              // a crash
    std::vector<std::byte> damaged(bytes.begin(), bytes.begin() + 2000);
    damaged[at] = std::byte{0xff};
    const auto parsed = storage::parse_cdf_header(damaged);
    EXPECT_TRUE(!parsed || parsed->variables.size() <= 7u) << at;
  }
  for (std::size_t at = 4; at < 400; ++at) {  // counts near 2^32 and 2^64
    std::vector<std::byte> damaged(bytes.begin(), bytes.begin() + 2000);
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), 8, std::byte{0xff});
    const auto parsed = storage::parse_cdf_header(damaged);
    EXPECT_TRUE(!parsed || parsed->variables.size() <= 7u) << at;
  }
  bytes[0] = std::byte{'X'};
  const auto magic = storage::parse_cdf_header(bytes);
  ASSERT_FALSE(magic);
  EXPECT_EQ(magic.error().code, ErrorCode::format);
}

/// Zeros must not be read as an endless list of nameless items, which would take memory.
TEST_P(CdfStoreTest, zeros_are_no_header) {
  std::vector<std::byte> zeros(1u << 20);
  std::memcpy(zeros.data(), GetParam() == Format::cdf5 ? "CDF\5" : "CDF\2", 4);
  const std::size_t tag = GetParam() == Format::cdf5 ? 15 : 11;  // after the number of records
  zeros[tag] = std::byte{10};
  zeros[tag + 1] = std::byte{0x01};  // 2^24 of them, in CDF-5 2^56
  const auto parsed = storage::parse_cdf_header(zeros);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::format) << parsed.error().text();
}

/// A flipped bit in the number of records must not become the length of the published file.
TEST_P(CdfStoreTest, appends_to_no_file_that_lacks_records) {
  auto request = request_of(path(), mixed_schema(), GetParam());
  write(request, all_jobs(request, 0, 2), sample_data(request.schema, *request.layout));
  const std::vector<std::byte> whole = file_bytes(path());
  for (const std::byte top : {std::byte{0x01}, std::byte{0x80}}) {
    std::vector<std::byte> damaged = whole;
    damaged[4] = top;
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(damaged.data()), static_cast<std::streamsize>(damaged.size()));
    request.existing = Existing::append;
    const auto appended = store_->create(request);
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().code, ErrorCode::format);
    EXPECT_NE(appended.error().text().find("records) its values end at byte"), std::string::npos)
        << appended.error().text();
    EXPECT_TRUE(file_bytes(path()) == damaged);
  }
}

/// Zeros must not replace values that were truncated; padding is not data.
TEST_P(CdfStoreTest, appends_to_no_file_that_was_cut_off_inside_its_last_record) {
  Schema padded;
  padded.dimension("time", unlimited);
  padded.variable("a", Type::float64, {"time"});
  padded.variable("c", Type::int8, {"time"});
  Schema fixed;
  fixed.dimension("time", unlimited).dimension("x", 5);
  fixed.variable("a", Type::float64, {"x"});
  for (const auto& [schema, padding] : {std::pair(mixed_schema(), 0), {padded, 3}, {fixed, 0}}) {
    const std::string name = path("cut.nc");
    auto request = request_of(name, schema, GetParam(), Existing::replace);
    write(request, all_jobs(request, 0, 3), sample_data(request.schema, *request.layout));
    const std::vector<std::byte> whole = file_bytes(name);
    request.existing = Existing::append;
    for (const int missing : {padding + 1, padding + 8, 0, padding}) {
      SCOPED_TRACE(missing);
      std::ofstream(name, std::ios::binary)
          .write(reinterpret_cast<const char*>(whole.data()),
                 static_cast<std::streamsize>(whole.size()) - missing);
      const auto appended = store_->create(request);
      if (missing <= padding) {
        ASSERT_TRUE(appended) << appended.error().text();
        continue;
      }
      ASSERT_FALSE(appended);
      EXPECT_EQ(appended.error().code, ErrorCode::format);
      EXPECT_NE(appended.error().text().find(
                    fmt::format("{} bytes", whole.size() - static_cast<std::size_t>(missing))),
                std::string::npos)
          << appended.error().text();
      EXPECT_EQ(file_bytes(name).size(), whole.size() - static_cast<std::size_t>(missing))
          << "it stays as it is";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Classic, CdfStoreTest, testing::Values(Format::cdf5, Format::cdf2),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace afterbay::test
