// SPDX-License-Identifier: Apache-2.0
// What a server checks and keeps of decompositions in blocks.
#include "server/served_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "server/served_decompositions.hpp"

namespace afterbay::server {
namespace {

using ::testing::HasSubstr;

/// Ranks of equal parts of one dimension, at one server.
class ServerBlocks : public ::testing::Test {
 protected:
  void make(std::size_t ranks) {
    session_ranks_.resize(ranks);
    std::iota(session_ranks_.begin(), session_ranks_.end(), 10);
    served_.emplace(session_ranks_, ServedDecompositions::ThisServer{});
  }
  /// A block of a decomposition with 100 points per rank.
  wire::DefineDecomposition block_of(std::size_t rank, std::uint64_t points = 100) const {
    wire::DefineDecomposition message;
    message.name = "grid";
    message.held = points > 0 ? 1 : 0;
    message.block = {{100 * session_ranks_.size()}, {100 * rank}, {points}};
    return message;
  }
  Result<> add(std::size_t rank, wire::DefineDecomposition message, bool check, bool used, bool here) {
    message.check = check ? 1 : 0;
    message.used = used ? 1 : 0;
    message.here = here ? 1 : 0;
    if (!check && !here) message.block.start = message.block.count = {};
    return served_->add(rank, message);
  }

  std::vector<int> session_ranks_;
  std::optional<ServedDecompositions> served_;
};

TEST_F(ServerBlocks, a_server_that_only_checks_keeps_nothing) {
  make(4);
  for (std::size_t r = 0; r < 4; ++r) ASSERT_TRUE(add(r, block_of(r), true, false, false));
  ASSERT_NE(served_->find(0), nullptr);
  EXPECT_TRUE(served_->check_blocks());
  EXPECT_EQ(served_->find(0), nullptr);
}

TEST_F(ServerBlocks, a_server_that_only_checks_finds_gaps_and_ranks_that_overlap) {
  make(4);
  for (const std::size_t r : {3, 2, 1, 0})
    ASSERT_TRUE(add(r, block_of(r, r == 1 ? 120 : 100), true, false, false));
  const auto overlap = served_->check_blocks();
  ASSERT_FALSE(overlap);
  EXPECT_THAT(overlap.error().message, HasSubstr("ranks 11 and 12 both hold [200:220] (20 points"));
  EXPECT_EQ(overlap.error().rank, 12);

  make(4);
  for (std::size_t r = 0; r < 4; ++r) ASSERT_TRUE(add(r, block_of(r, r == 1 ? 70 : 100), true, false, false));
  const auto gap = served_->check_blocks();
  ASSERT_FALSE(gap);
  EXPECT_THAT(gap.error().message, HasSubstr("30 of 400 points belong to no rank, the first are [170:200]"));
}

TEST_F(ServerBlocks, a_server_keeps_the_blocks_of_its_pieces_and_who_holds_points) {
  make(4);
  for (std::size_t r = 0; r < 4; ++r)
    ASSERT_TRUE(add(r, r == 3 ? block_of(r, 0) : block_of(r), false, true, r == 1));
  ASSERT_TRUE(served_->check_blocks()) << "another server finds the gap";
  const ServedDecomposition& it = *served_->find(0);
  EXPECT_EQ(it.holders, 3u);
  EXPECT_TRUE(it.blocks->holds(2));
  EXPECT_FALSE(it.blocks->holds(3));
  EXPECT_EQ(it.blocks->tree().size(), 1u);
  EXPECT_EQ(it.blocks->of(1).start[0], 100u);
  EXPECT_TRUE(it.blocks->of(0).empty());

  // A later collection needs more.
  ASSERT_TRUE(add(2, block_of(2), false, true, true));
  ASSERT_TRUE(add(0, block_of(0), false, true, true));
  ASSERT_TRUE(served_->check_blocks());
  EXPECT_EQ(it.blocks->tree().size(), 3u);
  EXPECT_EQ(it.holders, 3u);
  for (const std::size_t r : {0, 1, 2}) EXPECT_EQ(it.blocks->of(r).start[0], 100 * r);
}

TEST_F(ServerBlocks, a_rank_without_the_collection_is_named_at_servers_that_do_not_check) {
  make(4);
  for (const std::size_t r : {0, 1, 3}) ASSERT_TRUE(add(r, block_of(r), false, true, true));
  const auto checked = served_->check_blocks();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::conflict);
  EXPECT_EQ(checked.error().rank, 12);
  EXPECT_THAT(checked.error().message,
              HasSubstr("model rank 2 registered no decomposition 'grid' or defined no collection on it, "
                        "model ranks 0, 1 and 3 did"));
}

TEST_F(ServerBlocks, a_block_with_other_dimensions_is_refused) {
  make(2);
  wire::DefineDecomposition message = block_of(0);
  message.block.start.push_back(0);
  const auto added = add(0, message, true, true, true);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("a block of 2 starts and 1 counts in 1 dimensions"));
}

/// One server of 1000 with 100 000 ranks: its memory is a bit per rank, and that of its own blocks.
TEST_F(ServerBlocks, memory_depends_on_the_blocks_of_its_pieces) {
  constexpr std::size_t ranks = 100'000;
  make(ranks);
  const auto memory = [&](std::size_t own, bool check) {
    make(ranks);
    for (std::size_t r = 0; r < ranks; ++r) EXPECT_TRUE(add(r, block_of(r), check, true, r < own));
    EXPECT_TRUE(served_->check_blocks());
    return served_->find(0)->blocks->bytes();
  };
  EXPECT_LE(memory(100, false), ranks / 8 + 100 * 64);
  EXPECT_LE(memory(100, true), ranks / 8 + 100 * 64) << "what is only checked is not kept";
  EXPECT_LE(memory(ranks, true), ranks * 48);
}

}  // namespace
}  // namespace afterbay::server
