// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/lane_table.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace afterbay::transport::network {
namespace {

struct FakeLane {
  std::deque<int> waiting;
  std::deque<int> sending;
};
using Table = LaneTable<FakeLane>;
using Visited = std::vector<std::pair<std::size_t, std::size_t>>;

Table make(std::size_t clients, std::size_t servers) {
  Table::Ends ranks, of_servers;
  for (std::size_t c = 0; c < clients; ++c) ranks.emplace_back(static_cast<int>(100 + c), 10 * c);
  for (std::size_t s = 0; s < servers; ++s) of_servers.emplace_back(static_cast<int>(5000 + s), s + 7);
  return {ranks, of_servers};
}

Visited visit(Table& table, bool stay = false) {
  Visited visited;
  table.visit([&](std::size_t client, std::size_t server) {
    visited.emplace_back(client, server);
    return stay;
  });
  return visited;
}

TEST(TransportLaneTable, finds_clients_and_servers_by_rank_and_number) {
  const Table table = make(3, 2);
  EXPECT_EQ(table.client_at(102), 2u);
  EXPECT_EQ(table.client_of(20), 2u);
  EXPECT_EQ(table.server_at(5001), 1u);
  EXPECT_EQ(table.server_of(8), 1u);
  EXPECT_FALSE(table.client_at(5001));
  EXPECT_FALSE(table.client_of(1));
  EXPECT_FALSE(table.server_at(102));
  EXPECT_FALSE(table.server_of(1));
}

TEST(TransportLaneTable, a_turn_visits_only_lanes_that_changed) {
  Table table = make(128, 1000);
  EXPECT_EQ(visit(table), Visited{});
  table.activate(127, 999);
  table.hold(3, 4, 1);
  table.activate(127, 999);
  EXPECT_EQ(visit(table, true), (Visited{{127, 999}, {3, 4}}));
  EXPECT_EQ(visit(table), (Visited{{127, 999}, {3, 4}}));
  EXPECT_EQ(visit(table), Visited{});
  table.activate_client(5);
  EXPECT_EQ(visit(table).size(), 1000u);
  table.activate_server(5);
  EXPECT_EQ(visit(table).size(), 128u);
}

TEST(TransportLaneTable, sums_are_those_of_all_lanes) {
  constexpr std::size_t clients = 4, servers = 3;
  Table table = make(clients, servers);
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const std::size_t c = random() % clients, s = random() % servers;
    FakeLane& lane = table.of(c, s);
    switch (random() % 4) {
      case 0: table.hold(c, s, i); break;
      case 1:
        if (lane.waiting.empty()) break;
        lane.sending.push_back(lane.waiting.front());
        table.pop_waiting(c, s);
        table.note_sending();
        break;
      case 2:
        if (!lane.sending.empty()) table.pop_sending(c, s);
        break;
      default:
        if (!lane.waiting.empty()) table.pop_waiting(c, s);
    }
    std::size_t waiting = 0, sending = 0;
    for (std::size_t client = 0; client < clients; ++client)
      for (std::size_t server = 0; server < servers; ++server) {
        const FakeLane& it = table.of(client, server);
        waiting += it.waiting.size();
        sending += it.sending.size();
      }
    ASSERT_EQ(table.waiting(), waiting);
    ASSERT_EQ(table.sending(), sending);
  }
}

TEST(TransportLaneTable, looks_at_one_lane_until_it_is_drained_and_at_all_in_the_end) {
  constexpr std::size_t lanes = 1000;
  Table table = make(10, 100);
  std::set<const FakeLane*> busy{&table.of(5, 0), &table.of(9, 99)};
  std::size_t looks = 0;
  const auto is_drained = [&](const FakeLane& lane, std::size_t) {
    ++looks;
    return !busy.contains(&lane);
  };
  EXPECT_FALSE(table.drained(is_drained));
  EXPECT_EQ(looks, 501u);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(table.drained(is_drained));
  EXPECT_EQ(looks, 601u);
  busy = {&table.of(0, 3)};  // was used again
  EXPECT_FALSE(table.drained(is_drained));
  busy.clear();
  looks = 0;
  EXPECT_TRUE(table.drained(is_drained));
  EXPECT_LE(looks, 2 * lanes);
}

}  // namespace
}  // namespace afterbay::transport::network
