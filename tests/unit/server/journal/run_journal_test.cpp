// SPDX-License-Identifier: Apache-2.0
// RunJournal without a server: which files are recorded, and by which server.
#include "server/journal/run_journal.hpp"

#include <gmock/gmock.h>

#include "unit/journal/journal_fixture.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ServerRunJournal : public journal::JournalTest {
 protected:
  ServerRunJournal() {
    collection_.name = "history";
    collection_.format = Format::netcdf4;
    file_.collection = &collection_;
    file_.path = (directory_.path / "out.nc").string();
    file_.id = 6;
    file_.name.step = 12;
  }

  ServedCollection collection_;
  OutputFile file_;
};

TEST_F(ServerRunJournal, RecordsAFileFromItsOpeningToItsPublication) {
  const RunJournal journal(recorder("a"));
  EXPECT_TRUE(journal.is_kept());
  journal.expect_output();
  ASSERT_TRUE(journal.begin());
  ASSERT_TRUE(journal.records_opening(file_));
  ASSERT_TRUE(journal.opened(file_));
  file_.records_dropped = 2;
  storage::Published published;
  published.size_bytes = 900;
  published.records = 5;
  published.checksum = 7;
  ASSERT_TRUE(journal.published({RunJournal::line_of(file_, published, {"copy"})}));
  journal.warned("a disk is slow");
  ASSERT_TRUE(journal.ended(true));
  const auto runs = read().runs;
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(runs.front().published, SizeIs(1));
  const journal::FilePublished& line = runs.front().published.front().file;
  EXPECT_EQ(line.file.path, file_.path);
  EXPECT_EQ(line.file.number, 6u);
  EXPECT_EQ(line.file.collection, "history");
  EXPECT_EQ(line.file.step, 12);
  EXPECT_EQ(line.bytes, 900u);
  EXPECT_EQ(line.records, 5u);
  EXPECT_EQ(line.checksum, 7u);
  EXPECT_EQ(line.dropped, 2u);
  EXPECT_THAT(line.triggers, ElementsAre("copy"));
  EXPECT_THAT(runs.front().unpublished, IsEmpty());
  ASSERT_THAT(runs.front().warnings, SizeIs(1));
  EXPECT_EQ(runs.front().warnings.front().text, "a disk is slow");
}

TEST_F(ServerRunJournal, RecordsThatAFileIsGivenUp) {
  const RunJournal journal(recorder("a"));
  ASSERT_TRUE(journal.opened(file_));
  journal.given_up(file_, "the disk is full");
  ASSERT_TRUE(journal.ended(true));
  const auto runs = read().runs;
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(runs.front().unpublished, SizeIs(1));
  EXPECT_EQ(runs.front().unpublished.front().given_up, "the disk is full");
}

TEST_F(ServerRunJournal, TheLeaderRecordsAFileOfSeveralServers) {
  const RunJournal journal(recorder("a"));
  file_.role = OutputFile::Role::leader;
  EXPECT_TRUE(journal.records_opening(file_));
  file_.role = OutputFile::Role::member;
  EXPECT_FALSE(journal.records_opening(file_));
  EXPECT_TRUE(journal.records(collection_));
}

TEST_F(ServerRunJournal, DoesNotRecordFilesInMemory) {
  const RunJournal journal(recorder("a"));
  collection_.format = Format::memory;
  EXPECT_FALSE(journal.records(collection_));
  EXPECT_FALSE(journal.records_opening(file_));
}

TEST_F(ServerRunJournal, DoesNothingIfNoJournalIsKept) {
  const RunJournal journal(nullptr);
  EXPECT_FALSE(journal.is_kept());
  EXPECT_FALSE(journal.records(collection_));
  journal.expect_output();
  EXPECT_TRUE(journal.begin());
  EXPECT_TRUE(journal.opened(file_));
  EXPECT_TRUE(journal.ready({}));
  EXPECT_TRUE(journal.published({}));
  EXPECT_TRUE(journal.epoch_completed({}));
  journal.given_up(file_, "the disk is full");
  journal.failed(Error(ErrorCode::io, "the disk is gone"));
  EXPECT_TRUE(journal.ended(false));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path));
}

}  // namespace
}  // namespace afterbay::server
