// SPDX-License-Identifier: Apache-2.0
// Shutdown without a server: what each end waits for, and for how long.
#include "server/shutdown/shutdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t shutdown_second_ns = 1'000'000'000;
constexpr std::uint64_t ms_ns = 1'000'000;

/// Three ranks; a deadline of 10 s, a grace period of 20 s. Times are given to each call.
class ServerShutdown : public ::testing::Test {
 protected:
  ServerShutdown() {
    config_.deadline = 10s;
    config_.stop.grace = 20s;
    Shutdown::Host host;
    host.server = 2;
    host.ranks = 3;
    host.fail = [this](Error error) {
      failures_.push_back(shutdown_->cause_of_failure(std::move(error), 0));
      shutdown_->session_failed(failed_at_ns_);
    };
    host.fail_for_rank = [this](Error error, std::size_t peer) {
      EXPECT_EQ(peer, 1u);
      failures_.push_back(std::move(error));
      shutdown_->session_failed(failed_at_ns_);
    };
    host.forget_link = [this](std::size_t peer) { forgotten_.push_back(peer); };
    host.rank_ended = [this](std::size_t peer) { ended_.push_back(peer); };
    host.last_file = [] { return std::uint64_t{7}; };
    host.drained = [this](std::uint64_t last_file) {
      EXPECT_EQ(last_file, 7u);
      return drained_;
    };
    host.open_paths = [this] { return open_paths_; };
    host.run_by_priority = [this] { by_priority_ = true; };
    host.cut_off_disk = [this] { cut_off_ = true; };
    host.nothing_left = [this] { return nothing_left_; };
    host.say_goodbye = [this] { ++goodbyes_; };
    host.sending = [this] { return sending_; };
    host.warn = [this](const std::string& text) { warnings_.push_back(text); };
    shutdown_.emplace(config_, std::move(host));
  }
  void all_ranks_end() {
    for (const std::size_t peer : {0, 1, 2}) shutdown_->rank_ended(peer);
  }
  void get_signal() {
    shutdown_->stop_at([] { return SIGTERM; });
  }

  config::Config config_;
  std::vector<Error> failures_;
  std::vector<std::size_t> forgotten_, ended_;
  std::vector<std::string> warnings_, open_paths_;
  std::uint64_t failed_at_ns_ = 0;
  bool drained_ = false, nothing_left_ = true, sending_ = false, by_priority_ = false, cut_off_ = false;
  int goodbyes_ = 0;
  std::optional<Shutdown> shutdown_;
};

TEST_F(ServerShutdown, SaysGoodbyeOnceAllRanksHaveEndedAndNothingIsLeft) {
  nothing_left_ = false;
  shutdown_->rank_ended(0);
  shutdown_->rank_ended(0);
  shutdown_->rank_ended(2);
  EXPECT_EQ(shutdown_->ranks_ended(), 2u);
  EXPECT_THAT(ended_, ElementsAre(0, 2));
  EXPECT_FALSE(shutdown_->has_ended(1));
  EXPECT_FALSE(shutdown_->advance(0));
  shutdown_->rank_ended(1);
  EXPECT_FALSE(shutdown_->advance(0));
  EXPECT_EQ(goodbyes_, 0);
  nothing_left_ = true;
  sending_ = true;
  EXPECT_FALSE(shutdown_->advance(0));
  EXPECT_TRUE(shutdown_->said_goodbye());
  EXPECT_FALSE(shutdown_->finished());
  sending_ = false;
  EXPECT_TRUE(shutdown_->advance(1));
  EXPECT_TRUE(shutdown_->finished());
  EXPECT_FALSE(shutdown_->advance(2));
  EXPECT_EQ(goodbyes_, 1);
}

TEST_F(ServerShutdown, WaitsForTheLastMessagesAsLongAsTheDeadline) {
  all_ranks_end();
  sending_ = true;
  EXPECT_FALSE(shutdown_->advance(shutdown_second_ns));
  EXPECT_FALSE(shutdown_->advance(11 * shutdown_second_ns - 1));
  EXPECT_TRUE(shutdown_->advance(11 * shutdown_second_ns));
}

TEST_F(ServerShutdown, WaitsTwoSecondsForTheLastMessagesAfterAFailure) {
  shutdown_->session_failed(0);
  all_ranks_end();
  sending_ = true;
  EXPECT_FALSE(shutdown_->advance(shutdown_second_ns));
  EXPECT_FALSE(shutdown_->advance(3 * shutdown_second_ns - 1));
  EXPECT_TRUE(shutdown_->advance(3 * shutdown_second_ns));
}

TEST_F(ServerShutdown, AfterAFailureRanksAreWaitedForAsLongAsTheDeadline) {
  shutdown_->session_failed(shutdown_second_ns);
  shutdown_->watch_failed(11 * shutdown_second_ns);
  EXPECT_FALSE(shutdown_->all_ranks_ended());
  shutdown_->watch_failed(11 * shutdown_second_ns + 1);
  EXPECT_TRUE(shutdown_->all_ranks_ended());
}

TEST_F(ServerShutdown, RanksThatGiveUpTogetherAreOneFailure) {
  const Error cause = Error(ErrorCode::invalid_argument, "no variable 'x'").in_file("a.nc");
  shutdown_->rank_gave_up(1, cause, "it ended without finalize", 0);
  shutdown_->rank_gave_up(0, std::nullopt, "it ended", 100 * ms_ns);
  shutdown_->watch_ranks_that_gave_up(200 * ms_ns);
  EXPECT_THAT(failures_, IsEmpty());
  shutdown_->watch_ranks_that_gave_up(200 * ms_ns + 1);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].code, ErrorCode::peer_lost);
  EXPECT_EQ(failures_[0].file, "a.nc");
  EXPECT_THAT(failures_[0].message,
              HasSubstr("model ranks 0 and 1 (2 of 3) gave up: it ended without finalize, after: "));
  EXPECT_THAT(failures_[0].message, HasSubstr("no variable 'x'"));
  EXPECT_EQ(shutdown_->ranks_ended(), 2u);
}

TEST_F(ServerShutdown, ReportsAtOnceIfNoOtherRankIsLeft) {
  shutdown_->rank_ended(0);
  shutdown_->rank_ended(2);
  shutdown_->rank_gave_up(1, std::nullopt, "it ended", 0);
  EXPECT_THAT(failures_, SizeIs(1));
  EXPECT_TRUE(shutdown_->all_ranks_ended());
}

TEST_F(ServerShutdown, ARankThatGivesUpAfterAFailureHasEnded) {
  shutdown_->session_failed(0);
  shutdown_->rank_gave_up(1, std::nullopt, "it ended", 0);
  shutdown_->report_ranks_that_gave_up();
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_THAT(ended_, ElementsAre(1));
}

TEST_F(ServerShutdown, ASignalEndsTheSessionOnceWhatWasClosedIsPublished) {
  open_paths_ = {"a.nc", "b.nc"};
  get_signal();
  shutdown_->watch(0);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0],
              HasSubstr("I/O server 2 was asked to stop (SIGTERM): it publishes the files that the "
                        "ranks have closed within 20 s"));
  EXPECT_TRUE(by_priority_);
  EXPECT_THAT(failures_, IsEmpty());
  drained_ = true;
  shutdown_->watch(shutdown_second_ns);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_EQ(failures_[0].code, ErrorCode::stopped);
  EXPECT_EQ(failures_[0].file, "a.nc");
  EXPECT_THAT(failures_[0].context, ElementsAre("not complete: a.nc and 1 more files"));
  shutdown_->watch(2 * shutdown_second_ns);
  EXPECT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(warnings_, SizeIs(1));
}

TEST_F(ServerShutdown, LeavesAFifthOfTheGracePeriodForTheEnd) {
  get_signal();
  shutdown_->watch(0);
  shutdown_->watch(16 * shutdown_second_ns);
  EXPECT_THAT(failures_, IsEmpty());
  shutdown_->watch(16 * shutdown_second_ns + 1);
  EXPECT_THAT(failures_, SizeIs(1));
  EXPECT_TRUE(shutdown_->check_time("a.nc"));
  shutdown_->watch(20 * shutdown_second_ns - 1);
  EXPECT_FALSE(cut_off_);
  shutdown_->watch(20 * shutdown_second_ns);
  EXPECT_TRUE(cut_off_);
  EXPECT_TRUE(shutdown_->all_ranks_ended());
  const auto in_time = shutdown_->check_time("a.nc");
  ASSERT_FALSE(in_time);
  EXPECT_EQ(in_time.error().code, ErrorCode::stopped);
}

TEST_F(ServerShutdown, TheLastMessagesHaveTheRestOfTheGracePeriod) {
  get_signal();
  drained_ = true;
  shutdown_->watch(0);
  all_ranks_end();
  sending_ = true;
  EXPECT_FALSE(shutdown_->advance(shutdown_second_ns));
  EXPECT_FALSE(shutdown_->advance(20 * shutdown_second_ns - 1));
  EXPECT_TRUE(shutdown_->advance(20 * shutdown_second_ns));
}

TEST_F(ServerShutdown, ARankLostDuringAStopIsPartOfTheStop) {
  get_signal();
  shutdown_->watch(0);
  const Error error =
      shutdown_->cause_of_failure(Error(ErrorCode::peer_lost, "rank 1 is lost"), shutdown_second_ns);
  EXPECT_EQ(error.code, ErrorCode::stopped);
  EXPECT_THAT(error.text(), HasSubstr("rank 1 is lost"));
  const Error other =
      shutdown_->cause_of_failure(Error(ErrorCode::io, "the disk is broken"), shutdown_second_ns);
  EXPECT_EQ(other.code, ErrorCode::io);
}

TEST_F(ServerShutdown, StopsWithAnotherServer) {
  const Error error = shutdown_->cause_of_failure(Error(ErrorCode::stopped, "SIGTERM"), 0);
  EXPECT_EQ(error.code, ErrorCode::stopped);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("was asked to stop (as another server was)")));
}

}  // namespace
}  // namespace afterbay::server
