// SPDX-License-Identifier: Apache-2.0
#include "decomp/repetition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "unit/decomp/decomp_lists.hpp"

namespace afterbay::decomp {
namespace {

using List = std::vector<std::int64_t>;

/// `columns` (holes among them) on each of `levels` levels of `width` columns.
List on_levels(const List& columns, int levels, std::int64_t width) {
  List list;
  for (int level = 0; level < levels; ++level)
    for (const std::int64_t column : columns) list.push_back(column == hole ? hole : column + level * width);
  return list;
}

TEST(DecompRepetition, the_same_columns_on_every_level_are_kept_once) {
  const List columns{7, 3, hole, hole, 12, 14};
  const Decomposition map = test::map_of("d", {72, 20}, {on_levels(columns, 72, 20)});
  EXPECT_EQ(test::list_of(map, 0), on_levels(columns, 72, 20));
  EXPECT_EQ(map.runs().size(), 5U);
  ASSERT_EQ(map.segments().size(), 1U);
  EXPECT_EQ(map.segments()[0], (Segment{5, 72, 20}));
}

TEST(DecompRepetition, chunks_with_all_their_levels_are_a_segment_each) {
  List list = on_levels({1, 5, 9, hole}, 10, 30);
  const List second = on_levels({hole, 2, 6, 10, hole}, 10, 30);
  list.insert(list.end(), second.begin(), second.end());
  const Decomposition map = test::map_of("d", {10, 30}, {list});
  EXPECT_EQ(test::list_of(map, 0), list);
  EXPECT_LE(map.runs().size(), 20U);
}

TEST(DecompRepetition, levels_may_come_in_descending_order) {
  List list = on_levels({4, 2}, 8, 10);
  std::reverse(list.begin(), list.end());
  const Decomposition map = test::map_of("d", {8, 10}, {list});
  EXPECT_EQ(test::list_of(map, 0), list);
  EXPECT_EQ(map.runs().size(), 2U);
  EXPECT_EQ(map.segments()[0].step, -10);
}

/// Points distributed to the ranks in turn, and the rows of a block: typical lists of one or more
/// dimensions.
TEST(DecompRepetition, runs_at_one_distance_are_kept_once) {
  List dealt;
  for (std::int64_t i = 0; i < 25000; ++i) dealt.push_back(3 + 4 * i);
  const Decomposition in_turn = test::map_of("d", {100000}, {dealt});
  EXPECT_EQ(test::list_of(in_turn, 0), dealt);
  ASSERT_EQ(in_turn.segments().size(), 1U);
  EXPECT_EQ(in_turn.segments()[0], (Segment{1, 25000, 4}));

  List blocks{90, 91, hole};  // then pieces of 3 of every 12, downwards
  for (std::int64_t i = 6; i >= 0; --i)
    for (std::int64_t k = 0; k < 3; ++k) blocks.push_back(12 * i + k);
  const Decomposition cyclic = test::map_of("d", {100}, {blocks});
  EXPECT_EQ(test::list_of(cyclic, 0), blocks);
  EXPECT_EQ(cyclic.runs().size(), 3U);
  ASSERT_EQ(cyclic.segments().size(), 2U);
  EXPECT_EQ(cyclic.segments()[1], (Segment{1, 7, -12}));

  const Decomposition levels = test::map_of("d", {9, 100}, {on_levels({2, 5, 8, 11, 14, 17, 90}, 9, 100)});
  ASSERT_EQ(levels.segments().size(), 1U);  // the repetition over levels saves more
  EXPECT_EQ(levels.segments()[0], (Segment{7, 9, 100}));
}

TEST(DecompRepetition, runs_that_go_on_into_the_next_level_change_no_list) {
  List all(6 * 10);
  std::iota(all.begin(), all.end(), 0);
  const Decomposition whole = test::map_of("d", {6, 10}, {all});
  EXPECT_EQ(test::list_of(whole, 0), all);
  EXPECT_EQ(whole.runs().size(), 1U);
  const List edges = on_levels({0, 1, 8, 9}, 6, 10);  // 8, 9 are followed by 10, 11
  EXPECT_EQ(test::list_of(test::map_of("d", {6, 10}, {edges}), 0), edges);
}

/// Any list is restored exactly: random lists with levels, holes, repeats and breaks.
TEST(DecompRepetition, any_list_comes_back_as_it_was) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t levels = 1 + static_cast<std::int64_t>(random() % 6);
    const std::int64_t width = 1 + static_cast<std::int64_t>(random() % 12);
    List list;
    while (random() % 5 != 0) {
      List columns;
      for (unsigned i = random() % 6; i > 0; --i)
        columns.push_back(random() % 4 == 0 ? hole : static_cast<std::int64_t>(random()) % width);
      const List more =
          on_levels(columns, static_cast<int>(1 + static_cast<std::int64_t>(random()) % levels), width);
      list.insert(list.end(), more.begin(), more.end());
      if (!list.empty() && random() % 3 == 0) list[random() % list.size()] = hole;
    }
    const Decomposition map = test::map_of(
        "d", {static_cast<std::uint64_t>(levels), static_cast<std::uint64_t>(width)}, {{}, list});
    ASSERT_EQ(test::list_of(map, 1), list) << "round " << round;
    ASSERT_EQ(map.count(1).elements, list.size());
    ASSERT_EQ(map.count(1).holes, static_cast<std::uint64_t>(std::count(list.begin(), list.end(), hole)));
  }
}

/// Three levels, the second without its last column: the comparison must not run to the end from
/// each start.
TEST(DecompRepetition, a_repetition_that_fails_at_its_end_costs_no_quadratic_time) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a time limit says nothing about a build with sanitizers";
#endif
  constexpr std::int64_t columns = 200000;
  List list;
  for (std::int64_t level = 0; level < 3; ++level)
    for (std::int64_t c = 0; c < columns - (level == 1 ? 1 : 0); ++c)
      list.push_back(2 * (level * columns + c));
  const auto start = std::chrono::steady_clock::now();
  const Decomposition map = test::map_of("d", {3, 2 * columns}, {list});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(test::list_of(map, 0), list);
}

}  // namespace
}  // namespace afterbay::decomp
