// SPDX-License-Identifier: Apache-2.0
// SessionFailure without a server: of the servers that detect one failure, one reports it.
#include "server/failure/session_failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <tuple>
#include <vector>

namespace afterbay::server {
namespace {

using ::testing::HasSubstr;

ServerIdentity server(int number) {
  ServerIdentity identity;
  identity.number = number;
  identity.session_rank = 20 + number;
  return identity;
}

Error lost() { return Error(ErrorCode::peer_lost, "a rank is lost"); }

/// How many of three servers print a failure of which each has this witness.
int printed_by(const std::function<Witness(const SessionFailure&, int server)>& witness,
               const std::vector<int>& servers = {0, 1, 2}) {
  int count = 0;
  for (const int number : servers) {
    const ServerIdentity identity = server(number);
    SessionFailure failure(identity);
    if (failure.record(lost(), witness(failure, number)).here) ++count;
  }
  return count;
}

TEST(ServerSessionFailure, NamesTheServerInItsError) {
  const ServerIdentity identity = server(2);
  SessionFailure failure(identity);
  EXPECT_FALSE(failure.happened());
  EXPECT_FALSE(failure.error());
  (void)failure.record(lost(), Witness::this_server);
  ASSERT_TRUE(failure.happened());
  EXPECT_EQ(failure.error()->rank, 22);
  EXPECT_EQ(failure.error()->code, ErrorCode::peer_lost);
  EXPECT_THAT(failure.error()->text(), HasSubstr("I/O server 2 (rank 22) stops writing"));
}

TEST(ServerSessionFailure, KeepsTheRankOfAModelRank) {
  const ServerIdentity identity = server(2);
  SessionFailure failure(identity);
  (void)failure.record(lost().at_rank(5), Witness::this_server);
  EXPECT_EQ(failure.error()->rank, 5);
}

TEST(ServerSessionFailure, OthersKnowWhetherItIsReported) {
  const ServerIdentity identity = server(1);
  for (const auto& [witness, here, done] :
       {std::tuple(Witness::this_server, true, true), std::tuple(Witness::all_servers, false, false),
        std::tuple(Witness::reported, false, true)}) {
    SessionFailure failure(identity);
    const auto report = failure.record(lost(), witness);
    EXPECT_EQ(report.here, here);
    EXPECT_EQ(report.done, done);
  }
}

TEST(ServerSessionFailure, OneServerPrintsWhatAllDetect) {
  EXPECT_EQ(printed_by([](const SessionFailure&, int) { return Witness::all_servers; }), 1);
  EXPECT_EQ(printed_by([](const SessionFailure&, int) { return SessionFailure::of_wrong_message(true); }), 1);
  EXPECT_EQ(SessionFailure::of_wrong_message(false), Witness::this_server);
}

TEST(ServerSessionFailure, OneOfTheRemainingServersPrintsThatAnotherIsLost) {
  for (const int gone : {0, 1, 2}) {
    std::vector<int> rest{0, 1, 2};
    std::erase(rest, gone);
    EXPECT_EQ(printed_by([gone](const SessionFailure& it,
                                int) { return it.of_lost_server(static_cast<std::size_t>(gone)); },
                         rest),
              1)
        << "server " << gone;
  }
}

TEST(ServerSessionFailure, TheFirstServerThatARankReachesPrintsWhatItForwards) {
  wire::Abandon message;
  message.session_failed = true;
  message.lost = {0, 1};
  const auto forwarded = [&](const SessionFailure& it, int) { return it.of_forwarded(message); };
  EXPECT_EQ(printed_by(forwarded, {2}), 1);
  message.lost = {1};
  EXPECT_EQ(printed_by(forwarded, {0, 2}), 1);
  message.reported = true;
  EXPECT_EQ(printed_by(forwarded), 0);
}

TEST(ServerSessionFailure, WhatAnotherServerHasPrintedIsNotPrintedAgain) {
  EXPECT_EQ(SessionFailure::of_failed({lost(), true}), Witness::reported);
  EXPECT_EQ(SessionFailure::of_failed({lost(), false}), Witness::all_servers);
}

TEST(ServerSessionFailure, TrustsRanksUntilTheyContradictEachOther) {
  const ServerIdentity identity = server(0);
  SessionFailure failure(identity);
  EXPECT_TRUE(failure.ranks_consistent());
  failure.ranks_contradict();
  EXPECT_FALSE(failure.ranks_consistent());
  EXPECT_FALSE(failure.happened());
}

}  // namespace
}  // namespace afterbay::server
