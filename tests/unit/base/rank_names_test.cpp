// SPDX-License-Identifier: Apache-2.0
#include "base/rank_names.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace afterbay {
namespace {

std::vector<int> ranks_from(int first, int number) {
  std::vector<int> ranks(static_cast<std::size_t>(number));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

TEST(RankNames, few_ranks_are_listed) {
  EXPECT_EQ(name_ranks(std::vector<int>{}), "no rank");
  EXPECT_EQ(name_ranks({2}), "rank 2");
  EXPECT_EQ(name_ranks({2, 3}), "ranks 2 and 3");
  EXPECT_EQ(name_ranks({2, 5, 7}), "ranks 2, 5 and 7");
  EXPECT_EQ(name_ranks({7, 2, 5, 2}), "ranks 2, 5 and 7");
}

TEST(RankNames, numbers_of_servers_are_named_alike) {
  EXPECT_EQ(name_numbers({3}), "3");
  EXPECT_EQ(name_numbers({0, 1}), "0 and 1");
  EXPECT_EQ(name_numbers(ranks_from(0, 1000)), "0-999");
}

TEST(RankNames, consecutive_ranks_are_a_range) {
  EXPECT_EQ(name_ranks({0, 1, 2, 3, 9}), "ranks 0-3 and 9");
  EXPECT_EQ(name_ranks(ranks_from(0, 100'000)), "ranks 0-99999");
}

TEST(RankNames, few_missing_ranks_are_exceptions) {
  std::vector<int> ranks = ranks_from(0, 4096);
  ranks.erase(ranks.begin() + 17);
  EXPECT_EQ(name_ranks(ranks), "ranks 0-4095 except 17");
  ranks.erase(ranks.begin() + 100, ranks.begin() + 103);
  EXPECT_EQ(name_ranks(ranks), "ranks 0-4095 except 17 and 101-103");
  EXPECT_EQ(name_ranks({0, 2}), "ranks 0 and 2") << "no exceptions if half of the ranks are missing";
}

TEST(RankNames, the_text_is_short_for_any_set) {
  std::vector<int> even;
  for (int r = 0; r < 4096; r += 2) even.push_back(r);
  EXPECT_EQ(name_ranks(even), "ranks 0, 2, 4, 6, 8, 10, 12 and 2041 others");
  EXPECT_EQ(name_ranks({0, 2, 4, 6, 8, 10, 12, 14}), "ranks 0, 2, 4, 6, 8, 10, 12 and 14");
  std::vector<int> blocks;
  for (int r = 0; r < 1'000'000; r += 10)
    for (int i = 0; i < 3; ++i) blocks.push_back(r + i);
  EXPECT_EQ(name_ranks(blocks), "ranks 0-2, 10-12, 20-22, 30-32, 40-42, 50-52, 60-62 and 299979 others");
}

TEST(RankRanges, counts_and_finds_ranks) {
  RankRanges set;
  set.add(0, 3);
  set.add(4, 4);
  set.add(8, 9);
  EXPECT_EQ(set.size(), 7U);
  EXPECT_EQ(set.ranges().size(), 2U);
  const std::vector<int> expected{0, 1, 2, 3, 4, 8, 9};
  EXPECT_EQ(set.ranks(), expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(set.at(i), expected[i]);
    EXPECT_EQ(set.index_of(expected[i]), i);
  }
  EXPECT_FALSE(set.index_of(5));
  EXPECT_FALSE(set.index_of(10));
  EXPECT_FALSE(set.index_of(-1));
}

}  // namespace
}  // namespace afterbay
