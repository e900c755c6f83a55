// SPDX-License-Identifier: Apache-2.0
#include "decomp/pio_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "scratch_directory.hpp"
#include "unit/decomp/decomp_lists.hpp"

namespace afterbay::decomp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto small_text =
    "version 2001 npes 3 ndims 2 \n"
    "4 2 \n"
    "0 4\n"
    "3 1 0 5 \n"
    "1 0\n"
    "\n"
    "2 5\n"
    "8 7 0 0 6 \n";

class DecompPioText : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(path(), std::ios::binary) << text;
    return path();
  }
  [[nodiscard]] std::string path() const { return (directory_.path / "map.dat").string(); }

  /// The error message for a text.
  std::string refused(const std::string& text) {
    const Result<Decomposition> map = read_pio_text(write(text));
    if (map) return "accepted";
    EXPECT_EQ(map.error().code, ErrorCode::format);
    EXPECT_EQ(map.error().file, path());
    return map.error().message;
  }
  /// The same for `small` with its line `number` (from 1) replaced.
  std::string refused_line(int number, const std::string& line) {
    std::istringstream old(small_text);
    std::string text;
    std::string each;
    for (int i = 1; std::getline(old, each); ++i) text += (i == number ? line : each) + "\n";
    return refused(text);
  }

  test::Directory directory_;
};

TEST_F(DecompPioText, lists_keep_order_and_holes) {
  const Result<Decomposition> map = read_pio_text(write(small_text));
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_EQ(map->name, "map");
  EXPECT_THAT(map->global(), ElementsAre(2, 4));  // C order
  ASSERT_EQ(map->ranks(), 3U);
  EXPECT_THAT(test::list_of(*map, 0), ElementsAre(2, 0, -1, 4));
  EXPECT_THAT(test::list_of(*map, 1), ElementsAre());
  EXPECT_THAT(test::list_of(*map, 2), ElementsAre(7, 6, -1, -1, 5));
}

TEST_F(DecompPioText, writing_gives_the_text_that_was_read) {
  const Result<Decomposition> map = read_pio_text(write(small_text));
  ASSERT_TRUE(map) << map.error().text();
  const std::string copy = (directory_.path / "copy.dat").string();
  ASSERT_TRUE(write_pio_text(copy, *map));
  std::ostringstream text;
  text << std::ifstream(copy).rdbuf();
  EXPECT_EQ(text.str(), small_text);
}

TEST_F(DecompPioText, a_stack_trace_may_follow) {
  EXPECT_EQ(refused(std::string(small_text) + "Obtained 2 stack frames.\n./e3sm.exe() [0x13]\n1 2 3\n"),
            "accepted");
  EXPECT_EQ(refused(std::string(small_text) + "\n\n"), "accepted");
}

TEST_F(DecompPioText, line_ends_of_other_systems_and_missing_ones_are_accepted) {
  std::string dos;
  for (const char letter : std::string(small_text)) dos += letter == '\n' ? "\r\n" : std::string(1, letter);
  EXPECT_EQ(refused(dos), "accepted");
  EXPECT_EQ(refused("version 2001 npes 1 ndims 1\n3\n0 2\n1 3 "), "accepted");
  EXPECT_EQ(refused("version 2001 npes 2 ndims 1\n3\n0 0\n1 0"), "accepted");  // no empty lines
}

/// "1 12" may have been "1 123 ": PIO ends every index with a blank.
TEST_F(DecompPioText, a_file_that_ends_within_its_last_index_is_refused) {
  EXPECT_THAT(refused("version 2001 npes 1 ndims 1\n200\n0 2\n1 12"),
              AllOf(HasSubstr("line 4"), HasSubstr("\"12\""), HasSubstr("index 2 of rank 0"),
                    HasSubstr("end the line")));
  const std::string text(small_text);
  for (std::size_t left = 1; left + 2 < text.size(); ++left)
    EXPECT_NE(refused(text.substr(0, left)), "accepted") << left;
}

TEST_F(DecompPioText, a_line_may_be_longer_than_the_buffer) {
  constexpr int many = 400000;
  std::string text = fmt::format("version 2001 npes 1 ndims 1\n{}\n0 {}\n", many, many);
  for (int i = many; i > 0; --i) text += fmt::format("{} ", i);
  const Result<Decomposition> map = read_pio_text(write(text + "\n"));
  ASSERT_TRUE(map) << map.error().text();
  const std::vector<std::int64_t> list = test::list_of(*map, 0);
  ASSERT_EQ(list.size(), static_cast<std::size_t>(many));
  for (int i = 0; i < many; ++i) ASSERT_EQ(list[static_cast<std::size_t>(i)], many - 1 - i);
}

TEST_F(DecompPioText, a_wrong_header_is_refused_with_line_and_word) {
  EXPECT_THAT(refused(""), AllOf(HasSubstr("line 1"), HasSubstr("end of the file")));
  EXPECT_THAT(refused("hello\n"), AllOf(HasSubstr("line 1"), HasSubstr("\"hello\"")));
  EXPECT_THAT(refused_line(1, "version 2002 npes 3 ndims 2"), AllOf(HasSubstr("line 1"), HasSubstr("2002")));
  EXPECT_THAT(refused_line(1, "version 2001 npes 0 ndims 2"), AllOf(HasSubstr("npes"), HasSubstr("is 0")));
  EXPECT_THAT(refused_line(1, "version 2001 npes -3 ndims 2"), AllOf(HasSubstr("npes"), HasSubstr("-3")));
  EXPECT_THAT(refused_line(1, "version 2001 npes 3 ndims 0"), AllOf(HasSubstr("ndims"), HasSubstr("is 0")));
  EXPECT_THAT(refused_line(1, "version 2001 npes 3 ndims 8"), AllOf(HasSubstr("ndims"), HasSubstr("is 8")));
  EXPECT_THAT(refused_line(1, "version 2001 npes 3"),
              AllOf(HasSubstr("ndims"), HasSubstr("end of the line")));
  EXPECT_THAT(refused_line(1, "version 2001 npes 3 ndims 2 7"), HasSubstr("\"7\""));
}

TEST_F(DecompPioText, wrong_lengths_are_refused_with_line_and_value) {
  EXPECT_THAT(refused_line(2, "4"), AllOf(HasSubstr("line 2"), HasSubstr("end of the line")));
  EXPECT_THAT(refused_line(2, "4 2 2"), AllOf(HasSubstr("line 2"), HasSubstr("\"2\"")));
  EXPECT_THAT(refused_line(2, "4 0"), AllOf(HasSubstr("line 2"), HasSubstr("is 0")));
  EXPECT_THAT(refused_line(2, "4 x2"), AllOf(HasSubstr("line 2"), HasSubstr("\"x2\"")));
  EXPECT_THAT(refused_line(2, "4611686018427387904 4"), AllOf(HasSubstr("line 2"), HasSubstr("2^63")));
}

TEST_F(DecompPioText, wrong_lists_are_refused_with_line_rank_and_value) {
  EXPECT_THAT(refused_line(3, "1 4"), AllOf(HasSubstr("line 3"), HasSubstr("rank 0"), HasSubstr("rank 1")));
  EXPECT_THAT(refused_line(3, "0 -4"), AllOf(HasSubstr("line 3"), HasSubstr("-4")));
  EXPECT_THAT(refused_line(3, "0 99999999999"), AllOf(HasSubstr("line 3"), HasSubstr("99999999999")));
  EXPECT_THAT(refused_line(4, "3 1 0"),
              AllOf(HasSubstr("line 4"), HasSubstr("announces 4"), HasSubstr("has 3")));
  EXPECT_THAT(refused_line(4, "3 1 0 5 6"), AllOf(HasSubstr("line 4"), HasSubstr("\"6\"")));
  EXPECT_THAT(refused_line(4, "3 -1 0 5"),
              AllOf(HasSubstr("line 4"), HasSubstr("rank 0"), HasSubstr("is -1")));
  EXPECT_THAT(refused_line(4, "3 9 0 5"),
              AllOf(HasSubstr("line 4"), HasSubstr("is 9"), HasSubstr("1 ... 8")));
  EXPECT_THAT(refused_line(4, "3 1.5 0 5"), AllOf(HasSubstr("line 4"), HasSubstr("\"1.5\"")));
  EXPECT_THAT(refused_line(4, "3 99999999999999999999 0 5"), HasSubstr("\"99999999999999999999\""));
  EXPECT_THAT(refused_line(4, "3 two 0 5"), AllOf(HasSubstr("line 4"), HasSubstr("\"two\"")));
}

TEST_F(DecompPioText, ranks_that_are_missing_or_too_many_are_refused) {
  EXPECT_THAT(refused_line(1, "version 2001 npes 4 ndims 2"),
              AllOf(HasSubstr("rank 3 of 4"), HasSubstr("end of the file (truncated?)")));
  EXPECT_THAT(refused_line(1, "version 2001 npes 2 ndims 2"),
              AllOf(HasSubstr("line 7"), HasSubstr("2 ranks"), HasSubstr("\"2\"")));
  const std::string text(small_text);
  EXPECT_THAT(refused(text.substr(0, text.size() - 4)), AllOf(HasSubstr("line 8"), HasSubstr("truncated")));
  EXPECT_THAT(refused(text + "garbage\n"), AllOf(HasSubstr("line 9"), HasSubstr("\"garbage\"")));
}

TEST_F(DecompPioText, a_file_that_is_not_there) {
  const Result<Decomposition> map = read_pio_text((directory_.path / "none.dat").string());
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace afterbay::decomp
