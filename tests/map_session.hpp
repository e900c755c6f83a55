// SPDX-License-Identifier: Apache-2.0
// A session whose variables use maps: an unstructured mesh with levels before or after the cells,
// land points with gaps, lists with holes. Every value is known in advance.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "expect_all.hpp"
#include "read_back.hpp"

namespace afterbay::test::maps {

inline constexpr std::uint64_t cells = 613, levels = 40, rows = 23, columns = 31, records = 3;
inline constexpr float fill = -999;

/// Cells are distributed to the ranks in a scattered order; rank 1, if there are several, holds
/// none.
inline int owner_of_cell(std::uint64_t cell, int ranks) {
  const int owner = static_cast<int>(cell * 7919 % static_cast<std::uint64_t>(ranks));
  return owner == 1 && ranks > 1 ? 0 : owner;
}
inline bool is_land(std::uint64_t point) { return (point / 5 + point % columns / 4) % 3 != 0; }

/// This rank's cells, descending, with a hole after every third.
inline std::vector<std::int64_t> my_cells(int rank, int ranks) {
  std::vector<std::int64_t> list;
  for (std::uint64_t c = cells; c-- > 0;)
    if (owner_of_cell(c, ranks) == rank) {
      list.push_back(static_cast<std::int64_t>(c));
      if (list.size() % 3 == 0) list.push_back(-1);
    }
  return list;
}

/// The mesh with its levels listed in PIO's form: 1-based, 0 for a hole, cells running fastest.
inline std::vector<std::int64_t> listed_levels(const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> list;
  for (std::uint64_t level = 0; level < levels; ++level)
    for (const std::int64_t cell : mine)
      list.push_back(cell < 0 ? 0 : static_cast<std::int64_t>(level * cells) + cell + 1);
  return list;
}

inline std::vector<std::int64_t> my_land(int rank, int ranks) {
  std::vector<std::int64_t> list;
  for (std::uint64_t p = 0; p < rows * columns; ++p)
    if (is_land(p) && static_cast<int>(p / 11 % static_cast<std::uint64_t>(ranks)) == rank)
      list.push_back(static_cast<std::int64_t>(p));
  return list;
}

inline double value(std::uint64_t record, std::uint64_t level, std::uint64_t point) {
  return static_cast<double>((record * levels + level) * 1000 + point) + 0.25;
}

inline Schema schema(int deflate) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lev", levels).dimension("cells", cells);
  schema.dimension("lat", rows).dimension("lon", columns);
  schema.variable("area", Type::float64, {"cells"}).on("mesh");
  schema.variable("T", Type::float32, {"time", "lev", "cells"}).on("mesh");
  if (deflate > 0) schema.variables.back().deflate = deflate;
  schema.variable("listed", Type::float64, {"time", "lev", "cells"}).on("mesh with levels");
  schema.variable("ocean", Type::float64, {"time", "cells", "lev"}).on("mesh");
  schema.variable("soil", Type::float32, {"time", "lat", "lon"}).on("land").with_fill(Values{fill});
  schema.variable("type", Type::int32, {"lat", "lon"}).on("land");
  return schema;
}

inline Map map_of(std::vector<std::uint64_t> global, std::vector<std::int64_t> indices) {
  Map map;
  map.global = std::move(global);
  map.indices = std::move(indices);
  return map;
}

/// Registers, writes one file of `records` records, closes it.
inline void write(Session& session, const std::string& store, const std::filesystem::path& directory,
                  int deflate = 0) {
  const int rank = session.model_rank(), ranks = session.model_size();
  const auto mine = my_cells(rank, ranks);
  const auto land = my_land(rank, ranks);
  session.decomposition("mesh", map_of({cells}, mine), Coverage{});
  session.decomposition("mesh with levels", Map::from_pio({cells, levels}, listed_levels(mine)), Coverage{});
  session.decomposition("land", map_of({rows, columns}, land));
  Collection collection = session.collection(
      "mesh", schema(deflate),
      {.file = "mesh.nc", .directory = directory.string(), .store = store, .existing = "replace"});
  OutputFile file = collection.open();
  const std::size_t n = mine.size();
  const auto of = [](std::int64_t point) { return static_cast<std::uint64_t>(point < 0 ? 0 : point); };
  std::vector<double> area(n), field(n * levels), ocean(n * levels), soil(land.size());
  std::vector<int> type(land.size());
  for (std::size_t i = 0; i < n; ++i) area[i] = value(0, 0, of(mine[i]));
  for (std::size_t i = 0; i < land.size(); ++i) type[i] = static_cast<int>(land[i]) + 5;
  file.put("area", area.data());
  file.put("type", type.data());
  for (std::uint64_t record = 0; record < records; ++record) {
    for (std::uint64_t k = 0; k < levels; ++k)
      for (std::size_t i = 0; i < n; ++i) {
        field[k * n + i] = value(record, k, of(mine[i]));
        ocean[i * levels + k] = value(record, k, of(mine[i]));
      }
    for (std::size_t i = 0; i < land.size(); ++i) soil[i] = value(record, 0, of(land[i]));
    file.put("T", record, field.data());
    file.put("listed", record, field.data(),
             MemoryLayout{.shape = {n * levels}, .offset = {}, .strides = {}});
    file.put("ocean", record, ocean.data());
    file.put("soil", record, soil.data());
    session.end_step();
  }
  file.close();
}

/// Compares every value of the file with netCDF-C.
inline void expect_right(const std::filesystem::path& file) {
  constexpr std::uint64_t points = levels * cells, land = rows * columns;
  const auto by_level = [](std::uint64_t i) { return value(i / points, i / cells % levels, i % cells); };
  const auto by_cell = [](std::uint64_t i) { return value(i / points, i % levels, i / levels % cells); };
  expect_all(read<double>(file, "area"), cells, [](std::uint64_t c) { return value(0, 0, c); }, "area");
  expect_all(read<double>(file, "T"), records * points, by_level, "T");
  expect_all(read<double>(file, "listed"), records * points, by_level, "listed");
  expect_all(read<double>(file, "ocean"), records * points, by_cell, "ocean");
  expect_all(
      read<double>(file, "soil"), records * land,
      [](std::uint64_t i) { return is_land(i % land) ? value(i / land, 0, i % land) : double{fill}; },
      "soil");
  expect_all(
      read<int>(file, "type"), land,
      [](std::uint64_t p) { return is_land(p) ? static_cast<int>(p) + 5 : NC_FILL_INT; }, "type");
}

}  // namespace afterbay::test::maps
