// SPDX-License-Identifier: Apache-2.0
// Whole sessions with pools: which server writes which file, according to the servers' journals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "read_back.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsSubsetOf;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t line_cells = 4096;

/// Two model ranks, server 0 in pool a, servers 1 and 2 in pool b; two collections of three files
/// each.
class PoolsRun {
 public:
  PoolsRun(const std::string& name, LocalRun::Settings settings)
      : directory_(fs::path(::testing::TempDir()) / name) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    settings.insert(settings.begin(), {{"pools.a.servers", "1"},
                                       {"pools.b.servers", "2"},
                                       {"memory.server", "4MiB"},
                                       {"memory.block", "64KiB"},
                                       {"chunk", "16KiB"},
                                       {"journal.directory", (directory_ / "journal").string()}});
    LocalRun run(2, 3, settings);
    for (const auto& error : run.run([this](Session& session, int rank) { write(session, rank); }))
      EXPECT_FALSE(error) << error->text();
  }

  /// Servers that opened files of a collection.
  [[nodiscard]] std::set<int> servers_of(const std::string& collection) const {
    std::set<int> found;
    for (int s = 0; s < 3; ++s) {
      std::ifstream journal(directory_ / "journal" / ("server-" + std::to_string(s) + ".jsonl"));
      const std::string text{std::istreambuf_iterator<char>(journal), {}};
      if (text.find("/" + collection) != std::string::npos) found.insert(s);
    }
    return found;
  }

  void expect_files() const {
    for (const char* collection : {"first", "second"})
      for (int step = 0; step < 3; ++step) {
        const auto values =
            read<double>((directory_ / (collection + std::to_string(step) + ".nc")).string(), "v");
        ASSERT_EQ(values.size(), line_cells);
        for (std::size_t i = 0; i < line_cells; ++i)
          ASSERT_EQ(values[i], step * 1e6 + static_cast<double>(i));
      }
  }

 private:
  void write(Session& session, int rank) const {
    const std::uint64_t mine = line_cells / 2, start = mine * static_cast<std::uint64_t>(rank);
    session.decomposition("halves", Block{{line_cells}, {start}, {mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", line_cells);
    schema.variable("v", Type::float64, {"time", "x"}).on("halves");
    CollectionOptions options;
    options.directory = directory_.string();
    options.file = "{collection}{step}.nc";
    options.store = "cdf5";
    Collection first = session.collection("first", schema, options);
    Collection second = session.collection("second", schema, options);
    for (int step = 0; step < 3; ++step)
      for (Collection* collection : {&first, &second}) {
        OutputFile file = collection->open(FileName{{}, step, {}, {}});
        std::vector<double> values(mine);
        for (std::size_t i = 0; i < mine; ++i) values[i] = step * 1e6 + static_cast<double>(start + i);
        file.put("v", 0, values.data());
        session.end_step();
        file.close();
      }
    session.finalize();
  }

  fs::path directory_;
};

TEST(SessionPools, CollectionsGoToPoolsInTurn) {
  const PoolsRun run("pools_turn", {});
  run.expect_files();
  EXPECT_THAT(run.servers_of("first"), ElementsAre(0));
  EXPECT_THAT(run.servers_of("second"), IsSubsetOf({1, 2}));
}

TEST(SessionPools, CollectionsGoToThePoolThatIsNamed) {
  const PoolsRun run("pools_named", {{"collections.*.pool", "b"}, {"pools.b.placement", "file"}});
  run.expect_files();
  EXPECT_THAT(run.servers_of("first"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(run.servers_of("second"), UnorderedElementsAre(1, 2));
}

TEST(SessionPools, FilesAreSharedOutOverTheServersOfTheirPoolOnly) {
  const PoolsRun run(
      "pools_slab",
      {{"collections.first.pool", "b"}, {"collections.second.pool", "a"}, {"placement", "slab"}});
  run.expect_files();
  EXPECT_THAT(run.servers_of("first"), IsSubsetOf({1, 2}));
  EXPECT_THAT(run.servers_of("second"), ElementsAre(0));
}

TEST(SessionPools, LargeFilesGoToThePoolForThem) {
  const PoolsRun run("pools_size",
                     {{"pools.b.collections_from", "1GiB"}, {"collections.second.expected_size", "2GiB"}});
  run.expect_files();
  EXPECT_THAT(run.servers_of("first"), ElementsAre(0));
  EXPECT_THAT(run.servers_of("second"), IsSubsetOf({1, 2}));
}

TEST(SessionPools, FilesGoToTheLeastLoadedServerOfTheirPool) {
  const PoolsRun run("pools_least", {{"collections.*.pool", "b"}, {"placement", "least"}});
  run.expect_files();
  EXPECT_THAT(run.servers_of("first"), IsSubsetOf({1, 2}));
  EXPECT_THAT(run.servers_of("second"), IsSubsetOf({1, 2}));
}

/// Servers by file number, according to the journals.
std::vector<int> servers_by_file(const PoolsRun& run, const std::string& collection) {
  std::vector<int> servers;
  for (int step = 0; step < 3; ++step) {
    const std::set<int> found = run.servers_of(collection + std::to_string(step) + ".nc");
    EXPECT_EQ(found.size(), 1u);
    servers.push_back(found.empty() ? -1 : *found.begin());
  }
  return servers;
}

TEST(SessionPools, FilesOfACollectionWithSeveralPoolsAreDealtToTheseInTurn) {
  const PoolsRun run("pools_several", {{"collections.first.pool", "a,b"},
                                       {"collections.second.pool", "b,a"},
                                       {"collections.first.placement", "file"}});
  run.expect_files();
  EXPECT_THAT(servers_by_file(run, "first"), ElementsAre(0, 1, 0));
  EXPECT_THAT(servers_by_file(run, "second"), ElementsAre(2, 0, 2));
}

TEST(SessionPools, FilesOfACollectionWithSeveralPoolsGoToTheLeastLoadedOfThem) {
  for (const char* placement : {"collection", "file", "least", "slab"}) {
    const PoolsRun run(std::string("pools_several_least_") + placement,
                       {{"collections.*.pool", "a,b"}, {"pool_choice", "least"}, {"placement", placement}});
    run.expect_files();
    const std::set<int> first = run.servers_of("first"), second = run.servers_of("second");
    // The first file goes to a, and counts there when the second is assigned.
    EXPECT_TRUE(first.contains(0)) << placement;
    EXPECT_TRUE(first.contains(1) || first.contains(2)) << placement;
    EXPECT_TRUE(second.contains(1) || second.contains(2)) << placement;  // a has been chosen before
  }
}

/// On average the servers of b have more to write than that of a. With placement `file` it is known
/// which of them writes the next file: if that one is idle, it gets the file.
TEST(SessionPools, OnlyTheServerThatWouldWriteTheFileCountsWithPlacementFile) {
  const fs::path directory = fs::path(::testing::TempDir()) / "pools_least_file";
  fs::remove_all(directory);
  fs::create_directories(directory);
  LocalRun run(2, 3,
               {{"pools.a.servers", "1"},
                {"pools.b.servers", "2"},
                {"memory.server", "4MiB"},
                {"memory.block", "64KiB"},
                {"chunk", "16KiB"},
                {"journal.directory", (directory / "journal").string()},
                {"collections.busy_*.placement", "least"},
                {"collections.busy_a.pool", "a"},
                {"collections.busy_a.expected_size", "400MiB"},
                {"collections.busy_b.pool", "b"},
                {"collections.busy_b.expected_size", "1GiB"},
                {"collections.small.pool", "a,b"},
                {"collections.small.pool_choice", "least"},
                {"collections.small.placement", "file"}});
  const auto errors = run.run([&](Session& session, int rank) {
    session.decomposition("halves", Block{{8}, {4 * static_cast<std::uint64_t>(rank)}, {4}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 8);
    schema.variable("v", Type::float64, {"time", "x"}).on("halves");
    CollectionOptions options;
    options.directory = directory.string();
    options.file = "{collection}{step}.nc";
    std::vector<OutputFile> busy;
    for (const char* name : {"busy_a", "busy_b"})
      busy.push_back(session.collection(name, schema, options).open(FileName{{}, 0, {}, {}}));
    Collection small = session.collection("small", schema, options);
    const std::vector<double> values(4, rank);
    for (int step = 0; step < 6; ++step) {
      OutputFile file = small.open(FileName{{}, step, {}, {}});
      file.put("v", 0, values.data());
      session.end_step();
      session.wait(file.close());
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  std::set<int> small;
  for (int server = 0; server < 3; ++server) {
    std::ifstream journal(directory / "journal" / ("server-" + std::to_string(server) + ".jsonl"));
    const std::string lines{std::istreambuf_iterator<char>(journal), {}};
    if (lines.find("/small") != std::string::npos) small.insert(server);
    EXPECT_EQ(lines.find("/busy_b") != std::string::npos, server == 1);
  }
  EXPECT_THAT(small, ElementsAre(0, 2));  // the second of b's turn would be server 1
}

}  // namespace
}  // namespace afterbay::test
