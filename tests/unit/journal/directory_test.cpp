// SPDX-License-Identifier: Apache-2.0
// Entries of artifacts that are directories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/crc64.hpp"
#include "journal/judge.hpp"
#include "unit/journal/journal_fixture.hpp"

namespace afterbay::journal {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class JournalDirectory : public JournalTest {
 protected:
  void SetUp() override { fs::create_directories(path() + "/b"); }
  [[nodiscard]] std::string path() const { return directory_.path / "out.zz"; }

  ArtifactFile file_in(const std::string& name, const std::string& text) {
    std::ofstream(path() + "/" + name, std::ios::binary) << text;
    return {name, text.size(), crc64(as_bytes(text))};
  }
  FilePublished published(std::vector<ArtifactFile> files) {
    FilePublished line{facts(path()), bytes_of(files), 3, checksum_of(files)};
    line.file_count = files.size();
    line.files = std::move(files);
    return line;
  }
  CheckedFile check(const FilePublished& line, bool quick = false) {
    PublishedFile entry;
    entry.file = line;
    return check_file(entry, quick);
  }
};

TEST_F(JournalDirectory, files_are_in_the_line_and_read_back) {
  const std::string odd = "b/\xff\\ \n";
  const FilePublished made = published({file_in("a", "12"), file_in(odd, "3"), {"c", 0, std::nullopt}});
  const std::string text = text_of({"at", "run", 0, 1, made});
  EXPECT_THAT(text, HasSubstr(R"("file_count":3,"files":[{"name":"a","bytes":2,"checksum":"crc64-xz:)"));
  EXPECT_THAT(text, HasSubstr(R"({"name":"c","bytes":0})"));
  const auto line = parse_line(text);
  ASSERT_TRUE(line);
  const auto& back = std::get<FilePublished>(line->event);
  EXPECT_EQ(back.file_count, 3U);
  ASSERT_EQ(back.files.size(), 3U);
  EXPECT_EQ(back.files[1].name, odd);
  EXPECT_EQ(back.files[1].bytes, 1U);
  EXPECT_EQ(back.files[1].checksum, made.files[1].checksum);
  EXPECT_FALSE(back.files[2].checksum);
}

TEST_F(JournalDirectory, entries_of_files_are_as_before) {
  const std::string text = text_of({"at", "run", 0, 1, FilePublished{facts("/x.nc"), 1, 2, 3}});
  EXPECT_THAT(text, Not(HasSubstr("file_count")));
  EXPECT_THAT(text, Not(HasSubstr("\"files\"")));
}

/// Before, the whole entry was lost, and a damaged artifact with it.
TEST_F(JournalDirectory, a_malformed_list_is_left_out_and_its_entry_is_kept) {
  const FilePublished made = published({file_in("a", "12")});
  const std::string text = text_of({"at", "run", 0, 1, made});
  const std::string start = text.substr(0, text.find("[{"));
  for (const char* list :
       {"7", R"([{"name":7}])", "[7]", R"([{"name":"a"}])", R"([{"name":"a","bytes":"2"}])",
        R"([{"name":"a","bytes":2,"checksum":9}])", R"({"a":2})", "null"}) {
    const auto line = parse_line(start + list + "}");
    ASSERT_TRUE(line) << list;
    const auto& back = std::get<FilePublished>(line->event);
    EXPECT_TRUE(back.files.empty()) << list;
    EXPECT_EQ(back.file_count, 1U);
    EXPECT_EQ(check(back).finding, Finding::right) << list;
  }
  file_in("a", "13");
  EXPECT_EQ(check(std::get<FilePublished>(parse_line(start + "[7]}")->event)).finding, Finding::changed);
}

TEST_F(JournalDirectory, a_list_that_contradicts_its_entry_is_not_right) {
  const FilePublished made = published({file_in("a", "12"), file_in("b/c", "3")});
  EXPECT_EQ(check(made).finding, Finding::right);
  FilePublished fewer = made;
  fewer.files.pop_back();
  fs::rename(path() + "/b/c", directory_.path / "c");
  EXPECT_EQ(check(fewer).finding, Finding::unreadable);
  EXPECT_THAT(check(fewer, true).detail,
              HasSubstr("its list of 1 files with 2 bytes contradicts its 2 files"));
  fs::rename(directory_.path / "c", path() + "/b/c");
  FilePublished larger = made;
  larger.files[0] = file_in("a", "123");
  EXPECT_EQ(check(larger).finding, Finding::unreadable);
  FilePublished other = made;
  other.files[0] = file_in("a", "21");
  EXPECT_EQ(check(other).finding, Finding::unreadable);
  EXPECT_THAT(check(other).detail, HasSubstr("its list has crc64-xz:"));
}

/// Before, such a file was not read, and counted as checked.
TEST_F(JournalDirectory, a_file_with_a_checksum_of_another_kind_is_checked_by_that_of_the_directory) {
  std::string text = text_of({"at", "run", 0, 1, published({file_in("a", "12"), file_in("b/c", "3")})});
  const std::size_t at = text.rfind("crc64-xz:");
  text.replace(at, 8, "sha512:x");
  const auto line = parse_line(text);
  ASSERT_TRUE(line);
  const auto& entry = std::get<FilePublished>(line->event);
  EXPECT_TRUE(entry.files[0].checksum && !entry.files[1].checksum);
  EXPECT_EQ(check(entry).finding, Finding::right);
  file_in("b/c", "4");
  EXPECT_EQ(check(entry).finding, Finding::changed);
}

TEST_F(JournalDirectory, the_list_of_the_line_before_belongs_to_a_published_directory) {
  const FilePublished whole = published({file_in("a", "12"), file_in("b/c", "345")});
  FilePublished bare = whole;
  bare.files.clear();
  const auto it = recorder("run");
  ASSERT_TRUE(it->opened(whole.file, inode_of(path())));
  ASSERT_TRUE(it->ready(FileReady{whole, inode_of(path()), 0}));
  ASSERT_TRUE(it->published(bare));
  file_in("a", "13");
  const auto checked = verify(read(), false);
  ASSERT_TRUE(checked);
  ASSERT_EQ(checked->wrong.size(), 1U);
  EXPECT_THAT(checked->wrong[0].detail, HasSubstr("file 'a' has crc64-xz:"));
}

/// One line must not take all the room that readers have.
TEST_F(JournalDirectory, a_list_that_is_too_long_is_left_out_and_the_rest_still_verified) {
  std::vector<ArtifactFile> files;
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("{:03}{}", i, std::string(200, 'n'));
    files.push_back(file_in(name, std::to_string(i)));
  }
  const FilePublished listed = published(files);
  EXPECT_EQ(check(listed).finding, Finding::right);
  FilePublished line = listed;
  line.files.resize(20000, {std::string(100, 'x'), 1, 1});
  const std::string text = text_of({"at", "run", 0, 1, line});
  EXPECT_LT(text.size(), 4096U);
  EXPECT_THAT(text, HasSubstr("\"file_count\":20}"));
  const auto parsed = parse_line(text);
  ASSERT_TRUE(parsed);
  const auto& unlisted = std::get<FilePublished>(parsed->event);
  EXPECT_TRUE(unlisted.files.empty());
  EXPECT_EQ(check(unlisted).finding, Finding::right);
  file_in(files[4].name, "x");
  EXPECT_EQ(check(unlisted, true).finding, Finding::right);
  EXPECT_EQ(check(unlisted).finding, Finding::changed);
  fs::remove(path() + "/" + files[4].name);
  EXPECT_THAT(check(unlisted, true).detail, HasSubstr("19 files with "));
  file_in("other", "x");
  EXPECT_EQ(check(unlisted, true).finding, Finding::right) << "as many bytes in as many files";
  EXPECT_THAT(check(unlisted).detail, HasSubstr("published with crc64-xz:"));
}

TEST_F(JournalDirectory, a_list_of_up_to_64_KiB_is_written) {
  const auto size = [](std::size_t files) {
    FilePublished line;
    line.file_count = files;
    line.files.resize(files, {"values/12.3.4", 1, 1});
    return text_of({"at", "run", 0, 1, line}).size();
  };
  EXPECT_GT(size(700), 700U * 60);
  EXPECT_LT(size(700), 65536U);
  EXPECT_LT(size(720), 4096U);
}

TEST_F(JournalDirectory, many_differences_are_counted) {
  std::vector<ArtifactFile> files;
  for (int i = 0; i < 9; ++i) files.push_back({std::to_string(i), 1, 1});
  const CheckedFile checked = check(published(files));
  EXPECT_EQ(checked.finding, Finding::changed);
  EXPECT_THAT(checked.detail, HasSubstr("file '4' is missing; and 4 more"));
}

TEST_F(JournalDirectory, that_got_its_name_without_a_line_is_complete_if_it_has_the_size) {
  const FilePublished line = published({file_in("a", "12"), file_in("b/c", "345")});
  {
    const auto killed = recorder("killed");
    ASSERT_TRUE(killed->opened(line.file, inode_of(path())));
    ASSERT_TRUE(killed->ready(FileReady{line, inode_of(path()), 0}));
  }
  const auto last = [&] { return read_journal(directory_.path.string())->runs.at(0).unpublished.at(0); };
  EXPECT_TRUE(published_after_all(last()));
  EXPECT_EQ(newest_files(*read_journal(directory_.path.string())).size(), 1U);
  file_in("more", "1");
  EXPECT_FALSE(published_after_all(last()));
  EXPECT_TRUE(newest_files(*read_journal(directory_.path.string())).empty());
}

}  // namespace
}  // namespace afterbay::journal
