// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/block_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "codec/aligned_buffer.hpp"

namespace afterbay::storage {
namespace {

constexpr std::size_t page = 4096;

/// Records every write.
class RecordingDisk : public Disk {
 public:
  struct Call {
    std::uint64_t offset;
    std::size_t count;
    bool direct;
  };
  int open(const char* path, int flags, mode_t mode) override {
    const int number = Disk::open(path, flags, mode);
    if ((flags & O_DIRECT) != 0) direct_ = number;
    return number;
  }
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    calls.push_back({static_cast<std::uint64_t>(offset), count, descriptor == direct_});
    return Disk::write(descriptor, bytes, count, offset);
  }
  int allocate(int descriptor, off_t offset, off_t length) override {
    rooms.emplace_back(offset, length);
    if (gives_room) return Disk::allocate(descriptor, offset, length);
    errno = EOPNOTSUPP;
    return -1;
  }
  bool writes_side_by_side(const char*) override { return true; }
  std::int64_t free_bytes(int) override { return free; }

  std::vector<Call> calls;
  std::vector<std::pair<off_t, off_t>> rooms;  ///< offset and length
  bool gives_room = true;
  std::int64_t free = std::int64_t{100} << 30;

 private:
  int direct_ = -1;
};

class BlockWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::current_path() / "block_XXXXXX").string();
    const int number = ::mkstemp(pattern.data());
    ASSERT_GE(number, 0);
    path_ = pattern;
    file_ = Descriptor(number);
    for (std::size_t i = 0; i < memory_.size(); ++i)
      memory_.data()[i] = static_cast<std::byte>(i * 7 + i / page);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void open(DirectIo direct_io) {
    auto opened = BlockWriter::open(file_.get(), path_, direct_io, disk_);
    ASSERT_TRUE(opened) << opened.error().text();
    writer_ = std::move(*opened);
  }
  [[nodiscard]] Extent extent(std::uint64_t offset, std::size_t from, std::size_t count) const {
    return {offset, memory_.bytes().subspan(from, count)};
  }
  WriteCost write(const std::vector<Extent>& extents) {
    WriteCost cost;
    const auto written = writer_->write(extents, cost);
    EXPECT_TRUE(written) << (written ? "" : written.error().text());
    return cost;
  }
  void expect_bytes(const Extent& extent) {
    std::vector<std::byte> bytes(extent.bytes.size());
    ASSERT_TRUE(writer_->read(extent.offset, bytes));
    EXPECT_EQ(std::memcmp(bytes.data(), extent.bytes.data(), bytes.size()), 0) << extent.offset;
  }

  std::string path_;
  Descriptor file_;
  std::shared_ptr<RecordingDisk> disk_ = std::make_shared<RecordingDisk>();
  std::unique_ptr<BlockWriter> writer_;
  codec::AlignedBuffer memory_{1u << 20};
};

TEST_F(BlockWriterTest, writes_whole_pages_direct_and_the_ends_buffered) {
  open(DirectIo::automatic);
  if (!writer_->direct()) GTEST_SKIP() << "this file system refuses O_DIRECT";
  const Extent odd = extent(3 * page + 100, 100, 100 * page);
  const WriteCost cost = write({odd});
  EXPECT_EQ(cost.bytes_out, 100 * page);
  EXPECT_EQ(cost.direct_bytes, 99 * page);
  expect_bytes(odd);
  ASSERT_EQ(disk_->calls.size(), 3u);
  EXPECT_FALSE(disk_->calls[0].direct);
  EXPECT_EQ(disk_->calls[0].count, page - 100);
  EXPECT_TRUE(disk_->calls[1].direct);
  EXPECT_EQ(disk_->calls[1].offset, 4 * page);
  EXPECT_FALSE(disk_->calls[2].direct);
  EXPECT_EQ(disk_->calls[2].count, 100u);
}

TEST_F(BlockWriterTest, writes_nothing_around_the_extent) {
  open(DirectIo::automatic);
  const Extent before = extent(0, 0, 300000);
  write({before});
  const Extent inside =
      extent(page + 10, 10 + 400000 / page * page, 200000);  // congruent, ends inside a page
  write({inside});
  expect_bytes(inside);
  expect_bytes({0, before.bytes.first(page + 10)});
  expect_bytes({page + 10 + 200000, before.bytes.subspan(page + 10 + 200000)});
}

TEST_F(BlockWriterTest, joins_neighbours_in_memory_and_file_only) {
  open(DirectIo::off);
  write({extent(0, 0, 1000), extent(1000, 1000, 500), extent(1500, 1500, 500)});
  ASSERT_EQ(disk_->calls.size(), 1u);
  EXPECT_EQ(disk_->calls[0].count, 2000u);
  disk_->calls.clear();
  write({extent(5000, 0, 1000), extent(6000, 2000, 500), extent(9000, 2500, 500)});
  EXPECT_EQ(disk_->calls.size(), 3u);
  expect_bytes(extent(6000, 2000, 500));
  expect_bytes(extent(9000, 2500, 500));
}

TEST_F(BlockWriterTest, goes_through_the_page_cache_where_memory_and_file_are_not_congruent) {
  open(DirectIo::automatic);
  const Extent shifted = extent(8 * page, 1, 64 * page);
  EXPECT_EQ(write({shifted}).direct_bytes, 0u);
  expect_bytes(shifted);
}

TEST_F(BlockWriterTest, never_uses_direct_io_when_it_is_off) {
  open(DirectIo::off);
  EXPECT_FALSE(writer_->direct());
  const Extent all = extent(0, 0, 64 * page);
  EXPECT_EQ(write({all}).direct_bytes, 0u);
  expect_bytes(all);
}

class BlockWriterRoom : public BlockWriterTest {
 protected:
  static constexpr std::uint64_t MiB = 1u << 20;
  void SetUp() override {
    BlockWriterTest::SetUp();
    open(DirectIo::automatic);
    if (!writer_->direct()) GTEST_SKIP() << "this file system refuses O_DIRECT";
  }
  void write_and_check(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t at = from; at < to; ++at) write({extent(at * MiB, 0, MiB)});
    for (std::uint64_t at = from; at < to; ++at) expect_bytes(extent(at * MiB, 0, MiB));
  }
};

TEST_F(BlockWriterRoom, is_given_to_large_files_in_few_steps_and_cut_off_again) {
  write_and_check(0, 3);
  EXPECT_TRUE(disk_->rooms.empty()) << "small files need none";
  write_and_check(3, 50);
  EXPECT_EQ(disk_->rooms.size(), 3U);
  EXPECT_EQ(*writer_->size_bytes(), 83 * MiB)
      << "4 and 16, as much as these 20 and one, as much as these 41 and one";
  ASSERT_TRUE(writer_->truncate(50 * MiB));
  EXPECT_EQ(*writer_->size_bytes(), 50 * MiB);
  write_and_check(50, 51);
  EXPECT_EQ(disk_->rooms.size(), 4U);
}

TEST_F(BlockWriterRoom, that_another_server_gave_is_used) {
  ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(40 * MiB)), 0);
  write_and_check(20, 40);
  EXPECT_TRUE(disk_->rooms.empty());
}

TEST_F(BlockWriterRoom, is_not_given_where_little_is_free) {
  disk_->free = static_cast<std::int64_t>(200 * MiB);
  write_and_check(0, 20);
  EXPECT_TRUE(disk_->rooms.empty());
}

TEST_F(BlockWriterRoom, is_not_given_up_to_a_far_record) {
  write_and_check(5000, 5001);
  EXPECT_TRUE(disk_->rooms.empty());
}

TEST_F(BlockWriterRoom, does_not_count_as_used) {
  write_and_check(14, 17);
  EXPECT_EQ(disk_->rooms.size(), 1U);
  EXPECT_GT(*writer_->size_bytes(), 17 * MiB);
  EXPECT_EQ(writer_->used_bytes(), 17 * MiB);
}

/// Another file of this process holds the rest of the sixteenth that may be allocated.
TEST_F(BlockWriterRoom, is_shared_out_among_all_files) {
  disk_->free = static_cast<std::int64_t>(16 * 30 * MiB);
  write_and_check(0, 17);
  EXPECT_EQ(disk_->rooms.size(), 1U);
  const auto first = std::move(writer_);
  std::filesystem::remove(path_);
  file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT, 0600));
  open(DirectIo::automatic);
  write_and_check(0, 17);
  EXPECT_EQ(disk_->rooms.size(), 1U);
}

/// The allocation is room only until data are written to it: a file may be larger than the
/// sixteenth.
TEST_F(BlockWriterRoom, that_is_used_up_counts_no_more) {
  disk_->free = static_cast<std::int64_t>(16 * 40 * MiB);
  write_and_check(0, 100);
  EXPECT_EQ(disk_->rooms.size(), 4U);
  EXPECT_EQ(*writer_->size_bytes(), 123 * MiB) << "4 and 16, 1 and 20, 1 and 40, 1 and 40";
}

TEST_F(BlockWriterRoom, ends_at_the_limit_of_file_sizes) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit limit{12 * MiB, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  write_and_check(0, 11);  // beyond the limit the kernel would kill this process
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(*writer_->size_bytes(), 11 * MiB);
}

TEST_F(BlockWriterRoom, is_asked_for_once_where_the_file_system_gives_none) {
  disk_->gives_room = false;
  write_and_check(0, 40);
  EXPECT_EQ(disk_->rooms.size(), 1U);
  EXPECT_EQ(*writer_->size_bytes(), 40 * MiB);
}

TEST_F(BlockWriterTest, reads_zeros_after_the_end) {
  open(DirectIo::off);
  write({extent(0, 0, 10)});
  std::vector<std::byte> bytes(20, std::byte{9});
  ASSERT_TRUE(writer_->read(0, bytes));
  EXPECT_EQ(bytes[9], memory_.data()[9]);
  EXPECT_EQ(bytes[10], std::byte{0});
  EXPECT_EQ(bytes[19], std::byte{0});
}

}  // namespace
}  // namespace afterbay::storage
