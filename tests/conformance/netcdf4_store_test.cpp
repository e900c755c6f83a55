// SPDX-License-Identifier: Apache-2.0
// Tests specific to netCDF-4 files: chunks, filters, conventions, files made by other programs.
#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "conformance/store_harness.hpp"
#include "storage/byte_allowance.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

void netcdf4_store_ok(int status) { ASSERT_EQ(status, NC_NOERR) << nc_strerror(status); }

class Netcdf4StoreTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "out.nc") const { return directory_.file(name); }

  void write(const storage::FileRequest& request, std::uint64_t records, const Source& source) {
    auto file = store_->create(request);
    ASSERT_TRUE(file) << file.error().text();
    write_fixed(**file, request, source);
    for (std::uint64_t record = (*file)->records(); record < records; ++record)
      write_record(**file, request, record, source);
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
    expect_checksum(request, *published);
  }

  std::unique_ptr<storage::Store> store_ = storage::make_store(Format::netcdf4);
  TemporaryDirectory directory_;
};

TEST_F(Netcdf4StoreTest, chunks_and_filters_are_as_declared_and_decode) {
  const Schema schema = filtered_schema();
  const auto request = request_of(path(), schema, Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 5, source);
  expect_contents(read_netcdf(path()), request, 5, source);
  int id = -1;
  netcdf4_store_ok(nc_open(path().c_str(), NC_NOWRITE, &id));
  for (const Variable& variable : request.schema.variables) {
    int number = -1;
    int shuffle = -1;
    int deflate = -1;
    int level = -1;
    int storage = -1;
    std::size_t chunk[3] = {};
    netcdf4_store_ok(nc_inq_varid(id, variable.name.c_str(), &number));
    netcdf4_store_ok(nc_inq_var_deflate(id, number, &shuffle, &deflate, &level));
    netcdf4_store_ok(nc_inq_var_chunking(id, number, &storage, chunk));
    EXPECT_EQ(deflate != 0, variable.deflate > 0) << variable.name;
    EXPECT_EQ(shuffle != 0, variable.shuffle) << variable.name;
    if (variable.deflate > 0) {
      EXPECT_EQ(level, variable.deflate) << variable.name;
    }
    EXPECT_EQ(storage, NC_CHUNKED) << variable.name;
    for (std::size_t d = 0; d < variable.chunk.size(); ++d)
      EXPECT_EQ(chunk[d], variable.chunk[d]) << variable.name;
  }
  nc_close(id);
}

/// It was accepted, and the variable written without filters.
TEST_F(Netcdf4StoreTest, shuffle_without_deflate_on_a_variable_without_records_is_written) {
  Schema schema;
  schema.dimension("x", 4);
  schema.variable("a", Type::int16, {"x"}).shuffle = true;
  const auto request = request_of(path(), schema, Format::netcdf4);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  write_fixed(**file, request, [](std::uint32_t, std::uint64_t) {
    std::vector<std::byte> values(8);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::byte>(0xa0 + i);
    return values;
  });
  ASSERT_TRUE((*file)->publish());
  EXPECT_NE(output_of("h5dump -pH " + path()).find("PREPROCESSING SHUFFLE"), std::string::npos);
  const std::vector<std::byte> bytes = file_bytes(path());
  std::vector<std::byte> shuffled;
  for (const int i : {0, 2, 4, 6, 1, 3, 5, 7}) shuffled.push_back(static_cast<std::byte>(0xa0 + i));
  EXPECT_NE(std::ranges::search(bytes, shuffled).begin(), bytes.end());
}

TEST_F(Netcdf4StoreTest, keeps_data_that_deflate_would_make_larger) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = noise_data(request.schema, *request.layout);
  write(request, 4, source);
  const ReadFile file = read_netcdf(path());
  for (std::uint32_t v = 0; v < request.schema.variables.size(); ++v)
    EXPECT_TRUE(file.variables.at(request.schema.variables[v].name).values.bytes ==
                expected_values(
                    request.schema, *request.layout, v, 4, [](std::uint64_t) { return true; }, source)
                    .bytes)
        << request.schema.variables[v].name;
}

TEST_F(Netcdf4StoreTest, fills_holes_in_chunks_of_several_records) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  const auto written = [](std::uint64_t record) { return record == 1 || record == 6 || record == 13; };
  for (const std::uint64_t record : {13u, 1u, 6u}) write_record(**file, request, record, source);
  ASSERT_TRUE((*file)->publish());
  const ReadFile result = read_netcdf(path());
  EXPECT_EQ(result.records, 14u);
  for (std::uint32_t v = 0; v < request.schema.variables.size(); ++v) {
    if (!request.layout->variables[v].record) continue;
    EXPECT_TRUE(result.variables.at(request.schema.variables[v].name).values ==
                expected_values(request.schema, *request.layout, v, 14, written, source))
        << request.schema.variables[v].name;
  }
}

TEST_F(Netcdf4StoreTest, appends_inside_chunks_of_several_records) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 2, source);
  const auto more = request_of(path(), filtered_schema(), Format::netcdf4, Existing::append);
  write(more, 7, source);
  write(more, 13, source);
  expect_contents(read_netcdf(path()), more, 13, source);
}

/// Like `source`, but with other values in one record.
Source changed_in(const Source& source, std::uint64_t changed) {
  return [source, changed](std::uint32_t v, std::uint64_t record) {
    return source(v, record == changed ? record + 40 : record);
  };
}

TEST_F(Netcdf4StoreTest, a_record_written_again_leaves_the_others_of_its_chunk_as_they_are) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  const Source changed = changed_in(source, 1);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  write_fixed(**file, request, source);
  for (std::uint64_t record = 0; record < 7; ++record) write_record(**file, request, record, source);
  write_record(**file, request, 1, changed);
  ASSERT_TRUE((*file)->publish());
  expect_contents(read_netcdf(path()), request, 7, changed);
}

TEST_F(Netcdf4StoreTest, overwrites_one_record_inside_a_chunk_when_appending) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 7, source);
  const Source changed = changed_in(source, 4);
  const auto more = request_of(path(), filtered_schema(), Format::netcdf4, Existing::append);
  auto file = store_->create(more);
  ASSERT_TRUE(file) << file.error().text();
  for (const std::uint64_t record : {8u, 4u, 7u}) write_record(**file, more, record, changed);
  ASSERT_TRUE((*file)->publish());
  expect_contents(read_netcdf(path()), more, 9, changed);
}

TEST_F(Netcdf4StoreTest, keeps_all_records_of_packed_chunks_when_memory_for_them_is_short) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 50).dimension("x", 30);
  schema.variable("packed", Type::float32, {"time", "y", "x"}).with_chunk({16, 20, 30}).with_deflate(1);
  schema.variable("series", Type::float64, {"time"}).with_chunk({8}).with_deflate(4);
  auto request = request_of(path(), schema, Format::netcdf4);
  const std::uint64_t chunk_bytes = 16 * 20 * 30 * 4;
  request.chunk_memory = std::make_shared<storage::ByteAllowance>(2 * chunk_bytes);
  for (const Source& source :
       {sample_data(request.schema, *request.layout), noise_data(request.schema, *request.layout)}) {
    auto file = store_->create(request);
    ASSERT_TRUE(file) << file.error().text();
    std::vector<std::uint64_t> order;  // each chunk is left and revisited
    for (std::uint64_t record = 0; record < 48; ++record) order.push_back(record * 29 % 48);
    const std::size_t frames = request.layout->frames.size();
    std::atomic<std::size_t> next{0};
    std::atomic<int> failures{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
          for (std::size_t n = next++; n < order.size() * frames; n = next++)
            if (!write_frame(**file, request, n % frames, order[n / frames], source)) ++failures;
        });
    }
    EXPECT_EQ(failures, 0);
    ASSERT_TRUE((*file)->publish());
    EXPECT_GT(request.chunk_memory->peak_bytes(), 0u);
    EXPECT_LE(request.chunk_memory->peak_bytes(), 2 * chunk_bytes);
    EXPECT_EQ(request.chunk_memory->used_bytes(), 0u);
    const ReadFile result = read_netcdf(path());
    for (std::uint32_t v = 0; v < 2; ++v)
      EXPECT_TRUE(result.variables.at(schema.variables[v].name).values.bytes ==
                  expected_values(
                      schema, *request.layout, v, 48, [](std::uint64_t) { return true; }, source)
                      .bytes)
          << schema.variables[v].name;
    output_of("h5dump -H " + path());
    request.existing = Existing::replace;
  }
}

TEST_F(Netcdf4StoreTest, refuses_packed_chunks_that_its_memory_cannot_hold) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 1000);
  schema.variable("t", Type::float32, {"time", "x"}).with_chunk({1000, 1000}).with_deflate(1);
  auto request = request_of(path(), schema, Format::netcdf4);
  request.chunk_memory = std::make_shared<storage::ByteAllowance>(3'999'999);
  const auto refused = store_->create(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resources);
  EXPECT_EQ(refused.error().variable, "t");
  EXPECT_NE(refused.error().message.find("memory.chunks"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(file_exists(path() + ".part"));
}

TEST_F(Netcdf4StoreTest, hdf5_prints_nothing_when_a_file_is_opened_for_append) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 3, source);
  const auto more = request_of(path(), filtered_schema(), Format::netcdf4, Existing::append);
  testing::internal::CaptureStderr();
  std::jthread([&] { write(more, 5, source); }).join();  // as in a server: not by the thread that
                                                         // began
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  expect_contents(read_netcdf(path()), more, 5, source);
}

TEST_F(Netcdf4StoreTest, netcdf_calls_of_the_program_itself_print_nothing_either) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 3, source);
  testing::internal::CaptureStderr();
  expect_contents(read_netcdf(path()), request, 3, source);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Netcdf4StoreTest, records_far_ahead_cost_nothing_for_those_left_out) {
  constexpr std::uint64_t last = 900'000;
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  write_record(**file, request, last, source);
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE((*file)->publish());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_LT(file_bytes(path()).size(), 1u << 20);
  int id = -1;
  netcdf4_store_ok(nc_open(path().c_str(), NC_NOWRITE, &id));
  std::size_t records = 0;
  int dimension = -1;
  netcdf4_store_ok(nc_inq_dimid(id, "time", &dimension));
  netcdf4_store_ok(nc_inq_dimlen(id, dimension, &records));
  EXPECT_EQ(records, last + 1);
  int number = -1;
  netcdf4_store_ok(nc_inq_varid(id, "span", &number));
  std::vector<double> values(50);
  for (const std::uint64_t record : {last, last - 1, std::uint64_t{0}}) {
    const std::size_t start[] = {record, 0};
    const std::size_t count[] = {1, 50};
    netcdf4_store_ok(nc_get_vara_double(id, number, start, count, values.data()));
    const auto wanted = source(1, last);
    if (record == last)
      EXPECT_EQ(std::memcmp(values.data(), wanted.data(), wanted.size()), 0);
    else
      EXPECT_EQ(values, std::vector<double>(50, NC_FILL_DOUBLE)) << record;
  }
  nc_close(id);
}

/// Creates the schema with netCDF-C, with default or big-endian storage.
void make_by_netcdf(const std::string& path, const Schema& schema, int endian, std::uint64_t records,
                    const model::FileLayout& layout, const Source& source) {
  int id = -1;
  netcdf4_store_ok(nc_create(path.c_str(), NC_NETCDF4, &id));
  std::map<std::string, int> dimensions;
  for (const Dimension& dimension : schema.dimensions)
    netcdf4_store_ok(nc_def_dim(id, dimension.name.c_str(), dimension.length, &dimensions[dimension.name]));
  for (const Variable& variable : schema.variables) {
    std::vector<int> ids;
    for (const std::string& name : variable.dimensions) ids.push_back(dimensions[name]);
    int number = -1;
    const nc_type type = variable.type == Type::float64   ? NC_DOUBLE
                         : variable.type == Type::float32 ? NC_FLOAT
                         : variable.type == Type::int32   ? NC_INT
                         : variable.type == Type::int16   ? NC_SHORT
                         : variable.type == Type::int8    ? NC_BYTE
                                                          : NC_CHAR;
    netcdf4_store_ok(
        nc_def_var(id, variable.name.c_str(), type, static_cast<int>(ids.size()), ids.data(), &number));
    if (type != NC_CHAR && type != NC_BYTE) netcdf4_store_ok(nc_def_var_endian(id, number, endian));
    for (const Attribute& attribute : variable.attributes)
      netcdf4_store_ok(nc_put_att_text(id, number, attribute.name.c_str(), attribute.values.count(),
                                       attribute.values.text().data()));
  }
  netcdf4_store_ok(nc_enddef(id));
  for (std::uint32_t v = 0; v < schema.variables.size(); ++v) {
    const bool record = layout.variables[v].record;
    for (std::uint64_t r = 0; r < (record ? records : 1); ++r) {
      std::vector<std::size_t> start(schema.variables[v].dimensions.size(), 0);
      std::vector<std::size_t> count;
      if (record) {
        start[0] = r;
        count.push_back(1);
      }
      for (const std::uint64_t length : layout.variables[v].shape) count.push_back(length);
      netcdf4_store_ok(nc_put_vara(id, static_cast<int>(v), start.data(), count.data(), source(v, r).data()));
    }
  }
  netcdf4_store_ok(nc_close(id));
}

TEST_F(Netcdf4StoreTest, appends_to_files_that_others_stored_differently) {
  const Schema schema = filtered_schema();
  for (const int endian : {NC_ENDIAN_LITTLE, NC_ENDIAN_BIG}) {
    const std::string name = path(endian == NC_ENDIAN_BIG ? "big.nc" : "little.nc");
    const auto request = request_of(name, schema, Format::netcdf4, Existing::append);
    const Source source = sample_data(request.schema, *request.layout);
    make_by_netcdf(name, schema, endian, 3, *request.layout, source);
    write(request, 8, source);
    expect_contents(read_netcdf(name), request, 8, source);
  }
}

TEST_F(Netcdf4StoreTest, says_and_looks_as_what_netcdf_would_have_written) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 12).dimension("x", 10).dimension("unused", 3);
  schema.variable("time", Type::float64, {"time"})
      .with_chunk({512})
      .attribute("units", "days since 2000-01-01");
  schema.variable("y", Type::float32, {"y"});
  schema.variable("x", Type::float32, {"y", "x"});  // has the name of a dimension but is not its
                                                    // coordinate
  schema.variable("t", Type::float32, {"time", "y", "x"}).with_chunk({1, 12, 10}).attribute("units", "K");
  const auto request = request_of(path("ours/f.nc"), schema, Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 2, source);
  std::filesystem::create_directory(directory_.path() / "theirs");
  make_by_netcdf(path("theirs/f.nc"), schema, NC_ENDIAN_LITTLE, 2, *request.layout, source);
  expect_contents(read_netcdf(path("ours/f.nc")), request, 2, source);
  EXPECT_EQ(output_of("ncdump " + path("ours/f.nc")), output_of("ncdump " + path("theirs/f.nc")));
  const std::string special = output_of("ncdump -hs " + path("ours/f.nc"));
  for (const char* text :
       {"t:_Storage = \"chunked\"", "t:_ChunkSizes = 1, 12, 10", "t:_Endianness = \"little\"",
        "time:_ChunkSizes = 512", "y:_Storage = \"contiguous\"", ":_IsNetcdf4 = 1", ":_SuperblockVersion = 2",
        ":_Format = \"netCDF-4\"", "_NCProperties = \"version=2,"})
    EXPECT_NE(special.find(text), std::string::npos) << text << " not in\n" << special;
  const std::string dumped = output_of("h5dump -H " + path("ours/f.nc"));
  EXPECT_NE(dumped.find("DATASET \"t\""), std::string::npos);
}

TEST_F(Netcdf4StoreTest, the_netcdf_library_can_go_on_with_our_files) {
  const auto request = request_of(path(), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  write(request, 3, source);
  int id = -1;
  netcdf4_store_ok(nc_open(path().c_str(), NC_WRITE, &id));
  for (std::uint32_t v = 0; v < request.schema.variables.size(); ++v) {
    if (!request.layout->variables[v].record) continue;
    std::vector<std::size_t> start{4};
    std::vector<std::size_t> count{1};
    for (const std::uint64_t length : request.layout->variables[v].shape) {
      start.push_back(0);
      count.push_back(length);
    }
    netcdf4_store_ok(nc_put_vara(id, static_cast<int>(v), start.data(), count.data(), source(v, 4).data()));
  }
  netcdf4_store_ok(nc_redef(id));
  netcdf4_store_ok(nc_put_att_text(id, NC_GLOBAL, "history", 5, "later"));
  netcdf4_store_ok(nc_close(id));
  const ReadFile file = read_netcdf(path());
  EXPECT_EQ(file.records, 5u);
  for (std::uint32_t v = 0; v < request.schema.variables.size(); ++v) {
    if (!request.layout->variables[v].record) continue;
    EXPECT_TRUE(file.variables.at(request.schema.variables[v].name).values ==
                expected_values(
                    request.schema, *request.layout, v, 5, [](std::uint64_t r) { return r != 3; }, source))
        << request.schema.variables[v].name;
  }
}

TEST_F(Netcdf4StoreTest, refuses_to_append_to_other_values_of_constants) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", 3);
  schema.variable("lat", Type::float64, {"lat"}).with_constant(Values({1.0, 2.0, 3.0}));
  schema.variable("t", Type::float32, {"time", "lat"});
  const auto request = request_of(path(), schema, Format::netcdf4);
  write(request, 1, sample_data(request.schema, *request.layout));
  schema.find_variable("lat")->with_constant(Values({1.0, 2.5, 3.0}));
  const auto refused = store_->create(request_of(path(), schema, Format::netcdf4, Existing::append));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("variable 'lat': constant value 1: 2.5 wanted, 2 in the file"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(Netcdf4StoreTest, refuses_to_append_to_what_is_not_netcdf) {
  std::ofstream(path()) << "just text";
  Schema schema;
  schema.dimension("time", unlimited);
  schema.variable("t", Type::float32, {"time"});
  const auto refused = store_->create(request_of(path(), schema, Format::netcdf4, Existing::append));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::format);
  EXPECT_EQ(refused.error().file, path());
}

}  // namespace
}  // namespace afterbay::test
