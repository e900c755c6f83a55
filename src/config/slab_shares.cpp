// SPDX-License-Identifier: Apache-2.0
#include "config/slab_shares.hpp"

#include <algorithm>
#include <map>

namespace afterbay::config {
namespace {

/// Consecutive model ranks of one node. Positions are counted in parts of a rank.
struct Stretch {
  int node = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Consecutive servers on one node.
struct Group {
  int node = 0;
  std::uint64_t servers = 0;
};

/// The groups in which a node's servers are.
struct Groups {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Stretch> stretches_of(std::span<const int> models, std::uint64_t parts) {
  std::vector<Stretch> stretches;
  for (std::size_t r = 0; r < models.size(); ++r) {
    if (stretches.empty() || stretches.back().node != models[r])
      stretches.push_back({models[r], r * parts, r * parts});
    stretches.back().end += parts;
  }
  return stretches;
}

class Divider {
 public:
  Divider(std::span<const int> models, std::span<const int> servers)
      : equal_(models.size()),
        all_(models.size() * servers.size()),
        stretches_(stretches_of(models, servers.size())) {
    for (const int node : servers) {
      if (groups_.empty() || groups_.back().node != node) groups_.push_back({node, 0});
      ++groups_.back().servers;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto [at, is_new] = groups_of_.try_emplace(groups_[g].node, Groups{g, g});
      if (!is_new) at->second.last = g;
    }
  }

  [[nodiscard]] bool has_near_ranks() const {
    return std::ranges::any_of(stretches_, [&](const Stretch& it) { return groups_of_.contains(it.node); });
  }
  [[nodiscard]] bool has_several_nodes() const { return groups_of_.size() > 1; }

  [[nodiscard]] std::vector<std::uint64_t> shares() const {
    std::vector<std::uint64_t> shares;
    const std::uint64_t least = equal_ / 2, most = equal_ + equal_ / 2;
    std::uint64_t begin = 0, before = 0, left = all_ / equal_;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::uint64_t servers = groups_[g].servers;
      before += servers;
      left -= servers;
      std::uint64_t end = all_;
      if (left > 0)
        end = std::clamp(moved(before * equal_, g + 1),
                         std::max(begin + least * servers, all_ - std::min(all_, most * left)),
                         std::min(begin + most * servers, all_ - least * left));
      for (std::uint64_t s = 0; s < servers; ++s)
        shares.push_back((end - begin) * (s + 1) / servers - (end - begin) * s / servers);
      begin = end;
    }
    return shares;
  }

 private:
  /// Moves the boundary before a group over the ranks that are near the servers on its other side
  /// only.
  [[nodiscard]] std::uint64_t moved(std::uint64_t boundary, std::size_t group) const {
    const auto after = std::ranges::upper_bound(stretches_, boundary, {}, &Stretch::end);
    auto at = after;
    for (; at != stretches_.end() && is_near(*at, 0, group); ++at) boundary = at->end;
    if (at != after) return boundary;
    if (at == stretches_.end() || at->begin == boundary) {
      if (at == stretches_.begin()) return boundary;
      --at;
    }
    for (; is_near(*at, group, groups_.size()); --at) {
      boundary = at->begin;
      if (at == stretches_.begin()) break;
    }
    return boundary;
  }
  /// Whether all servers on the node are in groups [first, end), and there are some.
  [[nodiscard]] bool is_near(const Stretch& stretch, std::size_t first, std::size_t end) const {
    const auto found = groups_of_.find(stretch.node);
    return found != groups_of_.end() && found->second.first >= first && found->second.last < end;
  }

  std::uint64_t equal_;  ///< share of a server
  std::uint64_t all_;
  std::vector<Stretch> stretches_;
  std::vector<Group> groups_;
  std::map<int, Groups> groups_of_;  ///< by node
};

}  // namespace

std::vector<std::uint64_t> slab_shares(std::span<const int> models, std::span<const int> servers) {
  if (models.empty() || servers.size() < 2) return {};
  const Divider divider(models, servers);
  if (!divider.has_several_nodes() || !divider.has_near_ranks()) return {};
  return divider.shares();
}

double far_part_of_slabs(std::span<const int> models, std::span<const int> servers,
                         std::span<const std::uint64_t> shares) {
  if (models.empty() || servers.empty()) return 0;
  std::uint64_t far = 0;
  const auto parts = static_cast<std::uint64_t>(servers.size());
  const std::vector<Stretch> stretches = stretches_of(models, parts);
  auto at = stretches.begin();
  std::uint64_t begin = 0;
  for (std::size_t s = 0; s < servers.size(); ++s) {
    const std::uint64_t end = begin + (shares.empty() ? models.size() : shares[s]);
    while (begin < end && at != stretches.end()) {
      const std::uint64_t until = std::min(end, at->end);
      if (at->node != servers[s]) far += until - begin;
      begin = until;
      if (at->end == until) ++at;
    }
  }
  return static_cast<double>(far) / static_cast<double>(models.size() * parts);
}

double far_part_of_files(std::span<const int> models, std::span<const int> servers) {
  if (models.empty() || servers.empty()) return 0;
  std::map<int, double> ranks;
  for (const int node : models) ++ranks[node];
  double near = 0;
  for (const int node : servers)
    if (const auto found = ranks.find(node); found != ranks.end()) near += found->second;
  return 1 - near / static_cast<double>(models.size() * servers.size());
}

}  // namespace afterbay::config
