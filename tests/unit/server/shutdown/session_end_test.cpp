// SPDX-License-Identifier: Apache-2.0
// SessionEnd without a server: what ends a session, and that its failure is told once.
#include "server/shutdown/session_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Server 1 of 2, with two ranks.
class ServerSessionEnd : public ::testing::Test {
 protected:
  ServerSessionEnd() {
    identity_.number = 1;
    identity_.servers = 2;
    identity_.session_ranks = {10, 11};
    make(10s);
  }
  void make(std::chrono::milliseconds deadline) {
    config_.deadline = deadline;
    SessionEnd::Host host;
    host.shutdown.forget_link = [](std::size_t) {};
    host.shutdown.rank_ended = [this](std::size_t peer) { ended_.push_back(peer); };
    host.shutdown.cut_off_disk = [this] { cut_off_ = true; };
    host.shutdown.nothing_left = [] { return true; };
    host.shutdown.say_goodbye = [this] { ++goodbyes_; };
    host.shutdown.sending = [this] { return sending_; };
    host.next_lost = [this]() -> std::optional<Peers::Lost> {
      if (lost_.empty()) return std::nullopt;
      Peers::Lost first = lost_.front();
      lost_.pop_front();
      return first;
    };
    host.linked = [] { return true; };
    host.name_unfinished = [](Error error, std::size_t peer) {
      return error.add("rank " + std::to_string(peer) + " left a.nc incomplete");
    };
    host.missed_deadline = [] { return Error(ErrorCode::timed_out, "ranks wait for strings"); };
    host.waits = [this](std::uint64_t) { return waits_; };
    host.end_unclosed = [this] { ++unclosed_; };
    host.failed = [this](const Error& error, const SessionFailure::Report& report) {
      failures_.push_back(error.text());
      reports_.push_back(report.here);
    };
    host.later_error = [this](const Error& error) { later_.push_back(error.message); };
    host.finished = [this] { ++finished_; };
    end_.emplace(config_, identity_, std::move(host));
  }
  static Peers::Lost lost(bool is_server, std::size_t number, bool ended) {
    return {is_server, number, Error(ErrorCode::peer_lost, "it is gone"), ended};
  }

  config::Config config_;
  ServerIdentity identity_;
  std::deque<Peers::Lost> lost_;
  DeadlineWatch::Waits waits_;
  std::vector<std::size_t> ended_;
  std::vector<std::string> failures_, later_;
  std::vector<bool> reports_;
  bool cut_off_ = false, sending_ = false;
  int goodbyes_ = 0, unclosed_ = 0, finished_ = 0;
  std::optional<SessionEnd> end_;
};

TEST_F(ServerSessionEnd, TellsTheFirstFailureOnce) {
  EXPECT_FALSE(end_->failed());
  end_->fail(Error(ErrorCode::io, "the disk is gone"));
  end_->fail(Error(ErrorCode::io, "the disk is still gone"));
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("the disk is gone"));
  EXPECT_THAT(reports_, ElementsAre(true));
  EXPECT_THAT(later_, ElementsAre("the disk is still gone"));
  EXPECT_TRUE(end_->ranks_consistent());
  EXPECT_EQ(unclosed_, 0);
}

TEST_F(ServerSessionEnd, AfterAContradictionRanksAreNotTrusted) {
  end_->fail_by_contradiction(Error(ErrorCode::conflict, "ranks disagree"));
  EXPECT_EQ(unclosed_, 1);
  EXPECT_FALSE(end_->ranks_consistent());
  EXPECT_THAT(reports_, ElementsAre(false));  // server 0 detects it, too
}

TEST_F(ServerSessionEnd, FailsLikeAnotherServer) {
  end_->fail_like(0, {Error(ErrorCode::io, "the disk is gone"), true});
  end_->fail_like(0, {Error(ErrorCode::io, "again"), true});
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("I/O server 0 forwarded this error"));
  EXPECT_THAT(reports_, ElementsAre(false));
  EXPECT_THAT(later_, IsEmpty());
}

TEST_F(ServerSessionEnd, ALostRankEndsTheSession) {
  lost_ = {lost(false, 1, false), lost(false, 0, false)};
  end_->watch_peers();
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("rank 1 left a.nc incomplete"));
  EXPECT_THAT(ended_, ElementsAre(1, 0));
}

TEST_F(ServerSessionEnd, AServerMayLeaveOnlyAfterTheFarewell) {
  sending_ = true;
  for (const std::size_t peer : {0, 1}) end_->rank_ended(peer);
  end_->advance();
  EXPECT_EQ(goodbyes_, 1);
  lost_ = {lost(true, 0, true)};
  end_->watch_peers();
  EXPECT_THAT(failures_, IsEmpty());
  lost_ = {lost(true, 0, false)};
  end_->watch_peers();
  EXPECT_THAT(failures_, SizeIs(1));
}

TEST_F(ServerSessionEnd, AServerThatLeavesEarlyIsLost) {
  lost_ = {lost(true, 0, true)};
  end_->watch_peers();
  EXPECT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(reports_, ElementsAre(true));  // server 0 cannot report it
}

TEST_F(ServerSessionEnd, ARankThatForwardsAFailureHasEnded) {
  wire::Abandon message;
  message.cause = Error(ErrorCode::io, "the disk is gone");
  message.session_failed = true;
  end_->gave_up(1, message);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("model rank 1 forwarded this error"));
  EXPECT_THAT(ended_, ElementsAre(1));
}

TEST_F(ServerSessionEnd, RanksThatLeaveAfterAFailureAreNotWaitedFor) {
  end_->leave();
  EXPECT_EQ(finished_, 0);
  end_->fail(Error(ErrorCode::io, "the disk is gone"));
  end_->leave();
  EXPECT_EQ(finished_, 1);
  EXPECT_TRUE(end_->shutdown().finished());
}

TEST_F(ServerSessionEnd, AWaitThatNothingEndsMissesTheDeadline) {
  make(0ms);
  end_->watch_deadlines();
  EXPECT_THAT(failures_, IsEmpty());  // nobody waits
  end_->rank_ended(0);
  waits_.writing = true;
  end_->watch_deadlines();
  EXPECT_THAT(failures_, IsEmpty());  // the disk has its own deadline
  waits_.writing = false;
  end_->watch_deadlines();  // rank 0 waits for rank 1
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("ranks wait for strings"));
}

TEST_F(ServerSessionEnd, AfterAFailureADiskThatHangsIsCutOff) {
  make(0ms);
  end_->fail(Error(ErrorCode::io, "the disk is gone"));
  EXPECT_TRUE(end_->check_time("a.nc"));
  end_->watch_deadlines();
  EXPECT_TRUE(cut_off_);
  EXPECT_FALSE(end_->check_time("a.nc"));
}

}  // namespace
}  // namespace afterbay::server
