// SPDX-License-Identifier: Apache-2.0
// Unreadable files: reading fails with the file, the variable and the reason, and never returns
// wrong values.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/caller_terms.hpp"
#include "conformance/input_files.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::test {
namespace {

using storage::DirectIo;
using storage::StoredFile;

class InputRefusal : public testing::Test {
 protected:
  /// The error of opening; it names the file.
  [[nodiscard]] static Error open_error(const std::string& path) {
    const auto file = StoredFile::open(path, DirectIo::automatic);
    if (file) {
      ADD_FAILURE() << path << " was opened";
      return {};
    }
    EXPECT_EQ(file.error().file, path);
    EXPECT_NE(file.error().text().find(path), std::string::npos);
    return file.error();
  }

  void put_bytes(const std::string& path, const std::string& bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  /// Two variables of 4000 values per record; value = number of the element.
  void make_file(const std::string& kind, const std::string& attributes = "") const {
    std::string cdl = "netcdf f { dimensions: time = UNLIMITED ; x = 4000 ; variables: int a(time, x) ; " +
                      attributes + " int b(time, x) ; data: ";
    for (const char* name : {"a", "b"}) {
      cdl += std::string(name) + " = ";
      for (int i = 0; i < 8000; ++i) cdl += (i == 0 ? "" : ", ") + std::to_string(i);
      cdl += " ; ";
    }
    make_from_cdl(cdl + "}", path_, kind);
  }

  /// Flips some bits in the middle of the chunk (1, 4000) of a record.
  void damage_chunk(const std::string& variable, std::uint64_t record) const {
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, variable.c_str(), H5P_DEFAULT);
    const hsize_t first[] = {record, 0};
    unsigned mask = 0;
    haddr_t address = 0;
    hsize_t size_bytes = 0;
    ASSERT_GE(H5Dget_chunk_info_by_coord(dataset, first, &mask, &address, &size_bytes), 0);
    H5Dclose(dataset);
    H5Fclose(file);
    std::fstream bytes(path_, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(static_cast<std::streamoff>(address + size_bytes / 2));
    bytes << "damage";
    ASSERT_TRUE(bytes.flush());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("in.nc");
};

TEST_F(InputRefusal, a_missing_file_is_named_with_its_errno) {
  const Error error = open_error(path_);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.native, ENOENT);
  EXPECT_NE(error.message.find("no such file"), std::string::npos);
}

TEST_F(InputRefusal, a_directory_or_a_pipe_is_no_file) {
  EXPECT_EQ(open_error(directory_.path().string()).native, EISDIR);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(open_error(path_).code, ErrorCode::format);  // and does not wait for a writer
}

TEST_F(InputRefusal, a_file_without_permission_says_so) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read all";
  make_file("cdf5");
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  const Error error = open_error(path_);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.native, EACCES);
}

TEST_F(InputRefusal, files_of_another_kind_are_no_netcdf) {
  put_bytes(path_, "\xff\xd8\xff\xe0\x00\x10JFIF not netCDF at all, but long enough to look at");
  EXPECT_EQ(open_error(path_).code, ErrorCode::format);
  put_bytes(path_, "");
  EXPECT_EQ(open_error(path_).code, ErrorCode::format);
  put_bytes(path_, "CDF");
  EXPECT_EQ(open_error(path_).code, ErrorCode::format);
  put_bytes(path_, "\x89HDF\r\n\x1a\nand nothing after it");
  EXPECT_EQ(open_error(path_).code, ErrorCode::format);
}

/// Big-endian numbers and bytes of a classic header.
std::string four_bytes(std::uint32_t number) {
  std::string bytes(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(number >> (24 - 8 * i));
  return bytes;
}

TEST_F(InputRefusal, names_and_ranks_that_overflow_the_buffers_of_netcdf_are_refused) {
  const std::string absent(8, '\0');
  const auto header = [&](std::size_t name_bytes, std::uint32_t rank) {
    std::string bytes = std::string("CDF\x01", 4) + four_bytes(0) + four_bytes(10) + four_bytes(1) +
                        four_bytes(static_cast<std::uint32_t>(name_bytes)) + std::string(name_bytes, 'x') +
                        four_bytes(1) + absent + four_bytes(11) + four_bytes(1) + four_bytes(4) + "v..." +
                        four_bytes(rank);
    for (std::uint32_t d = 0; d < rank; ++d) bytes += four_bytes(0);
    return bytes + absent + four_bytes(4) + four_bytes(4) +
           four_bytes(static_cast<std::uint32_t>(bytes.size() + 20)) + std::string(64, '\0');
  };
  put_bytes(path_, header(256, 2));
  const auto file = StoredFile::open(path_, DirectIo::automatic);
  EXPECT_TRUE(file) << file.error().text();
  put_bytes(path_, header(5000, 2));
  EXPECT_NE(open_error(path_).text().find("a name of 5000 bytes"), std::string::npos);
  put_bytes(path_, header(8, 3000));
  EXPECT_NE(open_error(path_).text().find("3000 dimensions"), std::string::npos);
}

TEST_F(InputRefusal, parts_that_do_not_exist_are_refused) {
  make_file("nc4");
  const auto file = open_input(path_);
  std::vector<std::byte> room(16);
  const auto code = [&](std::uint32_t variable, std::uint64_t record, const model::Box& box) {
    const auto cost = file->read(variable, record, box, room);
    return cost ? ErrorCode::ok : cost.error().code;
  };
  EXPECT_EQ(code(0, 1, box_of({3996}, {4})), ErrorCode::ok);
  EXPECT_EQ(code(0, 1, box_of({3997}, {4})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(0, 1, box_of({~0ull}, {4})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(0, 1, box_of({0}, {3})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(0, 1, box_of({0, 0}, {1, 4})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(2, 1, box_of({0}, {4})), ErrorCode::invalid_argument);
  const auto record = file->read(0, 2, box_of({0}, {4}), room);
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().text().find("record 2 of variable 'a'"), std::string::npos);
  EXPECT_NE(record.error().text().find("it has 2 records"), std::string::npos);
  const auto strings = file->read_strings(0, 0);
  ASSERT_FALSE(strings);
  EXPECT_EQ(strings.error().code, ErrorCode::wrong_type);
}

TEST_F(InputRefusal, parts_that_do_not_exist_are_named_as_the_caller_counts) {
  make_file("nc4");
  const auto file = open_input(path_);
  std::vector<std::byte> room(16);
  const auto error = [&](std::uint64_t record, std::uint64_t start) {
    return file->read(0, record, box_of({start}, {4}), room).error().text();
  };
  const auto expect = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect(error(2, 0), "it has 2 records, counted from 0");
  expect(error(1, 3997), "the part [3997:4001] does not lie within the lengths (4000)");
  const InTerms fortran(Terms::fortran);
  expect(error(2, 0), "it has 2 records, counted from 1");
  expect(error(2, 0), "record 3 of variable 'a'");
  expect(error(1, 3997), "the part (3998:4001) does not lie within the lengths (4000)");
}

TEST_F(InputRefusal, a_truncated_file_gives_an_error_where_values_are_missing) {
  for (const char* kind : {"classic", "64-bit offset", "cdf5"}) {
    make_file(kind);
    const std::uintmax_t whole = std::filesystem::file_size(path_);
    std::filesystem::resize_file(path_, whole - 100);
    const auto file = open_input(path_);
    EXPECT_EQ(read_whole<int>(*file, "b", 0)[7], 7);
    EXPECT_EQ(read_whole<int>(*file, "a", 1)[7], 4007);
    const Error error = read_error(*file, "b", 1);
    EXPECT_EQ(error.code, ErrorCode::format) << kind;
    EXPECT_EQ(error.variable, "b");
    EXPECT_EQ(error.file, path_);
    EXPECT_NE(error.text().find("truncated"), std::string::npos) << error.text();
    EXPECT_NE(error.text().find(std::to_string(whole - 100)), std::string::npos) << error.text();
    std::filesystem::resize_file(path_, 60);  // in the header
    EXPECT_EQ(open_error(path_).code, ErrorCode::format);
  }
  make_file("nc4");
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 100);
  const Error error = open_error(path_);
  EXPECT_EQ(error.code, ErrorCode::format);
  EXPECT_NE(error.text().find("truncated"), std::string::npos) << error.text();
}

TEST_F(InputRefusal, a_file_that_shrinks_while_it_is_open_gives_an_error) {
  make_file("nc4");
  const auto file = open_input(path_);
  EXPECT_EQ(read_whole<int>(*file, "b", 1)[7], 4007);
  std::filesystem::resize_file(path_, 1000);
  const Error error = read_error(*file, "b", 1);
  EXPECT_EQ(error.code, ErrorCode::format);
  EXPECT_NE(error.text().find("truncated"), std::string::npos) << error.text();
}

/// Reads that fail, or return few bytes at a time.
class BadDisk : public storage::Disk {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    if (refuse_direct && (flags & O_DIRECT) != 0) return errno = EINVAL, -1;
    return Disk::open(path, flags, mode);
  }
  ssize_t read(int descriptor, std::byte* bytes, std::size_t count, off_t offset) override {
    if (interrupt++ % 3 == 0) return errno = EINTR, -1;
    if (fail_with != 0) return errno = fail_with, -1;
    return Disk::read(descriptor, bytes, std::min(count, most_bytes), offset);
  }
  bool refuse_direct = false;
  int fail_with = 0;
  std::size_t most_bytes = 4096;
  int interrupt = 0;
};

TEST_F(InputRefusal, an_error_of_the_disk_comes_with_its_errno_and_short_reads_are_continued) {
  for (const char* kind : {"nc4", "cdf5"}) {
    make_file(kind);
    const auto disk = std::make_shared<BadDisk>();
    auto file = StoredFile::open(path_, DirectIo::automatic, disk);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(read_whole<int>(**file, "b", 1)[3999], 7999);
    disk->fail_with = EIO;
    const Error error = read_error(**file, "b", 0);
    EXPECT_EQ(error.code, ErrorCode::io);
    EXPECT_EQ(error.native, EIO);
    EXPECT_EQ(error.variable, "b");
    disk->fail_with = 0;
    EXPECT_EQ(read_whole<int>(**file, "b", 0)[3999], 3999);
  }
}

TEST_F(InputRefusal, without_direct_io_the_page_cache_serves_unless_the_user_insists) {
  make_file("cdf5");
  const auto disk = std::make_shared<BadDisk>();
  disk->refuse_direct = true;
  const auto buffered = StoredFile::open(path_, DirectIo::automatic, disk);
  ASSERT_TRUE(buffered);
  EXPECT_EQ((*buffered)->engine(), "buffered");
  EXPECT_EQ(read_whole<int>(**buffered, "b", 1)[7], 4007);
  const auto insists = StoredFile::open(path_, DirectIo::on, disk);
  ASSERT_FALSE(insists);
  EXPECT_EQ(insists.error().native, EINVAL);
}

TEST_F(InputRefusal, a_damaged_chunk_is_an_error_of_its_variable_only) {
  for (const char* filter : {"a:_DeflateLevel = 1 ;", "a:_Fletcher32 = \"true\" ;"}) {
    make_file("nc4", std::string("a:_ChunkSizes = 1, 4000 ; ") + filter);
    damage_chunk("a", 1);
    const auto file = open_input(path_);
    const Error error = read_error(*file, "a", 1);
    EXPECT_EQ(error.code, ErrorCode::format) << filter;
    EXPECT_EQ(error.variable, "a");
    EXPECT_EQ(error.file, path_);
    EXPECT_NE(error.text().find("record 1"), std::string::npos) << error.text();
    EXPECT_EQ(read_whole<int>(*file, "b", 1)[7], 4007);
  }
}

}  // namespace
}  // namespace afterbay::test
