// SPDX-License-Identifier: Apache-2.0
#include "session/job_demand.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "base/rounding.hpp"
#include "base/units.hpp"
#include "config/contradictions.hpp"
#include "server/rank_tables.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/footprint.hpp"

namespace afterbay::session {
namespace {

constexpr std::uint64_t own_files = 64;    ///< for MPI, libraries and logs
constexpr std::uint64_t files_a_file = 3;  ///< open per output file
/// Created at the same time, if no more collections are named.
constexpr std::uint64_t files_in_making = 16;
constexpr int least_highest_tag = 32'767;  ///< lowest maximum that MPI's standard allows

std::size_t of(int count) { return static_cast<std::size_t>(std::max(count, 0)); }

Processes job_of(const config::Config& config, const NodeLoad& load) {
  if (load.job.ranks != 0) return load.job;
  Processes here;
  here.ranks = of(load.ranks);
  here.models = load.models(config.servers.topology);
  here.servers = of(load.servers);
  here.frontends = of(load.frontends);
  return here;
}

/// See NodeLoad::pools. `settings`: of the pools.
std::vector<PoolLoad> pools_of(const NodeLoad& load, const Processes& job,
                               const std::vector<config::Config>& settings) {
  if (load.pools.size() == settings.size()) return load.pools;
  const auto bytes = [](const config::Config& it) { return it.memory.server_bytes; };
  const auto largest = std::ranges::max_element(settings, {}, bytes) - settings.begin();
  const auto tiered = std::ranges::find(settings, config::Topology::tiered,
                                        [](const config::Config& it) { return it.servers.topology; });
  std::vector<PoolLoad> pools(settings.size());
  PoolLoad& with_servers = pools[static_cast<std::size_t>(largest)];
  with_servers.servers = load.servers;
  with_servers.job_servers = job.servers;
  PoolLoad& with_frontends =
      tiered == settings.end() ? with_servers : pools[static_cast<std::size_t>(tiered - settings.begin())];
  with_frontends.frontends = load.frontends;
  with_frontends.clients = load.clients;
  with_frontends.job_frontends = job.frontends;
  return pools;
}

/// A rank talks to its parent and its children while the session opens and ends.
std::uint64_t tree_connections(std::size_t ranks) { return std::bit_width(ranks); }

void add(ProcessDemand& to, const char* what, std::uint64_t bytes) {
  if (bytes != 0) to.parts.push_back({what, bytes});
}
void add_of_network(ProcessDemand& to, const char* what, std::uint64_t bytes) {
  if (bytes != 0) to.parts.push_back({what, bytes, true});
}

void add_links(ProcessDemand& to, const transport::Footprint& print) {
  add_of_network(to, "memory.receive", print.receive);
  add_of_network(to, "reading", print.reading);
  add_of_network(to, "joint messages", print.joint);
  add_of_network(to, "memory.link", print.staging);
  add(to, "tables", print.tables);
  add(to, "frames (memory.frames)", print.frames);
  add(to, "rings (memory.ring)", print.rings);
  add(to, "pairs", print.ends);
  add(to, "page tables", print.page_tables);
  to.descriptors += print.descriptors;
}

/// As in the setting, if it is one; otherwise rounded.
std::string text_of_size(std::uint64_t bytes) {
  return bytes % KiB == 0 && (bytes % MiB == 0 || bytes < MiB) ? print_bytes(bytes) : print_about(bytes);
}

std::string text_of_parts(const std::vector<MemoryPart>& parts) {
  std::vector<std::string> list;
  for (const MemoryPart& part : parts)
    list.push_back(fmt::format("{} {}", part.what, text_of_size(part.bytes)));
  return fmt::format("{}", fmt::join(list, ", "));
}

/// The largest multiple of a MiB, or below 8 MiB of what all of these settings are multiples of.
std::uint64_t rounded_down(std::uint64_t bytes) {
  const std::uint64_t unit = bytes >= 8 * MiB ? MiB : 8 * KiB;
  return bytes / unit * unit;
}

}  // namespace

std::uint64_t ProcessDemand::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

std::uint64_t ProcessDemand::network_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const MemoryPart& part : parts) sum += part.network ? part.bytes : 0;
  return sum;
}

std::string ProcessDemand::text() const { return text_of_parts(parts); }

std::string ProcessDemand::network_text() const {
  std::vector<MemoryPart> some;
  std::ranges::copy_if(parts, std::back_inserter(some), &MemoryPart::network);
  return text_of_parts(some);
}

std::string ProcessDemand::Far::text() const {
  std::vector<std::string> list;
  const auto add = [&list](std::uint64_t count, const char* what) {
    if (count > 0) list.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
  };
  add(models, "model rank");
  add(servers, "server");
  add(frontends, "frontend");
  if (tree > 0) list.push_back(fmt::format("{} while the session opens", tree));
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string DemandOfAlike::name() const {
  return pool.empty() ? kind : fmt::format("{} of pool '{}'", kind, pool);
}

std::vector<NodeLoad> loads_of(const config::Config& config,
                               std::span<const config::RankAssignment> assignments,
                               std::span<const int> nodes) {
  Processes job;
  const std::size_t pools = config.pools().size();
  std::vector<PoolLoad> in_job(pools);
  std::map<int, NodeLoad> by_node;
  for (std::size_t r = 0; r < assignments.size(); ++r) {
    if (assignments[r].kind == config::RankKind::spare) continue;
    const auto [at, is_first] = by_node.try_emplace(nodes[r], NodeLoad{.servers = 0, .ranks = 0});
    NodeLoad& node = at->second;
    node.has_first = node.has_first || job.ranks == 0;
    node.pools.resize(pools);
    const auto number = of(assignments[r].pool);  // model ranks: 0, but inline they belong to none
    PoolLoad& pool = node.pools[number];
    ++node.ranks;
    ++job.ranks;
    // Inline, the first rank of each node has a server.
    const bool is_inline = config.servers.topology == config::Topology::inline_;
    const bool serves = is_inline ? is_first : assignments[r].kind == config::RankKind::server;
    const bool passes_on = assignments[r].kind == config::RankKind::frontend;
    for (int* const count : {&node.servers, &pool.servers}) *count += serves ? 1 : 0;
    for (int* const count : {&node.frontends, &pool.frontends}) *count += passes_on ? 1 : 0;
    for (std::size_t* const count : {&job.servers, &in_job[number].job_servers}) *count += serves ? 1 : 0;
    for (std::size_t* const count : {&job.frontends, &in_job[number].job_frontends})
      *count += passes_on ? 1 : 0;
    job.models += assignments[r].kind == config::RankKind::model ? 1 : 0;
  }
  if (job.frontends > 0) {
    std::map<int, int> clients;  // by frontend
    for (const std::vector<int>& of_pool : config::frontends_of_ranks(config, assignments, nodes))
      for (std::size_t r = 0; r < of_pool.size(); ++r)
        if (of_pool[r] >= 0 && assignments[r].kind == config::RankKind::model) ++clients[of_pool[r]];
    for (const auto& [frontend, count] : clients) {
      NodeLoad& node = by_node.at(nodes[static_cast<std::size_t>(frontend)]);
      PoolLoad& pool = node.pools[of(assignments[static_cast<std::size_t>(frontend)].pool)];
      for (int* const most : {&node.clients, &pool.clients}) *most = std::max(*most, count);
    }
  }
  for (const auto& [number, node] : by_node) job.add_node(node.models(config.servers.topology));
  std::vector<NodeLoad> loads;
  for (auto& [number, node] : by_node) {
    node.job = job;
    for (std::size_t p = 0; p < pools; ++p) {
      node.pools[p].job_servers = in_job[p].job_servers;
      node.pools[p].job_frontends = in_job[p].job_frontends;
    }
    node.network = of(node.ranks) < job.ranks || config.network.transport == config::Transport::mpi;
    loads.push_back(node);
  }
  return loads;
}

namespace {

/// A session's processes on a node, pool by pool.
class Demands {
 public:
  Demands(const config::Config& config, const NodeLoad& load)
      : config_(config), load_(load), job_(job_of(config, load)), names_(config.pools()) {
    for (const std::string& name : names_) settings_.push_back(config.of_pool(name));
    pools_ = pools_of(load, job_, settings_);
    only_mpi_ = config.network.transport == config::Transport::mpi;
    models_here_ = load.models(config.servers.topology);
    const std::size_t far_ranks = job_.ranks - std::min(job_.ranks, of(load.ranks));
    tree_ = std::min<std::uint64_t>(tree_connections(job_.ranks), far_ranks);
  }

  Result<JobDemand> all() && {
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (pools_[p].servers > 0) AFTERBAY_TRY(add_servers(p));
      if (pools_[p].frontends > 0) AFTERBAY_TRY(add_frontends(p));
    }
    if (models_here_ > 0) AFTERBAY_TRY(add_models());
    if (load_.has_first && config_.joins_ranks())
      demand_.report_connections = job_.ranks - std::min(job_.ranks, of(load_.ranks));
    if (std::ranges::any_of(settings_, is_tiered))
      demand_.tags = transport::most_relay_tag(job_.models, job_.servers);
    return std::move(demand_);
  }

 private:
  static bool is_tiered(const config::Config& pool) {
    return pool.servers.topology == config::Topology::tiered;
  }

  void add_alike(const char* kind, std::size_t pool, int count, ProcessDemand each,
                 std::optional<ProcessDemand>& most) {
    if (!most || each.bytes() > most->bytes()) most = each;
    demand_.processes.push_back({kind, names_.size() > 1 ? names_[pool] : "", of(count), std::move(each)});
  }

  /// `config`: of the server's pool.
  [[nodiscard]] transport::ServerPairs pairs_of_server(const config::Config& config) const {
    transport::ServerPairs pairs{.models = job_.models};
    pairs.relayed = is_tiered(config);
    // An inline server's own rank uses its segment in any case.
    const std::size_t own = config.servers.topology == config::Topology::inline_ ? 1 : 0;
    pairs.near = pairs.relayed ? 0 : only_mpi_ ? own : models_here_;
    if (!config_.servers_talk()) return pairs;
    pairs.servers = job_.servers;
    pairs.near_servers = only_mpi_ ? 1 : of(load_.servers);
    return pairs;
  }

  Result<void> add_servers(std::size_t p) {
    const config::Config& config = settings_[p];
    const config::Memory& memory = config.memory;
    const PoolLoad& pool = pools_[p];
    const bool tiered = is_tiered(config);
    const transport::ServerPairs pairs = pairs_of_server(config);
    AFTERBAY_TRY_ASSIGN(transport::Footprint links, transport::footprint_of(pairs, link_sizes(memory)));
    ProcessDemand server;
    add(server, "memory.server", memory.server_bytes);
    add(server, "memory.chunks", memory.chunks_bytes);
    // Counted only if it is set; otherwise it may never be used.
    if (config.origin("memory.statistics").source != config::Source::fallback)
      add(server, "memory.statistics", memory.statistics_bytes);
    // Input memory too is counted only if it is set.
    if (config.origin("memory.input").source != config::Source::fallback) {
      add(server, "memory.input", memory.input_bytes);
      if (pairs.near < job_.models) add(server, "replies to readers", memory.input_bytes / 2);
    }
    links.tables += memory.phase_bytes() + server::RankTables{job_.models}.always();
    add_links(server, links);
    const std::size_t direct = tiered ? 0 : job_.models - std::min(job_.models, models_here_);
    const std::size_t through =
        tiered ? pool.job_frontends - std::min(pool.job_frontends, of(pool.frontends)) : 0;
    server.far = {direct, pairs.servers > 0 ? job_.servers - std::min(job_.servers, of(load_.servers)) : 0,
                  through, tree_};
    server.descriptors +=
        own_files +
        files_a_file * std::max<std::uint64_t>(files_in_making, config_.overrides.collections.size());
    add_alike("I/O server", p, pool.servers, std::move(server), demand_.server);
    return {};
  }

  Result<void> add_frontends(std::size_t p) {
    const config::Config& config = settings_[p];
    const PoolLoad& pool = pools_[p];
    const std::size_t here = divided_up(models_here_, of(pool.frontends));
    const std::size_t clients = pool.clients > 0 ? of(pool.clients) : std::max<std::size_t>(here, 1);
    const std::size_t near = only_mpi_ ? 0 : std::min(here, clients);
    AFTERBAY_TRY_ASSIGN(const transport::Footprint print,
                        transport::footprint_of(transport::FrontendPairs{clients, near, pool.job_servers},
                                                frontend_bytes(config), link_sizes(config.memory)));
    channel_bytes_ += print.data + print.tables + print.rings;
    ProcessDemand frontend;
    add_of_network(frontend, "memory.frontend", print.data);
    add_links(frontend, print);
    frontend.far = {clients - near, pool.job_servers - std::min(pool.job_servers, of(pool.servers)), 0,
                    tree_};
    frontend.descriptors += own_files;
    add_alike("frontend", p, pool.frontends, std::move(frontend), demand_.frontend);
    return {};
  }

  Result<void> add_models() {
    transport::ModelPairs pairs;
    pairs.channel_bytes = channel_bytes_;
    ProcessDemand model;
    model.far.tree = tree_;
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      const PoolLoad& pool = pools_[p];
      const std::size_t far = pool.job_servers - std::min(pool.job_servers, of(pool.servers));
      const bool near_frontend = pool.frontends > 0 && !only_mpi_;
      if (!is_tiered(settings_[p])) {
        const std::size_t shared = only_mpi_ ? 0 : of(pool.servers);
        if (shared > 0) {
          AFTERBAY_TRY_ASSIGN(const auto servers,
                              transport::shared_servers(shared, pairs_of_server(settings_[p]),
                                                        link_sizes(settings_[p].memory)));
          pairs.shared.push_back(servers);
        }
        pairs.by_mpi += pool.job_servers - std::min(pool.job_servers, shared);
        model.far.servers += far;
      } else if (near_frontend) {
        pairs.relayed += pool.job_servers;
        ++pairs.near_frontends;
      } else {
        pairs.by_mpi += pool.job_servers;
        ++model.far.frontends;
      }
    }
    add_links(model, transport::footprint_of(pairs, link_sizes(config_.memory)));
    // Otherwise the model may have no endpoints.
    if (pairs.by_mpi + pairs.relayed > 0 &&
        config_.origin("memory.endpoints").source != config::Source::fallback)
      add(model, "memory.endpoints", config_.memory.endpoint_bytes);
    model.descriptors += own_files;
    demand_.model = model;
    demand_.processes.push_back({"model rank", "", models_here_, std::move(model)});
    return {};
  }

  const config::Config& config_;
  const NodeLoad& load_;
  Processes job_;
  std::vector<std::string> names_;  ///< names of the pools
  std::vector<config::Config> settings_;
  std::vector<PoolLoad> pools_;
  bool only_mpi_ = false;
  std::size_t models_here_ = 0;
  std::uint64_t tree_ = 0;           ///< connections along the tree of ranks
  std::uint64_t channel_bytes_ = 0;  ///< that frontends of this node share with ranks
  JobDemand demand_;
};

}  // namespace

Result<JobDemand> demand_of(const config::Config& config, const NodeLoad& load) {
  return Demands(config, load).all();
}

std::uint64_t memory_of(const JobDemand& demand) {
  std::uint64_t sum = 0;
  for (const DemandOfAlike& it : demand.processes) sum += it.count * it.each.bytes();
  return sum;
}

std::uint64_t network_of(const JobDemand& demand) {
  std::uint64_t most = 0;
  for (const DemandOfAlike& it : demand.processes) most = std::max(most, it.each.network_bytes());
  return most;
}

std::string memory_text(const JobDemand& demand) {
  std::vector<std::string> list;
  for (const auto& [kind, pool, count, each] : demand.processes) {
    if (count == 0 || each.bytes() == 0) continue;
    const std::string of_pool = pool.empty() ? "" : fmt::format(" of pool '{}'", pool);
    list.push_back(fmt::format("{} {}{}{}: {}{} ({})", count, kind, count == 1 ? "" : "s", of_pool,
                               print_about(each.bytes()), count == 1 ? "" : " each", each.text()));
  }
  return fmt::format("{}", fmt::join(list, "; "));
}

namespace {

/// The search for settings with which a node's processes fit.
class Fitting {
 public:
  Fitting(const config::Config& config, const NodeLoad& load, Measure measure)
      : tried_(config), load_(load), measure_(measure) {
    if (load.frontends == 0 || frontend_bytes(config) != 0) return;
    const auto demand = demand_of(config, load);
    if (!demand || !demand->frontend) return;
    for (const MemoryPart& part : demand->frontend->parts)
      if (part.what == "memory.frontend") tried_.memory.frontend_bytes = rounded_up(part.bytes, MiB);
    tried_.origins["memory.frontend"].source = config::Source::code;
  }

  /// A setting of the session, or that of a pool that replaces it.
  struct Setting {
    std::string name;
    std::uint64_t config::Memory::*member;
    std::optional<std::size_t> of_pool = std::nullopt;  ///< its number in Config::overrides.pools
  };
  [[nodiscard]] std::uint64_t value(const Setting& setting) const {
    if (!setting.of_pool) return tried_.memory.*setting.member;
    return tried_.of_pool(tried_.overrides.pools[*setting.of_pool].pool).memory.*setting.member;
  }
  void set(const Setting& setting, std::uint64_t bytes) {
    if (setting.of_pool)
      tried_.overrides.pools[*setting.of_pool].value = print_bytes(bytes);
    else
      tried_.memory.*setting.member = bytes;
  }
  /// Nothing: impossible, or the configuration would be refused.
  [[nodiscard]] std::optional<std::uint64_t> needs() const {
    config::Problems problems;
    config::find_contradictions(tried_, problems);
    if (!problems.empty()) return std::nullopt;
    const auto demand = demand_of(tried_, load_);
    if (!demand) return std::nullopt;
    return measure_(*demand);
  }
  /// The smallest value that is possible, from `least` on.
  void lower(const Setting& setting, std::uint64_t least) {
    const std::uint64_t given = value(setting);
    set(setting, std::min(least, given));
    if (needs()) return;
    set(setting, given);
    search(setting, std::min(least, given), [&] { return needs().has_value(); }, false);
  }
  /// The greatest value, above its current one and up to `most`, with which `bytes` suffice.
  void raise(const Setting& setting, std::uint64_t most, std::uint64_t bytes) {
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
  void search(const Setting& setting, std::uint64_t low, Condition condition, bool keeps_low) {
    std::uint64_t high = value(setting);
    while (high - low > 2 * MiB) {  // so that the middle is neither of them
      set(setting, rounded_down(low + (high - low) / 2));
      (condition() == keeps_low ? low : high) = value(setting);
    }
    set(setting, keeps_low ? low : high);
  }

  config::Config tried_;
  const NodeLoad& load_;
  Measure measure_;
};

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> settings_that_fit(const config::Config& config,
                                                                     const NodeLoad& load,
                                                                     std::uint64_t bytes, Measure measure) {
  const config::Memory& given = config.memory;
  const std::vector<Fitting::Setting> of_session = {{"memory.server", &config::Memory::server_bytes},
                                                    {"memory.frontend", &config::Memory::frontend_bytes},
                                                    {"memory.receive", &config::Memory::receive_bytes},
                                                    {"memory.link", &config::Memory::link_bytes},
                                                    {"memory.chunks", &config::Memory::chunks_bytes}};
  Fitting fitting(config, load, measure);
  std::vector<Fitting::Setting> choices;
  for (const Fitting::Setting& setting : of_session) {
    std::vector<Fitting::Setting> alike{setting};
    for (std::size_t i = 0; i < config.overrides.pools.size(); ++i)
      if (const config::PoolOverride& it = config.overrides.pools[i]; it.setting == setting.name)
        alike.push_back({it.full_name(), setting.member, i});
    std::ranges::stable_sort(alike, std::ranges::greater(),
                             [&](const Fitting::Setting& it) { return fitting.value(it); });
    std::ranges::move(alike, std::back_inserter(choices));
  }
  std::vector<std::pair<std::string, std::uint64_t>> changes;
  for (const Fitting::Setting& setting : choices) {
    const std::uint64_t most = fitting.value(setting);
    const auto before = fitting.needs();
    if (setting.member == &config::Memory::server_bytes) {
      const std::uint64_t of_writers =
          setting.of_pool
              ? config.of_pool(config.overrides.pools[*setting.of_pool].pool).memory.writer_bytes()
              : given.writer_bytes();
      fitting.lower(setting, of_writers + given.block_bytes);
    } else if (setting.member == &config::Memory::frontend_bytes) {
      fitting.lower(setting, 0);
    } else if (setting.member == &config::Memory::receive_bytes) {
      fitting.lower(setting, given.least_receive_bytes());
    } else {
      fitting.set(setting, std::min(most, setting.member == &config::Memory::chunks_bytes
                                              ? config::Memory::least_chunks_bytes
                                              : 2 * given.block_bytes));
    }
    const auto after = fitting.needs();
    if (!before || !after || *after >= *before) {  // it is not used, or cannot be less
      fitting.set(setting, most);
      continue;
    }
    if (*after <= bytes) fitting.raise(setting, most, bytes);
    changes.emplace_back(setting.name, fitting.value(setting));
    if (*after <= bytes) return changes;
  }
  return {};
}

namespace {

/// The process of a kind and pool that needs most memory, over all nodes.
struct Most {
  DemandOfAlike process;
  std::uint64_t connections = 0;
  std::uint64_t descriptors = 0;
  void take(const DemandOfAlike& other) {
    connections = std::max(connections, other.each.far.all());
    descriptors = std::max(descriptors, other.each.descriptors);
    if (process.count == 0 || other.each.bytes() > process.each.bytes()) process = other;
  }
};

/// What a server keeps of model ranks beyond its total, by what the model does.
std::string text_of_tables(std::size_t models) {
  constexpr std::size_t variables = 200;  // number in the example's record
  const server::RankTables tables{models};
  return fmt::format(
      "  by what the model does, in addition: {} per collection, {} per open file,\n"
      "  V x {} per open record of V variables ({} with {}), {} while all ranks wait for a flush\n",
      print_about(tables.of_collection()), print_about(tables.of_open_file()),
      print_about(tables.of_open_record(1) - tables.of_open_record(0)),
      print_about(tables.of_open_record(variables)), variables, print_about(tables.of_waiting_ranks()));
}

/// Nodes for which these are equal need the same.
std::vector<int> numbers_of(const NodeLoad& load) {
  std::vector<int> numbers{load.servers, load.ranks, load.frontends, load.clients, load.has_first ? 1 : 0};
  for (const PoolLoad& pool : load.pools)
    numbers.insert(numbers.end(), {pool.servers, pool.frontends, pool.clients});
  return numbers;
}

}  // namespace

std::string text_of(const config::Config& config, std::span<const NodeLoad> loads) {
  std::map<std::pair<int, std::string>, Most> most;  // by kind and pool
  std::uint64_t fullest = 0;
  int tags = 0;
  std::uint64_t reporting = 0;
  std::set<std::vector<int>> seen;
  for (const NodeLoad& load : loads) {
    if (!seen.insert(numbers_of(load)).second) continue;
    const auto demand = demand_of(config, load);
    if (!demand) continue;
    const auto place_of = [](const std::string& kind) {
      return kind == "I/O server" ? 0 : kind == "frontend" ? 1 : 2;
    };
    for (const DemandOfAlike& it : demand->processes) most[{place_of(it.kind), it.pool}].take(it);
    fullest = std::max(fullest, memory_of(*demand));
    tags = std::max(tags, demand->tags);
    reporting = std::max(reporting, demand->report_connections);
  }
  std::string text;
  for (const auto& [which, it] : most) {
    const ProcessDemand& each = it.process.each;
    text += fmt::format("{}: at most {} of memory\n", it.process.name(), print_about(each.bytes()));
    if (!each.parts.empty()) text += "  " + each.text() + "\n";
    if (which.first == 0 && !loads.empty()) text += text_of_tables(loads.front().job.models);
    text += fmt::format("  {} descriptors, and a socket for each of {} connections over TCP\n",
                        it.descriptors, it.connections);
  }
  text += fmt::format("fullest node: at most {} of memory\n", print_about(fullest));
  if (reporting > 0) text += fmt::format("report: at the end the first rank has {} connections\n", reporting);
  if (tags > 0)
    text +=
        fmt::format("message tags: up to {}{}\n", tags,
                    tags <= least_highest_tag
                        ? ""
                        : fmt::format(", more than the {} that every MPI has: checked when a session opens",
                                      least_highest_tag));
  const Processes job = loads.empty() ? Processes{} : loads.front().job;
  text += fmt::format(
      "messages of a step with V variables: V + 2 per rank and server that writes its files (with "
      "placements\n"
      "  slab and variable all of a pool); over MPI small parts share a segment, and each of the others "
      "takes\n"
      "  one per {}: 1 to V; a server takes in up to {} x (V + 2)\n",
      print_bytes(config.memory.block_bytes), job.models);
  return text;
}

}  // namespace afterbay::session
