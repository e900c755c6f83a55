// SPDX-License-Identifier: Apache-2.0
// Files get their final names on file systems without hard links.
#include "storage/block_writer/final_name.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "scratch_directory.hpp"

namespace afterbay::storage {
namespace {

/// All links fail with this errno.
class LinklessDisk final : public Disk {
 public:
  explicit LinklessDisk(int number) : number_(number) {}
  int link(int, const char*) override { return errno = number_, -1; }

 private:
  int number_;
};

class StorageFinalName : public testing::Test {
 protected:
  StorageFinalName() : open_(::open(part_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666)) {}
  ~StorageFinalName() override { ::close(open_); }
  Result<> name(int number) {
    LinklessDisk disk(number);
    return give_name(disk, open_, part_, final_, false);
  }

  test::Directory directory_;
  const std::string part_ = directory_.path / "x.nc.part", final_ = directory_.path / "x.nc";
  int open_;
};

class StorageFinalNameWithoutLinks : public StorageFinalName, public testing::WithParamInterface<int> {};

/// With EINVAL, complete files were not published.
TEST_P(StorageFinalNameWithoutLinks, the_file_is_renamed) {
  const auto named = name(GetParam());
  ASSERT_TRUE(named) << named.error().text();
  EXPECT_TRUE(has_name(open_, final_));
  EXPECT_FALSE(std::filesystem::exists(part_));
}

TEST_P(StorageFinalNameWithoutLinks, another_file_with_the_name_is_kept) {
  const int other = ::open(final_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
  const auto named = name(GetParam());
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::exists) << named.error().text();
  EXPECT_TRUE(has_name(other, final_));
  EXPECT_TRUE(has_name(open_, part_));
  ::close(other);
}

INSTANTIATE_TEST_SUITE_P(Errnos, StorageFinalNameWithoutLinks,
                         testing::Values(EPERM, EOPNOTSUPP, ENOSYS, EINVAL, EMLINK));

TEST_F(StorageFinalName, other_errors_of_links_are_reported) {
  const auto named = name(EACCES);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::io) << named.error().text();
  EXPECT_TRUE(has_name(open_, part_));
}

}  // namespace
}  // namespace afterbay::storage
