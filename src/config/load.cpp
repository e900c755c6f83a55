// SPDX-License-Identifier: Apache-2.0
// Joins the sources in their order of precedence and checks every value on the way.
#include <algorithm>
#include <tuple>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "config/contradictions.hpp"
#include "config/settings.hpp"
#include "config/sources.hpp"
#include "config/writer_memory.hpp"

namespace afterbay::config {

namespace {

template <class Target>
void unknown(const Assignment& assignment, const std::vector<Setting<Target>>& table, Problems& problems) {
  std::string hint = did_you_mean(assignment.name, names_of(table));
  if (const auto members = members_of(table, assignment.name); !members.empty()) {
    hint = fmt::format("; it is a group of {}", one_of(members));
  } else if (hint.empty() &&
             !(assignment.collection.empty() && assignment.trigger.empty() && assignment.pool.empty())) {
    hint = fmt::format("; expected {}", one_of(names_of(table)));
  } else if (hint.empty()) {
    hint = "; `afterbay settings` lists all settings";
  }
  problems.add(ErrorCode::unknown_name, assignment.name_place,
               fmt::format("unknown setting \"{}\"{}", assignment.full_name(), hint));
}

/// Refuses lists, mappings and empty values if the setting takes a single value.
template <class Target>
bool shape_fits(const Assignment& assignment, const Setting<Target>& setting, Problems& problems) {
  using Shape = Assignment::Shape;
  if (assignment.shape == Shape::scalar || (assignment.shape == Shape::list && setting.list)) return true;
  const std::string_view found = assignment.shape == Shape::list      ? "a list"
                                 : assignment.shape == Shape::mapping ? "nested settings"
                                                                      : "nothing";
  problems.add(ErrorCode::wrong_type, assignment.origin.place, assignment.full_name(),
               fmt::format("expected {}, found {}", setting.accepted, found));
  return false;
}

/// Assigns to `target`; true if the setting exists and the value is valid.
template <class Target>
bool assign(const Assignment& assignment, const std::vector<Setting<Target>>& table, Target& target,
            Problems& problems) {
  const auto* setting = find_setting(table, assignment.name);
  if (setting == nullptr) {
    unknown(assignment, table, problems);
    return false;
  }
  if (!shape_fits(assignment, *setting, problems)) return false;
  if (auto assigned = setting->assign(target, assignment.value); !assigned) {
    problems.add(assigned.error().code, assignment.origin.place, assignment.full_name(),
                 assigned.error().message);
    return false;
  }
  return true;
}

template <class Target>
void add_override(const Assignment& assignment, const std::vector<Setting<Target>>& table, Config& config,
                  Problems& problems) {
  Target target;
  if (!assign(assignment, table, target, problems)) return;
  config.overrides.collections.push_back({assignment.collection, assignment.variable, assignment.name,
                                          find_setting(table, assignment.name)->print(target),
                                          assignment.origin});
}

void add_to_trigger(const Assignment& assignment, Config& config, Problems& problems) {
  auto at = std::ranges::find(config.triggers.all, assignment.trigger, &triggers::Trigger::name);
  if (at == config.triggers.all.end()) {
    at = config.triggers.all.emplace(at);
    at->name = assignment.trigger;
  }
  if (assign(assignment, trigger_settings(), *at, problems))
    config.origins[assignment.full_name()] = assignment.origin;
}

void add_to_pool(const Assignment& assignment, Config& config, Problems& problems) {
  if (assignment.name.empty()) {
    config.overrides.pools.push_back({assignment.pool, {}, "{}", assignment.origin});
    return;
  }
  Config target;
  if (!assign(assignment, pool_settings(), target, problems)) return;
  config.overrides.pools.push_back({assignment.pool, assignment.name,
                                    find_setting(pool_settings(), assignment.name)->print(target),
                                    assignment.origin});
}

void apply(const Assignment& assignment, Config& config, Problems& problems) {
  if (!assignment.trigger.empty()) {
    add_to_trigger(assignment, config, problems);
    return;
  }
  if (!assignment.pool.empty()) {
    add_to_pool(assignment, config, problems);
  } else if (!assignment.variable.empty()) {
    add_override(assignment, variable_settings(), config, problems);
  } else if (!assignment.collection.empty()) {
    add_override(assignment, collection_settings(), config, problems);
  } else if (assign(assignment, session_settings(), config, problems)) {
    config.origins[assignment.name] = assignment.origin;
  }
}

/// By source, then patterns before exact names; otherwise as found.
void sort_overrides(std::vector<CollectionOverride>& overrides) {
  const auto rank = [](const CollectionOverride& item) {
    return std::tuple(item.origin.source, !is_glob(item.pattern), !is_glob(item.variable));
  };
  std::stable_sort(overrides.begin(), overrides.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

/// Removes a setting that has no meaning with the topology that a source of higher precedence has
/// chosen.
void leave_out(Config& config, const std::string& name) {
  if (config.origin(name).source == Source::fallback) return;
  const auto* setting = find_setting(session_settings(), name);
  (void)setting->assign(config, setting->print(Config{}));
  config.origins.erase(name);
}

/// Defaults that depend on other settings: they must not contradict values that were set.
void follow_block_size(Config& config) {
  const std::uint64_t block = config.memory.block_bytes;
  if (config.origin("chunk").source == Source::fallback)
    config.writing.chunk_bytes = std::min(config.writing.chunk_bytes, block);
  if (config.origin("memory.small_block").source == Source::fallback &&
      config.memory.small_block_bytes >= block) {
    constexpr std::uint64_t page = 4096;
    config.memory.small_block_bytes = std::max(block / 4 / page, std::uint64_t{1}) * page;
  }
  if (config.origin("memory.link").source == Source::fallback)
    config.memory.link_bytes = std::max(config.memory.link_bytes, 2 * block);
  if (config.origin("memory.receive").source == Source::fallback)
    config.memory.receive_bytes = std::max(config.memory.receive_bytes, 4 * block);
}

/// The path of the YAML file: --afterbay.config, else the one from code, else AFTERBAY_CONFIG.
/// Removes the flag from `flags`.
std::string file_path(const Sources& sources, const std::map<std::string, std::string>& environment,
                      std::vector<Assignment>& flags) {
  std::string path;
  std::erase_if(flags, [&](const Assignment& flag) {
    const bool names_file = flag.collection.empty() && flag.name == config_file_key;
    if (names_file) path = flag.value;
    return names_file;
  });
  if (!path.empty()) return path;
  if (!sources.config_file.empty()) return sources.config_file;
  const auto variable = environment.find(environment_name(config_file_key));
  return variable == environment.end() ? std::string{} : variable->second;
}

}  // namespace

Result<Config> load(const Sources& sources) {
  Problems problems;
  const auto environment = sources.environment ? *sources.environment : process_environment();
  std::vector<Assignment> flags;
  std::vector<Assignment> found;
  read_arguments(sources.arguments, flags, problems);
  read_code(sources.settings, found, problems);
  if (const auto path = file_path(sources, environment, flags); !path.empty())
    read_file(path, found, problems);
  read_environment(environment, found, problems);
  found.insert(found.end(), flags.begin(), flags.end());

  Config config;
  for (const Assignment& assignment : found) apply(assignment, config, problems);
  if (sources.read_output && problems.empty()) {
    AFTERBAY_TRY_ASSIGN(const std::vector<CollectionOverride> described, sources.read_output(config));
    config.overrides.collections.insert(config.overrides.collections.begin(), described.begin(),
                                        described.end());
  }
  sort_overrides(config.overrides.collections);
  follow_block_size(config);
  config.memory.writer_buffers = writer_buffers(config);
  find_contradictions(config, problems);
  if (!problems.empty()) return fail(problems.error());
  if (config.servers.topology != Topology::inline_) {
    leave_out(config, "inline.mode");
  } else {
    for (const std::string_view name : settings_of_servers) leave_out(config, std::string(name));
  }
  return config;
}

}  // namespace afterbay::config
