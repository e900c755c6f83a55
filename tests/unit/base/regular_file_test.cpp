// SPDX-License-Identifier: Apache-2.0
// Readers and names that do not denote regular files; files of any size.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/bounded_lines.hpp"
#include "base/new_file.hpp"
#include "base/regular_file.hpp"
#include "scratch_directory.hpp"

namespace afterbay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(RegularFile, nothing_else_is_opened_and_nothing_is_waited_for) {
  const test::Directory directory;
  const auto at = [&](const char* name) { return (directory.path / name).string(); };
  std::ofstream(at("file")) << "text";
  fs::create_symlink("file", at("link"));
  fs::create_symlink("loop", at("loop"));
  fs::create_symlink("nowhere", at("dangling"));
  fs::create_directory(at("directory"));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);

  EXPECT_TRUE(RegularFile(at("file")).open());
  EXPECT_EQ(RegularFile(at("file")).size_bytes(), 4u);
  EXPECT_TRUE(RegularFile(at("link")).open());
  const RegularFile link(at("link"), RegularFile::Links::refused);
  EXPECT_EQ(link.number(), ELOOP);
  EXPECT_EQ(link.problem(), "it is a symbolic link, not a regular file");
  EXPECT_EQ(RegularFile(at("loop")).number(), ELOOP);
  EXPECT_EQ(RegularFile(at("dangling")).number(), ENOENT);
  const RegularFile pipe(at("pipe"));
  EXPECT_EQ(pipe.number(), ENODEV);
  EXPECT_EQ(pipe.problem(), "it is a named pipe, not a regular file");
  EXPECT_EQ(RegularFile(at("socket")).problem(), "it is a socket, not a regular file");
  EXPECT_EQ(RegularFile("/dev/zero").problem(), "it is a device, not a regular file");
  const RegularFile folder(at("directory"));
  EXPECT_EQ(folder.number(), EISDIR);
  EXPECT_EQ(folder.problem(), "Is a directory");
}

TEST(RegularFile, reads_wait_for_the_file_system) {
  const test::Directory directory;
  std::ofstream(directory.path / "file") << "text";
  const RegularFile file((directory.path / "file").string());
  ASSERT_TRUE(file.open());
  EXPECT_EQ(::fcntl(file.descriptor(), F_GETFL) & O_NONBLOCK, 0);
}

struct Lines {
  std::vector<std::string> readable;
  int unreadable = 0;
  int unended = 0;
};

Lines lines_of(const fs::path& path, std::size_t most_bytes) {
  const RegularFile file(path.string());
  BoundedLines lines(file.descriptor(), most_bytes);
  Lines found;
  while (const auto line = lines.next()) {
    if (line->readable) found.readable.emplace_back(line->text);
    found.unreadable += line->readable ? 0 : 1;
    found.unended += line->ended ? 0 : 1;
  }
  EXPECT_EQ(lines.number(), 0);
  return found;
}

TEST(BoundedLines, long_ones_are_unreadable_and_the_next_is_read) {
  const test::Directory directory;
  const fs::path path = directory.path / "lines";
  const std::string fits(1000, 'a');
  std::ofstream(path) << "one\n\n" << fits << "\n" << fits << "b\n" << std::string(5 << 20, 'c') << "\nlast";
  const Lines found = lines_of(path, fits.size());
  EXPECT_THAT(found.readable, ElementsAre("one", "", fits, "last"));
  EXPECT_EQ(found.unreadable, 2);
  EXPECT_EQ(found.unended, 1);
}

TEST(BoundedLines, a_line_that_lies_across_two_reads_is_whole) {
  const test::Directory directory;
  const fs::path path = directory.path / "lines";
  const std::string first((1 << 20) - 3, 'a');
  std::ofstream(path) << first << "\nsecond\n";
  EXPECT_THAT(lines_of(path, 4 << 20).readable, ElementsAre(first, "second"));
}

// 1 TiB of zeros, read, would take minutes.
TEST(BoundedLines, holes_are_skipped_and_make_their_line_unreadable) {
  const test::Directory directory;
  const fs::path path = directory.path / "lines";
  std::ofstream(path) << "one\nbefore the hole";
  const off_t terabyte = off_t{1} << 40;
  const int file = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "behind it\ntwo\n", 14, terabyte), 14);
  ASSERT_EQ(::ftruncate(file, 2 * terabyte), 0);
  ::close(file);
  const auto begin = std::chrono::steady_clock::now();
  const Lines found = lines_of(path, 1 << 20);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_THAT(found.readable, ElementsAre("one", "two"));
  EXPECT_EQ(found.unreadable, 2);
  EXPECT_EQ(found.unended, 1);
}

class WriteInPlace : public testing::Test {
 protected:
  [[nodiscard]] std::string at(const char* name) const { return (directory_.path / name).string(); }
  static int write(const std::string& path, std::size_t bytes = 6) {
    return write_in_place(path, std::string(bytes, 'r'), std::chrono::milliseconds(100));
  }
  test::Directory directory_;
};

TEST_F(WriteInPlace, a_pipe_that_nobody_reads_is_not_waited_for) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(write(at("pipe")), ENXIO);
}

TEST_F(WriteInPlace, a_pipe_that_is_full_is_waited_for_in_vain) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(write(at("pipe")), 0);
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 6);
  EXPECT_EQ(write(at("pipe"), 4 << 20), ETIMEDOUT);
  ::close(reader);
}

TEST_F(WriteInPlace, links_of_other_users_are_not_followed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make the link of another user";
  std::ofstream(at("target")) << "old";
  fs::create_symlink("target", at("link"));
  EXPECT_EQ(write(at("link")), 0);
  EXPECT_EQ(fs::file_size(at("target")), 6u);
  ASSERT_EQ(::lchown(at("link").c_str(), 12345, 12345), 0);
  EXPECT_EQ(write(at("link"), 9), ELOOP);
  EXPECT_EQ(fs::file_size(at("target")), 6u);
}

}  // namespace
}  // namespace afterbay
