// SPDX-License-Identifier: Apache-2.0
#include "model/decomposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

namespace afterbay::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Index index(std::initializer_list<std::uint64_t> values) { return Index(std::vector<std::uint64_t>(values)); }
Box box(std::initializer_list<std::uint64_t> start, std::initializer_list<std::uint64_t> count) {
  return {index(start), index(count)};
}

/// A grid of blocks as in models: as even as possible along each dimension.
std::vector<RankBlock> regular(const Index& global, const Index& parts) {
  std::vector<RankBlock> blocks;
  for (std::uint64_t rank = 0; rank < parts.product(); ++rank) {
    Box part{Index::filled(global.size, 0), Index::filled(global.size, 0)};
    std::uint64_t rest = rank;
    for (std::size_t i = global.size; i-- > 0;) {
      const std::uint64_t at = rest % parts[i];
      rest /= parts[i];
      part.start[i] = at * global[i] / parts[i];
      part.count[i] = (at + 1) * global[i] / parts[i] - part.start[i];
    }
    blocks.push_back({static_cast<int>(rank), part});
  }
  return blocks;
}

std::string refused(const Index& global, const std::vector<RankBlock>& blocks, Coverage coverage = {}) {
  const Result<> result = check_coverage("grid", global, blocks, coverage);
  return result ? "accepted" : result.error().message;
}

TEST(ModelDecomposition, a_regular_decomposition_covers_everything_once) {
  for (const auto& parts : {index({1, 1, 1}), index({1, 4, 3}), index({2, 5, 7})})
    EXPECT_EQ(refused(index({4, 19, 23}), regular(index({4, 19, 23}), parts)), "accepted");
  EXPECT_EQ(refused(index({7}), regular(index({7}), index({7}))), "accepted");
}

TEST(ModelDecomposition, ranks_may_hold_nothing) {
  std::vector<RankBlock> blocks = regular(index({8, 8}), index({2, 2}));
  blocks.push_back({4, box({0, 0}, {0, 8})});
  blocks.push_back({5, box({99, 99}, {0, 0})});
  EXPECT_EQ(refused(index({8, 8}), blocks), "accepted");
}

TEST(ModelDecomposition, overlap_names_both_ranks_and_the_common_box) {
  std::vector<RankBlock> blocks = regular(index({8, 8}), index({2, 2}));
  blocks[3].box = box({3, 4}, {5, 4});  // one row of a halo
  const Result<> result = check_coverage("grid", index({8, 8}), blocks, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("'grid'"), HasSubstr("ranks 1 and 3 both hold [3:4, 4:8] (4 points"),
                    HasSubstr("leave halos out")));
}

TEST(ModelDecomposition, gaps_name_the_first_missing_box_and_how_many_points) {
  std::vector<RankBlock> blocks = regular(index({8, 8}), index({2, 2}));
  blocks[2].box = box({5, 0}, {3, 3});  // [4:8, 0:4] before
  EXPECT_THAT(refused(index({8, 8}), blocks),
              HasSubstr("7 of 64 points belong to no rank, the first are [4:5, 0:4]"));
  EXPECT_EQ(refused(index({8, 8}), blocks, {.gaps_allowed = true}), "accepted");
  EXPECT_THAT(refused(index({8, 8}), {}),
              HasSubstr("64 of 64 points belong to no rank, the first are [0:8, 0:8]"));
}

TEST(ModelDecomposition, boxes_outside_the_domain_are_refused) {
  std::vector<RankBlock> blocks = regular(index({8, 8}), index({1, 2}));
  blocks[1].box.count[1] = 5;
  EXPECT_THAT(refused(index({8, 8}), blocks, {.gaps_allowed = true}),
              AllOf(HasSubstr("rank 1 holds indices [4, 9) of dimension 1, but only [0, 8) exist")));
  blocks[1].box.start[1] = ~0ull;
  EXPECT_THAT(refused(index({8, 8}), blocks), HasSubstr("dimension 1"));
  blocks[1].box = box({0}, {8});
  EXPECT_THAT(refused(index({8, 8}), blocks),
              HasSubstr("rank 1 has 1 dimensions, but the global index space has 2"));
}

/// Random boxes in a small domain, counted point by point.
TEST(ModelDecomposition, agrees_with_counting_every_point) {
  std::mt19937 random(5);
  const Index global = index({3, 6, 7});
  int overlapping = 0, with_gaps = 0;
  for (int trial = 0; trial < 600; ++trial) {
    std::vector<RankBlock> blocks =
        regular(global, index({1 + random() % 2, 1 + random() % 3, 1 + random() % 4}));
    if (random() % 2 == 0)
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(random() % blocks.size()));
    if (random() % 3 == 0 && !blocks.empty()) {
      Box& moved = blocks[random() % blocks.size()].box;
      const std::size_t dimension = random() % 3;
      if (moved.start[dimension] > 0) --moved.start[dimension];
    }
    std::vector<int> times(global.product(), 0);
    for (const RankBlock& block : blocks)
      for (std::uint64_t point = 0; point < times.size(); ++point) {
        const Box one = box({point / 42, point / 7 % 6, point % 7}, {1, 1, 1});
        times[point] += intersect(one, block.box).empty() ? 0 : 1;
      }
    const bool overlaps = *std::max_element(times.begin(), times.end()) > 1;
    const auto missing = std::count(times.begin(), times.end(), 0);
    const std::string message = refused(global, blocks);
    if (overlaps) {
      ++overlapping;
      EXPECT_THAT(message, HasSubstr("both hold"));
    } else if (missing > 0) {
      ++with_gaps;
      const std::uint64_t first =
          static_cast<std::uint64_t>(std::find(times.begin(), times.end(), 0) - times.begin());
      EXPECT_THAT(message, HasSubstr(std::to_string(missing) + " of 126 points"));
      EXPECT_THAT(message, HasSubstr("the first are [" + std::to_string(first / 42) + ":"));
    } else {
      EXPECT_EQ(message, "accepted");
    }
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_GT(with_gaps, 50);
}

TEST(ModelDecomposition, gaps_of_a_piece_are_disjoint_and_complete) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 300; ++trial) {
    const Index global = index({9, 16, 20});
    std::vector<RankBlock> blocks =
        regular(global, index({1 + random() % 9, 1 + random() % 8, 1 + random() % 10}));
    std::shuffle(blocks.begin(), blocks.end(), random);
    blocks.resize(blocks.size() - blocks.size() * (random() % 100) / 100);
    Box piece = box({random() % 9, random() % 16, random() % 20}, {1, 1, 1});
    for (std::size_t i = 0; i < 3; ++i) piece.count[i] = 1 + random() % (global[i] - piece.start[i]);
    const BoxTree tree{std::span<const RankBlock>(blocks)};
    const std::vector<Box> holes = gaps(tree, piece);
    std::uint64_t points = 0;
    for (const Box& hole : holes) {
      EXPECT_EQ(intersect(hole, piece), hole) << "inside the piece";
      EXPECT_EQ(tree.covered(hole), 0u);
      points += hole.points();
    }
    const BoxTree hole_tree{std::span<const Box>(holes)};
    for (const Box& hole : holes) EXPECT_EQ(hole_tree.touching(hole).size(), 1u) << "disjoint";
    EXPECT_EQ(points + tree.covered(piece), piece.points());
  }
}

TEST(ModelDecomposition, the_tree_finds_exactly_the_boxes_that_touch) {
  const std::vector<RankBlock> blocks = regular(index({100, 100}), index({10, 10}));
  const BoxTree tree{std::span<const RankBlock>(blocks)};
  EXPECT_EQ(tree.touching(box({10, 10}, {10, 10})), (std::vector<std::uint32_t>{11}));
  EXPECT_EQ(tree.touching(box({9, 9}, {2, 2})), (std::vector<std::uint32_t>{0, 1, 10, 11}));
  EXPECT_TRUE(tree.touching(box({9, 9}, {0, 2})).empty());
  EXPECT_EQ(tree.touching(box({0, 0}, {100, 100})).size(), 100u);
  EXPECT_TRUE(BoxTree().touching(box({0}, {1})).empty());
}

/// A hundred thousand ranks. The bound detects only quadratic time, which would take hours.
TEST(ModelDecomposition, a_hundred_thousand_blocks_take_seconds_at_most) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a time limit says nothing about a build with sanitizers";
#endif
  const Index global = index({137, 4001, 8003});
  std::vector<RankBlock> blocks = regular(global, index({1, 250, 400}));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(refused(global, blocks), "accepted");
  const Box lost = blocks[77'777].box;
  blocks[77'777].box.count[0] = 0;
  EXPECT_THAT(refused(global, blocks), HasSubstr(std::to_string(lost.points()) + " of "));
  EXPECT_THAT(refused(global, blocks), HasSubstr(" the first are " + text_of(lost) + ":"));
  blocks[77'777].box = lost;
  ++blocks[99'999].box.count[1], --blocks[99'999].box.start[1];
  EXPECT_THAT(refused(global, blocks), HasSubstr("ranks 99599 and 99999 both hold"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ModelDecomposition, a_block_is_checked_on_its_own) {
  const auto message = [](const Block& block) {
    const Result<> result = check_block("grid", block);
    return result ? "accepted" : result.error().message;
  };
  EXPECT_EQ(message({{8, 9}, {0, 3}, {8, 6}}), "accepted");
  EXPECT_EQ(message({{8, 9}, {100, 0}, {0, 0}}), "accepted");
  EXPECT_THAT(message({{}, {}, {}}), HasSubstr("1 to 7"));
  EXPECT_THAT(message({{1, 1, 1, 1, 1, 1, 1, 1}, {}, {}}), HasSubstr("has 8 dimensions"));
  EXPECT_THAT(message({{8, 9}, {0}, {8, 9}}), HasSubstr("2 global lengths, 1 starts and 2 counts"));
  EXPECT_THAT(message({{8, 0}, {0, 0}, {8, 0}}), HasSubstr("global length of dimension 1 is 0"));
  EXPECT_THAT(message({{8, 9}, {0, 3}, {8, 7}}),
              HasSubstr("start 3 and count 7 in dimension 1 go beyond the global length 9"));
  EXPECT_THAT(message({{1ull << 40, 1ull << 40}, {0, 0}, {1, 1}}), HasSubstr("2^63"));
}

TEST(ModelDecomposition, applies_to_the_trailing_dimensions) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("level", 5).dimension("lat", 8).dimension("lon", 9);
  const Variable t = schema.variable("T", Type::float32, {"time", "level", "lat", "lon"}).on("grid");
  const Variable profile = schema.variable("P", Type::float32, {"time", "level"}).on("grid");
  const Block block{{8, 9}, {2, 3}, {4, 5}};
  EXPECT_EQ(box_for(schema, t, block), box({0, 2, 3}, {5, 4, 5}));
  EXPECT_EQ(extend(box({2}, {3}), index({4, 5, 6})), box({0, 0, 2}, {4, 5, 3}));

  const Error length = box_for(schema, t, {{8, 10}, {0, 0}, {8, 10}}).error();
  EXPECT_EQ(length.variable, "T");
  EXPECT_THAT(
      length.message,
      HasSubstr(
          "variable 'T': dimension 'lon' has length 9, but dimension 1 of decomposition 'grid' has 10"));
  EXPECT_THAT(box_for(schema, profile, block).error().message,
              HasSubstr("has 1 dimensions besides the unlimited one"));
}

}  // namespace
}  // namespace afterbay::model
