// SPDX-License-Identifier: Apache-2.0
// The start of a session: the messages of an exchange over the tree, and what rank 0 does for all.
#include <mpi.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.hpp"
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

std::vector<transport::network::RankCard> cards_of(const Case& it, bool tiered) {
  const std::size_t others = it.ranks + it.servers;
  const std::size_t all = others + (tiered ? divided_up(others, ranks_per_node - 1) : 0);
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
  std::int32_t frontend = -1;
  for (std::size_t r = 0; tiered && r < all; ++r) {
    transport::network::RankCard& card = cards[r];
    if (r % ranks_per_node == 0) frontend = -1;
    if (card.server != 0) continue;
    if (frontend < 0) {
      frontend = card.rank;
      card.frontend = 1;
      card.model = 0;
      card.routes = {};
      card.host = fmt::format("node{:05}", r / ranks_per_node);
    } else {
      card.routes = {frontend};
    }
  }
  return cards;
}

nlohmann::json measure_start(const Case& it, const config::Config& config) {
  const Memory before = memory_now();
  std::vector<transport::network::RankCard> cards =
      cards_of(it, config.servers.topology == config::Topology::tiered);
  const auto all = static_cast<int>(cards.size());
  const double begin = thread_cpu_s();
  const transport::network::Company company(std::move(cards));
  must(company.check({config.deadline, "", nullptr}));
  const mpi::TreeBranch root = mpi::branch_of(0, all);
  std::vector<mpi::Bytes> messages;  // MPI may keep all of them until their receivers are there
  std::uint64_t sent = 0;
  std::uint64_t heap = 0;
  for (std::size_t i = root.children.size(); i-- > 0;) {
    const int end = i + 1 < root.children.size() ? root.children[i + 1] : root.end;
    const transport::network::Views part = company.views(root.children[i], end);
    const mpi::Bytes encoded = wire::encode(part);
    sent += messages.emplace_back(encoded.begin(), encoded.end()).size();
    heap = std::max(heap, memory_now().heap);
  }
  const double views_s = thread_cpu_s() - begin;
  std::size_t most_of_model = 0;
  std::size_t most_of_server = 0;
  for (int r = 0; r < all; ++r) {
    std::size_t& most = company.card(r).server != 0 ? most_of_server : most_of_model;
    most = std::max(most, wire::encode(OneView{company.view_of(r)}).size());
  }
  config::Config job = config;
  job.servers.number = static_cast<int>(it.servers);
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
