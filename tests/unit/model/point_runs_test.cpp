// SPDX-License-Identifier: Apache-2.0
#include "model/point_runs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <numeric>
#include <random>

#include "model/map_coverage.hpp"

namespace afterbay::model {
namespace {

/// (offset, element) of every point.
std::map<std::uint64_t, std::uint64_t> listed(const PointRuns& runs) {
  std::map<std::uint64_t, std::uint64_t> points;
  std::uint64_t end = 0;
  runs.for_each([&](const PointRun& run) {
    EXPECT_GE(run.offset, end) << "runs must ascend";
    end = run.offset + run.length;
    for (std::uint64_t i = 0; i < run.length; ++i) points[run.offset + i] = run.element + i;
  });
  return points;
}

std::vector<OffsetRun> decoded(std::span<const std::byte> bytes) {
  std::vector<OffsetRun> runs;
  OffsetReader reader(bytes);
  for (OffsetRun run = reader.next(); run.length > 0; run = reader.next()) runs.push_back(run);
  EXPECT_TRUE(reader.good());
  return runs;
}

Map map_of(std::vector<std::uint64_t> global, std::vector<std::int64_t> indices) {
  Map map;
  map.global = std::move(global);
  map.indices = std::move(indices);
  return map;
}

std::string error_of(const Map& map, Repeats repeats = Repeats::refuse) {
  const auto made = make_point_runs("cells", map, repeats);
  return made ? "" : made.error().message;
}

TEST(ModelPointRuns, a_list_in_any_order_is_brought_into_the_files) {
  const auto runs = make_point_runs("cells", map_of({10}, {7, 3, 4, -1, 0}), Repeats::refuse).value();
  EXPECT_EQ(listed(runs), (std::map<std::uint64_t, std::uint64_t>{{0, 4}, {3, 1}, {4, 2}, {7, 0}}));
  EXPECT_EQ(runs.elements(), 5u);
  EXPECT_EQ(runs.points(), 4u);
}

TEST(ModelPointRuns, indices_may_count_from_one_and_by_column) {
  Map map = map_of({3, 4}, {1, 2, 4, 12});  // column-major, from 1: (0,0) (1,0) (0,1) (2,3)
  map.base = 1;
  map.hole = 0;
  map.order = Order::column_major;
  const auto runs = make_point_runs("cells", map, Repeats::refuse).value();
  EXPECT_EQ(listed(runs), (std::map<std::uint64_t, std::uint64_t>{{0, 0}, {1, 2}, {4, 1}, {11, 3}}));
}

TEST(ModelPointRuns, a_list_of_pio_is_the_same_as_its_c_order_list) {
  const Map map = Map::from_pio({4, 3}, {1, 5, 0, 12});
  EXPECT_EQ(map.global, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(listed(make_point_runs("cells", map, Repeats::refuse).value()),
            (std::map<std::uint64_t, std::uint64_t>{{0, 0}, {4, 1}, {11, 3}}));
}

TEST(ModelPointRuns, runs_say_the_same_as_indices) {
  Map map;
  map.global = {4, 5};
  map.runs = {{7, 3}, {-1, 2}, {0, 1}, {1, 4}};
  EXPECT_EQ(listed(make_point_runs("cells", map, Repeats::refuse).value()),
            listed(make_point_runs("cells", map_of({4, 5}, {7, 8, 9, -1, -1, 0, 1, 2, 3, 4}), Repeats::refuse)
                       .value()));
  map.order = Order::column_major;
  Map same = map_of({4, 5}, {7, 8, 9, -1, -1, 0, 1, 2, 3, 4});
  same.order = Order::column_major;
  EXPECT_EQ(listed(make_point_runs("cells", map, Repeats::refuse).value()),
            listed(make_point_runs("cells", same, Repeats::refuse).value()));
}

TEST(ModelPointRuns, repetition_over_levels_is_kept_once) {
  constexpr std::int64_t columns = 1000, levels = 72;
  std::vector<std::int64_t> indices;
  for (std::int64_t lev = 0; lev < levels; ++lev)
    for (const std::int64_t column : {900, 17, 18, 19, 400}) indices.push_back(lev * columns + column);
  const auto runs =
      make_point_runs("cells", map_of({levels, columns}, std::move(indices)), Repeats::refuse).value();
  EXPECT_EQ(runs.pattern().size(), 3u);
  EXPECT_EQ(runs.repeats(), 72u);
  EXPECT_EQ(runs.points(), 5u * levels);
  EXPECT_EQ(listed(runs).at(71 * columns + 18), 71u * 5 + 2);
  EXPECT_LT(encode_offsets(runs).size(), 20u);
}

TEST(ModelPointRuns, wrong_lists_are_refused_with_element_and_value) {
  EXPECT_EQ(error_of(map_of({10}, {3, 10})),
            "decomposition 'cells': element 1 is index 10, but there are only the indices 0 to 9, and -1 for "
            "a hole");
  EXPECT_NE(error_of(map_of({10}, {3, -2})).find("element 1 is index -2"), std::string::npos);
  EXPECT_NE(error_of(map_of({10}, {3, 4, 3})).find("elements 0 and 2 of the list are the same point"),
            std::string::npos);
  EXPECT_NE(error_of(map_of({}, {})).find("has 0 dimensions"), std::string::npos);
  EXPECT_NE(error_of(map_of({3, 0}, {})).find("length of dimension 1 is 0"), std::string::npos);
  EXPECT_NE(error_of(map_of({1ull << 40, 1ull << 40}, {})).find("more points than"), std::string::npos);
  Map map = map_of({10}, {1});
  map.hole = 5;
  EXPECT_NE(error_of(map).find("marks holes by 5, which is the index of a point"), std::string::npos);
  map = map_of({10}, {1});
  map.base = 2;
  EXPECT_NE(error_of(map).find("counts points from 2"), std::string::npos);
  map = map_of({10}, {1});
  map.runs = {{0, 1}};
  EXPECT_NE(error_of(map).find("1 indices and 1 runs"), std::string::npos);
  map = map_of({10}, {});
  map.runs = {{8, 3}};
  EXPECT_NE(error_of(map).find("run 0 is 3 points from index 8 on"), std::string::npos);
}

TEST(ModelPointRuns, of_points_listed_twice_the_first_or_the_last_counts) {
  const Map map = map_of({10}, {3, 4, 3, 5, 4});
  EXPECT_EQ(listed(make_point_runs("cells", map, Repeats::first).value()),
            (std::map<std::uint64_t, std::uint64_t>{{3, 0}, {4, 1}, {5, 3}}));
  EXPECT_EQ(listed(make_point_runs("cells", map, Repeats::last).value()),
            (std::map<std::uint64_t, std::uint64_t>{{3, 2}, {4, 4}, {5, 3}}));
}

TEST(ModelPointRuns, encoding_and_decoding_agree_for_any_list) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t n = 1 + random() % 400;
    std::vector<std::int64_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    if (round % 2 == 0) std::ranges::shuffle(all, random);
    all.resize(random() % (n + 1));
    if (round % 3 == 0) std::erase_if(all, [&](std::int64_t i) { return i % (2 + round % 5) != 0; });
    const Map map = map_of({n}, all);
    const auto runs = make_point_runs("cells", map, Repeats::refuse).value();
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::size_t i = 0; i < all.size(); ++i) expected[static_cast<std::uint64_t>(all[i])] = i;
    ASSERT_EQ(listed(runs), expected);
    std::vector<std::uint64_t> offsets;
    for (const OffsetRun& run : decoded(encode_offsets(runs)))
      for (std::uint64_t i = 0; i < run.length; ++i) offsets.push_back(run.offset + i);
    std::vector<std::uint64_t> keys;
    for (const auto& [offset, element] : expected) keys.push_back(offset);
    ASSERT_EQ(offsets, keys);
  }
}

TEST(ModelPointRuns, a_broken_encoding_is_noticed) {
  auto bytes = encode_offsets(make_point_runs("c", map_of({9000}, {8000, 300, 20}), Repeats::refuse).value());
  bytes.pop_back();
  OffsetReader reader(bytes);
  while (reader.next().length > 0) {
  }
  EXPECT_FALSE(reader.good());
}

// ---- all ranks together

struct Ranks {
  std::vector<std::vector<std::byte>> encoded;
  std::vector<RankPoints> points;
  void add(std::vector<std::int64_t> indices, std::uint64_t n) {
    encoded.push_back(
        encode_offsets(make_point_runs("cells", map_of({n}, std::move(indices)), Repeats::refuse).value()));
  }
  Result<MapCoverage> check(std::uint64_t n, Coverage coverage = {}) {
    points.clear();
    for (std::size_t r = 0; r < encoded.size(); ++r) points.push_back({static_cast<int>(r) + 10, encoded[r]});
    return check_map_coverage("cells", n, points, coverage);
  }
};

TEST(ModelMapCoverage, every_point_once_is_fine) {
  Ranks ranks;
  ranks.add({0, 2, 4}, 6);
  ranks.add({}, 6);
  ranks.add({5, 3, 1}, 6);
  const auto found = ranks.check(6);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->gaps.empty());
}

TEST(ModelMapCoverage, a_point_held_twice_names_both_ranks) {
  Ranks ranks;
  ranks.add({0, 2}, 6);
  ranks.add({1, 4}, 6);
  ranks.add({4, 5, 3}, 6);
  const auto found = ranks.check(6);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::conflict);
  EXPECT_NE(found.error().message.find("ranks 11 and 12 both hold the point at offset 4"), std::string::npos)
      << found.error().message;
}

TEST(ModelMapCoverage, missing_points_are_counted) {
  Ranks ranks;
  ranks.add({0, 2}, 9);
  ranks.add({7, 8}, 9);
  const auto refused = ranks.check(9);
  ASSERT_FALSE(refused);
  EXPECT_NE(
      refused.error().message.find("5 of 9 points belong to no rank, the first are those at offsets 1 to 1"),
      std::string::npos)
      << refused.error().message;
  const auto found = ranks.check(9, {.gaps_allowed = true, .repeats = Repeats::refuse});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->gaps, (std::vector<OffsetRun>{{1, 1}, {3, 4}}));
}

TEST(ModelMapCoverage, who_loses_a_point_that_several_hold) {
  Ranks ranks;
  ranks.add({0, 1, 2, 3}, 8);
  ranks.add({2, 3, 4, 5}, 8);
  ranks.add({3, 4, 6, 7}, 8);
  const auto first = ranks.check(8, {.gaps_allowed = false, .repeats = Repeats::first}).value();
  EXPECT_EQ(first.lost, (std::vector<std::vector<OffsetRun>>{{}, {{2, 2}}, {{3, 2}}}));
  const auto last = ranks.check(8, {.gaps_allowed = false, .repeats = Repeats::last}).value();
  EXPECT_EQ(last.lost, (std::vector<std::vector<OffsetRun>>{{{2, 2}}, {{3, 2}}, {}}));
}

TEST(ModelMapCoverage, agrees_with_counting_every_point) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const std::uint64_t n = round % 20 == 0 ? 9'000'000 + random() % 1000 : 1 + random() % 500;
    const std::uint64_t held = std::min<std::uint64_t>(n, 600);
    std::vector<int> owner(n, -1);
    std::vector<std::vector<std::int64_t>> lists(5);
    for (std::uint64_t i = 0; i < held; ++i) {
      const std::uint64_t point = random() % n;
      if (owner[point] >= 0) continue;
      owner[point] = static_cast<int>(random() % 5);
      lists[static_cast<std::size_t>(owner[point])].push_back(static_cast<std::int64_t>(point));
    }
    Ranks ranks;
    for (auto& list : lists) ranks.add(list, n);
    const auto found = ranks.check(n, {.gaps_allowed = true, .repeats = Repeats::refuse});
    ASSERT_TRUE(found) << found.error().text();
    std::vector<bool> gap(n, false);
    for (const OffsetRun& run : found->gaps)
      for (std::uint64_t i = 0; i < run.length; ++i) gap[run.offset + i] = true;
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(gap[i], owner[i] < 0) << i;
  }
}

/// Four ranks with five million single points each. The bound detects only quadratic time.
TEST(ModelMapCoverage, twenty_million_single_points_take_seconds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a time limit says nothing about a build with sanitizers";
#endif
  constexpr std::uint64_t each = 5'000'000, count = 4, stride = 7'368'787;  // coprime to the number of
                                                                            // points
  const auto begin = std::chrono::steady_clock::now();
  Ranks ranks;
  for (std::uint64_t r = 0; r < count; ++r) {
    std::vector<std::int64_t> indices(each);
    for (std::uint64_t i = 0; i < each; ++i)
      indices[i] = static_cast<std::int64_t>((r * each + i) * stride % (count * each));
    ranks.add(std::move(indices), count * each);
  }
  const auto found = ranks.check(count * each);
  ASSERT_TRUE(found) << found.error().text();
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(seconds, 60.0);
  std::uint64_t bytes = 0;
  for (const auto& encoded : ranks.encoded) bytes += encoded.size();
  EXPECT_LT(bytes, count * each * 3);
  RecordProperty("seconds", static_cast<int>(seconds));
}

}  // namespace
}  // namespace afterbay::model
