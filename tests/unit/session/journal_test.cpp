// SPDX-License-Identifier: Apache-2.0
// The journal entries of a session, and when they are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "journal/judge.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t journal_points = 4096;

struct JournalCase {
  const char* store;
  const char* placement;
  int servers;
};

class ThreadSessionJournal : public testing::TestWithParam<JournalCase> {
 protected:
  [[nodiscard]] std::string out() const { return (directory.path / "out").string(); }
  [[nodiscard]] std::string where() const { return (directory.path / "journal").string(); }
  [[nodiscard]] LocalRun local_run(LocalRun::Settings more = {}) const {
    LocalRun::Settings settings{{"memory.server", "2MiB"},
                                {"memory.block", "64KiB"},
                                {"memory.small_block", "16KiB"},
                                {"chunk", "16KiB"},
                                {"deadline", "20s"},
                                {"journal.directory", where()},
                                {"placement", GetParam().placement}};
    settings.insert(settings.end(), more.begin(), more.end());
    return {2, GetParam().servers, settings};
  }
  [[nodiscard]] journal::Journal read() const {
    auto journal = journal::read_journal(where());
    EXPECT_TRUE(journal) << journal.error().text();
    return journal ? *journal : journal::Journal();
  }

  Collection define(Session& session) const {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", journal_points);
    schema.variable("T", Type::float32, {"time", "x"}).on("line");
    const std::uint64_t mine = journal_points / 2;
    session.decomposition(
        "line", Block{{journal_points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
    return session.collection("history", schema,
                              {.file = "h_{step}.nc", .directory = out(), .store = GetParam().store});
  }
  static void put(OutputFile& file, std::uint64_t records) {
    const std::vector<float> values(journal_points / 2, 3.5F);
    for (std::uint64_t record = 0; record < records; ++record) file.put("T", record, values.data());
  }

  Directory directory;
};

TEST_P(ThreadSessionJournal, APublishedFileIsInItBeforeItsTicketIsComplete) {
  const auto model = [&](Session& session, int rank) {
    Collection history = define(session);
    for (std::int64_t step = 0; step < 3; ++step) {
      FileName name;
      name.step = step;
      OutputFile file = history.open(name);
      put(file, 5);
      session.wait(file.close());
      if (rank != 0) continue;
      const auto newest = newest_files(read());
      const auto entry = newest.find(out() + "/h_" + std::to_string(step) + ".nc");
      ASSERT_NE(entry, newest.end()) << step;
      EXPECT_EQ(entry->second.file.file.step, step);
      EXPECT_EQ(entry->second.file.file.collection, "history");
      EXPECT_EQ(entry->second.file.records, 5u);
      ASSERT_TRUE(entry->second.file.checksum);
      EXPECT_EQ(check_file(entry->second, false).finding, journal::Finding::right);
    }
    session.finalize();
  };
  for (const auto& error : local_run().run(model)) ASSERT_FALSE(error) << error->text();
  const journal::Journal journal = read();
  EXPECT_EQ(state_of(journal, journal::this_host()), journal::RunState::complete);
  EXPECT_TRUE(journal.runs.at(0).unpublished.empty());
  EXPECT_EQ(journal.runs[0].published.size(), 3u);
}

/// The ranks continue when it exists: no step waits for it.
TEST_P(ThreadSessionJournal, HasBegunWhenTheDefinitionsAreAnswered) {
  const auto model = [&](Session& session, int) {
    static_cast<void>(define(session));
    session.start();
    const journal::Journal journal = read();
    ASSERT_EQ(journal.runs.size(), 1u);
    EXPECT_EQ(state_of(journal, journal::this_host()), journal::RunState::running);
    session.finalize();
  };
  for (const auto& error : local_run().run(model)) ASSERT_FALSE(error) << error->text();
  EXPECT_EQ(state_of(read(), journal::this_host()), journal::RunState::complete);
}

/// Also a server without files of its own: without its end it could have been killed.
TEST_P(ThreadSessionJournal, HasTheEndOfEachServerOfARunWithOutput) {
  const auto model = [&](Session& session, int) {
    static_cast<void>(define(session));
    session.start();
    session.finalize();
  };
  for (const auto& error : local_run().run(model)) ASSERT_FALSE(error) << error->text();
  const journal::Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 1u);
  EXPECT_EQ(journal.runs[0].servers.size(), static_cast<std::size_t>(GetParam().servers));
  EXPECT_EQ(state_of(journal, journal::this_host()), journal::RunState::complete);
}

/// With the placement `collection` one of several servers writes everything. Before, a run counted
/// as killed because of the servers that had nothing to do.
TEST_P(ThreadSessionJournal, HasTheEndOfServersWithNothingToWrite) {
  const auto model = [&](Session& session, int) {
    OutputFile file = define(session).open(FileName{{}, 1, {}, {}});
    put(file, 1);
    file.close();
    session.finalize();
  };
  for (const auto& error : local_run({{"placement", "collection"}}).run(model))
    ASSERT_FALSE(error) << error->text();
  const journal::Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 1u);
  EXPECT_EQ(journal.runs[0].servers.size(), static_cast<std::size_t>(GetParam().servers));
  EXPECT_EQ(state_of(journal, journal::this_host()), journal::RunState::complete);
}

TEST_P(ThreadSessionJournal, IsNotThereWhereNothingIsToBeWritten) {
  const auto model = [&](Session& session, int) {
    session.start();
    session.finalize();
  };
  for (const auto& error : local_run().run(model)) ASSERT_FALSE(error) << error->text();
  EXPECT_FALSE(std::filesystem::exists(where()));
}

TEST_P(ThreadSessionJournal, AFailedRunSaysWhyAndWhatItLeaves) {
  const auto model = [&](Session& session, int rank) {
    Collection history = define(session);
    FileName name;
    name.step = 1;
    OutputFile file = history.open(name);
    put(file, 2);
    session.wait(session.flush());
    if (rank == 0) throw Failure(Error(ErrorCode::invalid_argument, "the model blew up"));
    session.wait(file.close());
    session.finalize();
  };
  static_cast<void>(local_run().run(model));
  const journal::Journal journal = read();
  EXPECT_EQ(state_of(journal, journal::this_host()), journal::RunState::failed);
  ASSERT_FALSE(journal.runs.at(0).errors.empty());
  EXPECT_THAT(journal.runs[0].errors[0].text, testing::HasSubstr("model rank 0"));
  ASSERT_EQ(journal.runs[0].unpublished.size(), 1u);
  EXPECT_EQ(journal.runs[0].unpublished[0].file.path, out() + "/h_1.nc");
}

TEST_P(ThreadSessionJournal, WithoutAPlaceToWriteOutputGoesOnUnlessItIsRequired) {
  std::ofstream(where()) << "a file where the directory should be";
  const auto model = [&](Session& session, int) {
    Collection history = define(session);
    FileName name;
    name.step = 1;
    OutputFile file = history.open(name);
    put(file, 1);
    session.wait(file.close());
    session.finalize();
  };
  for (const auto& error : local_run().run(model)) ASSERT_FALSE(error) << error->text();
  EXPECT_TRUE(std::filesystem::exists(out() + "/h_1.nc"));
  std::filesystem::remove(out() + "/h_1.nc");
  const auto errors = local_run({{"journal.required", "on"}}).run(model);
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_THAT(error->text(), testing::HasSubstr("journal"));
  }
}

TEST_P(ThreadSessionJournal, WithoutChecksumsItHoldsSizes) {
  const auto model = [&](Session& session, int) {
    Collection history = define(session);
    FileName name;
    name.step = 1;
    OutputFile file = history.open(name);
    put(file, 1);
    file.close();
    session.finalize();
  };
  for (const auto& error : local_run({{"checksum", "off"}}).run(model)) ASSERT_FALSE(error) << error->text();
  const journal::Journal journal = read();
  const auto& entry = journal.runs.at(0).published.at(0);
  EXPECT_FALSE(entry.file.checksum);
  EXPECT_EQ(entry.file.bytes, std::filesystem::file_size(out() + "/h_1.nc"));
}

std::string name_of_journal_case(const testing::TestParamInfo<JournalCase>& it) {
  return std::string(it.param.store) + "_" + it.param.placement + "_" + std::to_string(it.param.servers);
}

INSTANTIATE_TEST_SUITE_P(Servers, ThreadSessionJournal,
                         testing::Values(JournalCase{"netcdf4", "collection", 1},
                                         JournalCase{"cdf5", "file", 2}, JournalCase{"netcdf4", "slab", 3},
                                         JournalCase{"cdf5", "slab", 2}),
                         name_of_journal_case);

}  // namespace
}  // namespace afterbay::test
