// SPDX-License-Identifier: Apache-2.0
#include "session/job_demand.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "base/rounding.hpp"
#include "base/units.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/footprint.hpp"

namespace afterbay::session {
namespace {

constexpr std::uint64_t own_files = 64;    ///< for MPI, libraries and logs
constexpr std::uint64_t files_a_file = 3;  ///< open per output file
/// Created at the same time, if no more collections are named.
constexpr std::uint64_t files_in_making = 16;
/// What a server keeps of each model rank, beside its end of the pair.
constexpr std::uint64_t server_bytes_of_a_rank = 64;

std::size_t of(int count) { return static_cast<std::size_t>(std::max(count, 0)); }

/// How model ranks reach servers, in any of the pools.
struct Routes {
  bool direct = false;
  bool by_frontends = false;
};
Routes routes_of(const config::Config& config) {
  Routes routes;
  for (const std::string& pool : config.pools()) {
    const bool tiered = config.of_pool(pool).topology == config::Topology::tiered;
    (tiered ? routes.by_frontends : routes.direct) = true;
  }
  return routes;
}

Processes job_of(const config::Config& config, const NodeLoad& load) {
  if (load.job.ranks != 0) return load.job;
  return {of(load.ranks), load.models(config.topology), of(load.servers), of(load.frontends)};
}

/// A rank talks to its parent and its children while the session opens and ends.
std::uint64_t tree_connections(std::size_t ranks) { return std::bit_width(ranks); }

void add(ProcessDemand& to, const char* what, std::uint64_t bytes) {
  if (bytes != 0) to.parts.push_back({what, bytes});
}

void add_links(ProcessDemand& to, const transport::Footprint& print) {
  add(to, "memory.receive", print.receive);
  add(to, "messages of servers", print.between);
  add(to, "reading", print.reading);
  add(to, "joint messages", print.joint);
  add(to, "memory.link", print.staging);
  add(to, "tables", print.tables);
  add(to, "rings (memory.ring)", print.rings);
  add(to, "pairs", print.ends);
  to.descriptors += print.descriptors;
}

/// As in the setting, if it is one; otherwise rounded.
std::string text_of_bytes(std::uint64_t bytes) {
  return bytes % KiB == 0 && (bytes % MiB == 0 || bytes < MiB) ? print_bytes(bytes) : print_about(bytes);
}

/// The largest multiple of a MiB, or of a KiB below that.
std::uint64_t rounded_down(std::uint64_t bytes) {
  const std::uint64_t unit = bytes >= 8 * MiB ? MiB : 4 * KiB;
  return bytes / unit * unit;
}

std::size_t count_of(const JobDemand&, const config::Config& config, const NodeLoad& load, int which) {
  switch (which) {
    case 0: return of(load.servers);
    case 1: return of(load.frontends);
    default: return load.models(config.topology);
  }
}

const std::optional<ProcessDemand>& process_of(const JobDemand& demand, int which) {
  return which == 0 ? demand.server : which == 1 ? demand.frontend : demand.model;
}

constexpr const char* process_names[] = {"I/O server", "frontend", "model rank"};

}  // namespace

std::uint64_t ProcessDemand::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Part& part : parts) sum += part.bytes;
  return sum;
}

std::string ProcessDemand::text() const {
  std::vector<std::string> list;
  for (const Part& part : parts) list.push_back(fmt::format("{} {}", part.what, text_of_bytes(part.bytes)));
  return fmt::format("{}", fmt::join(list, ", "));
}

std::vector<NodeLoad> loads_of(const config::Config& config,
                               std::span<const config::RankAssignment> assignments,
                               std::span<const int> nodes) {
  Processes job;
  std::map<int, NodeLoad> by_node;
  for (std::size_t r = 0; r < assignments.size(); ++r) {
    if (assignments[r].kind == config::RankKind::spare) continue;
    const auto [at, is_first] = by_node.try_emplace(nodes[r], NodeLoad{0, 0, false, 0, 0, {}});
    NodeLoad& node = at->second;
    ++node.ranks;
    ++job.ranks;
    // Inline, the first rank of each node has a server.
    const bool is_inline = config.topology == config::Topology::inline_;
    const bool serves = is_inline ? is_first : assignments[r].kind == config::RankKind::server;
    node.servers += serves ? 1 : 0;
    node.frontends += assignments[r].kind == config::RankKind::frontend ? 1 : 0;
    job.servers += serves ? 1 : 0;
    job.frontends += assignments[r].kind == config::RankKind::frontend ? 1 : 0;
    job.models += assignments[r].kind == config::RankKind::model ? 1 : 0;
  }
  if (job.frontends > 0) {
    std::map<int, int> clients;  // by frontend
    for (const std::vector<int>& of_pool : config::frontends_of_ranks(config, assignments, nodes))
      for (std::size_t r = 0; r < of_pool.size(); ++r)
        if (of_pool[r] >= 0 && assignments[r].kind == config::RankKind::model) ++clients[of_pool[r]];
    for (const auto& [frontend, count] : clients) {
      NodeLoad& node = by_node.at(nodes[static_cast<std::size_t>(frontend)]);
      node.clients = std::max(node.clients, count);
    }
  }
  std::vector<NodeLoad> loads;
  for (auto& [number, node] : by_node) {
    node.job = job;
    node.network = of(node.ranks) < job.ranks || config.transport == config::Transport::mpi;
    loads.push_back(node);
  }
  return loads;
}

Result<JobDemand> demand_of(const config::Config& config, const NodeLoad& load) {
  const Processes job = job_of(config, load);
  const Routes routes = routes_of(config);
  const transport::LinkSizes sizes = link_sizes(config.memory);
  const bool only_mpi = config.transport == config::Transport::mpi;
  const std::size_t models_here = load.models(config.topology);
  const std::size_t far_ranks = job.ranks - std::min(job.ranks, of(load.ranks));
  const std::uint64_t tree = std::min<std::uint64_t>(tree_connections(job.ranks), far_ranks);
  const std::uint64_t collections = config.overrides.size();
  JobDemand demand;
  if (load.servers > 0) {
    const std::size_t talking = config.servers_talk() ? job.servers : 0;
    // An inline server's own rank uses its segment in any case.
    const std::size_t own = config.topology == config::Topology::inline_ ? 1 : 0;
    const std::size_t near = !routes.direct ? 0 : only_mpi ? own : models_here;
    const std::size_t near_servers = talking == 0 ? 0 : only_mpi ? 1 : of(load.servers);
    AFTERBAY_TRY_ASSIGN(
        const transport::Footprint print,
        transport::footprint_of(
            transport::ServerPairs{job.models, near, talking, near_servers, routes.by_frontends}, sizes));
    ProcessDemand& server = demand.server.emplace();
    const config::Memory& memory = config.memory;
    add(server, "memory.server", memory.server_bytes);
    add(server, "memory.chunks", memory.chunks_bytes);
    // Otherwise it may never be used.
    if (config.origin("memory.statistics").source != config::Source::fallback)
      add(server, "memory.statistics", memory.statistics_bytes);
    // Likewise input memory.
    if (config.origin("memory.input").source != config::Source::fallback) {
      add(server, "memory.input", memory.input_bytes);
      if (near < job.models) add(server, "replies to readers", memory.input_bytes / 2);
    }
    transport::Footprint links = print;
    links.ends += job.models * server_bytes_of_a_rank;
    links.tables += memory.phase_bytes();
    add_links(server, links);
    const std::size_t far_models = job.models - std::min(job.models, models_here);
    const std::size_t direct = routes.direct ? far_models : 0;
    const std::size_t through =
        routes.by_frontends ? job.frontends - std::min(job.frontends, of(load.frontends)) : 0;
    server.connections =
        direct + through + (talking > 0 ? job.servers - std::min(job.servers, of(load.servers)) : 0) + tree;
    server.descriptors += own_files + files_a_file * std::max(files_in_making, collections);
  }
  if (load.frontends > 0) {
    const std::size_t here = divided_up(models_here, of(load.frontends));
    const std::size_t clients = load.clients > 0 ? of(load.clients) : std::max<std::size_t>(here, 1);
    const std::size_t near = only_mpi ? 0 : std::min(here, clients);
    AFTERBAY_TRY_ASSIGN(const transport::Footprint print,
                        transport::footprint_of(transport::FrontendPairs{clients, near, job.servers},
                                                frontend_bytes(config), sizes));
    ProcessDemand& frontend = demand.frontend.emplace();
    add(frontend, "memory.frontend", print.data);
    add_links(frontend, print);
    frontend.connections = job.servers - std::min(job.servers, of(load.servers)) + clients - near + tree;
    frontend.descriptors += own_files;
  }
  if (models_here > 0) {
    const std::size_t far_servers = job.servers - std::min(job.servers, of(load.servers));
    const bool near_frontend = load.frontends > 0 && !only_mpi;
    transport::ModelPairs pairs;
    if (routes.direct) pairs.shared = only_mpi ? 0 : of(load.servers);
    if (routes.direct) pairs.by_mpi = job.servers - std::min(job.servers, pairs.shared);
    if (routes.by_frontends && !routes.direct) (near_frontend ? pairs.relayed : pairs.by_mpi) = job.servers;
    if (routes.by_frontends && near_frontend) pairs.near_frontends = 1;
    ProcessDemand& model = demand.model.emplace();
    add_links(model, transport::footprint_of(pairs, sizes));
    // Otherwise the model may have no endpoints.
    if (pairs.by_mpi + pairs.relayed > 0 &&
        config.origin("memory.endpoints").source != config::Source::fallback)
      add(model, "memory.endpoints", config.memory.endpoint_bytes);
    model.connections =
        (routes.direct ? far_servers : 0) + (routes.by_frontends && !near_frontend ? 1 : 0) + tree;
    model.descriptors += own_files;
  }
  if (routes.by_frontends) demand.tags = transport::most_relay_tag(job.models, job.servers);
  return demand;
}

std::uint64_t memory_of(const JobDemand& demand, const config::Config& config, const NodeLoad& load) {
  std::uint64_t sum = 0;
  for (int which = 0; which < 3; ++which)
    if (const auto& process = process_of(demand, which))
      sum += count_of(demand, config, load, which) * process->bytes();
  return sum;
}

std::string memory_text(const JobDemand& demand, const config::Config& config, const NodeLoad& load) {
  std::vector<std::string> list;
  for (int which = 0; which < 3; ++which) {
    const std::size_t count = count_of(demand, config, load, which);
    const auto& process = process_of(demand, which);
    if (count == 0 || !process || process->bytes() == 0) continue;
    list.push_back(count == 1 ? fmt::format("1 {}: {} ({})", process_names[which],
                                            print_about(process->bytes()), process->text())
                              : fmt::format("{} {}s: {} each ({})", count, process_names[which],
                                            print_about(process->bytes()), process->text()));
  }
  return fmt::format("{}", fmt::join(list, "; "));
}

namespace {

/// The search for settings with which a node's processes fit.
class Fitting {
 public:
  Fitting(const config::Config& config, const NodeLoad& load) : tried_(config), load_(load) {
    if (load.frontends == 0 || frontend_bytes(config) != 0) return;
    const auto demand = demand_of(config, load);
    if (!demand || !demand->frontend) return;
    for (const Part& part : demand->frontend->parts)
      if (part.what == "memory.frontend") tried_.memory.frontend_bytes = rounded_up(part.bytes, MiB);
    tried_.origins["memory.frontend"].source = config::Source::code;
  }

  using Setting = std::uint64_t config::Memory::*;
  [[nodiscard]] std::uint64_t value(Setting setting) const { return tried_.memory.*setting; }
  void set(Setting setting, std::uint64_t bytes) { tried_.memory.*setting = bytes; }
  /// Nothing: impossible.
  [[nodiscard]] std::optional<std::uint64_t> needs() const {
    const auto demand = demand_of(tried_, load_);
    if (!demand) return std::nullopt;
    return memory_of(*demand, tried_, load_);
  }
  /// The smallest value that is possible, from `least` on.
  void lower(Setting setting, std::uint64_t least) {
    search(setting, std::min(least, value(setting)), [&] { return needs().has_value(); }, false);
  }
  /// The greatest value, above its current one and up to `most`, with which `bytes` suffice.
  void raise(Setting setting, std::uint64_t most, std::uint64_t bytes) {
    const auto fits = [&] {
      const auto need = needs();
      return need && *need <= bytes;
    };
    const std::uint64_t least = value(setting);
    set(setting, most);
    search(setting, least, fits, true);
    set(setting, std::max(least, rounded_down(value(setting))));
  }

 private:
  /// Between `low` and the current value, to 2 MiB.
  template <class Condition>
  void search(Setting setting, std::uint64_t low, Condition condition, bool keeps_low) {
    std::uint64_t high = value(setting);
    while (high - low > 2 * MiB) {  // so that the middle is neither of them
      set(setting, rounded_down(low + (high - low) / 2));
      (condition() == keeps_low ? low : high) = value(setting);
    }
    set(setting, keeps_low ? low : high);
  }

  config::Config tried_;
  const NodeLoad& load_;
};

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> settings_that_fit(const config::Config& config,
                                                                     const NodeLoad& load,
                                                                     std::uint64_t bytes) {
  const config::Memory& given = config.memory;
  const std::pair<const char*, Fitting::Setting> choices[] = {
      {"memory.server", &config::Memory::server_bytes},
      {"memory.frontend", &config::Memory::frontend_bytes},
      {"memory.receive", &config::Memory::receive_bytes},
      {"memory.link", &config::Memory::link_bytes},
      {"memory.chunks", &config::Memory::chunks_bytes}};
  Fitting fitting(config, load);
  std::vector<std::pair<std::string, std::uint64_t>> changes;
  for (const auto& [name, setting] : choices) {
    const std::uint64_t most = fitting.value(setting);
    const auto before = fitting.needs();
    if (setting == &config::Memory::server_bytes)
      fitting.lower(setting, given.writer_bytes() + given.block_bytes);
    else if (setting == &config::Memory::frontend_bytes)
      fitting.lower(setting, 0);
    else
      fitting.set(setting,
                  std::min(most, setting == &config::Memory::chunks_bytes ? 0 : 2 * given.block_bytes));
    const auto after = fitting.needs();
    if (!before || !after || *after >= *before) {  // it is not used, or cannot be less
      fitting.set(setting, most);
      continue;
    }
    if (*after <= bytes) fitting.raise(setting, most, bytes);
    changes.emplace_back(name, fitting.value(setting));
    if (*after <= bytes) return changes;
  }
  return {};
}

namespace {

/// Of all nodes, the one whose process of that kind needs most memory.
struct Most {
  std::optional<ProcessDemand> process;
  std::uint64_t connections = 0;
  std::uint64_t descriptors = 0;
  void take(const std::optional<ProcessDemand>& other) {
    if (!other) return;
    connections = std::max(connections, other->connections);
    descriptors = std::max(descriptors, other->descriptors);
    if (!process || other->bytes() > process->bytes()) process = other;
  }
};

}  // namespace

std::string text_of(const config::Config& config, std::span<const NodeLoad> loads) {
  Most most[3];
  std::uint64_t fullest = 0;
  int tags = 0;
  std::set<std::vector<int>> seen;  // nodes that are alike need the same
  for (const NodeLoad& load : loads) {
    if (!seen.insert(std::vector<int>{load.servers, load.ranks, load.frontends, load.clients}).second)
      continue;
    const auto demand = demand_of(config, load);
    if (!demand) continue;
    for (int which = 0; which < 3; ++which) most[which].take(process_of(*demand, which));
    fullest = std::max(fullest, memory_of(*demand, config, load));
    tags = std::max(tags, demand->tags);
  }
  std::string text;
  for (int which = 0; which < 3; ++which) {
    const auto& process = most[which].process;
    if (!process) continue;
    text += fmt::format("{}: at most {} of memory\n", process_names[which], print_about(process->bytes()));
    if (!process->parts.empty()) text += "  " + process->text() + "\n";
    text += fmt::format("  {} descriptors, and a socket for each of {} connections over TCP\n",
                        most[which].descriptors, most[which].connections);
  }
  text += fmt::format("fullest node: at most {} of memory\n", print_about(fullest));
  if (tags > 0) text += fmt::format("message tags: up to {}\n", tags);
  const Processes job = loads.empty() ? Processes{} : loads.front().job;
  text += fmt::format(
      "messages of a step with V variables: V + 2 per rank and server that it puts to; over MPI small parts "
      "share\n"
      "  a segment, and each of the others takes one per {}: 1 to V; a server takes in up to {} x (V + 2)\n",
      print_bytes(config.memory.block_bytes), job.models);
  return text;
}

}  // namespace afterbay::session
