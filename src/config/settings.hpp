// SPDX-License-Identifier: Apache-2.0
// The table of settings, the only definition of names, kinds, defaults and documentation. The
// readers of YAML, environment, flags and code, `afterbay settings`, `afterbay check --show` and
// the reference page all use it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// One setting of a Target: Config, CollectionSettings or VariableSettings.
template <class Target>
struct Setting {
  std::string name;           ///< dotted: "memory.server"
  std::string type;           ///< "size", "duration", "integer", "number", "choice", "path", ...
  std::string accepted;       ///< "a size from 1MiB to 1TiB"
  std::string documentation;  ///< one paragraph
  bool list = false;          ///< a YAML sequence is accepted
  bool agreed = false;        ///< must be equal on all ranks; see agreed_settings
  std::function<Result<void>(Target&, std::string_view)> assign;  ///< error: "expected ..., found ..."
  std::function<std::string(const Target&)> print;                ///< in a form that can be
                                                                  ///< assigned; empty: unset
  std::vector<std::string> choices = {};                          ///< all accepted words of the type "choice"
};

/// The settings of the session, in the order of the reference page.
const std::vector<Setting<Config>>& session_settings();
/// The settings of `pools.NAME`: session settings that a pool may override, and its own.
const std::vector<Setting<Config>>& pool_settings();
/// The settings of `collections.NAME`.
const std::vector<Setting<CollectionSettings>>& collection_settings();
/// The settings of `collections.NAME.variables.NAME`.
const std::vector<Setting<VariableSettings>>& variable_settings();

/// The settings of `triggers.NAME`.
const std::vector<Setting<triggers::Trigger>>& trigger_settings();

template <class Target>
const Setting<Target>* find_setting(const std::vector<Setting<Target>>& table, std::string_view name) {
  for (const auto& setting : table) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

template <class Target>
std::vector<std::string> names_of(const std::vector<Setting<Target>>& table) {
  std::vector<std::string> names;
  for (const auto& setting : table) names.push_back(setting.name);
  return names;
}

/// The settings of the group `name` ("memory"), if it is a group.
template <class Target>
std::vector<std::string> members_of(const std::vector<Setting<Target>>& table, std::string_view name) {
  std::vector<std::string> members;
  for (const auto& setting : table) {
    if (setting.name.starts_with(std::string(name) + ".")) members.push_back(setting.name);
  }
  return members;
}

/// "memory.server" -> "AFTERBAY_MEMORY_SERVER".
std::string environment_name(std::string_view setting);

}  // namespace afterbay::config
