// SPDX-License-Identifier: Apache-2.0
// LoadBalance without a server: when a load is reported, and to whom.
#include "server/load/load_balance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// One of three servers.
class ServerLoadBalance : public ::testing::Test {
 protected:
  LoadBalance& make(std::uint32_t server) {
    LoadBalance::Host host;
    host.server = server;
    host.servers = 3;
    host.backlog_bytes = [this] { return backlog_; };
    host.said_goodbye = [this] { return said_goodbye_; };
    host.send = [this](const wire::ServerLoad& load) {
      sent_.emplace_back(load.backlog_bytes, load.files_ended);
    };
    host.answer = [this](const wire::Assigned& file) { answers_.push_back(file); };
    return load_.emplace(std::move(host));
  }
  static wire::AskServer question(std::vector<wire::Candidate> candidates, std::uint64_t nth = 0) {
    return {.collection = 4, .nth = nth, .expected_bytes = 100, .candidates = std::move(candidates)};
  }

  std::uint64_t backlog_ = 0;
  bool said_goodbye_ = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sent_;
  std::vector<wire::Assigned> answers_;
  std::optional<LoadBalance> load_;
};

TEST_F(ServerLoadBalance, ReportsOnlyChangesAndOnlyIfSomeFilesGoToTheLeastLoadedServer) {
  LoadBalance& load = make(2);
  backlog_ = 50;
  load.report();
  EXPECT_THAT(sent_, IsEmpty());
  load.activate();
  load.report();
  load.report();
  load.assigned_file_ended();
  backlog_ = 0;
  load.report();
  EXPECT_THAT(sent_, ElementsAre(Pair(50, 0), Pair(50, 1), Pair(0, 1)));
}

TEST_F(ServerLoadBalance, CountsFilesThatEndedBeforeItReports) {
  LoadBalance& load = make(2);
  load.assigned_file_ended();
  EXPECT_THAT(sent_, IsEmpty());
  load.activate();
  load.report();
  EXPECT_THAT(sent_, ElementsAre(Pair(0, 1)));
}

TEST_F(ServerLoadBalance, ReportsNothingAfterItsLastMessage) {
  LoadBalance& load = make(1);
  load.activate();
  said_goodbye_ = true;
  load.assigned_file_ended();
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(ServerLoadBalance, TheChoosingServerCountsItsOwnLoad) {
  LoadBalance& load = make(wire::choosing_server);
  load.activate();
  backlog_ = 70;
  load.take(1, {.backlog_bytes = 60});
  load.take(2, {.backlog_bytes = 80});
  ASSERT_TRUE(load.choose(question({{0, {0}}, {1, {1}}, {2, {2}}}, 9)));
  EXPECT_THAT(sent_, IsEmpty());
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(answers_.front().collection, 4u);
  EXPECT_EQ(answers_.front().nth, 9u);
  EXPECT_EQ(answers_.front().server, 1u);
}

TEST_F(ServerLoadBalance, RefusesCandidatesThatAreNoServers) {
  LoadBalance& load = make(0);
  for (const auto& candidates :
       {std::vector<wire::Candidate>{}, std::vector<wire::Candidate>{{3, {0}}},
        std::vector<wire::Candidate>{{0, {0, 3}}}, std::vector<wire::Candidate>{{0, {}}}}) {
    const auto chosen = load.choose(question(candidates));
    ASSERT_FALSE(chosen);
    EXPECT_THAT(chosen.error().message, HasSubstr("not among the 3 servers"));
  }
  EXPECT_THAT(answers_, IsEmpty());
}

}  // namespace
}  // namespace afterbay::server
