// SPDX-License-Identifier: Apache-2.0
// Files that go to the server with the least to write.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "read_back.hpp"
#include "server/dispatcher.hpp"
#include "unit/local_run.hpp"

namespace afterbay::server {
namespace {

const std::vector<wire::Candidate> three{{2, {2}}, {4, {4}}, {7, {7}}};

TEST(ServerDispatcher, GivesFilesInTurnWhereAllHaveTheSame) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.assign(0, three, 10), 2u);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 4u);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 7u);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 2u);
}

TEST(ServerDispatcher, CountsFilesThatHaveNotEnded) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.assign(0, three, 100), 2u);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 4u);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 7u);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 4u);
  dispatcher.report(2, 0, 1);
  EXPECT_EQ(dispatcher.assign(0, three, 10), 2u);
}

TEST(ServerDispatcher, CountsAFileFromItsOpeningOn) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.assign(0, three, 1000), 2u);
  EXPECT_EQ(dispatcher.assign(0, three, 1000), 4u);  // the first is open, this one is not yet
  EXPECT_EQ(dispatcher.assign(1, three, 1), 7u);
  EXPECT_EQ(dispatcher.assign(1, three, 1), 4u);
}

TEST(ServerDispatcher, CountsTheBacklog) {
  Dispatcher dispatcher;
  dispatcher.report(2, 1000, 0);
  dispatcher.report(4, 10, 0);
  EXPECT_EQ(dispatcher.assign(0, three, 1), 7u);
  dispatcher.report(7, 500, 0);
  EXPECT_EQ(dispatcher.assign(0, three, 1), 4u);
}

TEST(ServerDispatcher, ComparesPoolsByTheLoadOfEachOfTheirServers) {
  const std::vector<wire::Candidate> pools{{0, {0}}, {2, {1, 2, 3}}};
  Dispatcher dispatcher;
  dispatcher.report(0, 100, 0);
  dispatcher.report(3, 270, 0);
  EXPECT_EQ(dispatcher.assign(0, pools, 60), 2u);  // 90 per server
  EXPECT_EQ(dispatcher.assign(0, pools, 60), 0u);  // 110
}

TEST(ServerDispatcher, GivesFilesToEqualPoolsInTurnWhicheverServerLeads) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.assign(0, std::vector<wire::Candidate>{{0, {0, 1}}, {2, {2, 3}}}, 0), 0u);
  EXPECT_EQ(dispatcher.assign(0, std::vector<wire::Candidate>{{1, {0, 1}}, {2, {2, 3}}}, 0), 2u);
  EXPECT_EQ(dispatcher.assign(0, std::vector<wire::Candidate>{{1, {0, 1}}, {3, {2, 3}}}, 0), 1u);
}

/// The choices of one pool leave those of another alone.
TEST(ServerDispatcher, TwoPoolsWithAlternatingCollectionsTakeTheirServersInTurn) {
  const std::vector<wire::Candidate> low{{0, {0}}, {1, {1}}}, high{{2, {2}}, {3, {3}}};
  Dispatcher dispatcher;
  for (const std::uint32_t turn : {0u, 1u, 0u, 1u}) {
    EXPECT_EQ(dispatcher.assign(0, low, 0), turn);
    EXPECT_EQ(dispatcher.assign(1, high, 0), 2 + turn);
  }
}

TEST(ServerDispatcher, CollectionsOfOnePoolShareItsTurns) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.assign(0, three, 0), 2u);
  EXPECT_EQ(dispatcher.assign(1, three, 0), 4u);
  EXPECT_EQ(dispatcher.assign(2, three, 0), 7u);
}

/// One collection's large file keeps a server busy while small ones are written: they go elsewhere.
TEST(ServerDispatcher, ACollectionMovesToAnotherServerBetweenFiles) {
  const std::filesystem::path directory = std::filesystem::path(::testing::TempDir()) / "dispatcher_moves";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  test::LocalRun run(2, 3,
                     {{"placement", "least"},
                      {"journal.directory", (directory / "journal").string()},
                      {"collections.large.expected_size", "1GiB"},
                      {"deadline", "60s"}});
  const auto errors = run.run([&](Session& session, int rank) {
    session.decomposition("halves", Block{{8}, {4 * static_cast<std::uint64_t>(rank)}, {4}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 8);
    schema.variable("v", Type::float64, {"time", "x"}).on("halves");
    CollectionOptions options;
    options.directory = directory.string();
    options.file = "{collection}{step}.nc";
    Collection large = session.collection("large", schema, options);
    Collection small = session.collection("small", schema, options);
    afterbay::OutputFile first = large.open(FileName{{}, 0, {}, {}});
    for (int step = 0; step < 6; ++step) {
      afterbay::OutputFile file = small.open(FileName{{}, step, {}, {}});
      const std::vector<double> values(4, step * 10.0 + rank);
      file.put("v", 0, values.data());
      first.put("v", static_cast<std::uint64_t>(step), values.data());
      session.end_step();
      session.wait(file.close());
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  for (int step = 0; step < 6; ++step) {
    const auto values =
        test::read<double>((directory / ("small" + std::to_string(step) + ".nc")).string(), "v");
    ASSERT_EQ(values.size(), 8u);
    EXPECT_EQ(values.front(), step * 10.0);
    EXPECT_EQ(values.back(), step * 10.0 + 1);
  }
  for (int server = 0; server < 3; ++server) {
    std::ifstream journal(directory / "journal" / ("server-" + std::to_string(server) + ".jsonl"));
    const std::string lines{std::istreambuf_iterator<char>(journal), {}};
    const bool has_large = lines.find("large0.nc") != std::string::npos;
    EXPECT_NE(has_large, lines.find("small") != std::string::npos) << lines;
  }
  EXPECT_EQ(test::read<double>((directory / "large0.nc").string(), "v").size(), 48u);
}

}  // namespace
}  // namespace afterbay::server
