// SPDX-License-Identifier: Apache-2.0
#include "client/pool_membership.hpp"

#include <utility>

namespace afterbay::client {
namespace {

constexpr std::size_t not_in_pool = ~std::size_t{0};

/// How a collection's files are divided among servers. Files that are appended to have one writer.
model::Split split_of(const PoolMembership::Files& files, std::size_t servers) {
  if (servers < 2 || !traits_of(files.format).shared || files.existing == config::Existing::append)
    return model::Split::none;
  if (files.placement == config::Placement::slab) return model::Split::slab;
  return files.placement == config::Placement::variable ? model::Split::variable : model::Split::none;
}

}  // namespace

PoolMembership::PoolMembership(std::vector<std::size_t> servers, std::size_t session_servers,
                               std::size_t number, const Files& files)
    : servers_(std::move(servers)),
      places_(session_servers, not_in_pool),
      number_(number),
      placement_(files.placement),
      split_(split_of(files, servers_.size())) {
  for (std::size_t i = 0; i < servers_.size(); ++i) places_[servers_[i]] = i;
}

bool PoolMembership::serves(std::size_t server) const noexcept {
  if (places_[server] == not_in_pool) return false;
  return takes_turns() || is_split() || server == server_of(0);
}

std::size_t PoolMembership::server_of(std::uint64_t nth_file) const noexcept {
  const std::uint64_t turn = placement_ == config::Placement::file ? nth_file : 0;
  return servers_[(number_ + turn) % servers_.size()];
}

void PoolMembership::add_candidates(std::vector<wire::Candidate>& candidates, std::uint64_t files) const {
  if (placement_ == config::Placement::least) {
    for (const std::size_t server : servers_) {
      const auto number = static_cast<std::uint32_t>(server);
      candidates.push_back({number, {number}});
    }
    return;
  }
  const auto leader = static_cast<std::uint32_t>(server_of(files));
  wire::Candidate& it = candidates.emplace_back(wire::Candidate{leader, {leader}});
  // Without a split, the one server that writes is known.
  if (is_split()) it.servers.assign(servers_.begin(), servers_.end());
}

}  // namespace afterbay::client
