// SPDX-License-Identifier: Apache-2.0
// Code, environment and flags: sources of dotted names and text values.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/suggest.hpp"
#include "config/settings.hpp"
#include "config/sources.hpp"

namespace afterbay::config {

namespace {

constexpr std::string_view variable_prefix = "AFTERBAY_";
constexpr std::string_view flag_prefix = "--afterbay.";

/// Variables with other uses: paths of the installation for build systems and modules, and those of
/// the tests.
constexpr std::array<std::string_view, 13> other_variables{
    "AFTERBAY_ROOT",    "AFTERBAY_DIR",    "AFTERBAY_HOME",   "AFTERBAY_PREFIX", "AFTERBAY_VERSION",
    "AFTERBAY_LIB",     "AFTERBAY_BUILD",  "AFTERBAY_SOURCE", "AFTERBAY_PYTHON", "AFTERBAY_INC",
    "AFTERBAY_INCLUDE", "AFTERBAY_CONFIG", "AFTERBAY_READER"};
constexpr std::array<std::string_view, 4> other_prefixes{"AFTERBAY_TEST_", "AFTERBAY_BENCH_",
                                                         "AFTERBAY_DEMO_", "AFTERBAY_TRIGGER_"};

bool has_other_use(std::string_view variable) {
  return std::find(other_variables.begin(), other_variables.end(), variable) != other_variables.end() ||
         std::any_of(other_prefixes.begin(), other_prefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

/// The position of the setting's name in "PATTERN.SETTING"; settings of a group contain a dot. 0:
/// not found.
std::size_t start_of_setting(std::string_view name) {
  for (const auto& setting : collection_settings()) {
    if (setting.name.find('.') != std::string::npos && name.size() > setting.name.size() + 1 &&
        name.ends_with("." + setting.name)) {
      return name.size() - setting.name.size();
    }
  }
  const auto last = name.rfind('.');
  return last == std::string_view::npos || last == 0 || last + 1 == name.size() ? 0 : last + 1;
}

/// "collections.PATTERN.SETTING" or "collections.PATTERN.variables.PATTERN.SETTING"; patterns may
/// have dots.
bool split_collection(std::string_view name, Assignment& assignment) {
  name.remove_prefix(collections_key.size() + 1);
  const std::size_t start = start_of_setting(name);
  if (start == 0) return false;
  assignment.name = name.substr(start);
  name = name.substr(0, start - 1);
  constexpr std::string_view variables = ".variables.";
  if (const auto middle = name.find(variables); middle != std::string_view::npos && middle > 0) {
    assignment.variable = name.substr(middle + variables.size());
    name = name.substr(0, middle);
    if (assignment.variable.empty()) return false;
  }
  assignment.collection = name;
  return true;
}

/// "SECTION.NAME.SETTING"; settings may have dots, names have none.
bool split_named(std::string_view section, std::string_view name, std::string& named,
                 Assignment& assignment) {
  name.remove_prefix(section.size() + 1);
  const auto dot = name.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == name.size()) return false;
  named = name.substr(0, dot);
  assignment.name = name.substr(dot + 1);
  return true;
}

void add(std::string_view name, std::string_view value, const Origin& origin, std::vector<Assignment>& found,
         Problems& problems) {
  if (name == collections_key || name == triggers_key || name == pools_key) {
    read_section(name, value, origin, found, problems);
    return;
  }
  Assignment assignment;
  assignment.name = name;
  assignment.value = value;
  assignment.origin = origin;
  assignment.name_place = origin.place;
  if (name.starts_with("collections.") && !split_collection(name, assignment)) {
    problems.add(
        ErrorCode::unknown_name, origin.place,
        fmt::format("expected collections.NAME.SETTING or collections.NAME.variables.NAME.SETTING, found "
                    "\"{}\"",
                    name));
    return;
  }
  for (const auto& [section, named] :
       {std::pair(triggers_key, &assignment.trigger), std::pair(pools_key, &assignment.pool)}) {
    if (!name.starts_with(fmt::format("{}.", section)) || split_named(section, name, *named, assignment))
      continue;
    problems.add(ErrorCode::unknown_name, origin.place,
                 fmt::format("expected {}.NAME.SETTING, found \"{}\"", section, name));
    return;
  }
  found.push_back(std::move(assignment));
}

void unknown_variable(const std::string& variable, Problems& problems) {
  std::vector<std::string> names{"AFTERBAY_CONFIG", "AFTERBAY_COLLECTIONS", "AFTERBAY_POOLS",
                                 "AFTERBAY_TRIGGERS"};
  for (const auto& setting : session_settings()) names.push_back(environment_name(setting.name));
  const std::string hint = did_you_mean(variable, names);
  problems.add(ErrorCode::unknown_name, variable,
               fmt::format("no setting has this environment variable{}",
                           hint.empty() ? "; `afterbay settings` lists them, `unset` removes it" : hint));
}

}  // namespace

void read_code(const std::vector<std::pair<std::string, std::string>>& settings,
               std::vector<Assignment>& found, Problems& problems) {
  for (const auto& [name, value] : settings) add(name, value, {Source::code, "set in code"}, found, problems);
}

void read_environment(const std::map<std::string, std::string>& environment, std::vector<Assignment>& found,
                      Problems& problems) {
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(variable_prefix) || has_other_use(variable)) continue;
    const Origin origin{Source::environment, variable};
    const auto& table = session_settings();
    const auto setting = std::find_if(table.begin(), table.end(), [&wanted = variable](const auto& row) {
      return environment_name(row.name) == wanted;
    });
    if (setting != table.end()) {
      add(setting->name, value, origin, found, problems);
    } else if (variable == environment_name(collections_key)) {
      add(collections_key, value, origin, found, problems);
    } else if (variable == environment_name(triggers_key)) {
      add(triggers_key, value, origin, found, problems);
    } else if (variable == environment_name(pools_key)) {
      add(pools_key, value, origin, found, problems);
    } else {
      unknown_variable(variable, problems);
    }
  }
}

void read_arguments(const std::vector<std::string>& arguments, std::vector<Assignment>& found,
                    Problems& problems) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view flag = arguments[i];
    if (!flag.starts_with(flag_prefix)) continue;
    const auto equals = flag.find('=');
    std::string_view value;
    if (equals != std::string_view::npos) {
      value = flag.substr(equals + 1);
      flag = flag.substr(0, equals);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      value = arguments[++i];
    } else {
      problems.add(ErrorCode::invalid_argument, flag,
                   "expected a value, as in " + std::string(flag) + "=VALUE");
      continue;
    }
    add(flag.substr(flag_prefix.size()), value, {Source::flag, std::string(flag)}, found, problems);
  }
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !text.starts_with(variable_prefix)) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace afterbay::config
