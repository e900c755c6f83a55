// SPDX-License-Identifier: Apache-2.0
// The list of the files of an artifact: its checksum, and what differs from a directory.
#include "base/artifact_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scratch_directory.hpp"

namespace afterbay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<DirectoryContents::Found>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.name);
  return names;
}

TEST(ArtifactFiles, checksum_depends_on_names_sizes_and_checksums) {
  // Computed bit by bit, with another program.
  const std::vector<ArtifactFile> files{{"a", 3, 1}, {"b/c", 5, 2}};
  const auto sum = checksum_of(files);
  EXPECT_EQ(sum, 0x6d2d644c7a5234f7U);
  EXPECT_EQ(checksum_of({}), 0U);
  EXPECT_NE(checksum_of(std::vector<ArtifactFile>{{"a", 3, 1}, {"b/d", 5, 2}}), sum);
  EXPECT_NE(checksum_of(std::vector<ArtifactFile>{{"a", 4, 1}, {"b/c", 5, 2}}), sum);
  EXPECT_NE(checksum_of(std::vector<ArtifactFile>{{"a", 3, 1}, {"b/c", 5, 3}}), sum);
  EXPECT_FALSE(checksum_of(std::vector<ArtifactFile>{{"a", 3, 1}, {"b/c", 5}}));
  EXPECT_EQ(bytes_of(files), 8U);
}

TEST(ArtifactFiles, contents_are_listed_in_the_order_of_names_without_following_links) {
  const test::Directory directory;
  fs::create_directories(directory.path / "b/c");
  fs::create_directories(directory.path / "b-");
  std::ofstream(directory.path / "b/c/z") << "12345";
  std::ofstream(directory.path / "b.x") << "1";
  std::ofstream(directory.path / "a") << "";
  fs::create_directory_symlink("b", directory.path / "link");
  const auto contents = contents_of(directory.path);
  ASSERT_TRUE(contents) << contents.error().text();
  EXPECT_THAT(names_of(contents->files), ElementsAre("a", "b.x", "b/c/z", "link"));
  EXPECT_EQ(contents->files[2].bytes, 5U);
  EXPECT_TRUE(contents->files[2].regular);
  EXPECT_FALSE(contents->files[3].regular);
  EXPECT_THAT(contents->directories, ElementsAre("b", "b-", "b/c"));
  const auto with_slash = contents_of(directory.path.string() + "/");
  ASSERT_TRUE(with_slash);
  EXPECT_THAT(names_of(with_slash->files), ElementsAre("a", "b.x", "b/c/z", "link"));
}

TEST(ArtifactFiles, what_cannot_be_listed_is_an_error) {
  const test::Directory directory;
  const auto missing = contents_of(directory.path / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().native, ENOENT);
  std::ofstream(directory.path / "file") << "x";
  const auto file = contents_of(directory.path / "file");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().native, ENOTDIR);
}

TEST(ArtifactFiles, every_difference_names_its_file) {
  const std::vector<ArtifactFile> expected{{"a", 1}, {"b", 2}, {"c", 3}, {"e", 5}, {"g", 7}};
  const DirectoryContents found{{{"0", 1, true},
                                 {"a", 1, true},
                                 {"c", 2, true},
                                 {"d", 9, true},
                                 {"e", 5, true},
                                 {"g", 0, false},
                                 {"h", 1, true}},
                                {}};
  const auto read = [](const ArtifactFile& file) { return std::string(file.name == "e" ? "is odd" : ""); };
  EXPECT_THAT(
      differences(expected, found, read),
      ElementsAre("file '0' does not belong to it", "file 'b' is missing",
                  "file 'c' has 2 bytes instead of 3", "file 'd' does not belong to it", "file 'e' is odd",
                  "file 'g' is not a regular file", "file 'h' does not belong to it"));
  EXPECT_THAT(differences({}, DirectoryContents()), IsEmpty());
  EXPECT_THAT(differences(expected, DirectoryContents()), ::testing::SizeIs(5));
}

}  // namespace
}  // namespace afterbay
