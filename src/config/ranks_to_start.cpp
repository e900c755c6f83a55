// SPDX-License-Identifier: Apache-2.0
#include "config/ranks_to_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.hpp"
#include "config/layout.hpp"

namespace afterbay::config {
namespace {

/// Tries totals, starting with a lower bound. One more rank adds at most one model rank (with whole
/// nodes: a node), so a total that is too low by some can be raised by that number at once.
class Search {
 public:
  Search(const Config& config, int model_ranks, int ranks_per_node)
      : config_(config), wanted_(model_ranks), per_node_(ranks_per_node) {
    config_.servers.model_ranks = 0;  // otherwise all other ranks would be spare
    for (const std::string& name : config.pools()) pools_.push_back(config.of_pool(name));
  }

  Result<RanksToStart> run() {
    const auto isolating =
        std::ranges::find_if(pools_, [](const Config& it) { return it.servers.layout.isolate; });
    if (isolating != pools_.end() && per_node_ == 0)
      return fail(ErrorCode::conflict,
                  "{}: isolate_nodes is on, so the node of each rank matters: give the number of ranks per "
                  "node (--ranks-per-node)",
                  isolating->origin("isolate_nodes").place);
    const std::int64_t step = isolating != pools_.end() ? per_node_ : 1;
    std::int64_t ranks = rounded_up(least(), step);
    // The last node may have no room for its servers until it is full: up to two more nodes.
    const int patience = std::min(2 * per_node_ + 2, 4096);
    for (int refused = 0;;) {
      if (ranks > most_ranks)
        return fail(ErrorCode::conflict, "{} model ranks need more than {} ranks with this layout", wanted_,
                    most_ranks);
      auto found = model_ranks_of(static_cast<int>(ranks));
      if (!found) {
        if (++refused > patience)
          return fail(std::move(found).error().add(
              fmt::format("while a number of ranks for {} model ranks was looked for", wanted_)));
        ranks += step;
        continue;
      }
      refused = 0;
      if (*found >= wanted_) return RanksToStart{static_cast<int>(ranks), *found - wanted_};
      ranks += rounded_up(wanted_ - *found, step);
    }
  }

 private:
  [[nodiscard]] Result<int> model_ranks_of(int ranks) const {
    AFTERBAY_TRY_ASSIGN(const auto assignments, assign_ranks(config_, nodes_in_turn(ranks, per_node_)));
    return static_cast<int>(std::ranges::count(assignments, RankKind::model, &RankAssignment::kind));
  }

  /// A lower bound: no layout works with fewer ranks.
  [[nodiscard]] std::int64_t least() const {
    std::int64_t own_nodes = 0, servers = 0, others = 0;
    for (const Config& it : pools_) {
      const bool by_node = it.servers.layout.per_node > 0 || it.servers.layout.nodes > 0;
      const bool fixed = !by_node || it.origin("servers").source != Source::fallback;
      const std::int64_t here = it.servers.layout.per_node > 0 ? it.servers.layout.per_node
                                : it.servers.layout.isolate    ? per_node_
                                                               : 1;
      const std::int64_t nodes = it.servers.layout.nodes > 0 ? it.servers.layout.nodes
                                 : fixed                     ? divided_up(it.servers.number, here)
                                                             : 1;
      if (it.servers.layout.isolate) {
        own_nodes += nodes;
        continue;
      }
      const std::int64_t count = fixed ? it.servers.number : here * nodes;
      servers += count;
      if (by_node)
        others = std::max(others, (nodes - 1) * std::max(per_node_, 1) + 1);
      else if (it.servers.layout.offset >= 0 || it.servers.layout.spacing > 0)
        others = std::max(others, std::max(it.servers.layout.offset, 0) +
                                      (count - 1) * std::max(it.servers.layout.spacing, 1) + 1);
    }
    return own_nodes * per_node_ + std::max(wanted_ + servers, others);
  }

  Config config_;
  std::vector<Config> pools_;
  int wanted_;
  int per_node_;
};

}  // namespace

Result<RanksToStart> ranks_for(const Config& config, int model_ranks, int ranks_per_node) {
  if (config.servers.model_ranks != 0 && config.servers.model_ranks != model_ranks)
    return fail(
        ErrorCode::conflict,
        "{}: model_ranks is {}, but a number of ranks for {} model ranks is requested: request {}, or "
        "leave the setting out",
        config.origin("model_ranks").place, config.servers.model_ranks, model_ranks,
        config.servers.model_ranks);
  if (config.servers.topology == Topology::inline_) return RanksToStart{model_ranks, 0};
  return Search(config, model_ranks, ranks_per_node).run();
}

}  // namespace afterbay::config
