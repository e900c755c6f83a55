// SPDX-License-Identifier: Apache-2.0
// Several servers define a collection on a map together: the catalogs of all of them, or of one of
// many, given the messages that model ranks send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "model/map_division.hpp"
#include "model/schema_bytes.hpp"
#include "server/catalog.hpp"
#include "server/map_checks.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Points of `ranks` model ranks on one map, and a collection of variables on it that `servers`
/// servers share.
class Fleet {
 public:
  Fleet(std::size_t ranks, std::size_t servers, std::uint64_t points, std::uint64_t levels,
        Coverage coverage = {})
      : ranks_(ranks), servers_(servers), coverage_(coverage), global_(model::Index::filled(1, points)) {
    schema_.dimension("time", unlimited).dimension("lev", levels).dimension("cells", points);
    schema_.variable("t", Type::float32, {"time", "lev", "cells"}).on("mesh");
    schema_.variable("ps", Type::float32, {"time", "cells"}).on("mesh");
    // All chunks of a level have equal lengths, so that each server has a part of the cells.
    for (Variable& variable : schema_.variables) {
      variable.chunk.assign(variable.dimensions.size(), 1);
      variable.chunk.back() = std::max<std::uint64_t>(1, points / 64);
      if (variable.dimensions.size() == 3) variable.chunk[1] = levels;
    }
    split_ = servers > 1 ? model::Split::slab : model::Split::none;
    gather_bytes_ = model::gather_bytes(schema_, split_, servers);
    layout_ = model::make_layout(schema_, Format::netcdf4,
                                 {config_.memory.block_bytes, config_.writing.chunk_bytes, gather_bytes_})
                  .value();
    owners_ = model::FrameOwners(layout_, split_, servers);
  }

  using Indices = std::vector<std::vector<std::int64_t>>;  ///< by rank

  std::unique_ptr<Catalog> catalog(std::size_t server) const {
    std::vector<int> session_ranks(ranks_);
    std::iota(session_ranks.begin(), session_ranks.end(), 0);
    return std::make_unique<Catalog>(std::move(session_ranks), config_,
                                     Catalog::ThisServer{server, servers_});
  }

  /// The messages of one rank about its points, by server.
  std::vector<wire::DefineMap> messages(const std::vector<std::int64_t>& indices) const {
    Map map;
    map.global = {global_.begin(), global_.end()};
    map.indices = indices;
    const model::ListedRuns runs = model::make_listed_runs("mesh", map, coverage_.repeats).value();
    model::MapDivision division(global_, servers_, servers_ > 1);
    for (std::uint32_t v = 0; v < schema_.variables.size(); ++v) {
      const model::MapDimensions mapped{layout_.variables[v].shape.size - 1, 1};
      division.need(model::part_of(layout_.variables[v].part, mapped),
                    model::cells_of_owners(layout_, v, mapped, owners_));
    }
    if (servers_ == 1) division.need_all(0);
    auto points = division.divide(runs.ascending);
    auto lists =
        runs.list ? division.divide(*runs.list) : std::vector<std::vector<model::PointRun>>(servers_);
    std::vector<wire::DefineMap> all(servers_);
    for (std::size_t s = 0; s < servers_; ++s) {
      all[s].name = "mesh";
      all[s].coverage = coverage_;
      all[s].global = map.global;
      all[s].held = runs.ascending.points();
      all[s].all = servers_ == 1 ? 1 : 0;
      const model::PointRuns mine =
          servers_ == 1 ? runs.ascending : model::PointRuns(std::move(points[s]), 0);
      if (!mine.empty()) all[s].points = model::encode_offsets(mine);
      if (!mine.empty() && runs.list)
        all[s].list =
            model::encode_offsets(servers_ == 1 ? *runs.list : model::PointRuns(std::move(lists[s]), 0));
    }
    return all;
  }

  wire::DefineCollection collection(std::size_t rank) const {
    wire::DefineCollection message;
    message.id = 0;
    message.name = "history";
    if (rank != 0) return message;
    wire::CollectionDefinition& it = message.definition.emplace();
    it.split = split_;
    it.servers.resize(servers_);
    std::iota(it.servers.begin(), it.servers.end(), 0u);
    it.gather_bytes = gather_bytes_;
    it.decompositions = {0, 0};
    it.schema = schema_;
    return message;
  }

  /// All servers, with everything that the ranks define.
  std::vector<std::unique_ptr<Catalog>> define(const Indices& indices) const {
    std::vector<std::unique_ptr<Catalog>> all;
    for (std::size_t s = 0; s < servers_; ++s) all.push_back(catalog(s));
    for (std::size_t r = 0; r < ranks_; ++r) {
      auto maps = messages(indices[r]);
      for (std::size_t s = 0; s < servers_; ++s) {
        EXPECT_TRUE(all[s]->add(r, std::move(maps[s])));
        EXPECT_TRUE(all[s]->add(r, collection(r)));
        EXPECT_TRUE(all[s]->end(r, {.serial = 1}));
      }
    }
    return all;
  }

  /// What all servers found, joined by the first.
  static wire::MapsChecked check(std::vector<std::unique_ptr<Catalog>>& all) {
    std::vector<std::vector<wire::MapVerdict>> found;
    for (auto& one : all) found.push_back(one->check().value().maps);
    return all.front()->judge(found);
  }

  [[nodiscard]] const model::FileLayout& layout() const { return layout_; }

 private:
  std::size_t ranks_;
  std::size_t servers_;
  Coverage coverage_;
  model::Index global_;
  config::Config config_;
  Schema schema_;
  model::Split split_ = model::Split::none;
  std::uint64_t gather_bytes_ = 0;
  model::FileLayout layout_;
  model::FrameOwners owners_;
};

Fleet::Indices deal(std::size_t ranks, std::uint64_t points, std::mt19937& random) {
  Fleet::Indices indices(ranks);
  for (std::uint64_t p = 0; p < points; ++p)
    indices[random() % ranks].push_back(static_cast<std::int64_t>(p));
  return indices;
}

TEST(ServerMapFleet, errors_are_the_same_for_any_number_of_servers) {
  std::mt19937 random(31);
  for (int n = 0; n < 40; ++n) {
    const std::uint64_t points = 100 + random() % 3000;
    const std::size_t ranks = 2 + random() % 9;
    Fleet::Indices indices = deal(ranks, points, random);
    // Some points are held twice, or by no rank.
    for (std::uint64_t faults = random() % 4; faults > 0; --faults) {
      std::vector<std::int64_t>& list = indices[random() % ranks];
      const auto point = static_cast<std::int64_t>(random() % points);
      if (n % 2 == 0 && std::ranges::find(list, point) == list.end()) list.push_back(point);
      if (n % 2 != 0 && !list.empty()) {
        const auto from = static_cast<std::ptrdiff_t>(random() % list.size());
        list.erase(list.begin() + from,
                   list.begin() + from + std::min<std::ptrdiff_t>(20, std::ssize(list) - from));
      }
    }
    std::string expected;
    for (const std::size_t servers : {1u, 2u, 3u, 7u, 20u}) {
      auto all = Fleet(ranks, servers, points, 3).define(indices);
      const wire::MapsChecked checked = Fleet::check(all);
      const std::string text = checked.error ? checked.error->text() : "right";
      if (servers == 1) expected = text;
      EXPECT_EQ(text, expected) << servers << " servers";
      test::FakeFrames frames;
      EXPECT_EQ(all.back()->complete(checked, frames).has_value(), !checked.error);
    }
  }
}

TEST(ServerMapFleet, a_gap_at_the_edge_of_two_homes_is_one) {
  Fleet::Indices indices(2);
  for (std::int64_t p = 0; p < 100; ++p)
    if (p < 40 || p >= 60) indices[static_cast<std::size_t>(p % 2)].push_back(p);
  auto all = Fleet(2, 4, 100, 1).define(indices);
  const wire::MapsChecked checked = Fleet::check(all);
  ASSERT_TRUE(checked.error);
  EXPECT_THAT(checked.error->message,
              HasSubstr("20 of 100 points belong to no rank, the first are those at offsets 40 to 59"));
}

/// Every rank loses the points that a lower one holds; the last one loses all.
TEST(ServerMapFleet, ranks_that_lose_all_points_are_known_to_every_server) {
  Fleet::Indices indices(3);
  for (std::int64_t p = 0; p < 100; ++p) {
    indices[0].push_back(p);
    if (p < 70) indices[2].push_back(p);
    if (p == 50) indices[1].push_back(p);
  }
  indices[0].erase(indices[0].begin() + 50);
  auto all = Fleet(3, 4, 100, 2, {.gaps_allowed = false, .repeats = Repeats::first}).define(indices);
  const wire::MapsChecked checked = Fleet::check(all);
  ASSERT_FALSE(checked.error) << checked.error->text();
  ASSERT_EQ(checked.maps.size(), 1u);
  EXPECT_EQ(checked.maps[0].lost, 1);
  EXPECT_THAT(checked.maps[0].empty, ElementsAre(2, 2));
  std::vector<model::OffsetRun> lost;
  for (auto& one : all) {
    test::FakeFrames frames;
    const auto answer = one->complete(checked, frames);
    ASSERT_TRUE(answer);
    const ServedCollection& collection = *one->find(0);
    EXPECT_TRUE(one->contributes(collection, 0, 1));
    EXPECT_FALSE(one->contributes(collection, 0, 2));
    EXPECT_EQ(one->contributors(collection, 0), 2u);
    EXPECT_THAT(answer->bases.front().packed, ElementsAre(0, 0));  // because points were lost
    for (const wire::MapLosses& it : one->losses(2))
      for (std::size_t i = 0; i < it.offsets.size(); ++i) lost.push_back({it.offsets[i], it.lengths[i]});
  }
  EXPECT_EQ(model::joined(lost), (std::vector<model::OffsetRun>{{0, 70}}));
}

/// The verdicts do not grow with the ranks that keep points: of 400 ranks with halos, those with
/// odd numbers hold nothing that a lower one does not hold. Some of these lose all points in one
/// home and keep some in another.
TEST(ServerMapFleet, verdicts_name_only_ranks_that_may_have_lost_everything) {
  constexpr std::size_t ranks = 400, servers = 8;
  constexpr std::uint64_t points = 4000;
  Fleet::Indices indices(ranks);
  for (std::uint64_t p = 0; p < points; ++p) {
    const std::size_t owner = p % (ranks / 2);
    indices[2 * owner].push_back(static_cast<std::int64_t>(p));
    indices[2 * owner + 1].push_back(static_cast<std::int64_t>(p));
    if (owner > 0) indices[2 * owner].push_back(static_cast<std::int64_t>(p - 1));
  }
  for (std::vector<std::int64_t>& list : indices) std::ranges::sort(list);
  // Rank 1 keeps one point.
  std::erase(indices[0], std::int64_t{ranks / 2 * 19});
  auto all =
      Fleet(ranks, servers, points, 2, {.gaps_allowed = false, .repeats = Repeats::first}).define(indices);
  std::vector<std::vector<wire::MapVerdict>> found;
  std::size_t named = 0;
  for (auto& one : all) {
    found.push_back(one->check().value().maps);
    named += found.back().front().losers.size();
    EXPECT_EQ(found.back().front().losses, 1);
  }
  const wire::MapsChecked checked = all.front()->judge(found);
  ASSERT_FALSE(checked.error) << checked.error->text();
  std::vector<std::uint32_t> empty;
  for (std::uint32_t rank = 3; rank < ranks; rank += 2) empty.insert(empty.end(), {rank, rank});
  EXPECT_EQ(checked.maps[0].empty, empty);
  EXPECT_LE(named, ranks / 2 * servers) << "ranks with even numbers keep points in every home";
}

/// Together the servers describe every piece as one server does.
TEST(ServerMapFleet, all_servers_together_describe_every_piece) {
  std::mt19937 random(41);
  constexpr std::size_t ranks = 9, servers = 5;
  Fleet::Indices indices = deal(ranks, 5000, random);
  indices[3].clear();  // holes
  std::ranges::shuffle(indices[4], random);
  const Coverage coverage{.gaps_allowed = true};
  const Fleet many(ranks, servers, 5000, 3, coverage);
  auto all = many.define(indices);
  const wire::MapsChecked checked = Fleet::check(all);
  ASSERT_FALSE(checked.error);
  std::vector<std::uint32_t> expected;  // contributions by piece, as counted here
  for (const model::Piece& piece : many.layout().pieces) {
    const std::uint64_t begin = piece.box.start[piece.box.rank() - 1];
    const std::uint64_t end = begin + piece.box.count[piece.box.rank() - 1];
    expected.push_back(static_cast<std::uint32_t>(std::ranges::count_if(indices, [&](const auto& list) {
      return std::ranges::any_of(list, [&](std::int64_t p) {
        return begin <= static_cast<std::uint64_t>(p) && static_cast<std::uint64_t>(p) < end;
      });
    })));
  }
  std::size_t frames = 0;
  std::size_t fills = 0;
  for (auto& one : all) {
    test::FakeFrames pool;
    ASSERT_TRUE(one->complete(checked, pool));
    const ServedCollection& it = *one->find(0);
    EXPECT_EQ(pool.declared.size(), it.frames());
    frames += it.frames();
    fills += it.fills.size();
    for (std::uint32_t number = 0; number < it.frames(); ++number) {
      const std::uint32_t frame = it.frame(number);
      const model::Frame in_layout = it.layout->frames[frame];
      EXPECT_EQ(pool.declared[number].bytes, in_layout.bytes);
      for (std::uint32_t p = 0; p < in_layout.piece_count; ++p) {
        EXPECT_EQ(pool.declared[number].expected[p], expected[in_layout.first_piece + p]);
        EXPECT_EQ(it.expected_in(frame)[p], expected[in_layout.first_piece + p]);
      }
    }
  }
  EXPECT_EQ(frames, many.layout().frames.size());
  EXPECT_EQ(fills, many.layout().pieces.size());  // every piece has a hole
}

/// A server of many gets the share of the points that it needs; before, it got all of them, and
/// declared all frames.
TEST(ServerMapFleet, a_server_of_forty_knows_a_small_part_of_ten_thousand_ranks) {
  constexpr std::size_t ranks = 10'000, servers = 40;
  constexpr std::uint64_t each = 16, points = ranks * each;
  const Fleet many(ranks, servers, points, 30);
  auto one = many.catalog(7);
  std::uint64_t sent = 0;
  std::uint64_t here = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<std::int64_t> mine;  // every 10 000th point
    for (std::uint64_t i = 0; i < each; ++i)
      mine.push_back(static_cast<std::int64_t>(i * ranks + r * 7919 % ranks));
    auto messages = many.messages(mine);
    for (const wire::DefineMap& message : messages) sent += message.points.size();
    here += messages[7].points.size();
    ASSERT_TRUE(one->add(r, std::move(messages[7])));
    ASSERT_TRUE(one->add(r, many.collection(r)));
    ASSERT_TRUE(one->end(r, {.serial = 1}));
  }
  const auto found = one->check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->maps.front().missing, 0u);
  EXPECT_EQ(found->maps.front().twice, 0);
  test::FakeFrames frames;
  ASSERT_TRUE(one->complete(one->judge({&found->maps, 1}), frames));
  EXPECT_LT(here, sent / 15);  // its home and the cells of its pieces
  EXPECT_LE(frames.declared.size(), many.layout().frames.size() / 15);
  EXPECT_LT(one->map(0)->map.bytes(), 4u << 20);
  EXPECT_EQ(one->contributors(*one->find(0), 0), ranks);
}

// ---- MapChecks

TEST(ServerMapChecks, the_first_server_judges_when_all_have_answered) {
  assert_role(ingest_thread);
  std::vector<std::size_t> judged;
  std::vector<std::uint64_t> told, done;
  MapChecks::Host host;
  host.judge = [&](std::span<const std::vector<wire::MapVerdict>> verdicts) {
    judged.push_back(verdicts.size());
    wire::MapsChecked checked;
    checked.serial = verdicts.size() > 1 && !verdicts[1].empty() ? verdicts[1].front().id : 1;
    return checked;
  };
  host.send_to_judge = [](const wire::MapVerdicts&) { FAIL(); };
  host.send_to_all = [&](const wire::MapsChecked& checked) { told.push_back(checked.serial); };
  host.done = [&](const wire::MapsChecked& checked) { done.push_back(checked.serial); };
  MapChecks checks(0, 3, host);
  wire::MapVerdicts of_one;
  of_one.serial = 4;
  of_one.maps.emplace_back().id = 17;
  checks.take(1, of_one);  // before this server knows all definitions
  wire::MapVerdicts own;
  own.serial = 4;
  checks.found(own, false);
  EXPECT_TRUE(judged.empty());
  checks.take(2, own);
  EXPECT_THAT(judged, ElementsAre(3));
  EXPECT_THAT(told, ElementsAre(17));
  EXPECT_THAT(done, ElementsAre(17));
  own.serial = 5;
  checks.found(own, true);  // a batch without maps
  EXPECT_THAT(judged, ElementsAre(3, 1));
  EXPECT_THAT(told, ElementsAre(17));
  EXPECT_THAT(done, ElementsAre(17, 1));
}

TEST(ServerMapChecks, other_servers_wait_for_the_first) {
  assert_role(ingest_thread);
  std::vector<std::uint64_t> sent, done;
  MapChecks::Host host;
  host.judge = [](std::span<const std::vector<wire::MapVerdict>>) { return wire::MapsChecked(); };
  host.send_to_judge = [&](const wire::MapVerdicts& found) { sent.push_back(found.serial); };
  host.send_to_all = [](const wire::MapsChecked&) { FAIL(); };
  host.done = [&](const wire::MapsChecked& checked) { done.push_back(checked.serial); };
  MapChecks checks(2, 3, host);
  wire::MapVerdicts own;
  own.serial = 4;
  checks.found(own, false);
  EXPECT_THAT(sent, ElementsAre(4));
  EXPECT_TRUE(done.empty());
  wire::MapsChecked checked;
  checked.serial = 4;
  checks.take(checked);
  EXPECT_THAT(done, ElementsAre(4));
}

}  // namespace
}  // namespace afterbay::server
