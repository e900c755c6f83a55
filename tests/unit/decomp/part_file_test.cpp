// SPDX-License-Identifier: Apache-2.0
#include "decomp/part_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "scratch_directory.hpp"

namespace afterbay::decomp {
namespace {

using testing::HasSubstr;

class DecompPartFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (directory_.path / name).string(); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_.path), {}));
  }

  test::Directory directory_;
};

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST_F(DecompPartFile, appears_under_its_name_when_it_is_published_and_replaces_what_is_there) {
  put("a", "old");
  const auto part = PartFile::create(path("a"));
  ASSERT_TRUE(part) << part.error().text();
  ASSERT_TRUE((*part)->write(bytes_of("new")));
  EXPECT_EQ(get("a"), "old");
  ASSERT_TRUE((*part)->publish());
  EXPECT_EQ(get("a"), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(DecompPartFile, leaves_nothing_and_the_old_file_when_it_is_not_published) {
  put("a", "old");
  {
    const auto part = PartFile::create(path("a"));
    ASSERT_TRUE(part);
    ASSERT_TRUE((*part)->write(bytes_of("new")));
    EXPECT_EQ(files(), 2U);
  }
  EXPECT_EQ(get("a"), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(DecompPartFile, touches_no_file_of_others) {
  put("a.part", "precious");
  const std::string taken = fmt::format("a.{}.part", ::getpid());
  put(taken, "precious too");
  {
    const auto one = PartFile::create(path("a"));
    const auto two = PartFile::create(path("a"));
    ASSERT_TRUE(one && two);
    EXPECT_NE((*one)->name(), (*two)->name());
    ASSERT_TRUE((*one)->write(bytes_of("new")));
    ASSERT_TRUE((*one)->publish());
  }
  EXPECT_EQ(get("a.part"), "precious");
  EXPECT_EQ(get(taken), "precious too");
  EXPECT_EQ(files(), 3U);
}

TEST_F(DecompPartFile, a_place_where_no_file_can_be_is_refused_as_the_system_does) {
  put("file", "");
  std::filesystem::create_directory(path("folder"));
  EXPECT_TRUE(check_place(path("new")));
  EXPECT_TRUE(check_place(path("file")));
  for (const auto& [name, number] :
       {std::pair{"none/a", ENOENT}, std::pair{"file/a", ENOTDIR}, std::pair{"folder", EISDIR}}) {
    const Result<> refused = check_place(path(name));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().native, number);
    EXPECT_EQ(refused.error().file, path(name));
  }
  const auto part = PartFile::create(path("none/a"));
  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().text(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace afterbay::decomp
