// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/file_checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/crc64.hpp"

namespace afterbay::storage {
namespace {

/// A file in memory that counts the bytes read from it.
struct FakeFile {
  std::vector<std::byte> bytes;
  std::uint64_t read = 0;

  explicit FakeFile(std::size_t size) : bytes(size) {
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + (i >> 8));
  }
  [[nodiscard]] std::span<const std::byte> part(std::size_t begin, std::size_t count) const {
    return std::span(bytes).subspan(begin, count);
  }
  void change(std::size_t begin, std::size_t count, int by) {
    for (std::size_t i = begin; i < begin + count; ++i) bytes[i] ^= static_cast<std::byte>(by);
  }
  Result<std::uint64_t> finish(const FileChecksum& checksum) {
    return checksum.finish(bytes.size(),
                           [this](std::uint64_t offset, std::span<std::byte> target) -> Result<> {
                             std::memcpy(target.data(), bytes.data() + offset, target.size());
                             read += target.size();
                             return {};
                           });
  }
  void expect(const FileChecksum& checksum, std::uint64_t most_read) {
    read = 0;
    const auto sum = finish(checksum);
    ASSERT_TRUE(sum);
    EXPECT_EQ(*sum, crc64(bytes));
    EXPECT_LE(read, most_read);
  }
};

TEST(FileChecksum, of_parts_written_in_any_order_needs_no_reading) {
  FakeFile file(100'000);
  std::vector<std::size_t> parts(100);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = i * 1000;
  std::shuffle(parts.begin(), parts.end(), std::mt19937(4));
  FileChecksum checksum;
  for (const std::size_t begin : parts) checksum.written(begin, file.part(begin, 1000));
  file.expect(checksum, 0);
}

TEST(FileChecksum, reads_what_nobody_showed_it_and_what_was_changed_behind_its_back) {
  FakeFile file(50'000);
  FileChecksum checksum;
  checksum.written(10'000, file.part(10'000, 20'000));
  checksum.written(40'000, file.part(40'000, 5000));
  file.expect(checksum, 25'000);
  file.change(41'000, 10, 0x55);
  checksum.changed(41'000, 10);
  file.expect(checksum, 30'000);
}

TEST(FileChecksum, of_parts_written_twice_is_that_of_what_came_last) {
  FakeFile file(40'000);
  FileChecksum checksum;
  checksum.written(0, file.part(0, 40'000));
  file.change(5000, 10'000, 0x0f);
  checksum.written(5000, file.part(5000, 10'000));
  file.expect(checksum, 30'000);
  checksum.written(0, file.part(0, 5000));
  checksum.written(15'000, file.part(15'000, 25'000));
  file.expect(checksum, 0);
}

TEST(FileChecksum, of_a_large_file_reads_little_where_little_was_written_again) {
  FakeFile file(64u << 20);
  FileChecksum checksum;
  for (std::size_t begin = 0; begin < file.bytes.size(); begin += 1u << 20)
    checksum.written(begin, file.part(begin, 1u << 20));
  file.change(33u << 20, 100, 1);
  checksum.changed(33u << 20, 100);
  file.expect(checksum, 8u << 20);
}

TEST(FileChecksum, forgets_what_was_cut_off) {
  FakeFile file(30'000);
  FileChecksum checksum;
  checksum.written(0, file.part(0, 30'000));
  file.bytes.resize(20'000);
  checksum.cut(20'000);
  file.expect(checksum, 20'000);
  file.bytes.resize(30'000);
  file.expect(checksum, 30'000);
}

TEST(FileChecksum, takes_the_accounts_of_others_and_reads_where_two_have_written) {
  FakeFile file(60'000);
  FileChecksum leader, first, second;
  leader.changed(0, 1000);
  leader.written(1000, file.part(1000, 9000));
  first.written(10'000, file.part(10'000, 20'000));
  second.written(30'000, file.part(30'000, 30'000));
  FakeFile older = file;
  older.change(500, 2000, 7);
  second.written(500, older.part(500, 2000));  // a place that was reassigned afterwards
  ASSERT_TRUE(leader.take(first.sealed()));
  ASSERT_TRUE(leader.take(second.sealed()));
  file.expect(leader, 30'000);  // what was joined with what is doubtful is doubtful, up to some MiB
}

TEST(FileChecksum, refuses_an_account_that_was_changed) {
  FakeFile file(1000);
  FileChecksum member;
  member.written(10, file.part(10, 500));
  const std::vector<std::byte> sealed = member.sealed();
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::vector<std::byte> changed = sealed;
    changed[i] ^= std::byte{0x10};
    FileChecksum leader;
    EXPECT_FALSE(leader.take(changed)) << i;
    EXPECT_FALSE(leader.take(std::span(sealed).first(i))) << i;
    file.expect(leader, 1000);
  }
}

TEST(ThreadFileChecksum, may_be_written_by_many_threads) {
  FakeFile file(1u << 20);
  FileChecksum checksum;
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (std::size_t part = t; part < 256; part += 4)
          checksum.written(part * 4096, file.part(part * 4096, 4096));
      });
  }
  file.expect(checksum, 0);
}

}  // namespace
}  // namespace afterbay::storage
