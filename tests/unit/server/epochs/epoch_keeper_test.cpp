// SPDX-License-Identifier: Apache-2.0
// EpochKeeper without a server: what has to be done before an epoch is complete, and in which
// order.
#include "server/epochs/epoch_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class ServerEpochKeeper : public ::testing::Test {
 protected:
  /// Two ranks; files 7 and 8 are open.
  ServerEpochKeeper() {
    for (const std::uint64_t id : {7, 8}) {
      OutputFile& file = files_[id];
      file.id = id;
      file.collection = &collection_;
      file.path = "file" + std::to_string(id);
      file.state = OutputFile::State::open;
    }
    EpochKeeper::Host host;
    host.ranks = 2;
    host.file = [this](std::uint64_t id) { return files_.contains(id) ? &files_.at(id) : nullptr; };
    host.is_written = [this](const OpenTicket& ticket) { return ticket.strings <= written_; };
    host.awaits_journal = [this](const OutputFile&) { return awaits_journal_; };
    host.mark = [this](const OutputFile& file, const storage::Epoch& epoch, EpochKeeper::Parts parts) {
      marks_.emplace_back(file.id, epoch);
      parts_ = std::move(parts);
    };
    host.send_part = [this](const OutputFile&, wire::EpochPart part) {
      sent_.push_back(std::move(part));
      if (leader_is_gone_) keeper_->stop();
    };
    host.note = [this](std::uint64_t, journal::EpochCompleted line) { lines_.push_back(std::move(line)); };
    host.submit = [this](OutputFile& file, const std::function<void()>& task) {
      ++file.pending;
      task();
    };
    host.answer = [this](std::size_t peer, std::uint64_t ticket) { answers_.emplace_back(peer, ticket); };
    host.complete = [this](std::uint64_t number, const std::string&) { complete_.push_back(number); };
    keeper_.emplace(std::move(host));
  }

  Result<> reach(std::size_t peer, std::uint64_t number, std::vector<wire::EndEpoch::OpenFile> files,
                 const std::string& name = "year", std::uint64_t strings = 0) {
    return keeper_->reach(
        {.ticket = 10 * number, .number = number, .name = name, .files = std::move(files)},
        {.peer = peer, .number = 10 * number, .bounds = {}, .files = {}, .strings = strings});
  }
  void both_reach(std::uint64_t number, const std::vector<wire::EndEpoch::OpenFile>& files) {
    ASSERT_TRUE(reach(0, number, files));
    ASSERT_TRUE(reach(1, number, files));
  }
  void mark_done(std::uint64_t file, std::uint64_t number,
                 std::optional<storage::MemberEpoch> part = std::nullopt) {
    keeper_->marked(files_.at(file), number, std::move(part));
    keeper_->advance();
  }

  ServedCollection collection_;
  std::map<std::uint64_t, OutputFile> files_;
  std::uint64_t written_ = 0;
  bool awaits_journal_ = false, leader_is_gone_ = false;
  std::vector<std::pair<std::uint64_t, storage::Epoch>> marks_;
  EpochKeeper::Parts parts_;
  std::vector<wire::EpochPart> sent_;
  std::vector<journal::EpochCompleted> lines_;
  std::vector<std::pair<std::size_t, std::uint64_t>> answers_;
  std::vector<std::uint64_t> complete_;
  std::optional<EpochKeeper> keeper_;
};

TEST_F(ServerEpochKeeper, TasksAfterAnEpochWaitUntilItIsCompleteAndTheirFileIsInUse) {
  std::vector<int> done;
  OutputFile& file = files_.at(7);
  const auto hold = [&](std::uint64_t epoch, int number) {
    keeper_->submit_after(epoch, file, [&done, number] { done.push_back(number); });
  };
  hold(0, 0);
  EXPECT_THAT(done, ElementsAre(0));
  ASSERT_TRUE(reach(0, 1, {{7, 3}}));
  ASSERT_TRUE(reach(0, 2, {{7, 4}}));
  EXPECT_EQ(keeper_->reached(0), 2U);
  EXPECT_EQ(keeper_->reached(1), 0U);
  hold(1, 1);
  hold(2, 2);
  EXPECT_THAT(done, ElementsAre(0));
  EXPECT_EQ(file.pending, 3U) << "it must not be published before";
  ASSERT_TRUE(reach(1, 1, {{7, 3}}));
  keeper_->advance();
  mark_done(7, 1);
  EXPECT_THAT(done, ElementsAre(0)) << "the journal does not have the epoch yet";
  keeper_->noted(1);
  EXPECT_THAT(done, ElementsAre(0, 1));
  keeper_->stop();
  EXPECT_THAT(done, ElementsAre(0, 1, 2)) << "after a failure nothing waits";
  EXPECT_EQ(file.pending, 3U);
}

// The count of the first rank to arrive was taken, and recovery cut off the records of the others.
TEST_F(ServerEpochKeeper, HasTheRecordsOfTheRankThatPutIntoMost) {
  ASSERT_TRUE(reach(0, 1, {{7, 0}, {8, 5}}));
  ASSERT_TRUE(reach(1, 1, {{7, 3}, {8, 4}}));
  keeper_->advance();
  ASSERT_THAT(marks_, SizeIs(2));
  EXPECT_EQ(marks_[0].second.records, 3U);
  EXPECT_EQ(marks_[1].second.records, 5U);
}

/// Whatever the order in which ranks name their files, and even if the first one does not have all.
TEST_F(ServerEpochKeeper, MarksTheFilesThatAnyRankNames) {
  ASSERT_TRUE(reach(0, 1, {{8, 2}}));
  ASSERT_TRUE(reach(1, 1, {{8, 1}, {7, 4}}));
  keeper_->advance();
  ASSERT_THAT(marks_, SizeIs(2));
  EXPECT_EQ(marks_[0].first, 7U);
  EXPECT_EQ(marks_[0].second.records, 4U);
  EXPECT_EQ(marks_[1].first, 8U);
  EXPECT_EQ(marks_[1].second.records, 2U);
}

TEST_F(ServerEpochKeeper, TasksAfterAnEpochThatNeverCompletesDoNotWait) {
  ASSERT_TRUE(reach(0, 1, {{7, 3}}));
  int done = 0;
  keeper_->submit_after(1, files_.at(7), [&] { ++done; });
  EXPECT_EQ(done, 0);
  EXPECT_THAT(keeper_->forget_unreachable(), SizeIs(1));
  EXPECT_EQ(done, 1);
}

TEST_F(ServerEpochKeeper, CompletesWhenAllRanksCameAllIsWrittenMarkedAndNoted) {
  ASSERT_TRUE(reach(0, 1, {{7, 3}}));
  keeper_->advance();
  EXPECT_THAT(marks_, IsEmpty());
  EXPECT_THAT(keeper_->missing(), HasSubstr("model rank 1 did not reach epoch 1 ('year')"));
  ASSERT_TRUE(reach(1, 1, {{7, 3}}, "year", 5));
  EXPECT_EQ(keeper_->missing(), "");
  keeper_->advance();
  EXPECT_THAT(marks_, IsEmpty());
  written_ = 5;
  keeper_->advance();
  keeper_->advance();
  ASSERT_THAT(marks_, SizeIs(1));
  EXPECT_EQ(marks_[0].first, 7u);
  EXPECT_EQ(marks_[0].second.records, 3u);
  EXPECT_THAT(lines_, IsEmpty());
  mark_done(7, 1);
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0].unpublished, ElementsAre("file7"));
  EXPECT_TRUE(keeper_->noting());
  EXPECT_THAT(answers_, IsEmpty());
  keeper_->noted(1);
  EXPECT_THAT(answers_, ElementsAre(Pair(0, 10), Pair(1, 10)));
  EXPECT_THAT(complete_, ElementsAre(1));
  EXPECT_TRUE(keeper_->empty());
}

TEST_F(ServerEpochKeeper, CompletesInOrder) {
  both_reach(2, {});
  both_reach(1, {{7, 1}});
  keeper_->advance();
  EXPECT_THAT(lines_, IsEmpty());
  mark_done(7, 1);
  keeper_->noted(1);
  ASSERT_THAT(lines_, SizeIs(2));
  keeper_->noted(2);
  EXPECT_THAT(complete_, ElementsAre(1, 2));
}

TEST_F(ServerEpochKeeper, RefusesAnotherNameForTheSameEpoch) {
  ASSERT_TRUE(reach(0, 1, {}));
  const auto reached = reach(1, 1, {}, "month");
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code, ErrorCode::conflict);
  EXPECT_THAT(reached.error().message, HasSubstr("calls epoch number 1 'month'"));
}

TEST_F(ServerEpochKeeper, WaitsForAFileThatIsBeingPublished) {
  files_.at(7).state = OutputFile::State::publishing;
  both_reach(1, {{7, 1}});
  keeper_->advance();
  EXPECT_THAT(lines_, IsEmpty());
  files_.erase(7);  // published
  keeper_->advance();
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0].unpublished, IsEmpty());
}

TEST_F(ServerEpochKeeper, NamesFilesThatWereGivenUpAsLost) {
  files_.at(7).ending = Ending::no_space;
  both_reach(1, {{7, 1}, {8, 1}});
  keeper_->advance();
  mark_done(8, 1);
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0].lost, ElementsAre("file7"));
  EXPECT_THAT(lines_[0].unpublished, ElementsAre("file8"));
}

/// Closed by all ranks, so that the file is gone when the epoch is recorded, or not in it at all.
TEST_F(ServerEpochKeeper, NamesFilesThatWereGivenUpAndAreGone) {
  keeper_->lost("file7");
  keeper_->lost("file9");
  files_.erase(7);
  both_reach(1, {{7, 1}, {8, 1}});
  keeper_->advance();
  mark_done(8, 1);
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0].lost, ElementsAre("file7", "file9"));
  keeper_->noted(1);
  keeper_->published("file9");
  both_reach(2, {{8, 1}});
  keeper_->advance();
  mark_done(8, 2);
  ASSERT_THAT(lines_, SizeIs(2));
  EXPECT_THAT(lines_[1].lost, ElementsAre("file7"));
}

TEST_F(ServerEpochKeeper, WaitsUntilTheJournalKnowsTheFile) {
  awaits_journal_ = true;
  both_reach(1, {{7, 1}});
  keeper_->advance();
  EXPECT_THAT(marks_, IsEmpty());
  awaits_journal_ = false;
  keeper_->advance();
  EXPECT_THAT(marks_, SizeIs(1));
}

TEST_F(ServerEpochKeeper, ALeaderWaitsForTheMembersAndTakesTheirParts) {
  collection_.sharing = model::FileSharing::slab;
  collection_.servers = {0, 1, 2};
  files_.at(7).role = OutputFile::Role::leader;
  files_.at(7).parts.handed.push_back({2, false, {std::byte{9}}});
  both_reach(1, {{7, 1}});
  keeper_->take_part({7, 1, wire::MemberAccount{1, true, {std::byte{4}}}});
  keeper_->advance();
  EXPECT_THAT(marks_, IsEmpty());
  keeper_->take_part({7, 1, std::nullopt});  // that member has handed over the whole file
  keeper_->advance();
  ASSERT_THAT(marks_, SizeIs(1));
  ASSERT_THAT(parts_, SizeIs(2));
  EXPECT_EQ(parts_[0].server, 1u);
  EXPECT_TRUE(parts_[0].logged);
  EXPECT_EQ(parts_[1].server, 2u);
  EXPECT_THAT(parts_[1].account, ElementsAre(std::byte{9}));
}

TEST_F(ServerEpochKeeper, AMemberSendsItsPartAndIsNotInTheJournal) {
  collection_.sharing = model::FileSharing::slab;
  files_.at(7).role = files_.at(8).role = OutputFile::Role::member;
  both_reach(1, {{7, 1}, {8, 1}});
  files_.at(8).state = OutputFile::State::handed_over;
  keeper_->advance();
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0].file, 8u);
  EXPECT_FALSE(sent_[0].part);
  mark_done(7, 1, storage::MemberEpoch{1, true, {std::byte{4}}});
  ASSERT_THAT(sent_, SizeIs(2));
  EXPECT_EQ(sent_[1].file, 7u);
  ASSERT_TRUE(sent_[1].part);
  EXPECT_TRUE(sent_[1].part->logged);
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0].unpublished, IsEmpty());
}

TEST_F(ServerEpochKeeper, EndsIfAPartCannotBeSent) {
  collection_.sharing = model::FileSharing::slab;
  leader_is_gone_ = true;
  files_.at(7).role = files_.at(8).role = OutputFile::Role::member;
  both_reach(1, {{7, 1}, {8, 1}});
  files_.at(7).state = files_.at(8).state = OutputFile::State::handed_over;
  keeper_->advance();
  EXPECT_THAT(sent_, SizeIs(1));
  EXPECT_TRUE(keeper_->empty());
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ServerEpochKeeper, KnowsItsTickets) {
  ASSERT_TRUE(reach(1, 3, {}));
  EXPECT_TRUE(keeper_->has_ticket(1, 30));
  EXPECT_FALSE(keeper_->has_ticket(0, 30));
  EXPECT_FALSE(keeper_->has_ticket(1, 20));
}

TEST_F(ServerEpochKeeper, ForgetsWhatNotAllRanksReached) {
  both_reach(1, {{7, 1}});
  ASSERT_TRUE(reach(0, 2, {}));
  EXPECT_THAT(keeper_->forget_unreachable(), ElementsAre(HasSubstr("model rank 1 did not reach epoch 2")));
  EXPECT_FALSE(keeper_->empty());
  EXPECT_THAT(keeper_->forget_unreachable(), IsEmpty());
}

TEST_F(ServerEpochKeeper, CompletesNothingAfterAFailure) {
  both_reach(1, {{7, 1}});
  keeper_->advance();
  keeper_->stop();
  mark_done(7, 1, storage::MemberEpoch{});
  keeper_->noted(1);
  ASSERT_TRUE(reach(0, 2, {}));
  EXPECT_TRUE(keeper_->empty());
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace afterbay::server
