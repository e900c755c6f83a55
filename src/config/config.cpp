// SPDX-License-Identifier: Apache-2.0
#include "config/config.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "base/own_collections.hpp"
#include "config/layout.hpp"
#include "config/settings.hpp"
#include "config/writer_memory.hpp"

namespace afterbay::config {

namespace {

void apply(const CollectionOverride& item, CollectionSettings& settings) {
  if (item.variable.empty()) {
    (void)find_setting(collection_settings(), item.setting)->assign(settings, item.value);
    return;
  }
  VariableSettings variable;
  (void)find_setting(variable_settings(), item.setting)->assign(variable, item.value);
  settings.variables.emplace_back(item.variable, std::move(variable));
}

}  // namespace

std::string CollectionOverride::full_name() const {
  if (variable.empty()) return fmt::format("collections.{}.{}", pattern, setting);
  return fmt::format("collections.{}.variables.{}.{}", pattern, variable, setting);
}

std::string PoolOverride::full_name() const { return fmt::format("pools.{}.{}", pool, setting); }

VariableSettings CollectionSettings::settings_for(std::string_view variable) const {
  VariableSettings joined{filters, {}, access, {}};
  for (const auto& [pattern, settings] : variables) {
    if (!glob_match(pattern, variable)) continue;
    for (const auto& [codec, filter] : settings.filters) joined.filters.insert_or_assign(codec, filter);
    if (settings.chunk) joined.chunk = settings.chunk;
    if (settings.access) joined.access = settings.access;
    for (const auto& [name, value] : settings.stages) joined.stages[name] = value;
  }
  return joined;
}

CollectionSettings Config::settings_for(std::string_view collection) const {
  CollectionSettings settings;
  for (const CollectionOverride& item : overrides.collections) {
    if (is_own_collection(collection) && item.pattern != collection) continue;
    if (glob_match(item.pattern, collection)) apply(item, settings);
  }
  return settings;
}

std::vector<std::string> Config::pools() const {
  std::vector<std::string> names;
  for (const PoolOverride& item : overrides.pools)
    if (std::ranges::find(names, item.pool) == names.end()) names.push_back(item.pool);
  if (names.empty()) names.emplace_back();
  return names;
}

Config Config::of_pool(std::string_view name) const {
  Config pool = *this;
  for (const PoolOverride& item : overrides.pools) {
    if (item.pool != name) continue;
    (void)find_setting(pool_settings(), item.setting)->assign(pool, item.value);
    pool.origins[item.setting] = item.origin;
  }
  if (pool.servers.topology == Topology::tiered && pool.origin("placement").source == Source::fallback)
    pool.servers.placement = Placement::least;
  pool.memory.writer_buffers = config::writer_buffers(pool);
  return pool;
}

bool Config::joins_ranks() const {
  return report.is_wanted() || std::ranges::any_of(overrides.collections, [](const CollectionOverride& item) {
           CollectionSettings settings;
           apply(item, settings);
           return settings.compress.value_or(Compress::off) != Compress::off;
         });
}

bool Config::servers_talk() const {
  const auto talks = [](Placement it) { return it != Placement::collection && it != Placement::file; };
  if (talks(servers.placement) || waits_for_epochs()) return true;
  if (std::ranges::any_of(pools(), [&](const auto& name) { return talks(of_pool(name).servers.placement); }))
    return true;
  CollectionSettings any;
  for (const CollectionOverride& item : overrides.collections) {
    CollectionSettings settings;
    apply(item, settings);
    if (settings.placement && talks(*settings.placement)) return true;
    if (settings.pools && settings.pools->size() > 1) any.pools = settings.pools;
    if (settings.pool_choice == PoolChoice::least) any.pool_choice = settings.pool_choice;
  }
  return any.pools && any.pool_choice.value_or(servers.pool_choice) == PoolChoice::least;
}

bool Config::waits_for_epochs() const {
  return std::ranges::any_of(triggers.all, [](const auto& it) { return it.on == triggers::Occasion::epoch; });
}

const Origin& Config::origin(std::string_view name) const {
  static const Origin fallback{Source::fallback, "default"};
  const auto found = origins.find(name);
  return found == origins.end() ? fallback : found->second;
}

Result<Split> Config::check_against(int ranks) const {
  const std::vector<int>& nodes = network.nodes;
  if (!nodes.empty() && nodes.size() != static_cast<std::size_t>(ranks)) {
    return fail(
        ErrorCode::conflict,
        "{}: nodes declares the nodes of {} ranks, but the communicator has {}; give one number per rank",
        origin("nodes").place, nodes.size(), ranks);
  }
  if (servers.topology == Topology::inline_) return Split{ranks, 0};
  const std::vector<int> one_node(static_cast<std::size_t>(ranks), 0);
  AFTERBAY_TRY_ASSIGN(const auto assignments, assign_ranks(*this, nodes.empty() ? one_node : nodes));
  const auto count = [&](RankKind kind) {
    return static_cast<int>(std::ranges::count(assignments, kind, &RankAssignment::kind));
  };
  return Split{count(RankKind::model), count(RankKind::server), count(RankKind::frontend),
               count(RankKind::spare)};
}

}  // namespace afterbay::config
