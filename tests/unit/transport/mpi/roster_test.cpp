// SPDX-License-Identifier: Apache-2.0
// What ranks are told about each other, at sizes at which no test can run.
#include "transport/mpi/roster.hpp"

#include <gmock/gmock.h>

#include <cstdio>

namespace afterbay::transport::network {
namespace {

template <class T>
std::size_t encoded_bytes(const T& value) {
  std::vector<std::byte> bytes;
  wire::OutputArchive archive(bytes);
  archive(value);
  return bytes.size();
}

struct Job {
  int ranks = 100'000;
  int servers = 1000;  ///< the last ranks of nodes, one or more on each
  int per_node = 125;
  int frontends_per_node = 0;
};

std::vector<RankCard> cards_of(const Job& job) {
  const int nodes = job.ranks / job.per_node;
  std::vector<RankCard> cards(static_cast<std::size_t>(job.ranks));
  int servers = 0;
  for (int node = 0; node < nodes; ++node) {
    const int first = node * job.per_node;
    const int here = (node + 1) * job.servers / nodes - servers;
    servers += here;
    for (int i = 0; i < job.per_node; ++i) {
      RankCard& card = cards[static_cast<std::size_t>(first + i)];
      card.rank = first + i;
      card.machine = static_cast<std::uint64_t>(node) + 77;
      card.pid = static_cast<std::uint32_t>(1000 + i);
      card.server = i >= job.per_node - here ? 1 : 0;
      card.frontend = i < job.frontends_per_node ? 1 : 0;
      card.model = card.server == 0 && card.frontend == 0 ? 1 : 0;
      if (card.model == 0) card.host = "node-" + std::to_string(node);
      if (card.model != 0 && job.frontends_per_node > 0) card.routes = {first + i % job.frontends_per_node};
    }
  }
  return cards;
}

TEST(Tree, every_rank_has_one_parent_and_subtrees_are_consecutive) {
  for (const int size : {1, 2, 3, 5, 8, 13, 100, 1000}) {
    std::vector<int> parents(static_cast<std::size_t>(size), -1);
    for (int r = 0; r < size; ++r) {
      const mpi::TreeBranch branch = mpi::branch_of(r, size);
      int next = r + 1;
      for (std::size_t i = 0; i < branch.children.size(); ++i) {
        const int child = branch.children[i];
        EXPECT_EQ(child, next) << "the ranks below children are consecutive";
        const mpi::TreeBranch below = mpi::branch_of(child, size);
        EXPECT_EQ(below.parent, r);
        EXPECT_LT(below.height(), branch.height());
        next = below.end;
        EXPECT_EQ(parents[static_cast<std::size_t>(child)], -1);
        parents[static_cast<std::size_t>(child)] = r;
      }
      EXPECT_EQ(branch.end, next);
      EXPECT_LE(1 << (branch.children.size() > 0 ? branch.children.size() - 1 : 0), size);
    }
  }
}

TEST(Turns, lists_that_repeat_are_short) {
  const auto round_trip = [](const std::vector<std::int32_t>& list) {
    const std::vector<Turns> turns = to_turns(list);
    EXPECT_EQ(from_turns(turns), list);
    return turns.size();
  };
  EXPECT_EQ(round_trip({}), 0U);
  EXPECT_EQ(round_trip({5}), 1U);
  EXPECT_EQ(round_trip(std::vector<std::int32_t>(1000, 4)), 1U);
  std::vector<std::int32_t> nodes;  // two frontends on each of 100 nodes, in turn
  for (int node = 0; node < 100; ++node)
    for (int i = 0; i < 62; ++i) nodes.push_back(node * 64 + i % 2);
  EXPECT_EQ(round_trip(nodes), 100U);
  std::vector<std::int32_t> mixed{1, 2, 3, 1, 2, 9, 9, 9, -1, -1, 1, 2, 3, 4};
  round_trip(mixed);
}

TEST(Roster, what_a_model_rank_is_told_does_not_grow_with_the_ranks) {
  const Company few(cards_of({.ranks = 1000, .servers = 8}));
  const Company many(cards_of({}));
  EXPECT_EQ(encoded_bytes(few.view_of(3)), encoded_bytes(many.view_of(50'003)));
  EXPECT_LT(encoded_bytes(many.view_of(50'003)), 128U);
  const std::size_t ranges = RankRanges(many.models()).ranges().size();
  EXPECT_LE(ranges, many.servers().size());
  std::printf("a model rank of 100 000: view %zu bytes; 1000 servers: %zu bytes; %zu ranges of model ranks\n",
              encoded_bytes(many.view_of(50'003)), 1000 * sizeof(RankCard), ranges);
}

TEST(Roster, a_server_is_told_about_the_ranks_of_its_node) {
  const Company company(cards_of({}));
  const int server = company.servers().back();
  const RankView view = company.view_of(server);
  EXPECT_EQ(view.near.size(), 123U);
  for (const NearModel& it : view.near) {
    const RankCard& card = company.card(company.models()[it.model]);
    EXPECT_EQ(card.machine, company.card(server).machine);
    EXPECT_EQ(card.pid, it.pid);
    EXPECT_EQ(it.shares, 1);
  }
  EXPECT_TRUE(company.views(server, server + 1).relayed.empty());
  std::printf("a server of 100 000 ranks: view %zu bytes\n", encoded_bytes(view));
  EXPECT_LT(encoded_bytes(view), 4096U);
}

TEST(Roster, frontends_and_servers_behind_them_are_told_who_sends_through_whom) {
  const Company company(cards_of({.frontends_per_node = 2}));
  EXPECT_TRUE(company.check({}));
  const int server = company.servers().front();
  const Views to_server = company.views(server, server + 1);
  ASSERT_EQ(to_server.relayed.size(), 1U);
  const std::vector<std::int32_t> routes = from_turns(to_server.relayed[0].routes);
  ASSERT_EQ(routes.size(), company.models().size());
  for (std::size_t m = 0; m < routes.size(); ++m)
    ASSERT_EQ(routes[m], company.card(company.models()[m]).routes.front());
  EXPECT_EQ(to_server.relayed[0].frontends.size(), company.frontends().size());
  std::printf("a server of 100 000 ranks, 1600 frontends: %zu bytes\n", encoded_bytes(to_server.relayed[0]));
  EXPECT_LT(encoded_bytes(to_server.relayed[0]), 256U * 1024);

  const int frontend = company.frontends()[5];
  const RankView of_frontend = company.view_of(frontend);
  EXPECT_EQ(of_frontend.clients, of_frontend.near_clients);
  std::size_t slot = 0;
  for (const std::uint64_t client : of_frontend.clients) {
    const RankView of_model = company.view_of(company.models()[client]);
    ASSERT_EQ(of_model.vias.size(), 1U);
    EXPECT_EQ(of_model.vias[0].card.rank, frontend);
    EXPECT_EQ(of_model.vias[0].clients, of_frontend.clients.size());
    EXPECT_EQ(of_model.vias[0].near, of_frontend.near_clients.size());
    EXPECT_EQ(of_model.vias[0].slot, slot++);
  }
}

/// What rank 0 holds and sends while a tiered session opens: frontends and servers are not
/// multiplied.
TEST(Roster, who_sends_through_whom_is_sent_once_for_all_servers) {
  const auto bytes_of_half = [](int servers) {
    const Company company(cards_of({.servers = servers, .frontends_per_node = 2}));
    return encoded_bytes(company.views(50'000, 100'000));  // the part of rank 0's last child
  };
  const std::size_t few = bytes_of_half(100);
  const std::size_t many = bytes_of_half(1000);
  std::printf("to half of 100 000 ranks: %zu bytes with 100 servers, %zu with 1000\n", few, many);
  EXPECT_LT(many, few + 900U * 8 * 1024) << "the ranks on the node of each server";
  EXPECT_LT(many, 16U << 20);
  EXPECT_GT(few, 1U << 20);
}

/// Two pools: ranks on the way pass on what the servers below them need, and nothing else.
TEST(Roster, parts_for_fewer_ranks_are_those_that_rank_0_would_make) {
  std::vector<RankCard> cards =
      cards_of({.ranks = 60, .servers = 6, .per_node = 10, .frontends_per_node = 2});
  for (RankCard& it : cards) {
    const bool second = it.rank % 10 == 1 || it.rank == 59;  // a frontend of each node, the last server
    if (it.server != 0 || it.frontend != 0) it.pool = second ? 1 : 0;
    if (it.model != 0) it.routes = {it.rank / 10 * 10, it.rank / 10 * 10 + 1};
  }
  const Company company(cards);
  ASSERT_TRUE(company.check({}));
  const Views all = company.views(0, 60);
  ASSERT_EQ(all.relayed.size(), 2U);
  for (int first = 0; first < 60; ++first)
    for (int end = first + 1; end <= 60; ++end) {
      const Views made = company.views(first, end);
      const Views passed_on = all.part(0, first, end);
      ASSERT_EQ(encoded_bytes(passed_on), encoded_bytes(made)) << first << " " << end;
      const Views again = passed_on.part(first, first, end);
      ASSERT_EQ(wire::encode(again), wire::encode(made)) << first << " " << end;
      std::vector<std::int32_t> needed;
      for (const int server : company.servers())
        if (first <= server && server < end && (needed.empty() || needed.back() != company.card(server).pool))
          needed.push_back(company.card(server).pool);
      ASSERT_EQ(made.relayed.size(), needed.size()) << first << " " << end;
      for (std::size_t i = 0; i < needed.size(); ++i) {
        EXPECT_EQ(made.relayed[i].pool, needed[i]);
        EXPECT_EQ(from_turns(made.relayed[i].routes).size(), company.models().size());
        EXPECT_EQ(made.relayed[i].frontends.size(), 6U);
      }
    }
}

}  // namespace
}  // namespace afterbay::transport::network
