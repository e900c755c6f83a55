// SPDX-License-Identifier: Apache-2.0
// A whole session in one process: model ranks and servers are threads, files are read back with
// netCDF-C.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t thread_levels = 5, thread_rows = 24, thread_columns = 36;

Schema history() {
  Schema schema;
  schema.dimension("time", unlimited)
      .dimension("lev", thread_levels)
      .dimension("lat", thread_rows)
      .dimension("lon", thread_columns);
  std::vector<double> lon(thread_columns);
  std::iota(lon.begin(), lon.end(), 0.5);
  schema.variable("lon", Type::float64, {"lon"}).attribute("units", "degrees_east").with_constant(lon);
  schema.variable("time", Type::float64, {"time"}).attribute("units", "hours since 2000-01-01");
  schema.variable("T", Type::float32, {"time", "lev", "lat", "lon"}).attribute("units", "K").on("grid");
  schema.variable("ps", Type::float32, {"time", "lat", "lon"}).attribute("units", "Pa").on("grid");
  schema.variable("mask", Type::int32, {"lat", "lon"}).on("grid");
  return schema;
}

/// The value of a point, so that every byte of the file is known in advance.
float thread_value(std::uint64_t record, std::uint64_t lev, std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(((record * thread_levels + lev) * thread_rows + row) * thread_columns + column);
}

struct Part {
  std::uint64_t row, rows, column, columns;
};

Part part_of(int rank, int ranks) {  // two columns of blocks when even
  const int across = ranks % 2 == 0 ? 2 : 1, down = ranks / across;
  const auto cut = [](std::uint64_t n, int parts, int i) {
    return n * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(parts);
  };
  const int x = rank % across, y = rank / across;
  const std::uint64_t r0 = cut(thread_rows, down, y), c0 = cut(thread_columns, across, x);
  return {r0, cut(thread_rows, down, y + 1) - r0, c0, cut(thread_columns, across, x + 1) - c0};
}

std::vector<double> field(const Part& part, std::uint64_t record, std::uint64_t depth) {
  std::vector<double> values;
  for (std::uint64_t k = 0; k < depth; ++k)
    for (std::uint64_t j = 0; j < part.rows; ++j)
      for (std::uint64_t i = 0; i < part.columns; ++i)
        values.push_back(thread_value(record, k, part.row + j, part.column + i));
  return values;
}

void write_history(Session& session, int rank, const std::string& store, const std::string& directory,
                   int files, int records) {
  const Part part = part_of(rank, session.model_size());
  session.decomposition(
      "grid", Block{{thread_rows, thread_columns}, {part.row, part.column}, {part.rows, part.columns}});
  Collection history_collection = session.collection(
      "history", history(),
      {.file = "h{step:02}.nc", .directory = directory, .store = store, .existing = "refuse"});
  for (int f = 0; f < files; ++f) {
    OutputFile file = history_collection.open(FileName{{}, f, {}, {}});
    std::vector<int> mask(part.rows * part.columns, f + 7);
    file.put("mask", mask.data());
    for (int r = 0; r < records; ++r) {
      const auto record = static_cast<std::uint64_t>(r);
      const double time = 6.0 * r;
      file.put("time", record, &time);
      file.put("T", record, field(part, record + static_cast<std::uint64_t>(f) * 100, thread_levels).data());
      file.put("ps", record, field(part, record, 1).data());
      session.end_step();
    }
    file.close();
  }
  session.finalize();
}

struct ThreadLayout {
  int models, servers;
  const char* store;
  const char* memory;
};

class ThreadSession : public testing::TestWithParam<ThreadLayout> {};

TEST_P(ThreadSession, HistoryFilesHoldWhatTheRanksPut) {
  const ThreadLayout layout = GetParam();
  Directory directory;
  LocalRun run(layout.models, layout.servers,
               {{"memory.server", layout.memory},
                {"memory.block", "64KiB"},
                {"memory.small_block", "16KiB"},
                {"chunk", "16KiB"},
                {"deadline", "20s"},
                {"placement", "file"}});
  const auto errors = run.run(
      [&](Session& session, int rank) { write_history(session, rank, layout.store, directory.path, 3, 4); });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  for (int f = 0; f < 3; ++f) {
    const auto path = directory.path / ("h0" + std::to_string(f) + ".nc");
    const auto temperature = read<float>(path, "T");
    ASSERT_EQ(temperature.size(), 4 * thread_levels * thread_rows * thread_columns);
    for (std::size_t i = 0; i < temperature.size(); ++i)
      ASSERT_EQ(temperature[i],
                thread_value(static_cast<std::uint64_t>(f) * 100, 0, 0, 0) + static_cast<float>(i))
          << path << " T " << i;
    const auto pressure = read<float>(path, "ps");
    for (std::uint64_t r = 0; r < 4; ++r)
      for (std::uint64_t p = 0; p < thread_rows * thread_columns; ++p)
        ASSERT_EQ(pressure[r * thread_rows * thread_columns + p],
                  thread_value(r, 0, 0, 0) + static_cast<float>(p));
    for (const int mask : read<int>(path, "mask")) ASSERT_EQ(mask, f + 7);
    EXPECT_EQ(read<double>(path, "time"), (std::vector<double>{0, 6, 12, 18}));
    EXPECT_EQ(read<double>(path, "lon")[1], 1.5);
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
  }
}

std::string name_of_layout(const testing::TestParamInfo<ThreadLayout>& info) {
  return std::string(info.param.store) + "_" + std::to_string(info.param.models) + "_and_" +
         std::to_string(info.param.servers);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ThreadSession,
    testing::Values(ThreadLayout{1, 1, "netcdf4", "1MiB"}, ThreadLayout{4, 1, "netcdf4", "1MiB"},
                    ThreadLayout{4, 2, "netcdf4", "8MiB"}, ThreadLayout{1, 1, "cdf5", "1MiB"},
                    ThreadLayout{4, 1, "cdf5", "1MiB"}, ThreadLayout{6, 3, "cdf2", "1MiB"}),
    name_of_layout);

}  // namespace
}  // namespace afterbay::test
