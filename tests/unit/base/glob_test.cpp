// SPDX-License-Identifier: Apache-2.0
#include "base/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace afterbay {
namespace {

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(glob_match("history", "history"));
  EXPECT_FALSE(glob_match("history", "history2"));
  EXPECT_FALSE(glob_match("history2", "history"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
}

TEST(Glob, StarStandsForAnything) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("hist*", "history"));
  EXPECT_TRUE(glob_match("*_daily", "ocean_daily"));
  EXPECT_TRUE(glob_match("a*b*c", "a-b-b-c"));  // requires backtracking to the star
  EXPECT_FALSE(glob_match("a*b*c", "a-c-b"));
  EXPECT_TRUE(glob_match("**", "x"));
}

TEST(Glob, QuestionMarkStandsForOne) {
  EXPECT_TRUE(glob_match("member_??", "member_07"));
  EXPECT_FALSE(glob_match("member_??", "member_7"));
}

TEST(Glob, LongPatternsEndSoon) {
  const std::string name(5000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", name));
  EXPECT_TRUE(glob_match(pattern, name));
}

TEST(Glob, KnowsPatterns) {
  EXPECT_TRUE(is_glob("a*"));
  EXPECT_TRUE(is_glob("?"));
  EXPECT_FALSE(is_glob("a.b"));
}

}  // namespace
}  // namespace afterbay
