// SPDX-License-Identifier: Apache-2.0
// `compress: auto` in whole sessions: the first measures, the second uses what was chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <netcdf_filter.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "client/model_session.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "session/codec_choice.hpp"
#include "session/state.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t trial_rows = 64, trial_columns = 200, trial_steps = 4;

double trial_value(std::uint64_t step, std::uint64_t place) {
  return 250 + static_cast<double>((place * 7 + step * 131) % 4096) / 64;
}

/// What a session left: the histories of its servers and the collections of its first rank.
struct TrialSession {
  std::vector<observe::ServerHistory> servers;
  std::vector<observe::CollectionRecord> collections;
  std::vector<std::optional<Error>> errors;
};

TrialSession trial_session(const std::filesystem::path& directory, const std::string& file, int ranks,
                           int servers, const LocalRun::Settings& more = {}, const char* store = "netcdf4",
                           std::chrono::milliseconds compute = std::chrono::milliseconds(100)) {
  TrialSession left;
  std::mutex mutex;
  LocalRun::Settings settings{{"memory.server", "4MiB"},
                              {"memory.block", "64KiB"},
                              {"chunk", "16KiB"},
                              {"deadline", "30s"},
                              {"collections.c.compress", "auto"},
                              {"collections.c.directory", directory.string()}};
  settings.insert(settings.end(), more.begin(), more.end());
  LocalRun run(ranks, servers, settings);
  run.at_end = [&](observe::ServerHistory history) {
    const std::scoped_lock lock(mutex);
    left.servers.push_back(std::move(history));
  };
  left.errors = run.run([&](Session& session, int rank) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", trial_rows).dimension("x", trial_columns);
    schema.variable("tas", Type::float64, {"time", "y", "x"}).on("grid");
    schema.variable("flag", Type::int32, {"time", "y", "x"}).on("grid").with_deflate(9);
    schema.variable("orog", Type::float32, {"y", "x"}).on("grid");
    const std::uint64_t rows = trial_rows / static_cast<std::uint64_t>(ranks);
    const std::uint64_t low = rows * static_cast<std::uint64_t>(rank);
    session.decomposition("grid", Block{{trial_rows, trial_columns}, {low, 0}, {rows, trial_columns}});
    OutputFile output = session.collection("c", schema, {.file = file, .store = store}).open();
    std::vector<double> tas(rows * trial_columns);
    std::vector<std::int32_t> flag(tas.size());
    std::vector<float> orog(tas.size(), 3.0F);
    output.put("orog", 0, orog.data());
    for (std::uint64_t step = 0; step < trial_steps; ++step) {
      for (std::size_t i = 0; i < tas.size(); ++i) {
        tas[i] = trial_value(step, low * trial_columns + i);
        flag[i] = static_cast<std::int32_t>(i % 3);
      }
      output.put("tas", step, tas.data());
      output.put("flag", step, flag.data());
      session.end_step();
      std::this_thread::sleep_for(compute);
    }
    session.wait(output.close());
    session.finalize();
    if (rank == 0) {
      const std::scoped_lock lock(mutex);
      left.collections = session.state().model->definitions().records_for_report();
    }
  });
  return left;
}

void expect_trial_values(const std::filesystem::path& path) {
  const std::vector<double> tas = read<double>(path, "tas");
  ASSERT_EQ(tas.size(), trial_steps * trial_rows * trial_columns);
  for (std::uint64_t step = 0; step < trial_steps; ++step)
    for (std::uint64_t i = 0; i < trial_rows * trial_columns; ++i)
      ASSERT_EQ(tas[step * trial_rows * trial_columns + i], trial_value(step, i));
}

/// HDF5's numbers of the filters.
std::vector<unsigned> filters_in(const std::filesystem::path& path, const char* variable) {
  int file = 0, id = 0;
  std::size_t count = 0;
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, variable, &id), NC_NOERR);
  EXPECT_EQ(nc_inq_var_filter_ids(file, id, &count, nullptr), NC_NOERR);
  std::vector<unsigned> filters(count);
  EXPECT_EQ(nc_inq_var_filter_ids(file, id, &count, filters.data()), NC_NOERR);
  int shuffle = 0;
  EXPECT_EQ(nc_inq_var_deflate(file, id, &shuffle, nullptr, nullptr), NC_NOERR);
  EXPECT_EQ(nc_close(file), NC_NOERR);
  std::erase(filters, 2u);  // some versions of netCDF list it, others do not
  if (shuffle != 0) filters.insert(filters.begin(), 2u);
  return filters;
}

struct TrialCase {
  int ranks, servers;
  const char* placement;
};

class ThreadSessionCompress : public testing::TestWithParam<TrialCase> {};

TEST_P(ThreadSessionCompress, the_first_session_measures_and_the_second_uses_the_choice) {
  const auto& [ranks, servers, placement] = GetParam();
  // Servers measure while the model computes: longer if the machine is busy with other tests.
  std::unique_ptr<Directory> directory;
  TrialSession first;
  std::vector<std::string> warnings, lines;
  for (int tenths = 1; tenths <= 16; tenths *= 4) {
    directory = std::make_unique<Directory>();
    first = trial_session(directory->path, "first.nc", ranks, servers,
                          {{"placement", placement}, {"collections.c.compress", "portable"}}, "netcdf4",
                          std::chrono::milliseconds(100 * tenths));
    for (const auto& error : first.errors) EXPECT_FALSE(error) << error->text();
    lines = session::keep_choices(first.collections, first.servers, warnings);
    if (first.collections.at(0).compress.why.find("7 of 7 chains") != std::string::npos) break;
  }
  expect_trial_values(directory->path / "first.nc");
  for (const char* const variable : {"tas", "flag", "orog"})
    EXPECT_EQ(filters_in(directory->path / "first.nc", variable), (std::vector<unsigned>{2, 1})) << variable;

  EXPECT_TRUE(warnings.empty());
  ASSERT_EQ(lines.size(), 1U) << first.collections.at(0).compress.why;
  const observe::CompressRecord& record = first.collections.at(0).compress;
  EXPECT_EQ(record.filters, "shuffle, deflate 1");
  EXPECT_NE(record.chosen, "none") << record.why << "\n" << record.table;
  EXPECT_THAT(record.why, HasSubstr("7 of 7 chains of filters were tried"));
  // A record: tas and flag.
  EXPECT_NEAR(record.trials.at(0).bytes, trial_rows * trial_columns * 12, trial_rows * trial_columns);

  const TrialSession second =
      trial_session(directory->path, "second.nc", ranks, servers, {{"placement", placement}});
  for (const auto& error : second.errors) EXPECT_FALSE(error) << error->text();
  expect_trial_values(directory->path / "second.nc");
  EXPECT_EQ(second.collections.at(0).compress.filters, record.chosen);
  EXPECT_EQ(second.collections.at(0).compress.measured, 0);
  for (const observe::ServerHistory& server : second.servers) EXPECT_TRUE(server.codecs.empty());

  // The same file of the choice gives the same contents for any layout.
  const TrialSession third = trial_session(directory->path, "third.nc", 1, 1);
  for (const auto& error : third.errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(filters_in(directory->path / "second.nc", "tas"),
            filters_in(directory->path / "third.nc", "tas"));
  EXPECT_EQ(read<double>(directory->path / "second.nc", "tas"),
            read<double>(directory->path / "third.nc", "tas"));
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionCompress,
                         testing::Values(TrialCase{2, 1, "collection"}, TrialCase{4, 3, "slab"},
                                         TrialCase{2, 2, "variable"}, TrialCase{2, 2, "file"}),
                         [](const auto& parameter) { return std::string(parameter.param.placement); });

std::string first_error(const TrialSession& session) {
  for (const auto& error : session.errors)
    if (error) return error->text();
  return "accepted";
}

TEST(ThreadSessionCompressed, a_choice_replaces_the_filters_of_the_schema) {
  const Directory directory;
  std::ofstream(directory.path / "compress.c.yaml") << "collections: {c: {deflate: 0}}\n";
  EXPECT_EQ(first_error(trial_session(directory.path, "none.nc", 1, 1)), "accepted");
  EXPECT_TRUE(filters_in(directory.path / "none.nc", "flag").empty());
  std::ofstream(directory.path / "compress.c.yaml") << "collections: {c: {shuffle: on, deflate: 3}}\n";
  // A variable may be left out.
  EXPECT_EQ(first_error(trial_session(directory.path, "some.nc", 1, 1,
                                      {{"collections.c.variables.tas.deflate", "0"}})),
            "accepted");
  EXPECT_EQ(filters_in(directory.path / "some.nc", "flag"), (std::vector<unsigned>{2, 1}));
  EXPECT_EQ(filters_in(directory.path / "some.nc", "tas"), (std::vector<unsigned>{2}));
}

TEST(ThreadSessionCompressed, damaged_choices_and_formats_without_filters_are_refused) {
  const Directory directory;
  EXPECT_THAT(
      first_error(trial_session(directory.path, "a.nc", 1, 1, {}, "cdf5")),
      HasSubstr("collection 'c' has the setting compress and the store cdf5, which has no filters: use "
                "the store netcdf4, or leave out compress"));
  EXPECT_EQ(first_error(trial_session(directory.path, "a", 1, 1, {}, "memory")), "accepted");
  const std::string path = directory.path / "compress.c.yaml";
  std::ofstream(path) << "collections:\n  c:\n    zstd: 3\n    zst";
  EXPECT_THAT(first_error(trial_session(directory.path, "a.nc", 1, 1)), HasSubstr(path + ":4"));
  std::ofstream(path) << "collections: {c: {bitshuffle: on, lz4: on}}\n";
  EXPECT_THAT(
      first_error(trial_session(directory.path, "a.nc", 1, 1, {{"collections.c.compress", "portable"}})),
      HasSubstr("is portable, but an earlier session chose bitshuffle, lz4"));
  std::ofstream(path) << "collections: {c: {zstd: 300}}\n";
  EXPECT_THAT(first_error(trial_session(directory.path, "a.nc", 1, 1)), HasSubstr("remove " + path));
}

}  // namespace
}  // namespace afterbay::test
