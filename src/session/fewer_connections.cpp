// SPDX-License-Identifier: Apache-2.0
#include "session/fewer_connections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "config/contradictions.hpp"
#include "config/settings.hpp"

namespace afterbay::session {
namespace {

std::vector<config::Config> settings_of_pools(const config::Config& config) {
  std::vector<config::Config> pools;
  for (const std::string& name : config.pools()) pools.push_back(config.of_pool(name));
  return pools;
}

/// The configuration with these settings; nothing if it would be refused.
std::optional<config::Config> changed(const config::Config& config, const SettingsToChange& settings) {
  config::Config with = config;
  for (const auto& [name, value] : settings) {
    bool of_pool = false;
    for (config::PoolOverride& it : with.overrides.pools) {
      if (it.full_name() != name) continue;
      it.value = value;
      of_pool = true;
    }
    if (of_pool) continue;
    const auto* const setting = config::find_setting(config::session_settings(), name);
    if (setting == nullptr || !setting->assign(with, value)) return std::nullopt;
    with.origins[name] = {config::Source::code, "set in code"};
  }
  config::Problems problems;
  config::find_contradictions(with, problems);
  if (!problems.empty()) return std::nullopt;
  return with;
}

/// The same node if the pools that `tiered` makes tiered have frontends on each node with model
/// ranks: config::assign_ranks. Nothing if ranks would be placed in another way, or too few are
/// left for the model.
std::optional<NodeLoad> with_frontends(const config::Config& config, const config::Config& tiered,
                                       const NodeLoad& load) {
  const std::vector<config::Config> before = settings_of_pools(config);
  const std::vector<config::Config> after = settings_of_pools(tiered);
  if (load.job.model_nodes == 0 || load.job.servers_started || load.pools.size() != after.size() ||
      config.servers.model_ranks > 0 || config.servers.topology == config::Topology::inline_)
    return std::nullopt;
  NodeLoad with = load;
  const std::size_t models = load.models(config.servers.topology);
  std::size_t taken = 0;
  for (std::size_t p = 0; p < after.size(); ++p) {
    if (after[p].servers.topology == before[p].servers.topology) continue;
    if (after[p].servers.layout.isolate) return std::nullopt;
    const int wanted = std::max(after[p].servers.layout.frontends_per_node, 1);
    taken += static_cast<std::size_t>(wanted);
    PoolLoad& pool = with.pools[p];
    pool.job_frontends = static_cast<std::size_t>(wanted) * load.job.model_nodes;
    with.job.frontends += pool.job_frontends;
    if (models == 0) continue;
    pool.frontends = wanted;
    with.frontends += wanted;
  }
  if (load.job.least_models <= taken) return std::nullopt;
  with.job.models -= std::min(with.job.models, load.job.model_nodes * taken);
  return with;
}

bool fits(const config::Config& config, const NodeLoad& load, std::uint64_t most,
          std::optional<int> most_tag) {
  const auto demand = demand_of(config, load);
  return demand && (!most_tag || demand->tags <= *most_tag) &&
         std::ranges::all_of(demand->processes,
                             [&](const DemandOfAlike& it) { return it.each.connected() <= most; });
}

/// A node like this one whose servers are elsewhere: its frontends have most connections.
NodeLoad without_servers(NodeLoad load) {
  load.servers = 0;
  for (PoolLoad& pool : load.pools) pool.servers = 0;
  return load;
}

}  // namespace

SettingsToChange settings_with_fewer_connections(const config::Config& config, const NodeLoad& load,
                                                 std::uint64_t most, std::optional<int> most_tag) {
  SettingsToChange topology;
  bool of_session = false;
  for (const std::string& name : config.pools()) {
    if (config.of_pool(name).servers.topology != config::Topology::dedicated) continue;
    const auto own = std::ranges::find_if(config.overrides.pools, [&](const config::PoolOverride& it) {
      return it.pool == name && it.setting == "topology";
    });
    if (own == config.overrides.pools.end())
      of_session = true;
    else
      topology.emplace_back(own->full_name(), "tiered");
  }
  if (of_session) topology.emplace(topology.begin(), "topology", "tiered");
  if (topology.empty()) return {};
  std::vector<SettingsToChange> candidates{topology};
  // With frontends servers exchange messages, unless the placement is set.
  if (config.overrides.pools.empty() && config.origin("placement").source == config::Source::fallback) {
    candidates.push_back(topology);
    candidates.back().emplace_back("placement", "collection");
  }
  for (SettingsToChange& it : candidates) {
    const auto with = changed(config, it);
    const auto node = with ? with_frontends(config, *with, load) : std::nullopt;
    if (!node || !fits(*with, *node, most, most_tag)) continue;
    if (load.frontends == 0 && load.models(config.servers.topology) > 0 &&
        !fits(*with, without_servers(*node), most, most_tag))
      continue;
    return std::move(it);
  }
  return {};
}

std::string fewer_connections(const config::Config& config, const NodeLoad& load,
                              const DemandOfAlike& process, std::uint64_t most, std::optional<int> most_tag) {
  const ProcessDemand::Far& far = process.each.far;
  const std::uint64_t excess = process.each.connected() - most;
  std::vector<std::string> ways;
  const auto at_most = [&](const char* how, std::uint64_t count, const char* what) {
    if (count > excess)
      ways.push_back(fmt::format("{} at most {} {} on other nodes", how, count - excess, what));
  };
  const bool is_server = std::string_view(process.kind) == "I/O server";
  if (is_server && far.models > 0) {
    std::vector<std::string> settings;
    for (const auto& [name, value] : settings_with_fewer_connections(config, load, most, most_tag))
      settings.push_back(fmt::format("{}: {}", name, value));
    if (!settings.empty()) ways.push_back(fmt::format("set {}", fmt::join(settings, ", ")));
    // With fewer servers there are more model ranks.
    if (far.servers > 0)
      at_most("start", far.models + far.servers, "model ranks and servers");
    else
      at_most("start", far.models, "model ranks");
  } else {
    at_most("use", far.frontends, "frontends");
    at_most("use", far.servers, "servers");
  }
  std::string text;
  for (const std::string& way : ways) text += ", or " + way;
  if (text.empty() && far.all() - far.tree > excess)
    text = ", or start fewer of these processes on other nodes";
  return text;
}

std::string without_joint_figures(const config::Config& config) {
  std::vector<std::string> ways;
  if (config.report.table != config::ReportTable::off) ways.emplace_back("set report.table: off");
  std::set<std::string> out;
  for (const auto& [name, path] : {std::pair{"report.json", &config.report.json},
                                   {"report.trace", &config.report.trace},
                                   {"report.html", &config.report.html}})
    if (!path->empty()) out.insert(name);
  for (const config::CollectionOverride& item : config.overrides.collections)
    if (item.setting == "compress" && item.value != "off") out.insert(item.full_name());
  if (!out.empty()) ways.push_back(fmt::format("leave out {}", fmt::join(out, ", ")));
  return fmt::format("{}", fmt::join(ways, " and "));
}

}  // namespace afterbay::session
