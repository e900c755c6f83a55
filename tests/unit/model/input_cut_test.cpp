// SPDX-License-Identifier: Apache-2.0
#include "model/input_cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace afterbay::model {
namespace {

using testing::ElementsAre;

Schema variable_of(std::vector<std::uint64_t> input_cut_lengths, std::vector<std::uint64_t> chunk = {},
                   Type type = Type::float64) {
  Schema schema;
  std::vector<std::string> names;
  for (const std::uint64_t length : input_cut_lengths) {
    names.push_back("d" + std::to_string(names.size()));
    schema.dimension(names.back(), length);
  }
  schema.variable("v", type, names).chunk = std::move(chunk);
  return schema;
}

InputCut cut_of(const Schema& schema, InputSizes sizes = {1u << 20, 4u << 20}) {
  return {schema, schema.variables[0], sizes};
}

std::vector<std::uint64_t> input_cut_lengths(const Index& index) { return {index.begin(), index.end()}; }

/// Every point lies in exactly one piece, and no piece exceeds the maximum size.
void expect_a_partition(const InputCut& cut, std::uint64_t most_bytes) {
  std::vector<int> seen(cut.shape().product(), 0);
  EXPECT_LE(cut.bytes(), most_bytes);
  for (std::uint64_t p = 0; p < cut.pieces(); ++p) {
    const Box box = cut.piece(p);
    ASSERT_FALSE(box.empty()) << p;
    Index at = Index::filled(box.rank(), 0);
    for (std::uint64_t i = 0; i < box.points(); ++i) {
      std::uint64_t rest = i, offset = 0, stride = 1;
      for (std::size_t d = box.rank(); d-- > 0;) {
        at[d] = rest % box.count[d];
        rest /= box.count[d];
        offset += (box.start[d] + at[d]) * stride;
        stride *= cut.shape()[d];
      }
      ++seen.at(offset);
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], 1) << i;
}

TEST(ModelInputCut, whole_rows_of_a_variable_without_chunks) {
  const InputCut cut = cut_of(variable_of({unlimited, 72, 181, 36}));
  EXPECT_TRUE(cut.record());
  EXPECT_THAT(input_cut_lengths(cut.shape()), ElementsAre(72, 181, 36));
  EXPECT_THAT(input_cut_lengths(cut.part()), ElementsAre(20, 181, 36));  // 20 levels are just below 1 MiB
  EXPECT_EQ(cut.pieces(), 4u);
  EXPECT_EQ(cut.piece(3).count[0], 12u);
  expect_a_partition(cut, 1u << 20);
}

TEST(ModelInputCut, whole_chunks) {
  const InputCut cut = cut_of(variable_of({unlimited, 40, 613, 31}, {1, 16, 100, 10}));
  EXPECT_THAT(input_cut_lengths(cut.part()), ElementsAre(16, 200, 31));
  expect_a_partition(cut, 1u << 20);
}

TEST(ModelInputCut, a_chunk_between_the_two_sizes_stays_whole) {
  const InputCut cut = cut_of(variable_of({30, 300, 100}, {10, 200, 100}));
  EXPECT_THAT(input_cut_lengths(cut.part()), ElementsAre(10, 200, 100));
  expect_a_partition(cut, 4u << 20);
}

TEST(ModelInputCut, a_chunk_that_is_too_large_is_cut) {
  const InputCut cut = cut_of(variable_of({30, 300, 100}, {30, 300, 100}));
  EXPECT_THAT(input_cut_lengths(cut.part()), ElementsAre(4, 300, 100));
  expect_a_partition(cut, 4u << 20);
  const InputCut row = cut_of(variable_of({2, 300'000}, {2, 300'000}), {100'000, 400'000});
  EXPECT_THAT(input_cut_lengths(row.part()), ElementsAre(1, 12'500));
}

TEST(ModelInputCut, scalars_empty_shapes_and_strings) {
  EXPECT_EQ(cut_of(variable_of({})).pieces(), 1u);
  EXPECT_EQ(cut_of(variable_of({unlimited})).pieces(), 1u);
  EXPECT_EQ(cut_of(variable_of({3}, {}, Type::string)).pieces(), 1u);
  EXPECT_EQ(cut_of(variable_of({3}, {100})).part()[0], 3u);  // a chunk longer than the dimension
}

}  // namespace
}  // namespace afterbay::model
