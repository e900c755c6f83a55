// SPDX-License-Identifier: Apache-2.0
// Owners of files on file systems without links, with stale caches, or with temporary failures.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/hard_link.hpp"
#include "base/owner_chain.hpp"
#include "base/owner_file.hpp"
#include "scratch_directory.hpp"

namespace {
std::atomic<bool> has_links{true}, has_exclusive_renames{true};
std::atomic<int> failing_reads{0}, without_links{EPERM};
const char* unseen = nullptr;  // a name that is taken, but not visible on this node yet
}  // namespace

// Replaces the system's functions: all calls of this program come here.
extern "C" {
int link(const char* from, const char* to) noexcept {
  if (unseen != nullptr && std::strcmp(to, unseen) == 0) return errno = EEXIST, -1;
  if (has_links) return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  return errno = without_links, -1;
}
int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) noexcept {
  if (flags != 0 && !has_exclusive_renames) return errno = EINVAL, -1;
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}
ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  if (failing_reads > 0) return --failing_reads, errno = ESTALE, -1;
  return static_cast<ssize_t>(::syscall(SYS_pread64, file, bytes, count, offset));
}
}

namespace afterbay {
namespace {

using ::testing::HasSubstr;

class BaseOwnerFileSystem : public testing::Test {
 protected:
  ~BaseOwnerFileSystem() override {
    has_links = has_exclusive_renames = true;
    failing_reads = 0;
    without_links = EPERM;
    unseen = nullptr;
  }
  [[nodiscard]] std::string name() const { return (directory_.path / "x.nc.part.owner").string(); }

  void expect_one_owner_at_a_time() const {
    {
      const auto owner = OwnerFile::claim(name());
      ASSERT_TRUE(owner) << owner.error().text();
      EXPECT_TRUE(owner->still_ours());
      EXPECT_TRUE(owner->still_ours());
      const auto second = OwnerFile::claim(name());
      ASSERT_FALSE(second);
      EXPECT_EQ(second.error().code, ErrorCode::conflict);
    }
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path));
  }

  test::Directory directory_;
};

TEST_F(BaseOwnerFileSystem, without_links_has_one_owner_at_a_time) {
  has_links = false;
  expect_one_owner_at_a_time();
}

TEST_F(BaseOwnerFileSystem, without_links_and_renames_that_replace_nothing_has_one_owner_at_a_time) {
  has_links = has_exclusive_renames = false;
  expect_one_owner_at_a_time();
}

/// The file is renamed to a name that is free, and never over a file that has it.
TEST_F(BaseOwnerFileSystem, renames_to_free_names_with_and_without_links) {
  const std::string from = (directory_.path / "made").string(), to = (directory_.path / "taken").string();
  const auto write = [](const std::string& path, const char* text) { std::ofstream(path) << text; };
  const auto renamed = [&] {
    write(from, "new");
    const int number = rename_to_free(from, to);
    std::string text;
    std::ifstream(to) >> text;
    EXPECT_EQ(std::filesystem::exists(from), number != 0);
    std::filesystem::remove(to);
    return std::pair(number, text);
  };
  for (const int number : {0, EPERM, EOPNOTSUPP, EINVAL, EACCES}) {
    has_links = number == 0;
    without_links = number;
    EXPECT_EQ(renamed(), std::pair(0, std::string("new"))) << number;
    write(to, "older");
    EXPECT_EQ(renamed(), std::pair(EEXIST, std::string("older"))) << number;
  }
  has_exclusive_renames = false;
  EXPECT_EQ(renamed(), std::pair(0, std::string("new"))) << "nothing else can be done";
}

/// Over NFS a node may not see for a minute that another one took a file over.
TEST_F(BaseOwnerFileSystem, that_does_not_show_a_successor_yet_makes_nobody_publish) {
  std::string taken;  // outlives the owner
  const auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  const auto chain = owner_chain(name());
  ASSERT_TRUE(chain);
  taken = owner_successor(name(), chain->back());
  unseen = taken.c_str();
  EXPECT_FALSE(owner->still_ours());
}

TEST_F(BaseOwnerFileSystem, that_fails_for_a_moment_is_asked_again) {
  const auto owner = OwnerFile::claim(name());
  ASSERT_TRUE(owner);
  failing_reads = 2;
  EXPECT_TRUE(owner->still_ours());
  failing_reads = 1000;
  const auto failed = OwnerFile::claim(name());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io) << failed.error().text();
  EXPECT_THAT(failed.error().text(), testing::Not(HasSubstr("remove it")));
  EXPECT_TRUE(OwnerFile::is_owned(name())) << "who cannot ask must not call it dead";
  failing_reads = 0;
  EXPECT_TRUE(owner->still_ours());
}

}  // namespace
}  // namespace afterbay
