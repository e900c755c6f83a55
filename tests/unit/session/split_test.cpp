// SPDX-License-Identifier: Apache-2.0
// Files that several servers write at the same time, in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "expect_all.hpp"
#include "map_session.hpp"
#include "model/frame_owners.hpp"
#include "model/layout.hpp"
#include "sanitized.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

LocalRun::Settings small_memory(const std::string& placement) {
  return {{"memory.server", "2MiB"}, {"memory.block", "64KiB"}, {"memory.small_block", "16KiB"},
          {"chunk", "8KiB"},         {"placement", placement},  {"deadline", "20s"}};
}

struct SplitCase {
  const char* store;
  const char* placement;
  int models;
  int servers;
  int deflate;
};

std::string name_of_case(const testing::TestParamInfo<SplitCase>& parameter) {
  const SplitCase& it = parameter.param;
  return fmt::format("{}_{}_{}_ranks_{}_servers{}", it.store, it.placement, it.models, it.servers,
                     it.deflate > 0 ? "_deflated" : "");
}

class ThreadSessionSplit : public testing::TestWithParam<SplitCase> {};

TEST_P(ThreadSessionSplit, every_point_of_every_record_is_right) {
  const Directory directory;
  LocalRun run(GetParam().models, GetParam().servers, small_memory(GetParam().placement));
  const auto errors = run.run([&](Session& session, int) {
    maps::write(session, GetParam().store, directory.path, GetParam().deflate);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  maps::expect_right(directory.path / "mesh.nc");
}

/// As if the servers were on nodes with different numbers of ranks.
TEST_P(ThreadSessionSplit, every_point_is_right_with_unequal_shares) {
  const Directory directory;
  LocalRun run(GetParam().models, GetParam().servers, small_memory(GetParam().placement));
  for (int s = 0; s < GetParam().servers; ++s) run.slab_shares.push_back(s % 2 == 0 ? 3 : 1);
  const auto errors = run.run([&](Session& session, int) {
    maps::write(session, GetParam().store, directory.path, GetParam().deflate);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  maps::expect_right(directory.path / "mesh.nc");
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionSplit,
                         testing::ValuesIn(cases<SplitCase>(3, {{"netcdf4", "slab", 3, 3, 4},
                                                                {"netcdf4", "variable", 4, 2, 0},
                                                                {"cdf5", "slab", 4, 3, 0},
                                                                {"netcdf4", "slab", 4, 2, 0},
                                                                {"cdf5", "variable", 2, 2, 0},
                                                                {"cdf2", "slab", 1, 4, 0}})),
                         name_of_case);

constexpr std::uint64_t width = 512, height = 1024, large_records = 3;  ///< 4 MiB a record

double large_value(std::uint64_t record, std::uint64_t point) {
  return static_cast<double>(record * width * height + point);
}

/// Each server has 1 MiB, a quarter of a record.
LocalRun::Settings quarter_of_a_record() {
  return {{"memory.server", "1MiB"},
          {"memory.block", "64KiB"},
          {"memory.small_block", "16KiB"},
          {"placement", "slab"},
          {"deadline", "30s"}};
}

/// As over MPI, the links of a rank know each other: a statement about one server's share of a put
/// must not count for another server, or ranks that run ahead take the blocks that it needs.
struct Shares {
  const char* store;
  const char* placement;
  int servers;
};

std::string name_of_shares(const testing::TestParamInfo<Shares>& parameter) {
  const Shares& it = parameter.param;
  return fmt::format("{}_{}_{}_servers", it.store, it.placement, it.servers);
}

class ThreadSessionShares : public testing::TestWithParam<Shares> {};

TEST_P(ThreadSessionShares, a_rank_that_has_served_one_server_is_not_past_the_put_for_others) {
  const auto& [store, placement, servers] = GetParam();
  constexpr std::uint64_t rows_in_all = 96, columns = 5120, records = 12, variables = 3;
  const Directory directory;
  LocalRun run(4, servers,
               {{"memory.server", "1MiB"},
                {"memory.block", "160KiB"},
                {"memory.small_block", "16KiB"},
                {"memory.small_share", "0"},
                {"placement", placement},
                {"deadline", "6s"}});
  const auto errors = run.run([&](Session& session, int rank) {
    const std::uint64_t mine = columns / 4, first = static_cast<std::uint64_t>(rank) * mine;
    session.decomposition("columns", Block{{rows_in_all, columns}, {0, first}, {rows_in_all, mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows_in_all).dimension("x", columns);
    for (std::uint64_t v = 0; v < variables; ++v)
      schema.variable(fmt::format("v{}", v), Type::float32, {"time", "y", "x"}).on("columns");
    OutputFile file =
        session
            .collection("c", schema, {.file = "c.nc", .directory = directory.path.string(), .store = store})
            .open();
    std::vector<float> values(rows_in_all * mine);
    for (std::uint64_t record = 0; record < records; ++record) {
      for (std::uint64_t v = 0; v < variables; ++v) {
        std::ranges::fill(values, static_cast<float>(record * 10 + v));
        if (record % 4 == static_cast<std::uint64_t>(rank))  // one rank after another is behind
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        file.put(fmt::format("v{}", v), record, values.data());
      }
      session.end_step();
    }
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  for (std::uint64_t v = 0; v < variables; ++v) {
    const std::string name = fmt::format("v{}", v);
    expect_all(
        read<float>(directory.path / "c.nc", name.c_str()), records * rows_in_all * columns,
        [v](std::uint64_t i) { return static_cast<float>(i / (rows_in_all * columns) * 10 + v); }, name);
  }
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionShares,
                         testing::ValuesIn(cases<Shares>(2, {{"cdf5", "slab", 4},
                                                             {"netcdf4", "slab", 3},
                                                             {"cdf5", "slab", 3},
                                                             {"cdf5", "variable", 2}})),
                         name_of_shares);

class ThreadSessionLargeRecord : public testing::TestWithParam<const char*> {};

TEST_P(ThreadSessionLargeRecord, of_four_times_a_servers_memory) {
  const Directory directory;
  LocalRun run(4, 2, quarter_of_a_record());
  const auto errors = run.run([&](Session& session, int rank) {
    const std::uint64_t rows = height / 4, first = static_cast<std::uint64_t>(rank) * rows;
    session.decomposition("rows", Block{{height, width}, {first, 0}, {rows, width}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", height).dimension("x", width);
    schema.variable("v", Type::float64, {"time", "y", "x"}).on("rows");
    OutputFile file =
        session
            .collection("large", schema,
                        {.file = "large.nc", .directory = directory.path.string(), .store = GetParam()})
            .open();
    std::vector<double> values(rows * width);
    for (std::uint64_t record = 0; record < large_records; ++record) {
      for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = large_value(record, first * width + i);
      file.put("v", record, values.data());
      session.end_step();
    }
    file.close();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  expect_all(
      read<double>(directory.path / "large.nc", "v"), large_records * width * height,
      [](std::uint64_t i) { return large_value(i / (width * height), i % (width * height)); }, "v");
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionLargeRecord, testing::Values("netcdf4", "cdf5"),
                         [](const auto& parameter) { return std::string(parameter.param); });

constexpr std::uint64_t mesh_points = 1 << 20;  ///< 4 MiB of floats

struct LargeMap {
  const char* store;
  std::uint64_t run;  ///< points that follow each other, in lists and file
};

std::string name_of_map(const testing::TestParamInfo<LargeMap>& parameter) {
  return fmt::format("{}_runs_of_{}", parameter.param.store, parameter.param.run);
}

/// This rank's points: runs scattered over the whole mesh, in no particular order.
std::vector<std::int64_t> scattered_points(int rank, int ranks, std::uint64_t run) {
  const std::uint64_t runs = mesh_points / run;
  std::vector<std::int64_t> points;
  for (std::uint64_t k = 0; k < runs; ++k) {
    const std::uint64_t at = (k * 40503 + 11) % runs;
    if (static_cast<int>(at * 7919 / 3 % static_cast<std::uint64_t>(ranks)) != rank) continue;
    for (std::uint64_t i = 0; i < run; ++i) points.push_back(static_cast<std::int64_t>(at * run + i));
  }
  return points;
}

/// Exact in float32, and different in each record.
float mesh_value(std::uint64_t record, std::uint64_t point) {
  return static_cast<float>((record + 1) * mesh_points + point);
}

/// Points of several ranks share every page of the file: single points are put packed, long runs
/// are scattered by the ranks.
class ThreadSessionLargeMapRecord : public testing::TestWithParam<LargeMap> {};

TEST_P(ThreadSessionLargeMapRecord, of_four_times_a_servers_memory) {
  const Directory directory;
  LocalRun run(4, 2, quarter_of_a_record());
  const auto errors = run.run([&](Session& session, int rank) {
    const auto points = scattered_points(rank, 4, GetParam().run);
    session.decomposition("mesh", maps::map_of({mesh_points}, points), Coverage{});
    Schema schema;
    schema.dimension("time", unlimited).dimension("cells", mesh_points);
    schema.variable("v", Type::float32, {"time", "cells"}).on("mesh");
    OutputFile file =
        session
            .collection("large", schema,
                        {.file = "large.nc", .directory = directory.path.string(), .store = GetParam().store})
            .open();
    std::vector<float> values(points.size());
    for (std::uint64_t record = 0; record < large_records; ++record) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = mesh_value(record, static_cast<std::uint64_t>(points[i]));
      file.put("v", record, values.data());
      session.end_step();
    }
    file.close();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  expect_all(
      read<float>(directory.path / "large.nc", "v"), large_records * mesh_points,
      [](std::uint64_t i) { return mesh_value(i / mesh_points, i % mesh_points); }, "v");
}

INSTANTIATE_TEST_SUITE_P(
    , ThreadSessionLargeMapRecord,
    testing::ValuesIn(cases<LargeMap>(2, {{"netcdf4", 1}, {"cdf5", 128}, {"netcdf4", 128}, {"cdf5", 1}})),
    name_of_map);

/// The errors of a session's ranks when server `failing` cannot write.
TEST(ThreadSessionSplitErrors, a_file_that_cannot_be_made_fails_every_server_and_rank) {
  const Directory directory;
  const std::filesystem::path in_the_way = directory.path / "file";
  std::ofstream(in_the_way) << "x";
  LocalRun run(3, 2, small_memory("slab"));
  const auto errors = run.run([&](Session& session, int) {
    maps::write(session, "cdf5", in_the_way / "sub");
    session.finalize();
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_NE(error->text().find("mesh.nc"), std::string::npos) << error->text();
  }
}

TEST(ModelFrameOwners, slabs_are_contiguous_and_even) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 1000).dimension("x", 100);
  schema.variable("a", Type::float64, {"time", "y", "x"});
  schema.variable("b", Type::float32, {"time", "y", "x"});
  schema.variable("fixed", Type::float32, {"y", "x"});
  for (const Format format : {Format::netcdf4, Format::cdf5}) {
    const auto layout = model::make_layout(schema, format, {64 << 10, 64 << 10}).value();
    const model::FrameOwners owners(layout, model::FileSharing::slab, 3);
    std::vector<std::uint64_t> bytes(3);
    for (const bool record : {false, true}) {
      std::uint16_t last = 0;
      for (std::uint32_t f = 0; f < layout.frames.size(); ++f) {
        if (layout.frames[f].record != record) continue;
        EXPECT_GE(owners.owner(f), last);
        last = owners.owner(f);
        bytes[last] += layout.frames[f].bytes;
      }
      EXPECT_EQ(last, 2);
    }
    const auto [least, most] = std::ranges::minmax(bytes);
    EXPECT_LT(most - least, 4u * (64 << 10));
    const model::FrameOwners by_variable(layout, model::FileSharing::variable, 2);
    EXPECT_NE(by_variable.of_variable(0).back().last, by_variable.of_variable(1).back().last);
  }
}

}  // namespace
}  // namespace afterbay::test
