// SPDX-License-Identifier: Apache-2.0
#include "decomp/drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "decomp/statistics.hpp"
#include "unit/decomp/decomp_lists.hpp"

namespace afterbay::decomp {
namespace {

using testing::HasSubstr;

/// The colour at the centre of cell (column, row) of a picture with that number of cells.
Colour at(const Picture& picture, std::uint32_t columns, std::uint32_t rows, std::uint32_t column,
          std::uint32_t row) {
  const std::uint32_t x = (2 * column + 1) * picture.width / (2 * columns);
  const std::uint32_t y = (2 * row + 1) * picture.height / (2 * rows);
  return picture.pixels.at(static_cast<std::size_t>(y) * picture.width + x);
}

TEST(DecompDrawing, two_dimensions_are_drawn_as_they_are) {
  const Decomposition map = test::map_of("d", {2, 3}, {{0, 4}, {-1, 1, 2}});
  const Result<Picture> picture = draw(map, std::nullopt);
  ASSERT_TRUE(picture);
  EXPECT_GE(picture->width, 900U);  // scaled up
  const Colour a = colour_of(0);
  const Colour b = colour_of(1);
  const Colour expected[2][3] = {{a, b, b}, {unowned, a, unowned}};
  for (std::uint32_t row = 0; row < 2; ++row)
    for (std::uint32_t column = 0; column < 3; ++column)
      EXPECT_EQ(at(*picture, 3, 2, column, row), expected[row][column]) << row << ", " << column;
}

TEST(DecompDrawing, one_dimension_is_wrapped) {
  const Decomposition map = test::map_of("d", {7}, {{0, 1, 2, 3}, {6, 5}});
  const Result<Picture> picture = draw(map, std::nullopt);
  ASSERT_TRUE(picture);
  EXPECT_EQ(at(*picture, 3, 3, 0, 1), colour_of(0));
  EXPECT_EQ(at(*picture, 3, 3, 1, 1), unowned);
  EXPECT_EQ(at(*picture, 3, 3, 0, 2), colour_of(1));
  EXPECT_EQ(at(*picture, 3, 3, 2, 2), outside);
}

TEST(DecompDrawing, a_level_of_either_order_of_dimensions) {
  // 2 levels of 4 columns: rank 0 has columns 0 and 1 below, rank 1 column 3 above
  const Result<Picture> first = draw(test::map_of("d", {2, 4}, {{0, 1}, {7}}), 1);
  const Result<Picture> last = draw(test::map_of("d", {4, 2}, {{0, 2}, {7}}), 1);
  ASSERT_TRUE(first);
  ASSERT_TRUE(last);
  for (const Picture& picture : {*first, *last}) {
    EXPECT_EQ(at(picture, 2, 2, 0, 0), unowned);
    EXPECT_EQ(at(picture, 2, 2, 1, 1), colour_of(1));
  }
  const Result<Picture> box = draw(test::map_of("d", {2, 2, 2}, {{0, 1, 2, 3}, {7}}), 1);
  ASSERT_TRUE(box);
  EXPECT_EQ(at(*box, 2, 2, 0, 0), unowned);
  EXPECT_EQ(at(*box, 2, 2, 1, 1), colour_of(1));
}

TEST(DecompDrawing, a_level_that_is_not_there_is_refused) {
  const Result<Picture> beyond = draw(test::map_of("d", {2, 4}, {{0}}), 2);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, HasSubstr("levels 0 ... 1, not 2"));
  EXPECT_FALSE(draw(test::map_of("d", {4}, {{0}}), 0));
}

TEST(DecompDrawing, large_maps_are_thinned_out) {
  constexpr std::uint64_t wide = 1000000;
  Decomposition map("d", {3000, wide});
  for (std::uint64_t rank = 0; rank < 2; ++rank) {  // the left half and the right half
    const afterbay::Map::Run run{static_cast<std::int64_t>(rank * wide / 2), wide / 2};
    const Segment segment{1, 3000, wide};
    map.add_rank(std::span(&segment, 1), std::span(&run, 1));
  }
  const Result<Picture> picture = draw(map, std::nullopt);
  ASSERT_TRUE(picture);
  EXPECT_LE(picture->width, 2048U);
  EXPECT_LE(picture->height, 2048U);
  for (std::uint32_t row = 0; row < 100; ++row) {
    EXPECT_EQ(at(*picture, 4, 100, 1, row), colour_of(0));
    EXPECT_EQ(at(*picture, 4, 100, 2, row), colour_of(1));
  }
}

TEST(DecompDrawing, ranks_have_different_colours) {
  std::set<std::tuple<int, int, int>> seen{{unowned.red, unowned.green, unowned.blue}};
  for (std::uint64_t rank = 0; rank < 1000; ++rank) {
    const Colour colour = colour_of(rank);
    EXPECT_TRUE(seen.emplace(colour.red, colour.green, colour.blue).second) << rank;
  }
}

TEST(DecompStatistics, points_holes_runs_gaps_and_repeats) {
  const Result<DecompositionStatistics> all =
      statistics_of(test::map_of("d", {200}, {{0, 1, 2, -1, 10}, {}, {2, 199, -1, -1, 70, 71, 71}}));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->ranks, 3U);
  EXPECT_EQ(all->empty_ranks, 1U);
  EXPECT_EQ(all->listed, 12U);
  EXPECT_EQ(all->holes, 3U);
  EXPECT_EQ(all->runs, 6U);  // 0-2, 10; 2, 199, 70-71, 71
  EXPECT_EQ(all->fewest_runs, 0U);
  EXPECT_EQ(all->most_runs, 4U);
  EXPECT_EQ(all->held, 7U);
  EXPECT_EQ(all->never_held(), 193U);
  EXPECT_EQ(all->held_again, 2U);
  EXPECT_EQ(all->most_points, 5U);
  EXPECT_DOUBLE_EQ(all->coverage_percent(), 3.5);
  EXPECT_DOUBLE_EQ(all->balance(), 5.0 / 3.0);
}

TEST(DecompStatistics, points_across_words_are_counted_once) {
  std::vector<std::int64_t> list(300);
  std::iota(list.begin(), list.end(), 50);
  const Result<DecompositionStatistics> all = statistics_of(test::map_of("d", {400}, {list, {349}}));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->held, 300U);
  EXPECT_EQ(all->held_again, 1U);
}

TEST(DecompStatistics, a_map_of_more_points_than_there_is_memory_for_is_refused) {
  const Result<DecompositionStatistics> all = statistics_of(test::map_of("too\nlarge", {1ULL << 62}, {{0}}));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::resources);
  EXPECT_THAT(all.error().message,
              HasSubstr("4611686018427387904 points of the map \"too\\nlarge\" need 2147483648.0 GiB"));
}

}  // namespace
}  // namespace afterbay::decomp
