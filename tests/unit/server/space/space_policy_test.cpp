// SPDX-License-Identifier: Apache-2.0
// SpacePolicy without a server: what a call on a full disk makes it do.
#include "server/space/space_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "unit/server/space/virtual_space_clock.hpp"

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Full until it has refused `refusals` calls.
class SpacePolicyFullDisk : public storage::Disk {
 public:
  int refusals = 1'000'000;
  int error = ENOSPC;
  int make_directories(const char*) override {
    if (refusals-- <= 0) return 0;
    errno = error;
    return -1;
  }
};

/// The ingest thread itself waits: all happens within the call.
class ServerSpacePolicy : public ::testing::Test {
 protected:
  ServerSpacePolicy() {
    config_.writing.space_retry = 0ms;
    config_.overrides.collections.push_back({"extra", "", "optional", "true", {}});
    config_.overrides.collections.push_back({"extra", "", "priority", "3", {}});
    needed_.id = 1;
    needed_.name = "history";
    extra_.id = 2;
    extra_.name = "extra";
  }

  void make() {
    SpacePolicy::Host host;
    host.server = 4;
    host.alive = [] {};
    host.work = [this] {
      if (while_waiting_) while_waiting_();
    };
    host.warn = [this](const std::string& text) { warnings_.push_back(text); };
    host.collection = [this](std::uint32_t id) -> const ServedCollection* {
      return id == 1 ? &needed_ : id == 2 ? &extra_ : nullptr;
    };
    host.open_files = [](const ServedCollection&) { return std::size_t{6}; };
    host.end_files = [this](const ServedCollection& it, const std::string& why) {
      ended_.emplace_back(it.id, why);
    };
    host.report_short = [this](bool is_short) { reported_short_.push_back(is_short); };
    host.report_given_up = [this](std::uint32_t id, const std::string&) { reported_given_up_.push_back(id); };
    policy_.emplace(config_, std::move(host), disk_, clock_);
    policy_->of(needed_);
    policy_->of(extra_);
  }
  int call() { return policy_->disk()->make_directories("out/a"); }

  config::Config config_;
  ServedCollection needed_, extra_;
  std::shared_ptr<SpacePolicyFullDisk> disk_ = std::make_shared<SpacePolicyFullDisk>();
  VirtualSpaceClock clock_;
  std::function<void()> while_waiting_;
  std::vector<std::string> warnings_;
  std::vector<std::pair<std::uint32_t, std::string>> ended_;
  std::vector<bool> reported_short_;
  std::vector<std::uint32_t> reported_given_up_;
  std::optional<SpacePolicy> policy_;
};

TEST_F(ServerSpacePolicy, KnowsWhatTheConfigurationSaysOfACollection) {
  make();
  EXPECT_FALSE(policy_->of(needed_).optional);
  EXPECT_TRUE(policy_->of(extra_).optional);
  EXPECT_EQ(policy_->of(extra_).priority, 3);
}

TEST_F(ServerSpacePolicy, ReportsThatACallWaitsAndThatThereIsSpaceAgain) {
  config_.writing.space_retry = 60s;
  disk_->refusals = 1;
  make();
  EXPECT_EQ(call(), 0);
  EXPECT_THAT(reported_short_, ElementsAre(true, false));
  ASSERT_THAT(warnings_, SizeIs(2));
  EXPECT_THAT(warnings_[0], HasSubstr("no space is left for out/a: I/O server 4 keeps the data and tries "
                                      "again for 60 s"));
  EXPECT_THAT(warnings_[1], HasSubstr("there is space again for out/a"));
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(ServerSpacePolicy, GivesUpOptionalCollectionsWhenTheTimeIsOver) {
  config_.writing.space_retry = 1ms;
  disk_->error = EDQUOT;
  disk_->refusals = 4;
  make();
  EXPECT_EQ(call(), 0);
  ASSERT_THAT(ended_, SizeIs(1));
  EXPECT_EQ(ended_[0].first, 2u);
  EXPECT_THAT(ended_[0].second, HasSubstr("the quota is used up for out/a"));
  EXPECT_THAT(reported_given_up_, ElementsAre(2));
  EXPECT_TRUE(policy_->is_given_up(extra_));
  EXPECT_FALSE(policy_->is_given_up(needed_));
  EXPECT_THAT(warnings_, testing::Contains(HasSubstr(
                             "collection \"extra\" is optional and is given up from here on, with 6 files")));
}

TEST_F(ServerSpacePolicy, GivesUpACollectionOnce) {
  make();
  policy_->give_up(extra_, "the disk is full");
  policy_->given_up_elsewhere(2, "I/O server 1: the disk is full");
  policy_->given_up_elsewhere(9, "a collection of other servers");
  EXPECT_THAT(ended_, ElementsAre(Pair(2, "the disk is full")));
  EXPECT_THAT(reported_given_up_, ElementsAre(2));
}

TEST_F(ServerSpacePolicy, GivesUpNothingAfterAFailure) {
  make();
  policy_->session_failed(Error(ErrorCode::peer_lost, "a rank is lost"));
  EXPECT_EQ(call(), -1);
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_THAT(reported_short_, IsEmpty());
}

TEST_F(ServerSpacePolicy, CallsStillWaitWhenTheRunWasAskedToStop) {
  config_.writing.space_retry = 60s;
  disk_->refusals = 1;
  make();
  policy_->session_failed(Error(ErrorCode::stopped, "SIGTERM"));
  EXPECT_EQ(call(), 0);
  EXPECT_THAT(reported_short_, ElementsAre(true, false));
}

TEST_F(ServerSpacePolicy, PutsOffWhatNeedsTheFormatLibraryWhileACallWaits) {
  config_.writing.space_retry = 60s;
  disk_->refusals = 1;
  std::vector<bool> done;
  make();
  policy_->when_no_call_waits([&] { done.push_back(true); });
  EXPECT_THAT(done, SizeIs(1));
  bool asked = false;
  while_waiting_ = [&] {
    if (std::exchange(asked, true)) return;
    policy_->when_no_call_waits([&] { done.push_back(true); });
    EXPECT_THAT(done, SizeIs(1));
  };
  EXPECT_EQ(call(), 0);
  EXPECT_TRUE(asked);
  EXPECT_THAT(done, SizeIs(2));
}

}  // namespace
}  // namespace afterbay::server
