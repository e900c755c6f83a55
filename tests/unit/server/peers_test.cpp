// SPDX-License-Identifier: Apache-2.0
// Peers without ranks and other servers: turns of the ranks, and who is lost.
#include "server/peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "unit/server/fake_transport.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Server 1 of 2, with three model ranks.
class ServerPeers : public ::testing::Test {
 protected:
  static constexpr std::size_t ranks = 3;

  ServerPeers() {
    auto port = std::make_unique<test::FakePort>();
    port_ = port.get();
    FellowServers::Links links;
    links.push_back(std::make_unique<test::FakeLink>(end_));
    links.push_back(nullptr);
    peers_.emplace(std::move(port), std::move(links), ranks);
  }
  void arrive(std::size_t peer, std::uint64_t ticket) {
    port_->arrived[peer].push_back(wire::encode(wire::Waiting{ticket}));
  }
  /// The senders and tickets of the messages of a turn; stops before a ticket that is not wanted.
  std::vector<std::pair<std::size_t, std::uint64_t>> receive(std::uint64_t unwanted = 0) {
    std::vector<std::pair<std::size_t, std::uint64_t>> taken;
    const auto ticket = [](std::span<const std::byte> message) {
      return wire::decode<wire::Waiting>(message)->ticket;
    };
    const bool did = peers_->receive(
        [&](std::span<const std::byte> it) { return ticket(it) != unwanted; },
        [&](std::size_t peer, std::span<const std::byte> it) { taken.emplace_back(peer, ticket(it)); });
    EXPECT_EQ(did, !taken.empty());
    return taken;
  }

  test::FakeEnd end_;
  test::FakePort* port_ = nullptr;
  std::optional<Peers> peers_;
};

TEST_F(ServerPeers, ARankWithManyMessagesDoesNotDelayOthers) {
  for (std::uint64_t i = 1; i <= Peers::most_messages_a_turn + 5; ++i) arrive(0, i);
  arrive(2, 1);
  auto taken = receive();
  ASSERT_THAT(taken, SizeIs(Peers::most_messages_a_turn + 1));
  EXPECT_THAT(taken.back(), Pair(2, 1));
  taken = receive();
  ASSERT_THAT(taken, SizeIs(5));
  EXPECT_THAT(taken.front(), Pair(0, Peers::most_messages_a_turn + 1));
  EXPECT_THAT(receive(), IsEmpty());
}

TEST_F(ServerPeers, AMessageThatIsNotTakenStaysAndHoldsBackLaterOnesOfItsRank) {
  for (const std::uint64_t ticket : {7, 8, 9}) arrive(1, ticket);
  arrive(2, 9);
  EXPECT_THAT(receive(8), ElementsAre(Pair(1, 7), Pair(2, 9)));
  EXPECT_THAT(receive(8), IsEmpty());
  EXPECT_THAT(receive(), ElementsAre(Pair(1, 8), Pair(1, 9)));
}

TEST_F(ServerPeers, SendsToOneOrAllRanks) {
  peers_->send(1, wire::TicketDone{4});
  peers_->send_to_ranks(wire::Bye{});
  EXPECT_THAT(port_->sent,
              ElementsAre(Pair(1, wire::encode(wire::TicketDone{4})), Pair(0, wire::encode(wire::Bye{})),
                          Pair(1, wire::encode(wire::Bye{})), Pair(2, wire::encode(wire::Bye{}))));
  EXPECT_THAT(end_.received, IsEmpty());
}

TEST_F(ServerPeers, NamesRanksAndServersThatAreLost) {
  port_->lost.push_back({2, Error(ErrorCode::peer_lost, "killed"), false});
  port_->lost.push_back({ranks + 0, Error(ErrorCode::peer_lost, "gone"), true});
  const auto rank = peers_->next_lost();
  ASSERT_TRUE(rank);
  EXPECT_FALSE(rank->is_server);
  EXPECT_EQ(rank->number, 2u);
  EXPECT_EQ(rank->error.message, "killed");
  const auto server = peers_->next_lost();
  ASSERT_TRUE(server);
  EXPECT_TRUE(server->is_server);
  EXPECT_EQ(server->number, 0u);
  EXPECT_TRUE(server->ended);
  peers_->servers().broadcast(wire::Farewell{});  // nothing is sent to it any more
  EXPECT_THAT(end_.received, IsEmpty());
  EXPECT_FALSE(peers_->next_lost());
}

TEST_F(ServerPeers, AServerWhoseLastMessagesWereNotHandledIsNotLostYet) {
  for (int i = 0; i < 2; ++i) port_->arrived[ranks + 0].push_back(wire::encode(wire::Farewell{}));
  ASSERT_TRUE(peers_->servers().next());
  for (int i = 0; i < 2; ++i) port_->lost.push_back({ranks + 0, Error(ErrorCode::peer_lost, "gone"), false});
  EXPECT_FALSE(peers_->next_lost());
  ASSERT_TRUE(peers_->servers().next());
  EXPECT_TRUE(peers_->next_lost());
}

}  // namespace
}  // namespace afterbay::server
