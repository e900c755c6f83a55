// SPDX-License-Identifier: Apache-2.0
#include "config/config.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "config/settings.hpp"

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

VariableSettings CollectionSettings::settings_for(std::string_view variable) const {
  VariableSettings joined{deflate, shuffle, {}, access};
  for (const auto& [pattern, settings] : variables) {
    if (!glob_match(pattern, variable)) continue;
    if (settings.deflate) joined.deflate = settings.deflate;
    if (settings.shuffle) joined.shuffle = settings.shuffle;
    if (settings.chunk) joined.chunk = settings.chunk;
    if (settings.access) joined.access = settings.access;
  }
  return joined;
}

CollectionSettings Config::settings_for(std::string_view collection) const {
  CollectionSettings settings;
  for (const CollectionOverride& item : overrides) {
    if (glob_match(item.pattern, collection)) apply(item, settings);
  }
  return settings;
}

bool Config::splits_files() const {
  const auto splits = [](Placement it) { return it == Placement::slab || it == Placement::variable; };
  return splits(placement) || std::ranges::any_of(overrides, [&](const CollectionOverride& item) {
           CollectionSettings settings;
           apply(item, settings);
           return settings.placement && splits(*settings.placement);
         });
}

const Origin& Config::origin(std::string_view name) const {
  static const Origin fallback{Source::fallback, "default"};
  const auto found = origins.find(name);
  return found == origins.end() ? fallback : found->second;
}

Result<Split> Config::check_against(int ranks) const {
  if (!nodes.empty() && nodes.size() != static_cast<std::size_t>(ranks)) {
    return fail(
        ErrorCode::conflict,
        "{}: nodes declares the nodes of {} ranks, but the communicator has {}; give one number a rank",
        origin("nodes").place, nodes.size(), ranks);
  }
  if (topology == Topology::inline_) return Split{ranks, 0};
  if (servers >= ranks) {
    return fail(ErrorCode::conflict,
                "{}: servers is {}, but the communicator has {} rank{}, which leaves {} for the model; start "
                "at least "
                "{} ranks, lower servers, or set topology to inline",
                origin("servers").place, servers, ranks, ranks == 1 ? "" : "s", std::max(ranks - servers, 0),
                servers + 1);
  }
  return Split{ranks - servers, servers};
}

}  // namespace afterbay::config
