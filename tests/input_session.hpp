// SPDX-License-Identifier: Apache-2.0
// Tests of reading in sessions: a file that netCDF-C wrote, with every kind of selection. Every
// value is known in advance.
#pragma once

#include <gtest/gtest.h>
#include <netcdf.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "map_session.hpp"

namespace afterbay::test::inputs {

using maps::cells, maps::levels, maps::rows, maps::columns, maps::records, maps::value;

/// The value expected at points that were never written.
inline constexpr double hole = -7;

/// Writes the variables of maps::schema with netCDF-C: all of T and ocean, area, and two strings in
/// netCDF-4.
inline void write_file(const std::filesystem::path& path, int mode) {
  const auto good = [](int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); };
  int nc = 0, time = 0, lev = 0, cell = 0, t = 0, ocean = 0, area = 0;
  good(nc_create(path.c_str(), NC_CLOBBER | mode, &nc));
  good(nc_def_dim(nc, "time", NC_UNLIMITED, &time));
  good(nc_def_dim(nc, "lev", levels, &lev));
  good(nc_def_dim(nc, "cells", cells, &cell));
  const int t_dims[]{time, lev, cell}, ocean_dims[]{time, cell, lev};
  good(nc_def_var(nc, "T", NC_FLOAT, 3, t_dims, &t));
  good(nc_def_var(nc, "ocean", NC_DOUBLE, 3, ocean_dims, &ocean));
  good(nc_def_var(nc, "area", NC_DOUBLE, 1, &cell, &area));
  good(nc_put_att_text(nc, t, "units", 1, "K"));
  if (mode == NC_NETCDF4) {
    const std::size_t chunk[]{1, 16, 100};
    good(nc_def_var_chunking(nc, t, NC_CHUNKED, chunk));
    good(nc_def_var_deflate(nc, t, 1, 1, 1));
    int names = 0, two = 0;
    good(nc_def_dim(nc, "two", 2, &two));
    good(nc_def_var(nc, "names", NC_STRING, 1, &two, &names));
    good(nc_enddef(nc));
    const char* text[]{"Nordsee", "Ostsee"};
    good(nc_put_var_string(nc, names, text));
  } else {
    good(nc_enddef(nc));
  }
  std::vector<double> values(levels * cells);
  for (std::size_t r = 0; r < records; ++r) {
    const std::size_t start[]{r, 0, 0}, t_count[]{1, levels, cells}, ocean_count[]{1, cells, levels};
    for (std::size_t k = 0; k < levels; ++k)
      for (std::size_t c = 0; c < cells; ++c) values[k * cells + c] = value(r, k, c);
    good(nc_put_vara_double(nc, t, start, t_count, values.data()));
    for (std::size_t k = 0; k < levels; ++k)
      for (std::size_t c = 0; c < cells; ++c) values[c * levels + k] = value(r, k, c);
    good(nc_put_vara_double(nc, ocean, start, ocean_count, values.data()));
  }
  for (std::size_t c = 0; c < cells; ++c) values[c] = value(0, 0, c);
  good(nc_put_var_double(nc, area, values.data()));
  good(nc_close(nc));
}

/// This rank's cells, as distributed by maps::my_cells, and its first five cells again (a halo of
/// its own cells).
inline std::vector<std::int64_t> listed_cells(int rank, int ranks) {
  auto list = maps::my_cells(rank, ranks);
  for (std::size_t i = 0; i < 5 && i < list.size(); ++i) list.push_back(list[i]);
  for (std::int64_t c = 100; c < 103; ++c) list.push_back(c);  // cells that every rank reads
  return list;
}

/// The decompositions for reading; defined also after files have been opened and written.
inline void define(Session& session) {
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const std::uint64_t start = rank * cells / ranks;
  session.decomposition("halo",
                        maps::map_of({cells}, listed_cells(session.model_rank(), session.model_size())),
                        {.gaps_allowed = true, .repeats = Repeats::last});
  session.decomposition("slices", Block{{cells}, {start}, {(rank + 1) * cells / ranks - start}});
}

/// By map: descending lists with holes and repeats, levels before and after the cells.
inline void expect_mapped(Session& session, InputFile& input) {
  const auto mine = listed_cells(session.model_rank(), session.model_size());
  const std::size_t n = mine.size();
  const auto expected = [&](std::uint64_t r, std::uint64_t k, std::size_t i) {
    return mine[i] < 0 ? hole : value(r, k, static_cast<std::uint64_t>(mine[i]));
  };
  std::vector<double> area(n, hole), ocean(n * levels, hole);
  input.get("area", {.decomposition = "halo"}, area.data());
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(area[i], expected(0, 0, i)) << i;
  for (std::uint64_t r = 0; r < records; ++r) {
    if (r + 1 < records) input.prefetch("ocean", {.record = r + 1, .decomposition = "halo"});
    input.get("ocean", {.record = r, .decomposition = "halo"}, ocean.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::uint64_t k = 0; k < levels; ++k)
        ASSERT_EQ(ocean[i * levels + k], expected(r, k, i)) << r << i;
  }
  // All records in one call, into doubles, for a float variable.
  std::vector<double> t(records * levels * n, hole);
  input.get("T", {.record = 0, .records = records, .decomposition = "halo"}, t.data());
  for (std::uint64_t r = 0; r < records; ++r)
    for (std::uint64_t k = 0; k < levels; ++k)
      for (std::size_t i = 0; i < n; ++i) {
        const auto file_value = static_cast<float>(expected(r, k, i));
        ASSERT_EQ(t[(r * levels + k) * n + i], file_value) << r << " " << k << " " << i;
      }
}

/// By block, with a halo around it in memory that must not change; and by a box of this rank.
inline void expect_blocks(Session& session, InputFile& input) {
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const std::uint64_t start = rank * cells / ranks, count = (rank + 1) * cells / ranks - start;
  const std::uint64_t wide = count + 4;
  std::vector<float> t((levels + 2) * wide, static_cast<float>(hole));
  input.get("T", {.record = 1, .decomposition = "slices"}, t.data(),
            MemoryLayout{.shape = {levels + 2, wide}, .offset = {1, 2}, .strides = {}});
  for (std::uint64_t k = 0; k < levels + 2; ++k)
    for (std::uint64_t i = 0; i < wide; ++i) {
      const bool inside = k >= 1 && k <= levels && i >= 2 && i < count + 2;
      const auto expected = static_cast<float>(inside ? value(1, k - 1, start + i - 2) : hole);
      ASSERT_EQ(t[k * wide + i], expected) << k << " " << i;
    }
  std::vector<double> box(6, hole);
  input.get("ocean", {.record = 2, .block = Block{{}, {17 + rank, 5}, {2, 3}}}, box.data());
  for (std::uint64_t c = 0; c < 2; ++c)
    for (std::uint64_t k = 0; k < 3; ++k) ASSERT_EQ(box[c * 3 + k], value(2, 5 + k, 17 + rank + c));
}

inline void expect_whole(InputFile& input, bool strings) {
  std::vector<double> area(cells), t(levels * cells);
  input.get("area", area.data());
  for (std::uint64_t c = 0; c < cells; ++c) ASSERT_EQ(area[c], value(0, 0, c)) << c;
  input.get("T", {.record = 2}, t.data());
  for (std::uint64_t k = 0; k < levels; ++k)
    for (std::uint64_t c = 0; c < cells; ++c)
      ASSERT_EQ(t[k * cells + c], static_cast<float>(value(2, k, c))) << k << " " << c;
  EXPECT_EQ(input.records(), records);
  EXPECT_EQ(input.schema().find_variable("T")->attributes.at(0).name, "units");
  if (strings) {
    EXPECT_EQ(input.get_strings("names"), (std::vector<std::string>{"Nordsee", "Ostsee"}));
  }
}

/// Reads `path`, which write_file wrote, in all ways.
inline void expect_right(Session& session, const std::filesystem::path& path, bool strings) {
  InputFile input = session.open_input(path.string());
  define(session);
  expect_mapped(session, input);
  expect_blocks(session, input);
  expect_whole(input, strings);
  input.close();
}

/// Writes with this session, closes, and reads with other decompositions. `define` must have been
/// called.
inline void write_and_read(Session& session, const std::string& store,
                           const std::filesystem::path& directory) {
  maps::write(session, store, directory);
  InputFile input = session.open_input((directory / "mesh.nc").string());
  expect_mapped(session, input);
  expect_blocks(session, input);
  std::vector<double> soil(rows * columns);
  input.get("soil", {.record = 1}, soil.data());
  for (std::uint64_t p = 0; p < rows * columns; ++p)
    ASSERT_EQ(soil[p], maps::is_land(p) ? value(1, 0, p) : double{maps::fill}) << p;
}

}  // namespace afterbay::test::inputs
