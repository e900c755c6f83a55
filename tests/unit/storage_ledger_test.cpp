// SPDX-License-Identifier: Apache-2.0
#include "storage/ledger.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "storage/fill.hpp"

namespace afterbay::storage {
namespace {

model::FileLayout layout_of_two() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 4);
  schema.variable("fixed", Type::float32, {"x"});
  schema.variable("a", Type::float32, {"time", "x"});
  schema.variable("b", Type::float64, {"time", "x"});
  return *model::make_layout(schema, Format::cdf5, {});
}

using Missing = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

Missing missing_of(const Ledger& ledger) {
  Missing missing;
  const auto visited =
      ledger.for_each_missing([&](const model::Piece& piece, std::uint64_t record) -> Result<> {
        missing.emplace_back(piece.variable, record);
        return {};
      });
  EXPECT_TRUE(visited);
  return missing;
}

TEST(Ledger, gives_records_of_which_nothing_was_written_in_runs) {
  const model::FileLayout layout = layout_of_two();
  Ledger ledger(layout, 1, true);
  const model::Piece& a = layout.pieces_of_variable(1)[0];
  const model::Piece& b = layout.pieces_of_variable(2)[0];
  ledger.mark(a, 500'000);
  ledger.mark(a, 1'000'000);
  ledger.mark(b, 1'000'000);
  ledger.reach(2'000'000'000);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> absent;
  Missing missing;
  ASSERT_TRUE(ledger.for_each_missing(
      [&](const model::Piece& piece, std::uint64_t record) -> Result<> {
        missing.emplace_back(piece.variable, record);
        return {};
      },
      [&](std::uint64_t first, std::uint64_t count) -> Result<> {
        absent.emplace_back(first, count);
        return {};
      }));
  EXPECT_EQ(missing, (Missing{{2, 500'000}}));
  EXPECT_EQ(absent, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                        {1, 499'999}, {500'001, 499'999}, {1'000'001, 1'998'999'999}}));
}

TEST(Ledger, finds_stretches_that_are_written_in_part_without_looking_at_every_record) {
  const model::FileLayout layout = layout_of_two();
  Ledger ledger(layout, 0, false);
  const model::Piece& a = layout.pieces_of_variable(1)[0];
  const model::Piece& b = layout.pieces_of_variable(2)[0];
  for (std::uint64_t record = 6; record < 18; ++record) {
    ledger.mark(a, record);
    ledger.mark(b, record);
  }
  ledger.mark(a, 2'000'000'001);
  EXPECT_EQ(ledger.partly_written(a, 0, 4), (std::vector<std::uint64_t>{4, 16, 2'000'000'000}));
  EXPECT_EQ(ledger.partly_written(b, 0, 4), (std::vector<std::uint64_t>{4, 16}));
  EXPECT_EQ(ledger.partly_written(a, 16, 4), (std::vector<std::uint64_t>{16, 2'000'000'000}));
  EXPECT_EQ(ledger.partly_written(a, 0, 6), (std::vector<std::uint64_t>{1'999'999'998}));
}

TEST(Ledger, knows_what_was_not_written) {
  const model::FileLayout layout = layout_of_two();
  ASSERT_EQ(layout.pieces.size(), 3u);
  Ledger ledger(layout, 0, false);
  EXPECT_EQ(missing_of(ledger), (Missing{{0, 0}}));
  const model::Piece& a = layout.pieces_of_variable(1)[0];
  const model::Piece& b = layout.pieces_of_variable(2)[0];
  ledger.mark(a, 3);
  ledger.mark(b, 3);
  ledger.mark(b, 3);
  ledger.mark(b, 1);
  EXPECT_EQ(ledger.records(), 4u);
  EXPECT_TRUE(ledger.has(a, 3));
  EXPECT_TRUE(ledger.has(b, 1));
  EXPECT_FALSE(ledger.has(a, 1));
  ledger.mark(layout.pieces_of_variable(0)[0], 0);
  EXPECT_EQ(missing_of(ledger), (Missing{{1, 0}, {2, 0}, {1, 1}, {1, 2}, {2, 2}}));
  for (const std::uint64_t record : {2u, 0u, 1u}) {
    ledger.mark(a, record);
    ledger.mark(b, record);
  }
  EXPECT_TRUE(missing_of(ledger).empty());
}

TEST(Ledger, takes_what_was_there_as_written) {
  const model::FileLayout layout = layout_of_two();
  Ledger ledger(layout, 5, true);
  EXPECT_EQ(ledger.records(), 5u);
  EXPECT_TRUE(missing_of(ledger).empty());
  ledger.reach(6);
  EXPECT_EQ(missing_of(ledger), (Missing{{1, 5}, {2, 5}}));
}

TEST(Ledger, stops_at_the_first_failure) {
  const model::FileLayout layout = layout_of_two();
  Ledger ledger(layout, 0, true);
  ledger.reach(3);
  int visits = 0;
  const auto stopped = ledger.for_each_missing([&](const model::Piece&, std::uint64_t) -> Result<> {
    ++visits;
    return fail(ErrorCode::io, "no");
  });
  EXPECT_FALSE(stopped);
  EXPECT_EQ(visits, 1);
}

TEST(FillPattern, repeats_the_element_from_any_offset) {
  Variable variable{"v", Type::int32, {}, {}, Values(0x01020304), {}, 0, false, {}, {}};
  FillPattern big(variable, true);
  for (const std::uint64_t offset : {0u, 4u, 4092u, 8192u}) {
    const auto bytes = big.at(offset, 12);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096, offset % 4096);
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_EQ(std::to_integer<int>(bytes[i]), static_cast<int>(i % 4) + 1);
  }
}

TEST(FillPattern, takes_the_default_or_the_attribute) {
  Variable variable;
  variable.type = Type::int16;
  EXPECT_TRUE(fill_of(variable) == Values(std::int16_t{-32767}));
  variable.attribute("_FillValue", Values(std::int16_t{-1}));
  EXPECT_TRUE(fill_of(variable) == Values(std::int16_t{-1}));
  variable.with_fill(Values(std::int16_t{-2}));
  EXPECT_TRUE(fill_of(variable) == Values(std::int16_t{-2}));
}

}  // namespace
}  // namespace afterbay::storage
