// SPDX-License-Identifier: Apache-2.0
// The division of maps among servers, compared with one that looks at every point.
#include "model/map_division.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "model/layout.hpp"

namespace afterbay::model {
namespace {

Index index_of(std::vector<std::uint64_t> lengths) { return Index(lengths); }

/// The cell of every point of an index space that is cut into parts.
std::uint64_t cell_at(const MapCut& cut, std::uint64_t point) {
  std::uint64_t found = 0;
  cut.split(point, 1, [&](std::uint64_t cell, std::uint64_t, std::uint64_t, std::uint64_t) { found = cell; });
  return found;
}

TEST(ModelMapDivision, homes_are_disjoint_and_cover_every_point) {
  for (const std::uint64_t points : {1u, 2u, 7u, 100u, 1'000'003u})
    for (const std::size_t servers : {1u, 2u, 3u, 10u, 1000u}) {
      std::uint64_t next = 0;
      for (std::size_t s = 0; s < servers; ++s) {
        const OffsetRun home = home_of(points, servers, s);
        if (home.length == 0) continue;
        EXPECT_EQ(home.offset, next);
        EXPECT_LE(home.length, points / servers + 1);
        next += home.length;
      }
      EXPECT_EQ(next, points);
    }
}

TEST(ModelMapDivision, joined_runs_are_disjoint) {
  EXPECT_EQ(joined({{5, 2}, {0, 3}, {3, 1}, {6, 4}, {20, 0}, {7, 1}}),
            (std::vector<OffsetRun>{{0, 4}, {5, 5}}));
  EXPECT_TRUE(joined({}).empty());
}

TEST(ModelMapDivision, rows_are_the_points_of_a_cell) {
  std::mt19937 random(5);
  for (int n = 0; n < 40; ++n) {
    Index global;
    Index part;
    for (std::size_t d = 0, rank = 1 + random() % 3; d < rank; ++d) {
      global.push_back(1 + random() % 9);
      part.push_back(1 + random() % global[d]);
    }
    const MapCut cut(global, part);
    std::vector<std::set<std::uint64_t>> expected(cut.cells());
    for (std::uint64_t point = 0; point < global.product(); ++point)
      expected[cell_at(cut, point)].insert(point);
    for (std::uint64_t cell = 0; cell < cut.cells(); ++cell) {
      std::set<std::uint64_t> found;
      cut.for_each_row(cell, [&](const OffsetRun& row) {
        for (std::uint64_t i = 0; i < row.length; ++i) EXPECT_TRUE(found.insert(row.offset + i).second);
      });
      EXPECT_EQ(found, expected[cell]);
    }
  }
}

/// A schema with variables on one map, with other dimensions before and after it.
struct Setting {
  Index global;
  Schema schema;
  FileLayout layout;
  std::vector<MapDimensions> mapped;
};

Setting setting_of(std::mt19937& random) {
  Setting it;
  it.global = index_of({2 + random() % 11, 5 + random() % 40});
  it.schema.dimension("time", unlimited).dimension("lev", 1 + random() % 7);
  it.schema.dimension("y", it.global[0]).dimension("x", it.global[1]).dimension("bin", 1 + random() % 4);
  const std::vector<std::vector<std::string>> shapes{
      {"time", "y", "x"}, {"time", "lev", "y", "x"}, {"time", "y", "x", "bin"}, {"lev", "y", "x", "bin"}};
  for (std::size_t v = 0; v < 6; ++v) {
    const auto& shape = shapes[random() % shapes.size()];
    Variable& variable = it.schema.variable("v" + std::to_string(v), Type::float64, shape);
    for (const std::string& name : shape)
      variable.chunk.push_back(name == "time" ? 1 : 1 + random() % it.schema.find_dimension(name)->length);
    const std::size_t first = shape[0] == "time" ? (shape[1] == "lev" ? 1 : 0) : 1;
    it.mapped.push_back({first, 2});
  }
  it.layout = make_layout(it.schema, Format::netcdf4, {1u << 20, 1u << 20, 1024}).value();
  return it;
}

TEST(ModelMapDivision, owners_need_the_cells_of_their_pieces) {
  std::mt19937 random(17);
  for (int n = 0; n < 60; ++n) {
    const Setting it = setting_of(random);
    const std::size_t servers = 1 + random() % 6;
    const FrameOwners owners(it.layout, FileSharing::slab, servers);
    for (std::uint32_t v = 0; v < it.mapped.size(); ++v) {
      const MapCut cut(it.global, part_of(it.layout.variables[v].part, it.mapped[v]));
      std::set<std::pair<std::uint64_t, std::uint32_t>> expected;
      for (const Piece& piece : it.layout.pieces_of_variable(v))
        expected.emplace(cut.cell_of(part_of(piece.box.start, it.mapped[v])), owners.owner(piece.frame));
      std::set<std::pair<std::uint64_t, std::uint32_t>> found;
      for (const CellRange& range : cells_of_owners(it.layout, v, it.mapped[v], owners))
        for (std::uint64_t cell = range.first; cell <= range.last; ++cell) found.emplace(cell, range.owner);
      EXPECT_EQ(found, expected);
    }
  }
}

/// Also for maps in another order than the file's.
TEST(ModelMapDivision, every_server_gets_the_points_that_it_needs_once) {
  std::mt19937 random(23);
  for (int n = 0; n < 60; ++n) {
    const Setting it = setting_of(random);
    const std::size_t servers = 2 + random() % 6;
    const bool homes = n % 3 != 0;
    const FrameOwners owners(it.layout, FileSharing::slab, servers);
    MapDivision division(it.global, servers, homes);
    std::vector<std::set<std::uint64_t>> needed(servers);
    for (std::size_t s = 0; homes && s < servers; ++s) {
      const OffsetRun home = home_of(it.global.product(), servers, s);
      for (std::uint64_t i = 0; i < home.length; ++i) needed[s].insert(home.offset + i);
    }
    for (std::uint32_t v = 0; v < it.mapped.size(); ++v) {
      const Index part = part_of(it.layout.variables[v].part, it.mapped[v]);
      const auto cells = cells_of_owners(it.layout, v, it.mapped[v], owners);
      division.need(part, cells);
      const MapCut cut(it.global, part);
      for (std::uint64_t point = 0; point < it.global.product(); ++point)
        for (const CellRange& range : cells)
          if (range.first <= cell_at(cut, point) && cell_at(cut, point) <= range.last)
            needed[range.owner].insert(point);
    }
    if (n % 5 == 0) division.need_all(1);
    Map map;
    map.global = {it.global.begin(), it.global.end()};
    map.indices.resize(it.global.product());
    std::iota(map.indices.begin(), map.indices.end(), 0);
    if (n % 2 == 0) std::ranges::shuffle(map.indices, random);
    map.indices.resize(1 + random() % map.indices.size());
    const ListedRuns runs = make_listed_runs("map", map, Repeats::refuse).value();
    for (const PointRuns* const order : {&runs.ascending, runs.list ? &*runs.list : &runs.ascending}) {
      const auto divided = division.divide(*order);
      ASSERT_EQ(divided.size(), servers);
      for (std::size_t s = 0; s < servers; ++s) {
        if (division.needs_all(s)) {
          EXPECT_TRUE(divided[s].empty());
          continue;
        }
        std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;  // element, offset
        order->for_each([&](const PointRun& run) {
          for (std::uint32_t i = 0; i < run.length; ++i)
            if (needed[s].contains(run.offset + i)) expected.emplace_back(run.element + i, run.offset + i);
        });
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        for (const PointRun& run : divided[s])
          for (std::uint32_t i = 0; i < run.length; ++i) found.emplace_back(run.element + i, run.offset + i);
        EXPECT_EQ(found, expected) << "server " << s;
      }
    }
  }
}

}  // namespace
}  // namespace afterbay::model
