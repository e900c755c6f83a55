// SPDX-License-Identifier: Apache-2.0
// The right to create a file: the state after a refusal, and which file is the leader's.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "base/owner_file.hpp"
#include "scratch_directory.hpp"
#include "storage/artifact.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/leader_part.hpp"

namespace afterbay::storage {
namespace {

TEST(StoragePartFile, a_writer_that_is_refused_leaves_no_empty_part_file) {
  const test::Directory directory;
  const std::string path = (directory.path / "x.nc").string();
  const auto owner = OwnerFile::claim(path + ".part.owner");  // just before it publishes, or after
  ASSERT_TRUE(owner);
  const auto refused = PartFile::claim(path, Existing::replace, false, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(StoragePartFile, a_writer_that_is_refused_leaves_the_file_of_the_other) {
  const test::Directory directory;
  const std::string path = (directory.path / "x.nc").string();
  const auto first = PartFile::claim(path, Existing::replace, false, nullptr);
  ASSERT_TRUE(first);
  EXPECT_FALSE(PartFile::claim(path, Existing::replace, false, nullptr));
  EXPECT_TRUE(std::filesystem::exists(path + ".part"));
}

/// Before any data are written: a directory cannot be replaced by a file.
TEST(StoragePartFile, a_directory_with_its_name_or_part_name_is_refused_and_kept) {
  const test::Directory directory;
  const std::string path = (directory.path / "x.nc").string();
  for (const std::string& taken : {path, path + ".part"}) {
    std::filesystem::create_directory(taken);
    for (const Existing existing : {Existing::replace, Existing::append}) {
      const auto refused = PartFile::claim(path, existing, false, nullptr);
      ASSERT_FALSE(refused) << taken;
      EXPECT_EQ(refused.error().code, ErrorCode::exists);
      EXPECT_EQ(refused.error().native, EISDIR);
      EXPECT_NE(refused.error().text().find(taken + " is a directory, and a file of this name is to be "),
                std::string::npos)
          << refused.error().text();
      // The part directory of a run that is alive must not be removed.
      EXPECT_EQ(refused.error().text().find("if a run is writing it, give the two different names") !=
                    std::string::npos,
                taken != path);
    }
    EXPECT_TRUE(std::filesystem::is_directory(taken));
    std::filesystem::remove(taken);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path)) << "no part file is left";
  }
  const std::string other = directory.path / "other";
  std::filesystem::create_directory(other);
  std::filesystem::create_directory_symlink(other, path);
  const auto link = PartFile::claim(path, Existing::replace, false, nullptr);
  ASSERT_FALSE(link) << "the link would be replaced, and not what it names";
  EXPECT_EQ(link.error().native, ELOOP);
}

/// A lock of all bytes is what flock becomes on NFS.
TEST(StoragePartFile, a_member_is_refused_by_recovery_only) {
  const test::Directory directory;
  const std::string path = directory.path / "x.part";
  const auto opened = [&] { return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)); };
  const Descriptor member = opened();
  {
    const Descriptor recovery = opened();
    ASSERT_EQ(lock_out_members(recovery.get()), 0);
    EXPECT_EQ(lock_member(member.get()), EWOULDBLOCK);
  }
  const Descriptor leader = opened();
  struct flock all {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(leader.get(), F_OFD_SETLK, &all), 0);
  EXPECT_EQ(lock_member(member.get()), 0) << "it goes on without";
}

TEST(StoragePartFile, a_leaders_file_is_recognized_by_what_both_nodes_know) {
  const test::Directory directory;
  const Descriptor file(::open((directory.path / "x.part").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_TRUE(file.open());
  const LeaderPart leader = LeaderPart::of(file.get(), false);
  EXPECT_TRUE(leader.is(file.get()));
  LeaderPart another = leader;
  ++another.inode;
  EXPECT_FALSE(another.is(file.get()));
  LeaderPart unknown = leader;
  unknown.inode = 0;
  EXPECT_TRUE(unknown.is(file.get()));
  unknown.born_ns = 0;
  EXPECT_TRUE(unknown.is(file.get()));
  EXPECT_TRUE(leader.is(-1)) << "the inode of the member's file is not known";
}

}  // namespace
}  // namespace afterbay::storage
