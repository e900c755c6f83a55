// SPDX-License-Identifier: Apache-2.0
// FellowServers on a transport without other servers.
#include "server/fellow_servers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "unit/server/fake_transport.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::size_t model_ranks = 4;

/// Server 1 of 3.
class ServerFellowServers : public ::testing::Test {
 protected:
  ServerFellowServers() {
    FellowServers::Links links;
    for (std::size_t s = 0; s < 3; ++s)
      links.push_back(s == 1 ? nullptr : std::make_unique<test::FakeLink>(ends_[s]));
    fellows_.emplace(port_, std::move(links), model_ranks);
  }
  void arrive(std::size_t server, std::uint64_t file) {
    port_.arrived[model_ranks + server].push_back(wire::encode(wire::FilePublished{file}));
  }
  static std::uint64_t file_of(std::span<const std::byte> message) {
    const auto decoded = wire::decode<wire::FilePublished>(message);
    return decoded ? decoded->file : 0;
  }

  test::FakePort port_;
  std::array<test::FakeEnd, 3> ends_;
  std::optional<FellowServers> fellows_;
};

TEST_F(ServerFellowServers, SendsToOneOrSomeOrAllOthers) {
  ASSERT_TRUE(fellows_->send(2, wire::FilePublished{5}));
  EXPECT_THAT(ends_[0].received, IsEmpty());
  ASSERT_THAT(ends_[2].received, SizeIs(1));
  EXPECT_EQ(file_of(ends_[2].received[0]), 5u);
  const std::vector<std::uint32_t> servers{0, 1};
  fellows_->send_all(servers, wire::FilePublished{6});
  EXPECT_THAT(ends_[0].received, SizeIs(1));
  EXPECT_THAT(ends_[2].received, SizeIs(1));
  fellows_->broadcast(wire::FilePublished{7});
  EXPECT_THAT(ends_[0].received, SizeIs(2));
  EXPECT_THAT(ends_[2].received, SizeIs(2));
  EXPECT_TRUE(fellows_->send(1, wire::FilePublished{8}));  // to itself: nothing
}

TEST_F(ServerFellowServers, ReportsThatAMessageCannotBeSent) {
  ends_[2].gone = true;
  const auto sent = fellows_->send(2, wire::FilePublished{5});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::peer_lost);
  fellows_->broadcast(wire::FilePublished{7});
  EXPECT_THAT(ends_[0].received, SizeIs(1));
}

TEST_F(ServerFellowServers, GivesMessagesWithTheirSenderInOrder) {
  EXPECT_FALSE(fellows_->next());
  arrive(2, 20);
  arrive(2, 21);
  arrive(0, 1);
  std::vector<std::pair<std::size_t, std::uint64_t>> taken;
  while (const auto message = fellows_->next()) taken.emplace_back(message->first, file_of(message->second));
  EXPECT_THAT(taken, ElementsAre(Pair(0, 1), Pair(2, 20), Pair(2, 21)));
}

TEST_F(ServerFellowServers, TakesMessagesInWhileItWaitsToSend) {
  arrive(2, 20);
  ASSERT_TRUE(ends_[0].idle);
  EXPECT_FALSE(fellows_->has_unread(2));
  EXPECT_TRUE(ends_[0].idle());
  EXPECT_TRUE(fellows_->has_unread(2));
  EXPECT_FALSE(fellows_->has_unread(0));
  EXPECT_FALSE(ends_[0].idle());
  EXPECT_TRUE(fellows_->next());
  EXPECT_FALSE(fellows_->has_unread(2));
}

/// Before, the messages were received through links that had been destroyed: at the end of a run
/// with several servers over MPI, the heap was damaged.
TEST_F(ServerFellowServers, AtTheEndMessagesAreReceivedThroughTheLinksThatAreLeft) {
  for (test::FakeEnd& end : ends_) end.waits_at_end = true;
  arrive(0, 5);
  arrive(2, 6);
  fellows_->end();
  EXPECT_TRUE(ends_[0].closed);
  EXPECT_TRUE(ends_[2].closed);
  for (const test::FakeEnd& end : ends_) EXPECT_EQ(end.receives_when_closed, 0);
  const auto first = fellows_->next();
  ASSERT_TRUE(first);
  EXPECT_EQ(file_of(first->second), 5u);
}

TEST_F(ServerFellowServers, NothingIsSentToAServerThatHasEnded) {
  fellows_->ended(2);
  EXPECT_THAT(port_.forgotten, ElementsAre(model_ranks + 2));
  EXPECT_TRUE(fellows_->send(2, wire::FilePublished{5}));
  fellows_->broadcast(wire::FilePublished{5});
  EXPECT_THAT(ends_[2].received, IsEmpty());
  EXPECT_THAT(ends_[0].received, SizeIs(1));
}

TEST_F(ServerFellowServers, TellsServersFromModelRanks) {
  EXPECT_FALSE(fellows_->server_of(model_ranks - 1));
  EXPECT_EQ(fellows_->server_of(model_ranks + 2), 2u);
  EXPECT_TRUE(fellows_->linked());
}

TEST_F(ServerFellowServers, WithoutLinksThereIsNothingToTake) {
  FellowServers alone(port_, {}, model_ranks);
  arrive(2, 20);
  EXPECT_FALSE(alone.linked());
  EXPECT_FALSE(alone.next());
  EXPECT_FALSE(alone.server_of(model_ranks));
}

}  // namespace
}  // namespace afterbay::server
