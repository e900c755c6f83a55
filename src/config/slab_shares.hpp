// SPDX-License-Identifier: Apache-2.0
// Placement of slabs near the ranks that fill them: the shares of servers on several nodes. Pure
// functions, so that `afterbay check` gets the result of a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace afterbay::config {

/// The shares of a pool's servers in each file with the placement `slab`, in parts of one unit,
/// such that a server's slab is filled by the ranks of its node, if ranks hold equal parts in rank
/// order along the order of the file. A share is at least half of an equal one, and at most one and
/// a half. Empty: equal, because all servers are on one node or none has model ranks on its node.
/// `models`: the node of each model rank, in rank order; `servers`: of each server of the pool, in
/// their order.
std::vector<std::uint64_t> slab_shares(std::span<const int> models, std::span<const int> servers);

/// The shares of a pool's servers, given by their numbers, from those of all servers. Empty: equal.
template <class Numbers>
std::vector<std::uint64_t> slab_shares_of(const Numbers& servers, std::span<const std::uint64_t> of_all) {
  std::vector<std::uint64_t> shares;
  std::uint64_t sum = 0;
  for (const auto server : servers) {
    if (server >= of_all.size()) return {};
    sum += shares.emplace_back(of_all[server]);
  }
  return sum == 0 ? std::vector<std::uint64_t>() : shares;
}

/// The part of the data (0 to 1) that ranks and servers on different nodes exchange, under the same
/// assumption. `shares`: see above; empty: equal.
double far_part_of_slabs(std::span<const int> models, std::span<const int> servers,
                         std::span<const std::uint64_t> shares);
/// The same if one server writes each file or variable, and all servers equal amounts.
double far_part_of_files(std::span<const int> models, std::span<const int> servers);

}  // namespace afterbay::config
