// SPDX-License-Identifier: Apache-2.0
// The start of a session: the messages of an exchange over the tree, and what rank 0 does for all.
#include <mpi.h>

#include <fmt/format.h>

#include <algorithm>

#include "config/layout.hpp"
#include "mpi/tree.hpp"
#include "scale/cards.hpp"
#include "scale/emulation.hpp"
#include "wire/archive.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr std::size_t ranks_per_node = 128;

/// Messages that the busiest rank sends and receives in one exchange.
std::size_t messages_of_exchange(int ranks) {
  std::size_t most = 0;
  for (int r = 0; r < ranks; ++r) {
    const mpi::TreeBranch branch = mpi::branch_of(r, ranks);
    most = std::max(most, 2 * (branch.children.size() + (branch.parent >= 0 ? 1 : 0)));
  }
  return most;
}

}  // namespace

std::vector<transport::network::RankCard> cards_of(const Case& it) {
  const std::size_t all = it.ranks + it.servers;
  std::vector<transport::network::RankCard> cards(all);
  const std::size_t distance = all / it.servers;
  for (std::size_t r = 0; r < all; ++r) {
    transport::network::RankCard& card = cards[r];
    card.rank = static_cast<std::int32_t>(r);
    card.server = r % distance == distance - 1 && r / distance < it.servers ? 1 : 0;
    card.model = card.server != 0 ? 0 : 1;
    card.machine = r / ranks_per_node + 1;
    card.pid = static_cast<std::uint32_t>(r % ranks_per_node + 1);
    card.pid_space = card.machine;
    if (card.server != 0) card.host = fmt::format("node{:05}", r / ranks_per_node);
    if (card.model != 0) card.routes = {-1};
  }
  return cards;
}

nlohmann::json measure_start(const Case& it, const config::Config& config) {
  const auto all = static_cast<int>(it.ranks + it.servers);
  std::vector<transport::network::RankCard> cards = cards_of(it);
  const Memory before = memory_now();
  const double begin = thread_cpu_s();
  const transport::network::Company company(std::move(cards));
  must(company.check({config.deadline, "", nullptr}));
  std::size_t most_of_model = 0;
  std::size_t most_of_server = 0;
  std::uint64_t sent = 0;
  std::uint64_t heap = 0;
  for (int r = 0; r < all; ++r) {
    const std::size_t bytes = wire::encode(OneView{company.view_of(r)}).size();
    std::size_t& most = company.card(r).server != 0 ? most_of_server : most_of_model;
    most = std::max(most, bytes);
    sent += bytes;
    if (r % 1024 == 0) heap = std::max(heap, memory_now().heap);
  }
  const double views_s = thread_cpu_s() - begin;
  config::Config job = config;
  job.servers = static_cast<int>(it.servers);
  const double roles_begin = thread_cpu_s();
  const auto nodes = config::nodes_in_turn(all, ranks_per_node);
  const auto assignments = must(config::assign_ranks(job, nodes));
  return {{"exchange_messages", messages_of_exchange(all)},
          {"views_s", views_s},
          {"roles_s", thread_cpu_s() - roles_begin},
          {"model_view", most_of_model},
          {"server_view", most_of_server},
          {"views_bytes", sent},
          {"memory", grown(before.heap, heap)},
          {"placed", assignments.size()}};
}

}  // namespace bench
