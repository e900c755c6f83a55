// SPDX-License-Identifier: Apache-2.0
#include "storage/ledger.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/caller_terms.hpp"
#include "storage/fill.hpp"
#include "storage/sealed.hpp"

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

/// Many pieces: `a` has one every 8 values, `fixed` likewise.
model::FileLayout layout_of_many() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 4000);
  schema.variable("fixed", Type::float32, {"x"}).with_chunk({100});
  schema.variable("a", Type::float32, {"time", "x"}).with_chunk({1, 8});
  return *model::make_layout(schema, Format::netcdf4, {});
}

TEST(Ledger, accounts_of_several_writers_add_up_to_what_was_written) {
  const model::FileLayout layout = layout_of_many();
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Ledger whole(layout, 0, false);
    std::vector<std::unique_ptr<Ledger>> parts;
    for (int p = 0; p < 3; ++p) parts.push_back(std::make_unique<Ledger>(layout, 0, false));
    for (int n = 0; n < 4000; ++n) {
      const std::size_t index = random() % layout.pieces.size() / 50;  // few pieces, often all of a record
      const model::Piece& piece = layout.pieces[index * 50];
      const std::uint64_t record = random() % 12 + (random() % 8 == 0 ? 100 : 0);
      whole.mark(piece, record);
      parts[index % 3]->mark(piece, record);
    }
    ASSERT_TRUE(parts[0]->take(parts[1]->sealed()));
    ASSERT_TRUE(parts[0]->take(parts[2]->sealed()));
    EXPECT_EQ(parts[0]->records(), whole.records());
    EXPECT_EQ(missing_of(*parts[0]), missing_of(whole));
    for (const model::Piece& piece : layout.pieces)
      for (std::uint64_t record = 0; record < 120; ++record)
        ASSERT_EQ(parts[0]->has(piece, record), whole.has(piece, record)) << piece.number << " " << record;
    EXPECT_TRUE(parts[0]->sealed() == whole.sealed()) << "the same whatever the way to it";
  }
}

TEST(Ledger, what_was_put_after_an_epoch_is_left_out_of_it_and_in_the_next) {
  const model::FileLayout layout = layout_of_many();
  std::mt19937 random(11);
  Ledger own(layout, 0, false, 2);
  Ledger other(layout, 0, false, 2);
  Ledger third(layout, 0, false);  // what belongs to epoch 3
  Ledger fourth(layout, 0, false);
  for (int n = 0; n < 4000; ++n) {
    const std::size_t index = random() % layout.pieces.size() / 50 * 50;
    const model::Piece& piece = layout.pieces[index];
    const std::uint64_t record = random() % 40;
    Ledger& of_piece = index % 100 == 0 ? own : other;
    if (of_piece.has(piece, record)) continue;
    const std::uint64_t epochs = 1 + random() % 4;
    of_piece.mark(piece, record, epochs);
    if (epochs < 3) third.mark(piece, record);
    if (epochs < 4) fourth.mark(piece, record);
  }
  for (Ledger* const ledger : {&third, &fourth}) ledger->reach(40);
  const auto all = [&](std::uint64_t epoch) {
    auto written = own.copy(40);
    EXPECT_TRUE(written->take_first_records(other.sealed()));
    written->leave_out(epoch);
    own.settle(epoch);
    other.settle(epoch);
    return written;
  };
  EXPECT_EQ(missing_of(*all(3)), missing_of(third));
  EXPECT_EQ(missing_of(*all(4)), missing_of(fourth));
  EXPECT_EQ(own.settled(), 4U);
}

TEST(Ledger, an_account_of_many_records_of_some_pieces_is_small) {
  const model::FileLayout layout = layout_of_many();
  Ledger ledger(layout, 0, false);
  for (std::uint64_t record = 0; record < 1000; ++record)
    for (std::size_t n = 0; n < layout.pieces.size() / 2; ++n) ledger.mark(layout.pieces[n], record);
  EXPECT_LT(ledger.sealed().size(), 64u);
}

TEST(Ledger, a_conflict_names_the_record_as_the_caller_counts) {
  const model::FileLayout layout = layout_of_two();
  Ledger theirs(layout, 0, false);
  Ledger ours(layout, 0, false);
  for (Ledger* const ledger : {&theirs, &ours}) ledger->mark(layout.pieces_of_variable(1)[0], 5);
  const auto says = [&](const char* words) {
    return ours.take(theirs.sealed()).error().message.find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("record 5, was written by two servers"));
  const InTerms fortran(Terms::fortran);
  EXPECT_TRUE(says("record 6, was written by two servers"));
}

TEST(Ledger, refuses_accounts_of_what_was_written_already_and_then_takes_nothing) {
  const model::FileLayout layout = layout_of_two();
  const model::Piece& fixed = layout.pieces_of_variable(0)[0];
  const model::Piece& a = layout.pieces_of_variable(1)[0];
  const model::Piece& b = layout.pieces_of_variable(2)[0];
  Ledger theirs(layout, 0, false);
  for (std::uint64_t record = 0; record < 9; ++record) theirs.mark(a, record);
  theirs.mark(fixed, 0);
  Ledger ours(layout, 0, false);
  for (std::uint64_t record = 0; record < 9; ++record) ours.mark(b, record);
  ours.mark(a, 5);
  const auto refused = ours.take(theirs.sealed());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_NE(refused.error().message.find("record 5"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(ours.has(a, 0));
  EXPECT_FALSE(ours.has(fixed, 0));
  Ledger fixed_too(layout, 0, true);
  EXPECT_EQ(fixed_too.take(theirs.sealed()).error().code, ErrorCode::conflict);
  const model::FileLayout other = layout_of_many();
  EXPECT_EQ(Ledger(other, 0, false).take(theirs.sealed()).error().code, ErrorCode::conflict);
}

TEST(Ledger, refuses_broken_accounts) {
  const model::FileLayout layout = layout_of_two();
  const std::size_t pieces = layout.pieces.size();
  const auto code = [&](const std::vector<std::uint64_t>& numbers) {
    SealedWriter writer(SealedKind::pieces, digest_of(layout));
    for (const std::uint64_t number : numbers) writer.number(number);
    const auto taken = Ledger(layout, 0, false).take(std::move(writer).finish());
    return taken ? ErrorCode::ok : taken.error().code;
  };
  EXPECT_EQ(code({4, pieces, 1, 1, 3, 1, 2, 0}), ErrorCode::ok);  // records 1 to 3: not 1 piece, then 2
  EXPECT_EQ(code({}), ErrorCode::format);
  EXPECT_EQ(code({4, pieces}), ErrorCode::format) << "no stretches";
  EXPECT_EQ(code({4, pieces + 1, 0}), ErrorCode::format) << "more fixed pieces than there are";
  EXPECT_EQ(code({4, pieces, 1, 1, 4, 1, 2}), ErrorCode::format) << "past the last record";
  EXPECT_EQ(code({4, pieces, 1, 5, 1, 1, 2}), ErrorCode::format) << "past the last record";
  EXPECT_EQ(code({4, pieces, 1, 1, 3, 1, 3}), ErrorCode::format) << "more pieces than there are";
  EXPECT_EQ(code({4, pieces, 1, 1, 3, 1, 2, 7}), ErrorCode::format) << "too long";
  EXPECT_EQ(code({4, pieces, 1'000'000, 1, 3, 1, 2}), ErrorCode::format) << "stretches are missing";
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
  Variable variable;
  variable.name = "v";
  variable.type = Type::int32;
  variable.fill = Values(0x01020304);
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
