// SPDX-License-Identifier: Apache-2.0
// Maps of all shapes against a plain loop over every point.
#include "model/map_moves.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace afterbay::model {
namespace {

/// A variable whose map is at dimension `mapped`, cut into pieces of `part`.
struct Case {
  Index shape;
  MapDimensions mapped;
  Index part;
  std::vector<std::int64_t> indices;  ///< the rank's indices; -1: hole
  MemoryLayout memory;                ///< layout of the rank's array
};

Index random_lengths(std::mt19937& random, std::size_t count) {
  Index lengths;
  for (std::size_t i = 0; i < count; ++i) lengths.push_back(1 + random() % 9);
  return lengths;
}

Case random_case(std::mt19937& random) {
  Case it;
  it.shape = random_lengths(random, 1 + random() % 5);
  it.mapped.count = 1 + random() % it.shape.size;
  it.mapped.first = random() % (it.shape.size - it.mapped.count + 1);
  for (const std::uint64_t length : it.shape)
    it.part.push_back(random() % 2 == 0 ? length : 1 + random() % length);
  const std::uint64_t points = part_of(it.shape, it.mapped).product();
  std::vector<std::int64_t> all(points);
  std::iota(all.begin(), all.end(), 0);
  if (random() % 3 != 0) std::ranges::shuffle(all, random);
  all.resize(1 + random() % points);
  if (random() % 2 == 0)
    for (std::size_t i = 0; i < all.size(); i += 1 + random() % 4) all[i] = -1;
  it.indices = all;
  if (random() % 2 == 0) {
    const Index array = array_lengths(it.shape, it.mapped, it.indices.size());
    for (const std::uint64_t length : array) {
      it.memory.offset.push_back(random() % 3);
      it.memory.shape.push_back(length + it.memory.offset.back() + random() % 3);
    }
  }
  return it;
}

/// Every piece of the variable, in order.
std::vector<Box> pieces_of(const Case& it) {
  std::vector<Box> boxes;
  Box box{Index::filled(it.shape.size, 0), it.part};
  while (true) {
    for (std::size_t d = 0; d < it.shape.size; ++d)
      box.count[d] = std::min(it.part[d], it.shape[d] - box.start[d]);
    boxes.push_back(box);
    std::size_t d = it.shape.size;
    for (; d > 0; --d) {
      box.start[d - 1] += it.part[d - 1];
      if (box.start[d - 1] < it.shape[d - 1]) break;
      box.start[d - 1] = 0;
    }
    if (d == 0) return boxes;
  }
}

std::uint64_t linear(const Index& at, const Index& lengths) {
  std::uint64_t offset = 0;
  for (std::size_t d = 0; d < lengths.size; ++d) offset = offset * lengths[d] + at[d];
  return offset;
}

/// The value of a point of the variable: its own number, from 1.
double value_at(const Index& at, const Index& shape) { return static_cast<double>(linear(at, shape) + 1); }

/// The rank's array, filled with a plain loop; -7 for elements without a point.
std::vector<double> array_of(const Case& it) {
  const Index lengths = array_lengths(it.shape, it.mapped, it.indices.size());
  const Index shape = it.memory.shape.empty() ? lengths : Index(it.memory.shape);
  std::vector<double> array(shape.product(), -7);
  Index at = Index::filled(lengths.size, 0);
  for (std::uint64_t n = 0; n < lengths.product(); ++n) {
    std::uint64_t rest = n;
    for (std::size_t d = lengths.size; d-- > 0;) {
      at[d] = rest % lengths[d];
      rest /= lengths[d];
    }
    const std::int64_t point = it.indices[at[it.mapped.first]];
    if (point < 0) continue;
    Index in_variable = Index::filled(it.shape.size, 0);
    for (std::size_t d = 0; d < it.mapped.first; ++d) in_variable[d] = at[d];
    std::uint64_t left = static_cast<std::uint64_t>(point);
    for (std::size_t d = it.mapped.after(); d-- > it.mapped.first;) {
      in_variable[d] = left % it.shape[d];
      left /= it.shape[d];
    }
    for (std::size_t d = it.mapped.after(); d < it.shape.size; ++d)
      in_variable[d] = at[d - it.mapped.count + 1];
    Index in_memory = at;
    for (std::size_t d = 0; d < it.memory.offset.size(); ++d) in_memory[d] += it.memory.offset[d];
    array[linear(in_memory, shape)] = value_at(in_variable, it.shape);
  }
  return array;
}

/// The expected contents of a piece of the file: the point's value if the rank holds it, otherwise
/// -1.
std::vector<float> expected_piece(const Case& it, const Box& box, const Index& stored) {
  std::vector<float> piece(stored.product(), -1);
  const Index global = part_of(it.shape, it.mapped);
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    Index at = box.start, inside = Index::filled(box.rank(), 0);
    std::uint64_t rest = n;
    for (std::size_t d = box.rank(); d-- > 0;) {
      inside[d] = rest % box.count[d];
      at[d] += inside[d];
      rest /= box.count[d];
    }
    const auto point = static_cast<std::int64_t>(linear(part_of(at, it.mapped), global));
    if (std::ranges::find(it.indices, point) != it.indices.end())
      piece[linear(inside, stored)] = static_cast<float>(value_at(at, it.shape));
  }
  return piece;
}

PointRuns runs_of(const Case& it) {
  Map map;
  const Index global = part_of(it.shape, it.mapped);
  map.global.assign(global.begin(), global.end());
  map.indices = it.indices;
  return make_point_runs("map", map, Repeats::refuse).value();
}

class ModelMapMoves : public testing::TestWithParam<bool> {};

/// Cuts the variable into dense pieces: along one dimension, with length 1 along the earlier ones.
void cut_densely(Case& it, std::mt19937& random) {
  const std::size_t cut = random() % it.shape.size;
  for (std::size_t d = 0; d < it.shape.size; ++d) {
    if (d < cut) it.part[d] = 1;
    if (d > cut) it.part[d] = it.shape[d];
  }
}

TEST_P(ModelMapMoves, put_every_point_in_its_place_and_nothing_else) {
  const bool whole_stored = GetParam();  // edge pieces as chunks, or as they are
  std::mt19937 random(whole_stored ? 1 : 2);
  const Kernel kernel = model::kernel(Type::float64, Type::float32, false);
  for (int round = 0; round < 250; ++round) {
    Case it = random_case(random);
    if (!whole_stored) cut_densely(it, random);
    const PointRuns runs = runs_of(it);
    const MapCut cut(part_of(it.shape, it.mapped), part_of(it.part, it.mapped));
    const auto cells = deal(runs, cut);
    const auto encoded = encode_offsets(runs);
    const auto packed_cells = deal(OffsetReader(encoded), cut);
    const std::vector<double> array = array_of(it);
    std::uint64_t values = 0;
    for (const Box& box : pieces_of(it)) {
      const Index stored = whole_stored ? it.part : box.count;
      const auto expected = expected_piece(it, box, stored);
      const std::uint64_t cell = cut.cell_of(part_of(box.start, it.mapped));
      const auto in_cell = [&](const auto& all) {
        const auto found = std::ranges::find(all, cell, &CellPoints::cell);
        return found == all.end() ? nullptr : &*found;
      };
      std::vector<float> piece(stored.product(), -1), scattered(stored.product(), -1);
      const CellPoints* points = in_cell(cells);
      ASSERT_EQ(points == nullptr, in_cell(packed_cells) == nullptr);
      if (points != nullptr) {
        const MapPiece where{box, stored, it.mapped};
        const MapMove direct = gather(*points, it.indices.size(), it.shape, it.memory, where, {8, 4});
        ASSERT_EQ(execute(direct, array.data(), reinterpret_cast<std::byte*>(piece.data()), kernel), 0u);
        values += direct.values;
        std::vector<float> packed(direct.values);
        execute(pack(direct), array.data(), reinterpret_cast<std::byte*>(packed.data()), kernel);
        const MapMove back = scatter(*in_cell(packed_cells), where, 4);
        ASSERT_EQ(back.values, direct.values);
        execute(back, packed.data(), reinterpret_cast<std::byte*>(scattered.data()), copy_kernel(4, false));
      }
      ASSERT_EQ(piece, expected) << "round " << round;
      ASSERT_EQ(scattered, expected) << "round " << round;
    }
    std::uint64_t per_point = 1;
    for (std::size_t d = 0; d < it.shape.size; ++d)
      if (d < it.mapped.first || d >= it.mapped.after()) per_point *= it.shape[d];
    ASSERT_EQ(values, runs.points() * per_point);
  }
}

TEST_P(ModelMapMoves, fill_reaches_what_nobody_holds) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    Case it = random_case(random);
    const std::vector<std::int64_t> held = it.indices;
    const std::uint64_t points = part_of(it.shape, it.mapped).product();
    std::vector<OffsetRun> gaps;
    it.indices.clear();
    for (std::uint64_t p = 0; p < points; ++p) {
      if (std::ranges::find(held, static_cast<std::int64_t>(p)) != held.end()) continue;
      gaps.push_back({p, 1});
      it.indices.push_back(static_cast<std::int64_t>(p));
    }
    const MapCut cut(part_of(it.shape, it.mapped), part_of(it.part, it.mapped));
    const auto cells = deal(std::span<const OffsetRun>(gaps), cut);
    for (const Box& box : pieces_of(it)) {
      auto expected = expected_piece(it, box, it.part);
      for (float& value : expected) value = value < 0 ? -1 : 9;
      std::vector<float> piece(it.part.product(), -1);
      const auto found =
          std::ranges::find(cells, cut.cell_of(part_of(box.start, it.mapped)), &CellPoints::cell);
      const float nine = 9;
      if (found != cells.end())
        execute(fill(*found, {box, it.part, it.mapped}, 4), &nine, reinterpret_cast<std::byte*>(piece.data()),
                copy_kernel(4, false));
      ASSERT_EQ(piece, expected) << "round " << round;
    }
  }
}

/// The windows of a piece with at least `least` pages in which a value is not -1, as bytes: 1 for
/// those in such a window.
std::vector<int> windows_with_values(const std::vector<float>& piece, std::uint64_t page,
                                     std::uint64_t window, std::uint64_t least) {
  const std::uint64_t bytes = piece.size() * sizeof(float);
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < piece.size(); ++i)
    if (piece[i] != -1) end = (i + 1) * sizeof(float);
  std::vector<int> cover(bytes);
  for (std::uint64_t begin = 0; begin < bytes; begin += page * window) {
    std::uint64_t pages = 0;
    for (std::uint64_t p = begin; p < begin + page * window; p += page) {
      bool any = false;
      for (std::uint64_t i = p; i < std::min(p + page, bytes); i += sizeof(float))
        any = any || piece[i / sizeof(float)] != -1;
      pages += any ? 1 : 0;
    }
    if (pages < least) continue;
    for (std::uint64_t i = begin; i < std::min(begin + page * window, end); ++i) cover[i] = 1;
  }
  return cover;
}

TEST(ModelMapWindows, windows_are_those_in_which_pages_are_written_and_dense_if_many_are) {
  std::mt19937 random(17);
  const Kernel kernel = model::kernel(Type::float64, Type::float32, false);
  std::uint64_t some = 0, none = 0;
  for (int round = 0; round < 300; ++round) {
    Case it = random_case(random);
    cut_densely(it, random);
    const std::uint64_t page = std::uint64_t{4} << (random() % 4), window = 1 + random() % 4;
    const std::uint64_t least = 1 + random() % window;
    const MapCut cut(part_of(it.shape, it.mapped), part_of(it.part, it.mapped));
    const auto cells = deal(runs_of(it), cut);
    const std::vector<double> array = array_of(it);
    for (const Box& box : pieces_of(it)) {
      const auto found =
          std::ranges::find(cells, cut.cell_of(part_of(box.start, it.mapped)), &CellPoints::cell);
      if (found == cells.end()) continue;
      const MapMove move =
          gather(*found, it.indices.size(), it.shape, it.memory, {box, box.count, it.mapped}, {8, 4});
      std::vector<float> piece(box.points(), -1);
      execute(move, array.data(), reinterpret_cast<std::byte*>(piece.data()), kernel);
      std::vector<int> cover(piece.size() * sizeof(float));
      std::vector<int> any = cover;
      std::uint64_t end = 0, last_dense = 2;
      for (const auto& [range, dense] : written_windows(move, page, window, least)) {
        ASSERT_TRUE(range.at > end || (range.at == end && dense != (last_dense == 1)) || last_dense == 2)
            << "neighbouring windows are merged";
        last_dense = dense ? 1 : 0;
        ASSERT_LE(end = range.at + range.bytes, cover.size());
        const auto begin = static_cast<std::ptrdiff_t>(range.at);
        std::fill_n(any.begin() + begin, range.bytes, 1);
        if (dense) std::fill_n(cover.begin() + begin, range.bytes, 1);
      }
      ASSERT_EQ(cover, windows_with_values(piece, page, window, least)) << "round " << round;
      ASSERT_EQ(any, windows_with_values(piece, page, window, 1)) << "round " << round;
      ++(std::ranges::count(cover, 1) > 0 ? some : none);
    }
  }
  EXPECT_GT(some, 100u);
  EXPECT_GT(none, 100u);
}

INSTANTIATE_TEST_SUITE_P(, ModelMapMoves, testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "chunks" : "dense_pieces"; });

TEST(ModelMapDimensions, trailing_first_then_the_only_position) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lev", 5).dimension("cells", 9).dimension("two", 5);
  const auto place = [&](std::vector<std::string> dimensions, std::vector<std::uint64_t> global) {
    Variable variable;
    variable.name = "T";
    variable.dimensions = std::move(dimensions);
    return dimensions_of_map(schema, variable, "map", Index(global));
  };
  EXPECT_EQ(place({"time", "lev", "cells"}, {9})->first, 1u);
  EXPECT_EQ(place({"time", "cells", "lev"}, {9})->first, 0u);
  EXPECT_EQ(place({"time", "lev", "cells", "two"}, {5})->first, 2u);  // trailing, although lev also
                                                                      // has length 5
  EXPECT_EQ(place({"lev", "cells"}, {5, 9})->first, 0u);
  const auto missing = place({"time", "lev"}, {9});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("nowhere among them are the 9 of decomposition 'map'"),
            std::string::npos);
  const auto twice = place({"lev", "two", "cells"}, {5});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("at 2 places"), std::string::npos);
}

}  // namespace
}  // namespace afterbay::model
