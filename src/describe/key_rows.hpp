// SPDX-License-Identifier: Apache-2.0
// Helpers for the tables of keys: a row is a name, a kind, a field and a paragraph.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "config/settings.hpp"
#include "describe/kinds.hpp"

namespace afterbay::describe {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// A row whose value is stored: `access` maps a Target (const or not) to the T, or optional T.
template <class Target, class T, class Access>
KeyRow<Target> stored(std::string name, ValueKind<T> kind, Access access, std::string documentation) {
  KeyRow<Target> row{std::move(name), kind.accepted, kind.schema, std::move(documentation), {}, {}};
  row.assign = [kind, access](Target& target, const Node& node, const ProblemReporter& report) {
    if (auto value = kind.read(node, report)) access(target) = *std::move(value);
  };
  row.print = [kind, access](const Target& target) -> std::optional<Node> {
    const auto& field = access(target);
    using Stored = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Stored, T>) {
      return kind.write(field);
    } else {
      static_assert(IsOptional<Stored>::value);
      if (!field) return std::nullopt;
      return kind.write(*field);
    }
  };
  return row;
}

/// A row whose value is stored, and unset if it is empty: text, lists, mappings.
template <class Target, class T, class Access>
KeyRow<Target> stored_unless_empty(std::string name, ValueKind<T> kind, Access access,
                                   std::string documentation) {
  KeyRow<Target> row = stored<Target>(std::move(name), kind, access, std::move(documentation));
  row.print = [kind, access](const Target& target) -> std::optional<Node> {
    if (access(target).empty()) return std::nullopt;
    return kind.write(access(target));
  };
  return row;
}

/// A row that is resolved before values are assigned.
template <class Target>
KeyRow<Target> reference(std::string name, std::string accepted, std::string schema,
                         std::string documentation) {
  return {std::move(name), std::move(accepted), std::move(schema), std::move(documentation), {}, {}};
}

/// The JSON Schema of a setting of collections or variables.
std::string schema_of_setting(const std::vector<std::string>& choices, bool list);
/// The text of a scalar, or of a list, joined by commas; reports other values.
std::optional<std::string> setting_text(const Node& node, const ProblemReporter& report,
                                        std::string_view accepted);

/// The rows of a table of settings (config/settings.hpp), but `left_out`.
template <class Target, class Settings, class Access>
void append_settings(std::vector<KeyRow<Target>>& rows, const std::vector<config::Setting<Settings>>& table,
                     std::string_view left_out, Access access) {
  for (const config::Setting<Settings>& setting : table) {
    if (setting.name == left_out) continue;
    KeyRow<Target> row{setting.name,
                       setting.accepted,
                       schema_of_setting(setting.choices, setting.list),
                       setting.documentation,
                       {},
                       {}};
    row.assign = [&setting, access](Target& target, const Node& node, const ProblemReporter& report) {
      const auto text = setting_text(node, report, setting.accepted);
      if (!text) return;
      if (auto done = setting.assign(access(target), *text); !done)
        report(node, done.error().code, done.error().message);
    };
    row.print = [&setting, access](const Target& target) -> std::optional<Node> {
      const std::string text = setting.print(access(target));
      if (text.empty()) return std::nullopt;
      return Node::scalar(text, scalar_kind(text) == ScalarKind::null);
    };
    rows.push_back(std::move(row));
  }
}

#define AFTERBAY_KEY_FIELD(field) [](auto& target) -> auto& { return target.field; }

}  // namespace afterbay::describe
