// SPDX-License-Identifier: Apache-2.0
// Files whose path is opened again directly after close, without waiting for their publication.
#include <gtest/gtest.h>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t reopen_points = 4096;

Schema reopen_series() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", reopen_points);
  schema.variable("T", Type::float32, {"time", "x"}).on("line");
  return schema;
}

/// A rank's part of a record whose points hold `first`, `first` + 1, ...
std::vector<float> part(const Session& session, float first) {
  const std::uint64_t mine = reopen_points / static_cast<std::uint64_t>(session.model_size());
  std::vector<float> values(mine);
  for (std::uint64_t i = 0; i < mine; ++i)
    values[i] = first + static_cast<float>(static_cast<std::uint64_t>(session.model_rank()) * mine + i);
  return values;
}

void reopen_register_line(Session& session) {
  const std::uint64_t mine = reopen_points / static_cast<std::uint64_t>(session.model_size());
  session.decomposition(
      "line", Block{{reopen_points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
}

void expect_record(const std::vector<float>& values, std::size_t record, float first) {
  ASSERT_GE(values.size(), (record + 1) * reopen_points);
  for (std::size_t i = 0; i < reopen_points; ++i)
    ASSERT_EQ(values[record * reopen_points + i], first + static_cast<float>(i))
        << "record " << record << " point " << i;
}

struct Reopen {
  const char* store;
  const char* placement;
  int servers;
};

class ThreadSessionReopen : public testing::TestWithParam<Reopen> {
 protected:
  LocalRun run{4,
               GetParam().servers,
               {{"memory.server", "2MiB"},
                {"memory.block", "64KiB"},
                {"memory.small_block", "16KiB"},
                {"deadline", "20s"},
                {"placement", GetParam().placement}}};
  Directory directory;

  void expect_no_errors(const LocalRun::Model& model) {
    for (const auto& error : run.run(model)) ASSERT_FALSE(error) << error->text();
  }
};

TEST_P(ThreadSessionReopen, AppendingFollowsTheOlderPublication) {
  expect_no_errors([&](Session& session, int) {
    reopen_register_line(session);
    Collection collection = session.collection(
        "series", reopen_series(),
        {.file = "all.nc", .directory = directory.path, .store = GetParam().store, .existing = "append"});
    for (std::uint64_t file = 0; file < 5; ++file) {
      OutputFile out = collection.open();
      for (std::uint64_t record = 2 * file; record < 2 * file + 2; ++record)
        out.put("T", record, part(session, static_cast<float>(record) * 10'000).data());
      out.close();
    }
    session.finalize();
  });
  const auto values = read<float>(directory.path / "all.nc", "T");
  ASSERT_EQ(values.size(), 10 * reopen_points);
  for (std::size_t record = 0; record < 10; ++record)
    expect_record(values, record, static_cast<float>(record) * 10'000);
  EXPECT_FALSE(std::filesystem::exists(directory.path / "all.nc.part"));
}

TEST_P(ThreadSessionReopen, ReplacingKeepsTheLastFile) {
  expect_no_errors([&](Session& session, int) {
    reopen_register_line(session);
    Collection collection = session.collection(
        "series", reopen_series(),
        {.file = "all.nc", .directory = directory.path, .store = GetParam().store, .existing = "replace"});
    for (int file = 0; file < 5; ++file) {
      OutputFile out = collection.open();
      out.put("T", 0, part(session, static_cast<float>(file) * 10'000).data());
      out.close();
    }
    session.finalize();
  });
  const auto values = read<float>(directory.path / "all.nc", "T");
  ASSERT_EQ(values.size(), reopen_points);
  expect_record(values, 0, 40'000);
}

TEST_P(ThreadSessionReopen, CollectionsTakeTurnsAtOnePath) {
  expect_no_errors([&](Session& session, int) {
    reopen_register_line(session);
    const CollectionOptions options{
        .file = "all.nc", .directory = directory.path, .store = GetParam().store, .existing = "append"};
    CollectionOptions spelled = options;  // the same file by another name
    spelled.file = "./all.nc";
    Collection collections[] = {session.collection("one", reopen_series(), options),
                                session.collection("two", reopen_series(), spelled)};
    for (std::uint64_t record = 0; record < 4; ++record) {
      OutputFile out = collections[record % 2].open();
      out.put("T", record, part(session, static_cast<float>(record) * 10'000).data());
      out.close();
    }
    session.finalize();
  });
  const auto values = read<float>(directory.path / "all.nc", "T");
  ASSERT_EQ(values.size(), 4 * reopen_points);
  for (std::size_t record = 0; record < 4; ++record)
    expect_record(values, record, static_cast<float>(record) * 10'000);
}

std::string name_of_reopen(const testing::TestParamInfo<Reopen>& info) {
  return std::string(info.param.store) + "_" + info.param.placement + "_" +
         std::to_string(info.param.servers);
}

INSTANTIATE_TEST_SUITE_P(Servers, ThreadSessionReopen,
                         testing::Values(Reopen{"netcdf4", "collection", 1}, Reopen{"netcdf4", "file", 2},
                                         Reopen{"netcdf4", "collection", 2}, Reopen{"cdf5", "file", 2}),
                         name_of_reopen);

}  // namespace
}  // namespace afterbay::test
