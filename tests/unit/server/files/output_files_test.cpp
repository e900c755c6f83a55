// SPDX-License-Identifier: Apache-2.0
// OutputFiles without a server: when a file is begun and published, and the ways in which it ends.
#include "server/files/output_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using State = OutputFile::State;

/// Counts what is done with a file, also after its end.
struct Calls {
  int abandoned = 0;
  int space_given_back = 0;
};

class FakeFile : public storage::File {
 public:
  explicit FakeFile(Calls& calls) : calls_(calls) {}
  [[nodiscard]] std::uint64_t records() const override { return 4; }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite>) override { return {}; }
  Result<storage::WriteCost> write_strings(std::uint32_t, std::uint64_t,
                                           std::span<const std::string>) override {
    return {};
  }
  Result<storage::Published> finish() override { return {}; }
  void give_back_space() noexcept override { ++calls_.space_given_back; }
  void abandon() noexcept override { ++calls_.abandoned; }
  [[nodiscard]] std::string engine() const override { return "fake"; }

 private:
  Calls& calls_;
};

/// Two ranks on server 1. Tasks are kept until the test runs them.
class ServerOutputFiles : public ::testing::Test {
 protected:
  ServerOutputFiles() {
    collection_.id = 5;
    collection_.servers = {0, 1, 2};
    OutputFiles::Host host;
    host.server = 1;
    host.ranks = 2;
    host.run = [this](const OutputFile&, OutputFiles::Task task) { tasks_.push_back(std::move(task)); };
    host.leader_is_ready = [this](const OutputFile&) { return leader_is_ready_; };
    host.create = [this](const OutputFile& file, const SchemaChanges&) { created_.push_back(file.id); };
    host.note_opened = [](OutputFile&) {};
    host.publish = [this](const OutputFile& file) { publishing_.push_back(file.id); };
    host.hand_over = [this](const OutputFile& file) { handing_over_.push_back(file.id); };
    host.send_records = [this](const OutputFile& file) {
      for (const std::size_t peer : file.asked_records)
        records_sent_.emplace_back(peer, file.file ? file.file->records() : 0);
    };
    host.answer = [this](std::size_t peer, std::uint64_t ticket) { answers_.emplace_back(peer, ticket); };
    host.published = [this](const OutputFile& file) { published_.push_back(file.id); };
    host.not_published = [this](const OutputFile& file, const std::string& why) {
      not_published_.emplace_back(file.id, why);
    };
    host.given_up = [this](const OutputFile& file, const std::string& why) {
      given_up_.emplace_back(file.id, why);
    };
    host.removed = [this](const OutputFile& file) { removed_.push_back(file.id); };
    host.is_given_up = [this](const ServedCollection&) { return is_given_up_; };
    host.is_optional = [this](const ServedCollection&) { return is_optional_; };
    host.give_up = [this](const ServedCollection&, const std::string& why) {
      is_given_up_ = true;
      std::vector<std::uint64_t> ids;
      for (const auto& [id, file] : files_->all()) ids.push_back(id);
      for (const std::uint64_t id : ids) files_->end(*files_->find(id), Ending::no_space, why);
    };
    host.stop_space_waits = [](const OutputFile&) {};
    host.ranks_ended = [this] { return ranks_ended_; };
    host.fail = [this](const Error& error) {
      failures_.push_back(error.message);
      files_->session_failed(error.message);
    };
    files_.emplace(std::move(host));
  }

  Result<> open(std::size_t peer, std::uint64_t id, const std::string& path = "a.nc",
                std::uint32_t leader = 1) {
    wire::OpenFile message;
    message.file = id;
    message.path = path;
    message.leader = leader;
    if (peer == 0) message.changes.emplace();
    return files_->open(peer, collection_, std::move(message));
  }
  void open_by_all(std::uint64_t id, const std::string& path = "a.nc", std::uint32_t leader = 1) {
    ASSERT_TRUE(open(0, id, path, leader));
    ASSERT_TRUE(open(1, id, path, leader));
  }
  /// Opened by all ranks and made.
  OutputFile& made(std::uint64_t id, const std::string& path = "a.nc", std::uint32_t leader = 1) {
    open_by_all(id, path, leader);
    OutputFile& file = *files_->find(id);
    files_->created(file, std::make_unique<FakeFile>(calls_));
    files_->task_ended(file, std::nullopt);
    return file;
  }
  void close(std::size_t peer, std::uint64_t id) {
    const auto closed = files_->close(peer, {.file = id, .ticket = 10 * id});
    ASSERT_TRUE(closed);
    if (*closed != nullptr) files_->all_closed(**closed);
  }
  void close_by_all(std::uint64_t id) {
    close(0, id);
    close(1, id);
  }
  void end_task(std::uint64_t id, std::optional<Error> error = std::nullopt) {
    OutputFile& file = *files_->find(id);
    OutputFiles::task_done(file);
    files_->task_ended(file, std::move(error));
  }

  using Reasons = std::vector<std::pair<std::uint64_t, std::string>>;
  ServedCollection collection_;
  Calls calls_;
  bool leader_is_ready_ = false, is_given_up_ = false, is_optional_ = false, ranks_ended_ = false;
  std::vector<OutputFiles::Task> tasks_;
  std::vector<std::uint64_t> created_, publishing_, handing_over_, published_, removed_;
  std::vector<std::pair<std::size_t, std::uint64_t>> records_sent_, answers_;
  Reasons not_published_, given_up_;
  std::vector<std::string> failures_;
  std::optional<OutputFiles> files_;
};

TEST_F(ServerOutputFiles, IsPublishedOnceAllHaveClosedItAndNoTaskIsLeft) {
  ASSERT_TRUE(open(1, 7));
  EXPECT_THAT(created_, IsEmpty());  // the lowest rank says what changes in the schema
  ASSERT_TRUE(open(0, 7));
  ASSERT_THAT(created_, ElementsAre(7));
  OutputFile& file = *files_->find(7);
  files_->submit(file, [] {});
  EXPECT_THAT(tasks_, IsEmpty());  // it is not made yet
  files_->created(file, std::make_unique<FakeFile>(calls_));
  files_->task_ended(file, std::nullopt);
  EXPECT_THAT(tasks_, SizeIs(1));
  close(0, 7);
  EXPECT_THAT(file.not_closed(), ElementsAre(1));
  close(1, 7);
  EXPECT_THAT(publishing_, IsEmpty());
  EXPECT_TRUE(files_->being_written());
  end_task(7);
  ASSERT_THAT(publishing_, ElementsAre(7));
  EXPECT_EQ(file.state, State::publishing);
  EXPECT_TRUE(files_->has_ticket(1, 70));
  files_->end(file, Ending::published);
  EXPECT_THAT(published_, ElementsAre(7));
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 70), Pair(1, 70)));
  EXPECT_THAT(files_->all(), IsEmpty());
  EXPECT_THAT(not_published_, IsEmpty());
}

TEST_F(ServerOutputFiles, RefusesAnotherPathForTheSameNumber) {
  ASSERT_TRUE(open(0, 7, "a.nc"));
  const auto opened = open(1, 7, "b.nc");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::conflict);
  EXPECT_THAT(opened.error().message, HasSubstr("model rank 1 opens 'b.nc' where another rank opens 'a.nc'"));
}

TEST_F(ServerOutputFiles, TheNextFileOfANameBeginsWhenTheOlderOneIsPublished) {
  OutputFile& file = made(7);
  open_by_all(8);
  open_by_all(9, "b.nc");
  EXPECT_THAT(created_, ElementsAre(7, 9));
  close_by_all(7);
  files_->end(file, Ending::published);
  EXPECT_THAT(created_, ElementsAre(7, 9, 8));
}

TEST_F(ServerOutputFiles, TheNextFileOfANameIsIncompleteIfTheOlderOneIsNotPublished) {
  OutputFile& file = made(7);
  open_by_all(8);
  close_by_all(7);
  files_->not_published(file, Error(ErrorCode::io, "the disk is broken"));
  EXPECT_THAT(failures_, ElementsAre("the disk is broken"));
  EXPECT_THAT(created_, ElementsAre(7));
  EXPECT_THAT(removed_, ElementsAre(7, 8));
  EXPECT_THAT(not_published_, ElementsAre(Pair(7, "the disk is broken"), Pair(8, "the disk is broken")));
}

TEST_F(ServerOutputFiles, TellsRanksThatAskedHowManyRecordsThereAre) {
  open_by_all(7);
  ASSERT_TRUE(files_->ask_records(1, 7));
  EXPECT_THAT(records_sent_, IsEmpty());
  files_->created(*files_->find(7), std::make_unique<FakeFile>(calls_));
  EXPECT_THAT(records_sent_, ElementsAre(Pair(1, 4)));
  ASSERT_TRUE(files_->ask_records(0, 7));
  EXPECT_THAT(records_sent_, ElementsAre(Pair(1, 4), Pair(0, 4)));
  EXPECT_FALSE(files_->ask_records(0, 8));
}

TEST_F(ServerOutputFiles, AFailedTaskEndsTheSessionAndTheFile) {
  OutputFile& file = made(7);
  files_->submit(file, [] {});
  files_->submit(file, [] {});
  end_task(7, Error(ErrorCode::io, "the disk is broken"));
  EXPECT_THAT(failures_, ElementsAre("the disk is broken"));
  EXPECT_THAT(removed_, IsEmpty());  // the other task uses it
  EXPECT_EQ(file.check_wanted().error().code, ErrorCode::bad_state);
  EXPECT_TRUE(files_->ignores(7));
  end_task(7);
  EXPECT_THAT(removed_, ElementsAre(7));
  EXPECT_EQ(calls_.abandoned, 1);
  EXPECT_THAT(not_published_, ElementsAre(Pair(7, "the disk is broken")));
  EXPECT_TRUE(files_->ignores(7));
}

TEST_F(ServerOutputFiles, AfterAFailureWhatAllRanksHaveClosedIsPublished) {
  OutputFile& closed = made(7, "a.nc");
  files_->submit(closed, [] {});
  close_by_all(7);
  made(8, "b.nc");
  files_->session_failed("a rank is lost");
  EXPECT_FALSE(files_->ignores(8));  // its ranks may close it still
  EXPECT_THAT(removed_, IsEmpty());
  ranks_ended_ = true;
  files_->end_hopeless();
  EXPECT_THAT(removed_, ElementsAre(8));
  EXPECT_THAT(not_published_, ElementsAre(Pair(8, "a rank is lost")));
  end_task(7);
  EXPECT_THAT(publishing_, ElementsAre(7));
}

TEST_F(ServerOutputFiles, WhenRanksContradictEachOtherOnlyWhatAllHaveClosedIsPublished) {
  made(7, "a.nc");
  close_by_all(7);
  made(8, "b.nc");
  close(0, 8);
  files_->end_unclosed();
  EXPECT_THAT(removed_, IsEmpty());
  files_->session_failed("conflict");
  EXPECT_THAT(removed_, ElementsAre(8));
  EXPECT_THAT(publishing_, ElementsAre(7));
}

TEST_F(ServerOutputFiles, AnOptionalFileEndsForWantOfSpaceAndTheSessionGoesOn) {
  is_optional_ = true;
  OutputFile& file = made(7);
  files_->submit(file, [] {});
  files_->submit(file, [] {});
  end_task(7, Error(ErrorCode::no_space, "no space is left"));
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_THAT(given_up_, ElementsAre(Pair(7, "no space is left")));
  EXPECT_EQ(calls_.space_given_back, 1);  // at once
  EXPECT_EQ(file.check_wanted().error().code, ErrorCode::no_space);
  EXPECT_TRUE(files_->ignores(7));
  end_task(7, Error(ErrorCode::no_space, "given up"));
  EXPECT_EQ(file.state, State::ended);
  tasks_.back()();
  EXPECT_EQ(calls_.abandoned, 1);
  close(0, 7);
  EXPECT_THAT(removed_, IsEmpty());  // a rank has it open
  close(1, 7);
  EXPECT_THAT(removed_, ElementsAre(7));
  EXPECT_THAT(answers_, SizeIs(2));
  EXPECT_THAT(given_up_, SizeIs(1));
  EXPECT_THAT(published_, IsEmpty());
}

TEST_F(ServerOutputFiles, AFileThatIsNotOptionalEndsTheSessionForWantOfSpace) {
  OutputFile& file = made(7);
  files_->submit(file, [] {});
  end_task(7, Error(ErrorCode::no_space, "no space is left"));
  EXPECT_THAT(failures_, ElementsAre("no space is left"));
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(ServerOutputFiles, WhatIsBeingPublishedMayBecomeCompleteAlthoughItsCollectionIsGivenUp) {
  OutputFile& file = made(7);
  close_by_all(7);
  files_->end(file, Ending::no_space, "no space is left");
  EXPECT_THAT(given_up_, IsEmpty());
  files_->end(file, Ending::published);
  EXPECT_THAT(published_, ElementsAre(7));
  EXPECT_THAT(files_->all(), IsEmpty());
}

TEST_F(ServerOutputFiles, IsGivenUpIfItsPublicationFailsForWantOfSpace) {
  is_optional_ = true;
  OutputFile& file = made(7);
  close_by_all(7);
  files_->not_published(file, Error(ErrorCode::no_space, "no space is left"));
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_THAT(given_up_, ElementsAre(Pair(7, "no space is left")));
  EXPECT_THAT(answers_, SizeIs(2));
  EXPECT_THAT(removed_, ElementsAre(7));
}

TEST_F(ServerOutputFiles, OfACollectionThatIsGivenUpAreNotMade) {
  is_given_up_ = true;
  open_by_all(7);
  EXPECT_THAT(created_, IsEmpty());
  EXPECT_THAT(not_published_, ElementsAre(Pair(7, HasSubstr("given up earlier"))));
  ASSERT_TRUE(files_->ask_records(0, 7));
  EXPECT_THAT(records_sent_, ElementsAre(Pair(0, 0)));
  close_by_all(7);
  EXPECT_THAT(answers_, SizeIs(2));
  EXPECT_THAT(removed_, ElementsAre(7));
}

TEST_F(ServerOutputFiles, ALeaderPublishesWhenTheMembersHaveHandedOver) {
  collection_.sharing = model::FileSharing::slab;
  OutputFile& file = made(7);
  EXPECT_EQ(file.role, OutputFile::Role::leader);
  close_by_all(7);
  files_->take_part(file, {0, false, {}});
  EXPECT_THAT(publishing_, IsEmpty());
  files_->take_part(file, {2, false, {}});
  EXPECT_THAT(publishing_, ElementsAre(7));
}

TEST_F(ServerOutputFiles, AMemberBeginsWhenTheLeaderIsReadyAndHandsOverItsPart) {
  collection_.sharing = model::FileSharing::slab;
  open_by_all(7, "a.nc", 2);
  EXPECT_THAT(created_, IsEmpty());
  leader_is_ready_ = true;
  OutputFile& file = *files_->find(7);
  files_->begin(file);
  EXPECT_THAT(created_, ElementsAre(7));
  files_->created(file, std::make_unique<FakeFile>(calls_));
  close_by_all(7);
  EXPECT_THAT(handing_over_, ElementsAre(7));
  EXPECT_TRUE(files_->part_complete(file));
  EXPECT_EQ(file.state, State::handed_over);
  files_->session_failed("a rank is lost");
  EXPECT_EQ(calls_.abandoned, 0);  // the leader may publish it
  EXPECT_THAT(removed_, ElementsAre(7));
}

}  // namespace
}  // namespace afterbay::server
