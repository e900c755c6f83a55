// SPDX-License-Identifier: Apache-2.0
// afterbay check: checks a configuration and shows what follows from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "base/units.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "config/layout.hpp"
#include "config/ranks_to_start.hpp"
#include "config/reference.hpp"
#include "config/session_name.hpp"
#include "config/slab_shares.hpp"
#include "session/described_output.hpp"
#include "session/job_demand.hpp"
#include "session/obstacles.hpp"

namespace afterbay::app {

namespace {

struct CheckOptions {
  std::string file;
  int ranks = 0;
  int model_ranks = 0;
  int ranks_per_node = 0;  ///< 0: as declared, or all on one
  bool show = false;
  bool run = false;
  int servers_here = 0;
  bool no_environment = false;
};

/// The blocks of a server's memory.
std::string blocks_of(const config::Memory& memory) {
  const std::string stages = memory.writer_buffers == 0 ? ""
                                                        : fmt::format(", and {} for buffers of the writers",
                                                                      print_bytes(memory.writer_bytes()));
  return fmt::format("{}: {} blocks of {} and {} of {}{}", print_bytes(memory.server_bytes), memory.blocks(),
                     print_bytes(memory.block_bytes), memory.small_blocks(),
                     print_bytes(memory.small_block_bytes), stages);
}

/// The roles of the ranks, and the blocks of a server's memory.
std::string arithmetic(const config::Config& config, const config::Split& split) {
  std::vector<std::string> pools;
  std::set<std::string> kinds;
  for (const std::string& pool : config.pools()) {
    const std::string blocks = blocks_of(config.of_pool(pool).memory);
    pools.push_back(fmt::format("each server of pool '{}' has {}", pool, blocks));
    kinds.insert(blocks);
  }
  const std::string memory =
      kinds.size() == 1 ? "each server has " + *kinds.begin() : fmt::format("{}", fmt::join(pools, "; "));
  const std::string people =
      config.servers.topology == config::Topology::inline_
          ? fmt::format("{} model ranks that write themselves", split.model_ranks)
          : fmt::format("{} model rank{} and {} server{}", split.model_ranks,
                        split.model_ranks == 1 ? "" : "s", split.servers, split.servers == 1 ? "" : "s");
  const std::string others = (split.frontends > 0 ? fmt::format(", {} frontends", split.frontends) : "") +
                             (split.spare > 0 ? fmt::format(", {} spare", split.spare) : "");
  return fmt::format("{}{}; {}\n", people, others, memory);
}

/// How much crosses the network between model ranks and servers, by pool; nothing if all are on one
/// node.
std::string crossing(const config::Config& config, std::span<const config::RankAssignment> assignments,
                     std::span<const int> nodes) {
  if (std::ranges::all_of(nodes, [&](int node) { return node == nodes[0]; })) return "";
  const bool is_inline = config.servers.topology == config::Topology::inline_;
  std::vector<int> models;
  std::map<int, std::vector<int>> servers;  // by pool
  for (std::size_t r = 0; r < assignments.size(); ++r) {
    const bool is_model = assignments[r].kind == config::RankKind::model;
    if (is_model) models.push_back(nodes[r]);
    if (assignments[r].kind == config::RankKind::server || (is_inline && is_model))
      servers[std::max(assignments[r].pool, 0)].push_back(nodes[r]);
  }
  std::string text =
      "data to other nodes, if ranks hold equal parts of a field in rank order along its slowest "
      "dimension:\n";
  for (const auto& [pool, on] : servers) {
    const double slabs = config::far_part_of_slabs(models, on, config::slab_shares(models, on));
    const std::string name =
        servers.size() > 1 ? "pool '" + config.pools()[static_cast<std::size_t>(pool)] + "': " : "";
    text +=
        fmt::format("  {}{:.1f} % with placement slab, {:.1f} % if one server writes a file or variable\n",
                    name, 100 * slabs, 100 * config::far_part_of_files(models, on));
  }
  return text;
}

/// The roles of ranks.
struct Roles {
  std::string text;  ///< the ranks that serve
  std::string crossing;
  std::vector<session::NodeLoad> loads;  ///< by node
};

Result<Roles> roles_of(const config::Config& config, int ranks) {
  const std::vector<int> one_node(static_cast<std::size_t>(ranks), 0);
  const std::vector<int>& nodes = config.network.nodes.empty() ? one_node : config.network.nodes;
  if (config.servers.topology == config::Topology::inline_) {
    const std::vector<config::RankAssignment> all(static_cast<std::size_t>(ranks));
    return Roles{"", crossing(config, all, nodes), session::loads_of(config, all, nodes)};
  }
  AFTERBAY_TRY_ASSIGN(const auto assignments, config::assign_ranks(config, nodes));
  return Roles{config::text_of(config, assignments), crossing(config, assignments, nodes),
               session::loads_of(config, assignments, nodes)};
}

/// Fails if a process cannot have the memory that it needs at least.
Result<> check_demand(const config::Config& config, const std::vector<session::NodeLoad>& loads) {
  for (const session::NodeLoad& load : loads) AFTERBAY_TRY(session::demand_of(config, load));
  return {};
}

/// The nodes of the job that this node may be: those with as many servers as there are here.
Result<std::vector<session::NodeLoad>> like_here(const std::vector<session::NodeLoad>& loads, int servers) {
  std::vector<session::NodeLoad> alike;
  std::set<int> numbers;
  for (const session::NodeLoad& load : loads) {
    numbers.insert(load.servers);
    if (load.servers == servers) alike.push_back(load);
  }
  if (!alike.empty()) return alike;
  return fail(ErrorCode::invalid_argument,
              "--servers-here is {}, but the nodes of this job have {} I/O servers: give one of these "
              "numbers, and with --ranks-per-node the ranks of a node",
              servers, fmt::join(numbers, ", "));
}

/// The problems that a run would have if this node were any of the job's nodes.
std::optional<Error> obstacles(const config::Config& config, const std::vector<session::NodeLoad>& loads) {
  std::vector<Error> found;
  for (const session::NodeLoad& load : loads)
    for (Error& error : session::find_obstacles(config, load, session::this_system()))
      if (std::ranges::find(found, error.message, &Error::message) == found.end())
        found.push_back(std::move(error));
  return session::join_obstacles(found);
}

/// The pools of the collections for which the configuration names some.
std::string pools_of_collections(const config::Config& config) {
  std::set<std::string> patterns;
  for (const config::CollectionOverride& item : config.overrides.collections)
    if (item.setting == "pool") patterns.insert(item.pattern);
  std::string text;
  for (const std::string& pattern : patterns) {
    const config::CollectionSettings settings = config.settings_for(pattern);
    const std::vector<std::string>& pools = *settings.pools;
    const bool least = settings.pool_choice.value_or(config.servers.pool_choice) == config::PoolChoice::least;
    const std::string how = pools.size() == 1 ? ""
                            : least           ? ", each file to the least loaded one"
                                              : ", files in turn";
    text += fmt::format("collection '{}': pool{} '{}'{}\n", pattern, pools.size() == 1 ? "" : "s",
                        fmt::join(pools, "', '"), how);
  }
  return text;
}

/// The answer to --model-ranks.
std::string what_to_start(const config::Config& config, const config::RanksToStart& total,
                          const CheckOptions& options) {
  std::string text = fmt::format("start {} ranks", total.ranks);
  if (options.ranks_per_node > 0) {
    const int nodes = (total.ranks - 1) / options.ranks_per_node + 1;
    text += fmt::format(", on {} node{}", nodes, nodes == 1 ? "" : "s");
  }
  text += "\n";
  if (total.left_over == 0) return text;
  const std::string ranks = fmt::format("{} rank{}", total.left_over, total.left_over == 1 ? "" : "s");
  if (config.servers.model_ranks > 0)
    return text + fmt::format("{} left over, spare by model_ranks ({})\n", ranks,
                              config.origin("model_ranks").place);
  return text + fmt::format("set model_ranks: {}, so that the {} left over {} spare\n", options.model_ranks,
                            ranks, total.left_over == 1 ? "is" : "are");
}

Exit report(const std::string& what, const Error& error) {
  complain("check", what + ": " + error.text());
  return exit_of(error.code);
}

Exit check(const CheckOptions& options, const Invocation& invocation) {
  config::Sources sources;
  sources.config_file = options.file;
  sources.arguments = invocation.setting_flags;
  if (options.no_environment) sources.environment.emplace();
  session::DescribedOutput described;
  sources.read_output = [&](config::Config& it) { return described.read(it); };
  const std::string what = options.file.empty() ? "environment and flags" : options.file;
  const auto config = config::load(sources);
  if (!config) return report(what, config.error());
  std::string text;
  int ranks = options.ranks;
  std::vector<session::NodeLoad> loads;
  if (options.model_ranks > 0) {
    const auto enough = config::ranks_for(*config, options.model_ranks, options.ranks_per_node);
    if (!enough) return report(what, enough.error());
    ranks = enough->ranks;
    text = what_to_start(*config, *enough, options);
  }
  if (ranks > 0) {
    config::Config on_nodes = *config;
    if (options.ranks_per_node > 0 || options.model_ranks > 0)
      on_nodes.network.nodes = config::nodes_in_turn(ranks, options.ranks_per_node);
    if (options.model_ranks > 0) on_nodes.servers.model_ranks = options.model_ranks;
    const auto split = on_nodes.check_against(ranks);
    if (!split) return report(what, split.error());
    auto roles = roles_of(on_nodes, ranks);
    if (!roles) return report(what, roles.error());
    loads = std::move(roles->loads);
    if (auto good = check_demand(on_nodes, loads); !good) return report(what, good.error());
    text += arithmetic(*config, *split) + roles->text + pools_of_collections(*config) +
            session::text_of(on_nodes, loads) + roles->crossing;
  }
  if (options.run) {
    const bool is_inline = config->servers.topology == config::Topology::inline_;
    const int servers = options.servers_here > 0 ? options.servers_here
                        : is_inline              ? 1
                                                 : config->servers.number;
    if (loads.empty()) {
      const int others = config->servers.topology == config::Topology::tiered ? 2 : is_inline ? 0 : 1;
      loads = {{servers, servers + others, false, others > 1 ? 1 : 0, 0, {}}};
    } else if (options.servers_here > 0) {
      auto alike = like_here(loads, servers);
      if (!alike) return report(what, alike.error());
      loads = *std::move(alike);
    }
    config::Config named = *config;
    if (auto ok = config::name_session(named, config::session_name(named, SessionOptions().name)); !ok)
      return report(what, ok.error());
    if (const auto found = obstacles(named, loads)) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return report(what, *found);
    }
  }
  text += options.show ? config::show(*config) : what + ": correct\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Exit::ok;
}

Action prepare_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->file, "YAML file; without it, the environment and the flags are checked");
  CLI::Option* const all =
      app.add_option(
             "--ranks", options->ranks,
             "also check a job with this many ranks, and print their roles and what its processes need")
          ->check(CLI::Range(1, config::most_ranks));
  app.add_option("--model-ranks", options->model_ranks,
                 "print how many ranks to start for this many model ranks, and what each rank does")
      ->check(CLI::Range(1, config::most_model_ranks))
      ->excludes(all);
  app.add_option(
         "--ranks-per-node", options->ranks_per_node,
         "with --ranks or --model-ranks: ranks per node, one node after the other; default: all ranks on "
         "one node")
      ->check(CLI::Range(1, config::most_ranks_per_node));
  app.add_flag("--show", options->show, "print every setting with its value and its origin");
  app.add_flag("--run", options->run,
               "also check whether a run started here, on this node, would have enough space, quota, "
               "permissions, limits and memory");
  app.add_option("--servers-here", options->servers_here,
                 "with --run: I/O servers on this node; default: all of them")
      ->check(CLI::PositiveNumber);
  app.add_flag("--no-environment", options->no_environment, "ignore the variables AFTERBAY_*");
  app.footer(
      "Settings may also be given as flags: --afterbay.NAME=VALUE. All problems are listed, with\n"
      "their places.\n"
      "Exit codes: 0 correct, 1 wrong, 2 wrong command line, 3 the file cannot be read, or a run would\n"
      "lack space or could not write.");
  return [options](const Invocation& invocation) { return check(*options, invocation); };
}

const Registration check_registration({.name = "check",
                                       .summary = "checks a configuration without a run",
                                       .prepare = prepare_check,
                                       .takes_settings = true});

}  // namespace

}  // namespace afterbay::app
