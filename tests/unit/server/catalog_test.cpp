// SPDX-License-Identifier: Apache-2.0
// Catalog: what ranks define is joined, checked and described. Records: what they say that they
// put.
#include "server/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/point_runs.hpp"
#include "server/records.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Two ranks, 10 and 11 in the session, that hold the halves of 8 points.
class ServerCatalog : public ::testing::Test {
 protected:
  ServerCatalog() {
    schema_.dimension("time", unlimited).dimension("x", 8);
    schema_.variable("t", Type::float64, {"time", "x"}).on("grid");
    schema_.variable("area", Type::float64, {"x"}).on("grid");
    schema_.variable("total", Type::float64, {"time"});
  }

  Result<> define_block(std::size_t peer, std::uint64_t start, std::uint64_t count, std::uint64_t points = 8,
                        Coverage coverage = {}) {
    wire::DefineDecomposition message;
    message.id = 0;
    message.name = "grid";
    message.coverage = coverage;
    message.held = count > 0 ? 1 : 0;
    message.check = message.used = message.here = 1;
    message.block.global = {points};
    message.block.start = {start};
    message.block.count = {count};
    return catalog_.add(peer, message);
  }
  Result<const ServedCollection*> define_collection(std::size_t peer, const std::string& name = "history",
                                                    Format format = Format::cdf5, std::uint64_t digest = 5) {
    wire::DefineCollection message;
    message.id = 3;
    message.name = name;
    message.digest = digest;
    if (peer != 0) return catalog_.add(peer, message);
    wire::CollectionDefinition& it = message.definition.emplace();
    it.format = format;
    it.servers = {0};
    it.decompositions = {0, 0, -1};
    it.schema = schema_;
    return catalog_.add(peer, message);
  }
  /// Both ranks define all; gives the collection.
  const ServedCollection& define_all(Coverage coverage = {}, std::uint64_t second_half = 4) {
    EXPECT_TRUE(define_block(0, 0, 4, 8, coverage));
    EXPECT_TRUE(define_block(1, 4, second_half, 8, coverage));
    for (const std::size_t peer : {0, 1}) EXPECT_TRUE(define_collection(peer));
    const auto defined = end();
    EXPECT_TRUE(defined) << (defined ? "" : defined.error().text());
    return *catalog_.find(3);
  }
  Result<wire::Defined> end() {
    EXPECT_FALSE(catalog_.end(0, {.serial = 1}).value());
    EXPECT_TRUE(catalog_.end(1, {.serial = 1}).value());
    return catalog_.complete(frames_);
  }

  config::Config config_;
  Schema schema_;
  test::FakeFrames frames_;
  Catalog catalog_{{10, 11}, config_};
};

TEST_F(ServerCatalog, GivesTheCollectionToWhomeverBroughtItsSchema) {
  EXPECT_EQ(define_collection(1).value(), nullptr);
  const ServedCollection* const collection = define_collection(0).value();
  ASSERT_NE(collection, nullptr);
  EXPECT_EQ(collection, catalog_.find(3));
  EXPECT_EQ(collection->layout->variables.size(), 3u);
  EXPECT_EQ(catalog_.find(4), nullptr);
}

TEST_F(ServerCatalog, KnowsWhoContributesToAVariable) {
  const ServedCollection& it = define_all();
  EXPECT_EQ(catalog_.contributors(it, 0), 2u);
  EXPECT_TRUE(catalog_.contributes(it, 0, 1));
  EXPECT_EQ(catalog_.contributors(it, 2), 1u);  // every rank holds it: one gives it
  EXPECT_TRUE(catalog_.contributes(it, 2, 0));
  EXPECT_FALSE(catalog_.contributes(it, 2, 1));
  EXPECT_EQ(catalog_.session_rank(1), 11);
}

TEST_F(ServerCatalog, DeclaresTheFramesOfACollectionAndFindsTheirOwner) {
  const ServedCollection& it = define_all();
  EXPECT_THAT(frames_.declared, SizeIs(it.layout->frames.size()));
  EXPECT_EQ(catalog_.owner(it.first_frame), &it);
  EXPECT_EQ(catalog_.owner(it.first_frame + static_cast<std::uint32_t>(it.layout->frames.size())), nullptr);
  for (const std::uint32_t expected : it.expected) EXPECT_GT(expected, 0u);
}

TEST_F(ServerCatalog, RefusesRanksThatDisagree) {
  ASSERT_TRUE(define_block(0, 0, 4));
  const auto block = define_block(1, 4, 4, 9);
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, ErrorCode::conflict);
  EXPECT_EQ(block.error().rank, 11);
  EXPECT_THAT(block.error().message, HasSubstr("model rank 1 registers block 'grid' over 9 points"));
  ASSERT_TRUE(define_collection(0));
  const auto collection = define_collection(1, "restart");
  ASSERT_FALSE(collection);
  EXPECT_THAT(collection.error().message, HasSubstr("defines collection 'restart' differently"));
  const auto other_settings = define_collection(1, "history", Format::cdf5, 6);
  ASSERT_FALSE(other_settings);
  EXPECT_THAT(other_settings.error().message, HasSubstr("defines collection 'history' differently"));
}

TEST_F(ServerCatalog, RefusesAStoreThatIsNotRegistered) {
  const auto collection = define_collection(0, "history", static_cast<Format>(all_formats().size()));
  ASSERT_FALSE(collection);
  EXPECT_EQ(collection.error().code, ErrorCode::internal);
  EXPECT_EQ(collection.error().rank, 10);
  EXPECT_THAT(collection.error().message, HasSubstr("collection 'history' is defined with an unknown store"));
  EXPECT_EQ(catalog_.find(3), nullptr);
}

TEST_F(ServerCatalog, KnowsWhoseDefinitionsAreStillToCome) {
  EXPECT_THAT(catalog_.still_to_come(), IsEmpty());
  EXPECT_FALSE(catalog_.end(0, {.serial = 1}).value());
  EXPECT_THAT(catalog_.still_to_come(), ElementsAre(1));
  EXPECT_FALSE(catalog_.end(1, {.serial = 2}));
  EXPECT_TRUE(catalog_.end(1, {.serial = 1}).value());
}

TEST_F(ServerCatalog, RefusesADecompositionThatARankForgot) {
  ASSERT_TRUE(define_block(0, 0, 8));
  const auto defined = end();
  ASSERT_FALSE(defined);
  EXPECT_EQ(defined.error().rank, 11);
  EXPECT_THAT(defined.error().message, HasSubstr("model rank 1 did not register decomposition 'grid'"));
}

TEST_F(ServerCatalog, RefusesGapsUnlessTheyAreAllowed) {
  ASSERT_TRUE(define_block(0, 0, 4));
  ASSERT_TRUE(define_block(1, 4, 3));
  const auto defined = end();
  ASSERT_FALSE(defined);
  EXPECT_EQ(defined.error().code, ErrorCode::conflict);
}

TEST_F(ServerCatalog, FillsGapsThatAreAllowed) {
  const ServedCollection& it = define_all({.gaps_allowed = true}, 3);
  ASSERT_FALSE(it.fills.empty());
  const PieceFill& fill = it.fills.front();
  ASSERT_THAT(fill.boxes, SizeIs(1));
  EXPECT_EQ(it.fill_values.at(it.layout->pieces[fill.piece].variable).size(), sizeof(double));
}

TEST_F(ServerCatalog, ScattersAContributionToItsPlace) {
  const ServedCollection& it = define_all();
  std::uint32_t piece = 0;
  while (it.layout->pieces[piece].variable != 0) ++piece;
  const std::uint32_t frame = it.layout->pieces[piece].frame;
  const std::uint32_t in_frame = piece - it.layout->frames[frame].first_piece;
  std::vector<std::byte> buffer(it.layout->frames[frame].bytes);
  const std::vector<double> values{1, 2, 3, 4};
  const auto bytes = std::as_bytes(std::span(values));
  const transport::FrameSlot slot{.frame = it.first_frame + frame, .bytes = buffer.size()};
  ASSERT_TRUE(catalog_.scatter(1, slot, in_frame, bytes, buffer.data()));
  const auto filled = std::ranges::count_if(buffer, [](std::byte byte) { return byte != std::byte{0}; });
  EXPECT_GT(filled, 0);
  // The second rank holds the second half.
  const std::byte* const begin = buffer.data() + it.layout->pieces[piece].frame_offset;
  EXPECT_TRUE(
      std::all_of(begin, begin + 4 * sizeof(double), [](std::byte it2) { return it2 == std::byte{0}; }));
  EXPECT_FALSE(catalog_.scatter(1, slot, in_frame, bytes.first(8), buffer.data()));
}

// ---- Records

class ServerRecords : public ServerCatalog {
 protected:
  ServerRecords() { define_all(); }
  Result<> begin(std::size_t peer, std::uint64_t seq, std::uint64_t record) {
    return records_.begin(peer, {.collection = 3, .seq = seq, .file = 7, .record = record});
  }
  Result<> put(std::size_t peer, std::uint64_t seq, std::uint32_t variable) {
    return records_.put(peer, {.collection = 3, .seq = seq, .variable = variable});
  }
  Records records_{catalog_};
};

TEST_F(ServerRecords, RefusesAnotherMeaningOfTheSameNumber) {
  ASSERT_TRUE(begin(0, 5, 2));
  ASSERT_TRUE(begin(1, 5, 2));
  const auto other = begin(1, 5, 3);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_EQ(other.error().rank, 11);
  EXPECT_FALSE(records_.begin(0, {.collection = 9, .seq = 5}));
}

TEST_F(ServerRecords, KnowWhatARankHasNotPut) {
  ASSERT_TRUE(begin(0, 5, 2));
  ASSERT_TRUE(put(0, 5, 0));
  const ServedCollection& collection = *catalog_.find(3);
  const Record& record = *records_.find(3, 5);
  EXPECT_THAT(records_.missing(collection, record),
              HasSubstr("model rank 1 did not put variable 't' of record 2, while other ranks did"));
  EXPECT_EQ(records_.missing_variable(collection, record), "t");
  EXPECT_THAT(records_.absent(collection, record), ElementsAre(1));
  const auto awaited = records_.awaited_from(1);
  ASSERT_TRUE(awaited);
  EXPECT_EQ(awaited->variable, "t");
  EXPECT_EQ(awaited->file, 7u);
  EXPECT_FALSE(records_.awaited_from(0));
  ASSERT_TRUE(put(1, 5, 0));
  EXPECT_EQ(records_.missing(collection, record), "");
  EXPECT_FALSE(records_.awaited_from(1));
}

TEST_F(ServerRecords, WhatEveryRankHoldsIsComplete) {
  ASSERT_TRUE(begin(0, 5, 2));
  ASSERT_TRUE(put(1, 5, 2));  // holds it, and does not give it
  EXPECT_THAT(records_.absent(*catalog_.find(3), *records_.find(3, 5)), ElementsAre(0));
  ASSERT_TRUE(put(0, 5, 2));
  EXPECT_EQ(records_.missing(*catalog_.find(3), *records_.find(3, 5)), "");
}

TEST_F(ServerRecords, RefuseAVariableThatIsPutTwiceOrOfNoRecord) {
  ASSERT_TRUE(begin(0, 5, 2));
  ASSERT_TRUE(put(0, 5, 0));
  const auto twice = put(0, 5, 0);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().variable, "t");
  EXPECT_THAT(twice.error().message, HasSubstr("twice for record 2"));
  EXPECT_FALSE(put(0, 6, 0));
  EXPECT_FALSE(put(0, 5, 17));
}

TEST_F(ServerRecords, RememberTheLastThatARankPut) {
  EXPECT_FALSE(records_.last_put(0));
  ASSERT_TRUE(begin(0, 5, 2));
  ASSERT_TRUE(put(0, 5, 0));
  ASSERT_TRUE(put(0, 5, 1));
  const auto last = records_.last_put(0);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->variable, "area");
  EXPECT_EQ(last->record_text(), " of record 2");
  EXPECT_FALSE(records_.last_put(1));
}

TEST_F(ServerRecords, EndWhenAllRanksHaveEndedThem) {
  ASSERT_TRUE(begin(0, 5, 2));
  ASSERT_TRUE(begin(0, 6, 3));
  EXPECT_THAT(records_.end(0, 3, 7), IsEmpty());
  EXPECT_THAT(records_.not_ended(3, 6), ElementsAre(1));
  EXPECT_THAT(records_.end(1, 3, 6), ElementsAre(5));
  EXPECT_THAT(records_.end(1, 3, 7), ElementsAre(6));
  EXPECT_THAT(records_.bounds(1), ElementsAre(Pair(3, 7)));
  records_.erase(3, 5);
  EXPECT_EQ(records_.find(3, 5), nullptr);
  EXPECT_NE(records_.find(3, 6), nullptr);
}

// ---- ServedMap

/// Two ranks on 6 points.
class ServerServedMap : public ::testing::Test {
 protected:
  static std::vector<std::byte> points(std::vector<model::PointRun> runs) {
    std::uint64_t elements = 0;
    for (model::PointRun& run : runs) {
      run.element = static_cast<std::uint32_t>(elements);
      elements += run.length;
    }
    return model::encode_offsets(model::PointRuns(std::move(runs), elements));
  }
  static wire::DefineMap message(std::vector<std::byte> points, bool all = true,
                                 std::vector<std::byte> list = {}) {
    wire::DefineMap it;
    it.all = all ? 1 : 0;
    model::OffsetReader reader(points);
    for (model::OffsetRun run = reader.next(); run.length > 0; run = reader.next()) it.held += run.length;
    if (it.held > 0) it.points = std::move(points);
    it.list = std::move(list);
    return it;
  }
  Result<wire::MapVerdict> check(std::vector<model::PointRun> first, std::vector<model::PointRun> second,
                                 const Coverage& coverage = {}) {
    map_.set(0, message(points(std::move(first))));
    map_.set(1, message(points(std::move(second))));
    const std::vector<int> ranks{10, 11};
    auto found = map_.check("land", ranks, coverage, {0, 6});
    wire::CheckedMap checked;
    checked.lost = found ? found->losses : 0;
    map_.set_checked(checked);
    return found;
  }
  ServedMap map_{model::Index(std::vector<std::uint64_t>{6}), 2};
};

TEST_F(ServerServedMap, KnowsWhoHoldsPoints) {
  ASSERT_TRUE(check({{0, 0, 6}}, {}));
  EXPECT_TRUE(map_.holds(0));
  EXPECT_FALSE(map_.holds(1));
  EXPECT_EQ(map_.holders(), 1u);
}

TEST_F(ServerServedMap, CountsTheRanksOfEachCell) {
  ASSERT_TRUE(check({{0, 0, 2}, {3, 0, 1}}, {{2, 0, 1}, {4, 0, 2}}));
  auto& cut = map_.cut(model::Index(std::vector<std::uint64_t>{3}));
  EXPECT_THAT(cut.expected, ElementsAre(2, 2));
  EXPECT_EQ(cut.points, 6u);
  EXPECT_EQ(&map_.cut(model::Index(std::vector<std::uint64_t>{3})), &cut);
  const auto* const own = map_.points_of(cut, 1, 1);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->points, 2u);
  EXPECT_EQ(cut.gap(0), nullptr);
}

TEST_F(ServerServedMap, ReportsGapsAndRepeatsUnlessTheyAreAllowed) {
  const auto gap = check({{0, 0, 2}}, {{3, 0, 3}}).value();
  EXPECT_EQ(gap.missing, 1u);
  EXPECT_EQ(gap.offset, 2u);
  const auto twice = check({{0, 0, 4}}, {{3, 0, 3}}).value();
  EXPECT_EQ(twice.twice, 1);
  EXPECT_EQ(twice.offset, 3u);
  EXPECT_EQ(twice.second_rank, 11);
}

TEST_F(ServerServedMap, FindsGaps) {
  ASSERT_TRUE(check({{0, 0, 2}}, {{3, 0, 3}}, {.gaps_allowed = true}));
  auto& cut = map_.cut(model::Index(std::vector<std::uint64_t>{3}));
  ASSERT_NE(cut.gap(0), nullptr);
  EXPECT_EQ(cut.gap(0)->points, 1u);
  EXPECT_EQ(cut.gap(1), nullptr);
}

TEST_F(ServerServedMap, ARankLosesPointsThatAnotherHolds) {
  const auto found = check({{0, 0, 4}}, {{3, 0, 3}}, {.repeats = Repeats::first}).value();
  EXPECT_EQ(found.losses, 1);
  EXPECT_THAT(found.losers, IsEmpty()) << "it keeps others";
  ASSERT_THAT(map_.losses(1), SizeIs(1));
  EXPECT_EQ(map_.losses(1)[0].offset, 3u);
  EXPECT_EQ(map_.losses(1)[0].length, 1u);
  EXPECT_FALSE(map_.can_pack());
  auto& cut = map_.cut(model::Index(std::vector<std::uint64_t>{6}));
  EXPECT_EQ(map_.points_of(cut, 1, 0)->points, 2u);
}

/// Only such ranks can have lost all of their points.
TEST_F(ServerServedMap, ReportsRanksThatLoseAllPointsOfItsPart) {
  map_.set(0, message(points({{0, 0, 4}}), false));
  map_.set(1, message(points({{3, 0, 3}}), false));
  const std::vector<int> ranks{10, 11};
  const auto found = map_.check("land", ranks, {.repeats = Repeats::first}, {2, 2}).value();
  EXPECT_EQ(found.losses, 1);
  EXPECT_THAT(found.losers, ElementsAre(1));
  EXPECT_THAT(found.lost, ElementsAre(1));
  wire::CheckedMap checked;
  checked.lost = 1;
  map_.set_checked(checked);
  EXPECT_TRUE(map_.holds(1)) << "it keeps points that others report on";
  checked.empty = {1, 1};
  map_.set_checked(checked);
  EXPECT_FALSE(map_.holds(1));
  EXPECT_TRUE(map_.holds(0));
}

TEST_F(ServerServedMap, PacksTheRanksOfACellBehindEachOther) {
  ASSERT_TRUE(check({{0, 0, 2}, {3, 0, 1}}, {{2, 0, 1}, {4, 0, 2}}));
  ASSERT_TRUE(map_.can_pack());
  auto& cut = map_.cut(model::Index(std::vector<std::uint64_t>{3}));
  const auto packings = map_.pack(4, cut);
  ASSERT_TRUE(packings);
  EXPECT_FALSE(map_.pack(4, cut));
  ASSERT_NE(cut.share_of(0, 1), nullptr);
  EXPECT_EQ(cut.share_of(0, 1)->before, 2u);
  const wire::MapPacking& packing = packings->at(1);
  EXPECT_EQ(packing.id, 4u);
  EXPECT_THAT(packing.part, ElementsAre(3));
  EXPECT_THAT(packing.cells, ElementsAre(0, 1));
  EXPECT_THAT(packing.before, ElementsAre(2, 1));
}

TEST_F(ServerServedMap, RefusesAListThatIsNotThatOfItsPoints) {
  map_.set(0, message(points({{0, 0, 6}}), true, points({{0, 0, 5}})));
  map_.set(1, message(points({})));
  const std::vector<int> ranks{10, 11};
  EXPECT_EQ(map_.check("land", ranks, {}, {0, 6}).error().code, ErrorCode::format);
}

/// This server has the home [0, 2) and a piece in the cell [3, 6); others check the rest.
TEST_F(ServerServedMap, ChecksItsPartOnly) {
  const model::Index part(std::vector<std::uint64_t>{3});
  const std::vector<int> ranks{10, 11};
  map_.set(0, message(points({{0, 0, 1}, {3, 0, 1}}), false));
  map_.set(1, message(points({{5, 0, 1}}), false));
  map_.need(part, std::vector<model::CellRange>{{1, 1, 0}});
  const auto refused = map_.check("land", ranks, {}, {0, 2}).value();
  EXPECT_EQ(refused.missing, 1u);  // the point 1; the gap at 4 is at another server's home
  EXPECT_EQ(refused.offset, 1u);
  ASSERT_TRUE(map_.check("land", ranks, {.gaps_allowed = true}, {0, 2}));
  auto& cut = map_.cut(part);
  ASSERT_NE(cut.gap(1), nullptr);
  EXPECT_EQ(cut.gap(1)->points, 1u);
  EXPECT_EQ(cut.expected[1], 2u);
  EXPECT_FALSE(map_.has_all());
  // More points for a later collection: earlier cuts stay as workers know them.
  map_.set(0, message(points({{0, 0, 4}}), true));
  map_.set(1, message(points({{4, 0, 2}}), true));
  ASSERT_TRUE(map_.check("land", ranks, {}, {0, 2}));
  EXPECT_NE(&map_.cut(part), &cut);
  EXPECT_EQ(map_.cut(part).gap(1), nullptr);
  EXPECT_EQ(map_.cut(part).expected[0], 1u);
}

}  // namespace
}  // namespace afterbay::server
