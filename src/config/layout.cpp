// SPDX-License-Identifier: Apache-2.0
#include "config/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace afterbay::config {
namespace {

/// "ranks 0-2, 5"; many ranges are cut off.
std::string text_of_places(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  constexpr int most_ranges = 32;
  int ranges = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (++ranges > most_ranges) return text + fmt::format(" and {} others", ranks.size() - i);
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string counted(int number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

/// The servers that a pool requests, with the missing number derived from the other two.
struct Demand {
  int servers = 0;
  int per_node = 0;  ///< servers per node; 0: not by node
  int nodes = 0;     ///< 0: as many as necessary
};

/// Assigns the servers of all pools to ranks, one pool after the other.
class RankAssigner {
 public:
  RankAssigner(const Config& config, std::span<const int> nodes)
      : config_(config), assignments_(nodes.size()) {
    std::map<int, std::size_t> known;
    std::size_t at = 0;
    for (std::size_t r = 0; r < nodes.size(); ++r) {
      if (r == 0 || nodes[r] != nodes[r - 1]) at = known.try_emplace(nodes[r], nodes_.size()).first->second;
      if (at == nodes_.size()) nodes_.emplace_back();
      nodes_[at].ranks.push_back(static_cast<int>(r));
    }
    for (const std::string& name : config.pools()) pools_.push_back(config.of_pool(name));
  }

  /// The last ranks go to the last pool, so that by default servers are numbered in the order of
  /// their pools; whole nodes are taken first.
  Result<std::vector<RankAssignment>> run() {
    for (const bool isolated : {true, false})
      for (std::size_t p = pools_.size(); p-- > 0;)
        if (pools_[p].servers.layout.isolate == isolated)
          if (auto placed = assign(static_cast<int>(p)); !placed)
            return fail(std::move(placed).error().add(of_pool(static_cast<int>(p))));
    for (std::size_t p = 0; p < pools_.size(); ++p)
      if (pools_[p].servers.topology == Topology::tiered && !pools_[p].servers.layout.isolate)
        AFTERBAY_TRY(place_frontends(static_cast<int>(p)));
    AFTERBAY_TRY(count_models());
    return std::move(assignments_);
  }

 private:
  struct Node {
    std::vector<int> ranks;
    bool isolated = false;
  };

  [[nodiscard]] int ranks() const { return static_cast<int>(assignments_.size()); }
  [[nodiscard]] const Config& pool(int p) const { return pools_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::string of_pool(int p) const {
    const std::string name = config_.pools()[static_cast<std::size_t>(p)];
    return name.empty()
               ? "while I/O servers were placed among the ranks"
               : fmt::format("while the I/O servers of the pool '{}' were placed among the ranks", name);
  }
  static bool said(const Config& pool, std::string_view name) {
    return pool.origin(name).source != Source::fallback;
  }
  /// "run.yaml:3:12: servers is 6".
  static std::string quoted(const Config& pool, std::string_view name, int value) {
    return fmt::format("{}: {} is {}", pool.origin(name).place, name, value);
  }
  [[nodiscard]] bool is_free(int rank) const { return assignments_[static_cast<std::size_t>(rank)].pool < 0; }
  void take(int rank, int p, RankKind kind) { assignments_[static_cast<std::size_t>(rank)] = {kind, p}; }

  [[nodiscard]] std::string layout_text() const {
    std::string text =
        counted(ranks(), "rank") + " on " + counted(static_cast<int>(nodes_.size()), "node") + " (";
    for (std::size_t n = 0; n < nodes_.size() && n < 8; ++n)
      text += fmt::format("{}{}", n == 0 ? "" : " + ", nodes_[n].ranks.size());
    return text + (nodes_.size() > 8 ? " + ...)" : ")");
  }

  /// Two of servers, servers per node and nodes determine the third.
  Result<Demand> demand(const Config& it) const {
    Demand demand{it.servers.number, it.servers.layout.per_node, it.servers.layout.nodes};
    const bool fixed = said(it, "servers");
    if (demand.per_node > 0 && demand.nodes > 0) {
      const std::int64_t product = std::int64_t{demand.per_node} * demand.nodes;
      if (fixed && product != demand.servers)
        return fail(ErrorCode::conflict,
                    "{}, but servers_per_node {} x server_nodes {} = {}: leave one of the three out",
                    quoted(it, "servers", demand.servers), demand.per_node, demand.nodes, product);
      demand.servers = static_cast<int>(std::min<std::int64_t>(product, std::numeric_limits<int>::max()));
    } else if (demand.per_node > 0 && fixed) {
      if (demand.servers % demand.per_node != 0)
        return fail(ErrorCode::conflict,
                    "{}, which is not a multiple of servers_per_node {}: {} nodes would hold {} and one {}",
                    quoted(it, "servers", demand.servers), demand.per_node, demand.servers / demand.per_node,
                    demand.per_node, demand.servers % demand.per_node);
      demand.nodes = demand.servers / demand.per_node;
    } else if (demand.nodes > 0 && fixed) {
      if (demand.servers % demand.nodes != 0)
        return fail(ErrorCode::conflict,
                    "{}, which cannot be distributed evenly over server_nodes {}: {} / {} "
                    "leaves {}",
                    quoted(it, "servers", demand.servers), demand.nodes, demand.servers, demand.nodes,
                    demand.servers % demand.nodes);
      demand.per_node = demand.servers / demand.nodes;
    } else if (demand.nodes > 0 && !it.servers.layout.isolate) {
      demand.per_node = 1;
    } else if (demand.per_node > 0 && it.servers.layout.isolate) {
      demand.nodes = 1;
    }
    return demand;
  }

  Result<> assign(int p) {
    const Config& it = pool(p);
    AFTERBAY_TRY_ASSIGN(const Demand wanted, demand(it));
    if (it.servers.layout.isolate) return place_on_own_nodes(p, wanted);
    if (wanted.per_node > 0) return place_by_node(p, wanted);
    return place_by_rank(p, wanted.servers);
  }

  // ---- nodes with servers and without model ranks

  Result<> place_on_own_nodes(int p, const Demand& wanted) {
    const Config& it = pool(p);
    AFTERBAY_TRY_ASSIGN(const std::vector<std::size_t> mine, own_nodes(it, wanted));
    int left = wanted.servers;
    for (const std::size_t n : mine) {
      Node& node = nodes_[n];
      node.isolated = true;
      const int here = wanted.per_node > 0 ? wanted.per_node
                       : wanted.nodes > 0  ? static_cast<int>(node.ranks.size())
                                           : std::min(left, static_cast<int>(node.ranks.size()));
      left -= here;
      for (const int rank : node.ranks) take(rank, p, RankKind::spare);
      AFTERBAY_TRY_ASSIGN(const std::vector<int> servers,
                          choose(it, node.ranks, here, fmt::format("node {}", n), RankKind::spare));
      for (const int rank : servers) take(rank, p, RankKind::server);
      if (it.servers.topology == Topology::tiered) AFTERBAY_TRY(make_rest_frontends(p, n));
    }
    return {};
  }

  /// The last nodes that no pool has taken.
  Result<std::vector<std::size_t>> own_nodes(const Config& it, const Demand& wanted) const {
    std::vector<std::size_t> found;
    int room = 0;
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      if (wanted.nodes > 0 ? static_cast<int>(found.size()) == wanted.nodes : room >= wanted.servers) break;
      if (nodes_[n].isolated) continue;
      found.insert(found.begin(), n);
      room += static_cast<int>(nodes_[n].ranks.size());
    }
    const bool enough =
        wanted.nodes > 0 ? static_cast<int>(found.size()) == wanted.nodes : room >= wanted.servers;
    const auto taken = std::ranges::count_if(nodes_, &Node::isolated);
    if (enough && static_cast<std::size_t>(taken) + found.size() < nodes_.size()) return found;
    const std::string asked =
        wanted.nodes > 0 ? counted(wanted.nodes, "node") : counted(wanted.servers, "server");
    return fail(ErrorCode::conflict,
                "{}: isolate_nodes is on, and {} of their own are requested, but there are {}, of which {} "
                "are taken by other pools and at least one must be left for the model: start the job on more "
                "nodes, or set isolate_nodes to off",
                it.origin("isolate_nodes").place, asked, layout_text(), taken);
  }

  Result<> make_rest_frontends(int p, std::size_t n) {
    int frontends = 0;
    for (const int rank : nodes_[n].ranks)
      if (assignments_[static_cast<std::size_t>(rank)].kind == RankKind::spare) {
        take(rank, p, RankKind::frontend);
        ++frontends;
      }
    if (frontends > 0) return {};
    return fail(ErrorCode::conflict,
                "topology is tiered and isolate_nodes is on: the ranks of a node beside its servers are its "
                "frontends, but node {} has {}, all of them servers: lower servers_per_node or start more "
                "ranks there",
                n, counted(static_cast<int>(nodes_[n].ranks.size()), "rank"));
  }

  // ---- servers beside model ranks

  Result<> place_by_node(int p, const Demand& wanted) {
    const Config& it = pool(p);
    std::vector<std::size_t> usable;
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (!nodes_[n].isolated) usable.push_back(n);
    const auto all = static_cast<int>(usable.size());
    if (wanted.nodes > all)
      return fail(
          ErrorCode::conflict,
          "{} servers on each of {} nodes are requested, but there are {}{}: lower server_nodes",
          wanted.per_node, wanted.nodes, layout_text(),
          all == static_cast<int>(nodes_.size()) ? "" : fmt::format(", {} of them not isolated", all));
    const int first = wanted.nodes > 0 ? all - wanted.nodes : 0;
    for (int i = first; i < all; ++i) {
      const std::size_t n = usable[static_cast<std::size_t>(i)];
      AFTERBAY_TRY_ASSIGN(const std::vector<int> servers, choose(it, nodes_[n].ranks, wanted.per_node,
                                                                 fmt::format("node {}", n), RankKind::model));
      for (const int rank : servers) take(rank, p, RankKind::server);
    }
    return {};
  }

  Result<> place_by_rank(int p, int wanted) {
    const Config& it = pool(p);
    std::vector<int> usable;
    for (int r = 0; r < ranks(); ++r)
      if (is_free(r) || it.servers.layout.offset >= 0 || it.servers.layout.spacing > 0) usable.push_back(r);
    const auto room = static_cast<int>(usable.size());
    if (wanted >= room)
      return fail(
          ErrorCode::conflict,
          "{}, but the communicator has {}{}, which leaves {} for the model; start at least {} ranks, "
          "lower servers, or set topology to inline",
          quoted(it, "servers", wanted), counted(ranks(), "rank"),
          room == ranks() ? "" : fmt::format(" and {} of them are taken", ranks() - room),
          std::max(room - wanted, 0), wanted + 1 + ranks() - room);
    AFTERBAY_TRY_ASSIGN(const std::vector<int> servers,
                        choose(it, usable, wanted, "the communicator", RankKind::model));
    for (const int rank : servers) take(rank, p, RankKind::server);
    return {};
  }

  /// Chooses `count` of `ranks`, the ranks of `where`: by offset and spacing, or the last that are
  /// free.
  Result<std::vector<int>> choose(const Config& it, const std::vector<int>& ranks, int count,
                                  const std::string& where, RankKind free_kind) const {
    const auto usable = [&](int rank) {
      const RankAssignment& assigned = assignments_[static_cast<std::size_t>(rank)];
      return assigned.kind == free_kind && (free_kind == RankKind::spare || assigned.pool < 0);
    };
    const auto size = static_cast<int>(ranks.size());
    std::vector<int> chosen;
    if (it.servers.layout.offset < 0 && it.servers.layout.spacing == 0) {
      for (int i = size; i-- > 0 && static_cast<int>(chosen.size()) < count;)
        if (usable(ranks[static_cast<std::size_t>(i)]))
          chosen.insert(chosen.begin(), ranks[static_cast<std::size_t>(i)]);
      if (static_cast<int>(chosen.size()) == count) return chosen;
      return fail(ErrorCode::conflict, "{} requested on {}, which has {}, {} of them free",
                  counted(count, "server"), where, counted(size, "rank"), chosen.size());
    }
    const int offset = std::max(it.servers.layout.offset, 0);
    const int spacing = std::max(it.servers.layout.spacing, 1);
    for (int i = 0; i < count; ++i) {
      const std::int64_t at = offset + std::int64_t{i} * spacing;
      if (at >= size)
        return fail(ErrorCode::conflict,
                    "server {} of {} would be at server_offset {} + {} x server_spacing {} = {}, but {} has "
                    "the ranks 0 to {} only (counted there)",
                    i, count, offset, i, spacing, at, where, size - 1);
      const int rank = ranks[static_cast<std::size_t>(at)];
      if (!usable(rank))
        return fail(ErrorCode::conflict,
                    "server_offset {} + {} x server_spacing {} is rank {}, which is taken "
                    "by another pool",
                    offset, i, spacing, rank);
      chosen.push_back(rank);
    }
    return chosen;
  }

  // ---- the remaining ranks

  /// Places frontends on every node that has or would have model ranks.
  Result<> place_frontends(int p) {
    const Config& it = pool(p);
    const int wanted = std::max(it.servers.layout.frontends_per_node, 1);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      std::vector<int> free;
      for (const int rank : nodes_[n].ranks)
        if (is_free(rank)) free.push_back(rank);
      if (free.empty()) continue;
      if (static_cast<int>(free.size()) <= wanted)
        return fail(
            make_error(ErrorCode::conflict,
                       "topology is tiered and every node with model ranks has frontends ({}), but "
                       "node {} has {}, {} of them free, which leaves {} for the model: start more "
                       "ranks there, lower frontends_per_node, or give the servers nodes of their own "
                       "(isolate_nodes)",
                       wanted, n, counted(static_cast<int>(nodes_[n].ranks.size()), "rank"), free.size(),
                       std::max(static_cast<int>(free.size()) - wanted, 0))
                .add(of_pool(p)));
      for (int i = 0; i < wanted; ++i)
        take(free[free.size() - 1 - static_cast<std::size_t>(i)], p, RankKind::frontend);
    }
    return {};
  }

  /// The remaining ranks are model ranks, or the first `model_ranks` of them.
  Result<> count_models() {
    std::vector<int> left;
    for (int r = 0; r < ranks(); ++r)
      if (is_free(r)) left.push_back(r);
    const int wanted = config_.servers.model_ranks;
    const auto found = static_cast<int>(left.size());
    if (found == 0)
      return fail(
          ErrorCode::conflict,
          "all of {} are to serve, which leaves 0 for the model; start more ranks or lower the number "
          "of servers",
          layout_text());
    if (wanted == 0) return {};
    if (found < wanted)
      return fail(ErrorCode::conflict,
                  "{}, but of {} only {} do not serve: {} - {} = {}; start {} more ranks",
                  quoted(config_, "model_ranks", wanted), layout_text(), found, ranks(), ranks() - found,
                  found, wanted - found);
    for (int i = wanted; i < found; ++i)
      assignments_[static_cast<std::size_t>(left[static_cast<std::size_t>(i)])].kind = RankKind::spare;
    return {};
  }

  const Config& config_;
  std::vector<Config> pools_;
  std::vector<Node> nodes_;
  std::vector<RankAssignment> assignments_;
};

/// If servers were started as server processes, the launcher has placed them.
Result<> check_nothing_is_placed(const Config& pool) {
  for (const char* name : {"servers_per_node", "server_nodes", "server_offset", "server_spacing",
                           "isolate_nodes", "frontends_per_node", "model_ranks"})
    if (pool.origin(name).source != Source::fallback)
      return fail(
          ErrorCode::conflict,
          "{}: {} is set, but servers were started as such ('afterbay serve'), where the launcher places "
          "them: leave it out",
          pool.origin(name).place, name);
  return {};
}

/// Frontends without model ranks are spare.
void leave_idle_frontends_out(const Config& config, std::vector<RankAssignment>& assignments,
                              std::span<const int> nodes) {
  std::set<int> used;
  for (const auto& of_pool : frontends_of_ranks(config, assignments, nodes))
    used.insert(of_pool.begin(), of_pool.end());
  for (std::size_t r = 0; r < assignments.size(); ++r)
    if (assignments[r].kind == RankKind::frontend && !used.contains(static_cast<int>(r)))
      assignments[r].kind = RankKind::spare;
}

}  // namespace

Result<std::vector<RankAssignment>> assign_ranks(const Config& config, std::span<const int> nodes) {
  AFTERBAY_TRY_ASSIGN(auto assignments, RankAssigner(config, nodes).run());
  leave_idle_frontends_out(config, assignments, nodes);
  return assignments;
}

std::vector<int> nodes_in_turn(int ranks, int ranks_per_node) {
  std::vector<int> nodes(static_cast<std::size_t>(ranks), 0);
  for (int r = 0; r < ranks && ranks_per_node > 0; ++r)
    nodes[static_cast<std::size_t>(r)] = r / ranks_per_node;
  return nodes;
}

std::vector<std::vector<int>> frontends_of_ranks(const Config& config,
                                                 std::span<const RankAssignment> assignments,
                                                 std::span<const int> nodes) {
  std::vector<std::vector<int>> routes;
  for (std::size_t p = 0; p < config.pools().size(); ++p) {
    std::vector<int> all;
    std::map<int, std::vector<int>> near;  // by node
    for (std::size_t r = 0; r < assignments.size(); ++r) {
      if (assignments[r].kind != RankKind::frontend || assignments[r].pool != static_cast<int>(p)) continue;
      all.push_back(static_cast<int>(r));
      near[nodes[r]].push_back(static_cast<int>(r));
    }
    std::vector<int>& of_pool = routes.emplace_back(assignments.size(), -1);
    std::map<int, std::size_t> turns;  // by node; one common entry for nodes without a frontend
    constexpr int elsewhere = -1;
    for (std::size_t r = 0; r < assignments.size() && !all.empty(); ++r) {
      if (assignments[r].kind != RankKind::model) continue;
      const auto here = near.find(nodes[r]);
      const std::vector<int>& among = here == near.end() ? all : here->second;
      of_pool[r] = among[turns[here == near.end() ? elsewhere : nodes[r]]++ % among.size()];
    }
  }
  return routes;
}

Result<std::vector<RankAssignment>> assign_started_servers(const Config& config,
                                                           const std::vector<bool>& serves,
                                                           std::span<const int> nodes) {
  std::vector<int> servers;
  for (std::size_t r = 0; r < serves.size(); ++r)
    if (serves[r]) servers.push_back(static_cast<int>(r));
  const auto started = static_cast<int>(servers.size());
  if (servers.size() == serves.size())
    return fail(ErrorCode::conflict, "all {} ranks are server processes: there is no model rank", started);
  std::vector<RankAssignment> assignments(serves.size());
  std::size_t next = 0;
  int wanted = 0;
  const std::vector<std::string> names = config.pools();
  for (std::size_t p = 0; p < names.size(); ++p) {
    const Config pool = config.of_pool(names[p]);
    AFTERBAY_TRY(check_nothing_is_placed(pool));
    const bool tiered = pool.servers.topology == Topology::tiered;
    const bool all = names.size() == 1 && pool.origin("servers").source == Source::fallback;
    const int backends = all && !tiered ? started : pool.servers.number;
    const int frontends = tiered ? (names.size() == 1 ? started - backends : 1) : 0;
    wanted += backends + std::max(frontends, tiered ? 1 : 0);
    for (int i = 0; i < frontends + backends && next < servers.size(); ++i)
      assignments[static_cast<std::size_t>(servers[next++])] = {
          i < frontends ? RankKind::frontend : RankKind::server, static_cast<int>(p)};
  }
  if (wanted == started) {
    leave_idle_frontends_out(config, assignments, nodes);
    return assignments;
  }
  if (names.size() == 1)
    return fail(
        ErrorCode::conflict,
        "{} of {} ranks are server processes, but 'servers' is {} ({}){}: leave it out or make it equal",
        started, serves.size(), config.of_pool(names[0]).servers.number,
        config.of_pool(names[0]).origin("servers").place,
        wanted > started && config.of_pool(names[0]).servers.topology == Topology::tiered
            ? ", and a tiered topology needs at least one more, as a frontend"
            : "");
  return fail(ErrorCode::conflict,
              "{} of {} ranks are server processes, but the {} pools have {} servers together", started,
              serves.size(), names.size(), wanted);
}

std::string text_of(const Config& config, std::span<const RankAssignment> assignments) {
  std::string text;
  const auto add = [&](const std::string& what, const RankAssignment& kind, bool any_pool) {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < assignments.size(); ++r)
      if (assignments[r].kind == kind.kind && (any_pool || assignments[r].pool == kind.pool))
        ranks.push_back(static_cast<int>(r));
    if (!ranks.empty()) text += fmt::format("{}: {}\n", what, text_of_places(ranks));
  };
  add("model", {RankKind::model, -1}, true);
  const std::vector<std::string> names = config.pools();
  for (std::size_t p = 0; p < names.size(); ++p) {
    const std::string of = names[p].empty() ? "" : fmt::format(" of the pool '{}'", names[p]);
    add("frontends" + of, {RankKind::frontend, static_cast<int>(p)}, false);
    add("servers" + of, {RankKind::server, static_cast<int>(p)}, false);
  }
  add("spare", {RankKind::spare, -1}, true);
  return text;
}

}  // namespace afterbay::config
