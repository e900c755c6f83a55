// SPDX-License-Identifier: Apache-2.0
// Trials of chains of filters: which are tried, and which is chosen.
#include "codec/trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/filter_chain.hpp"

namespace afterbay::codec {
namespace {

using ::testing::HasSubstr;

std::vector<Trial> some_trials() {
  return {{{}, 0, 100}, {{{"zstd", 1}}, 1, 50}, {{{"zstd", 9}}, 5, 30}, {{{"deflate", 6}}, 4, 30}};
}

TEST(CodecTrial, the_smallest_in_time_is_chosen) {
  EXPECT_EQ(choose(some_trials(), 10), 3U);  // as small as another, and faster
  EXPECT_EQ(choose(some_trials(), 3), 1U);
  EXPECT_EQ(choose(some_trials(), 0.5), 0U);
}

TEST(CodecTrial, the_table_has_all_of_them) {
  const std::string table = table_of(some_trials(), {{"zstd", 1}}, 3, 100);
  EXPECT_THAT(table, HasSubstr("#   none                      100.0 %                      0\n"));
  EXPECT_THAT(table, HasSubstr("#   zstd 1                     50.0 %                      1  <- chosen\n"));
  EXPECT_THAT(table, HasSubstr("#   zstd 9                     30.0 %                      5  too slow\n"));
}

TEST(CodecTrial, promising_chains_come_first) {
  const std::vector<FilterLevels> chains = chains_to_try({});
  ASSERT_GE(chains.size(), 7U);
  EXPECT_TRUE(chains[0].empty());
  EXPECT_EQ(chains[1].front().first, "shuffle");
  EXPECT_TRUE(std::ranges::is_sorted(
      chains.begin() + 1, chains.end(), std::greater<>(),
      [](const FilterLevels& it) { return it.size() > 1 || find_codec(it.front().first)->rearranges; }));
  for (const FilterLevels& chain : chains)
    EXPECT_FALSE(chain.size() > 1 && find_codec(chain.back().first)->rearranges) << text_of(chain);
  for (const FilterLevels& chain : chains) EXPECT_TRUE(ChunkCodec::make(chain_of(chain).value(), 4));
}

TEST(CodecTrial, portable_chains_need_no_plugin) {
  const std::vector<std::string> portable = compressors_here(true);
  EXPECT_EQ(portable, std::vector<std::string>{"deflate"});
  for (const FilterLevels& chain : chains_to_try(portable))
    for (const auto& [name, level] : chain) EXPECT_TRUE(is_part_of_hdf5(*find_codec(name))) << name;
  EXPECT_EQ(text_of(untried_chain(portable)), "shuffle, deflate 1");
}

/// LZ4 is faster, but few readers have it.
TEST(CodecTrial, untried_files_can_be_read) {
  const bool has_zstd = find_codec("zstd")->lacks.empty();
  EXPECT_EQ(text_of(untried_chain(compressors_here())), has_zstd ? "shuffle, zstd 1" : "shuffle, deflate 1");
}

TEST(CodecTrial, a_chunk_takes_time_and_becomes_smaller) {
  const std::vector<std::byte> chunk(1 << 20, std::byte{7});
  const ChunkCodec deflate = ChunkCodec::make(chain_of({{"deflate", 1}}).value(), 4).value();
  const ChunkTrial trial = try_chunk(deflate, chunk).value();
  EXPECT_GT(trial.seconds, 0);
  EXPECT_LT(trial.bytes, 1 << 16);
  const ChunkTrial plain = try_chunk(ChunkCodec(), chunk).value();
  EXPECT_EQ(plain.seconds, 0);
  EXPECT_EQ(plain.bytes, 1 << 20);
}

}  // namespace
}  // namespace afterbay::codec
