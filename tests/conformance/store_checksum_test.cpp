// SPDX-License-Identifier: Apache-2.0
// The checksum of a published file: correct in all cases, and computed without reading the file
// again. The other tests of this folder check it for each file that they publish.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "conformance/shared_files.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/byte_allowance.hpp"

namespace afterbay::test {
namespace {

class CountingDisk : public storage::Disk {
 public:
  std::atomic<std::uint64_t> bytes_read{0};
  ssize_t read(int descriptor, std::byte* bytes, std::size_t count, off_t offset) override {
    bytes_read += count;
    return Disk::read(descriptor, bytes, count, offset);
  }
};

class StoreChecksum : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] storage::FileRequest large_request(const std::string& name) const {
    Schema schema;
    schema.dimension("time", unlimited).dimension("z", 8).dimension("y", 128).dimension("x", 128);
    schema.variable("a", Type::float32, {"time", "z", "y", "x"});
    schema.variable("fixed", Type::float64, {"y", "x"});
    if (GetParam() == Format::netcdf4)
      schema.variable("packed", Type::float32, {"time", "y", "x"}).with_deflate(1);
    auto request = request_of(directory_.file(name), schema, GetParam(), storage::Existing::refuse,
                              {256u << 10, 128u << 10});
    request.disk = disk_;
    return request;
  }

  std::shared_ptr<CountingDisk> disk_ = std::make_shared<CountingDisk>();
  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(StoreChecksum, of_large_data_is_known_without_reading_them_back) {
  const auto request = large_request("out.nc");
  const Source source = sample_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  write_fixed(**file, request, source);
  for (const std::uint64_t record : {3u, 0u, 7u, 1u, 2u, 6u, 4u, 5u})
    write_record(**file, request, record, source);
  disk_->bytes_read = 0;
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  expect_checksum(request, *published);
  EXPECT_LT(disk_->bytes_read, published->size_bytes / 20);
}

TEST_P(StoreChecksum, of_a_file_of_several_servers_is_known_without_reading_what_members_wrote) {
  const auto request = large_request("out.nc");
  const Source source = sample_data(request.schema, *request.layout);
  SharedFile group(*store_, request, 2);
  group.write(all_frames(*request.layout, 8), source, 3);
  disk_->bytes_read = 0;
  group.publish();
  EXPECT_LT(disk_->bytes_read, std::filesystem::file_size(request.path) / 20);
}

/// The structure changes until the end: only the structure is read, not the data after it.
TEST_P(StoreChecksum, of_a_file_with_much_structure_is_that_of_its_end) {
  constexpr std::size_t text_bytes = 200'000;
  auto request = large_request("out.nc");
  request.schema.attribute("history", std::string(text_bytes, 'h'));
  const Source source = sample_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  write_fixed(**file, request, source);
  for (std::uint64_t record = 0; record < 8; ++record) write_record(**file, request, record, source);
  disk_->bytes_read = 0;
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  expect_checksum(request, *published);
  EXPECT_LT(disk_->bytes_read, text_bytes + published->size_bytes / 20);
}

TEST_P(StoreChecksum, is_kept_only_where_it_was_asked_for) {
  auto request = large_request("out.nc");
  request.checksum = false;
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_FALSE(published->checksum);
  EXPECT_EQ(published->size_bytes, std::filesystem::file_size(request.path));
}

INSTANTIATE_TEST_SUITE_P(OnDisk, StoreChecksum, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& test) { return std::string(name_of(test.param)); });

/// Chunks are stored, freed and stored again with another size where HDF5 puts structure and other
/// chunks.
TEST(StoreChecksumNetcdf4, is_right_when_chunks_are_stored_again_and_their_places_are_used_for_others) {
  TemporaryDirectory directory;
  auto request = request_of(directory.file("out.nc"), filtered_schema(), Format::netcdf4,
                            storage::Existing::refuse, {8192, 4096});
  request.chunk_memory = std::make_shared<storage::ByteAllowance>(32u << 10);
  const Source source = noise_data(request.schema, *request.layout);
  const auto store = storage::make_store(Format::netcdf4);
  for (const std::size_t members : {0u, 2u}) {
    request.existing = storage::Existing::replace;
    SharedFile group(*store, request, members);
    std::vector<FrameJob> jobs = all_frames(*request.layout, 24);
    std::stable_sort(jobs.begin(), jobs.end(), [](const FrameJob& a, const FrameJob& b) {
      return a.record * 7 % 24 < b.record * 7 % 24;
    });
    group.write(jobs, source, 3);
    group.publish();
    expect_contents(read_netcdf(request.path), request, 24, source);
  }
}

}  // namespace
}  // namespace afterbay::test
