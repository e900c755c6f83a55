// SPDX-License-Identifier: Apache-2.0
// The chunk shapes in files, as read by netCDF-C, for each access pattern.
#include <gtest/gtest.h>

#include <vector>

#include "expect_all.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t chunk_records = 20, chunk_levels = 6, chunk_rows = 64, chunk_columns = 128;
constexpr int models = 4;

float chunks_value(std::uint64_t record, std::uint64_t point) {
  return static_cast<float>(record * chunk_levels * chunk_rows * chunk_columns + point);
}

void expect_chunk_values(const std::filesystem::path& file, const char* variable) {
  constexpr std::uint64_t points = chunk_levels * chunk_rows * chunk_columns;
  expect_all(
      read<float>(file, variable), chunk_records * points,
      [](std::uint64_t i) { return chunks_value(i / points, i % points); }, variable);
}

/// Every rank has some rows of all levels.
void chunks_write(Session& session, int rank, const std::string& directory) {
  const std::uint64_t count = chunk_rows / models, first = static_cast<std::uint64_t>(rank) * count;
  session.decomposition("bands", Block{{chunk_rows, chunk_columns}, {first, 0}, {count, chunk_columns}});
  Schema schema;
  schema.dimension("time", unlimited)
      .dimension("lev", chunk_levels)
      .dimension("y", chunk_rows)
      .dimension("x", chunk_columns);
  schema.variable("time", Type::float64, {"time"});
  schema.variable("plain", Type::float32, {"time", "lev", "y", "x"}).on("bands");
  schema.variable("packed", Type::float32, {"time", "lev", "y", "x"}).with_deflate(1).on("bands");
  OutputFile file =
      session.collection("history", schema, {.file = "history.nc", .directory = directory}).open();
  std::vector<float> values(chunk_levels * count * chunk_columns);
  for (std::uint64_t record = 0; record < chunk_records; ++record) {
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::uint64_t level = i / (count * chunk_columns), in_level = i % (count * chunk_columns);
      values[i] = chunks_value(record, (level * chunk_rows + first) * chunk_columns + in_level);
    }
    const auto time = static_cast<double>(record);
    file.put("time", record, &time);
    file.put("plain", record, values.data());
    file.put("packed", record, values.data());
    session.end_step();
  }
  file.close();
  session.finalize();
}

using Lengths = std::vector<std::size_t>;

Lengths chunk_of(const std::filesystem::path& path, const char* variable) {
  int id = 0, var = 0, dims = 0, storage = NC_CONTIGUOUS;
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &id), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(id, variable, &var), NC_NOERR);
  EXPECT_EQ(nc_inq_varndims(id, var, &dims), NC_NOERR);
  Lengths lengths(static_cast<std::size_t>(dims));
  EXPECT_EQ(nc_inq_var_chunking(id, var, &storage, lengths.data()), NC_NOERR);
  EXPECT_EQ(storage, NC_CHUNKED);
  nc_close(id);
  return lengths;
}

struct ChunkCase {
  const char* access;
  const char* placement;
  int servers;
  Lengths plain;
  Lengths packed;
};

class ThreadSessionChunks : public testing::TestWithParam<ChunkCase> {};

TEST_P(ThreadSessionChunks, have_the_shape_that_the_reader_needs_and_all_values) {
  const Directory directory;
  const ChunkCase& it = GetParam();
  LocalRun run(models, it.servers,
               {{"collections.history.access", it.access},
                {"collections.history.expected_size", "7680KiB"},  // 20 records
                {"memory.chunks", "2MiB"},
                {"placement", it.placement},
                {"chunk", "512KiB"}});
  const auto errors =
      run.run([&](Session& session, int rank) { chunks_write(session, rank, directory.path.string()); });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto path = directory.path / "history.nc";
  EXPECT_EQ(chunk_of(path, "time").size(), 1u);
  EXPECT_EQ(chunk_of(path, "plain"), it.plain);
  EXPECT_EQ(chunk_of(path, "packed"), it.packed);
  for (const char* variable : {"plain", "packed"}) {
    expect_chunk_values(path, variable);
  }
  const auto times = read<double>(path, "time");
  ASSERT_EQ(times.size(), chunk_records);
  EXPECT_EQ(times.back(), static_cast<double>(chunk_records - 1));
}

INSTANTIATE_TEST_SUITE_P(
    , ThreadSessionChunks,
    testing::Values(ChunkCase{"map", "collection", 1, {1, 6, 64, 128}, {1, 6, 64, 128}},
                    ChunkCase{"series", "collection", 1, {10, 1, 64, 128}, {5, 1, 64, 128}},
                    ChunkCase{"profile", "collection", 1, {1, 6, 16, 128}, {1, 6, 16, 128}},
                    ChunkCase{"balanced", "collection", 1, {4, 1, 32, 128}, {4, 1, 32, 128}},
                    ChunkCase{"series", "slab", 2, {10, 1, 64, 128}, {10, 1, 64, 128}}),
    [](const auto& parameter) {
      return fmt::format("{}_{}_{}", parameter.param.access, parameter.param.placement,
                         parameter.param.servers);
    });

/// Lengths that are powers of two are common: a chunk fills its block, and no block is left half
/// empty.
TEST(ThreadSessionChunk, is_as_long_as_a_block_holds) {
  const Directory directory;
  LocalRun run(models, 1,
               {{"memory.server", "4MiB"}, {"memory.block", "32KiB"}, {"memory.small_block", "4KiB"}});
  const auto errors =
      run.run([&](Session& session, int rank) { chunks_write(session, rank, directory.path.string()); });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto path = directory.path / "history.nc";
  EXPECT_EQ(chunk_of(path, "plain"), (Lengths{1, 1, 64, 128}));
  expect_chunk_values(path, "plain");
}

TEST(ThreadSessionChunk, given_for_a_variable_comes_before_access) {
  const Directory directory;
  LocalRun run(models, 1,
               {{"collections.history.access", "series"},
                {"collections.history.variables.packed.access", "map"},
                {"collections.history.variables.plain.chunk", "2,3,64,32"}});
  const auto errors =
      run.run([&](Session& session, int rank) { chunks_write(session, rank, directory.path.string()); });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(chunk_of(directory.path / "history.nc", "plain"), (Lengths{2, 3, 64, 32}));
  EXPECT_EQ(chunk_of(directory.path / "history.nc", "packed"), (Lengths{1, 6, 64, 128}));
}

}  // namespace
}  // namespace afterbay::test
