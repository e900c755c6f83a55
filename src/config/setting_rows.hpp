// SPDX-License-Identifier: Apache-2.0
// Helpers for the tables of settings: a row is a name, a kind, a field and a paragraph.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/kinds.hpp"
#include "config/settings.hpp"

namespace afterbay::config {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// A row: `access` maps a Target (const or not) to the T, or optional T, that the setting fills.
template <class Target, class T, class Access>
Setting<Target> row(std::string name, Kind<T> kind, Access access, std::string documentation) {
  Setting<Target> setting{
      std::move(name), kind.type, kind.accepted, std::move(documentation), kind.list, false, {}, {},
      kind.choices};
  setting.assign = [kind, access](Target& target, std::string_view text) -> Result<void> {
    auto value = kind.parse(text);
    if (!value) return fail(std::move(value).error());
    access(target) = *std::move(value);
    return {};
  };
  setting.print = [kind, access](const Target& target) -> std::string {
    const auto& field = access(target);
    if constexpr (IsOptional<std::decay_t<decltype(field)>>::value) {
      return field ? kind.print(*field) : std::string{};
    } else {
      return kind.print(field);
    }
  };
  return setting;
}

template <class Access, class T>
Setting<Config> session(std::string name, Kind<T> kind, Access access, std::string documentation) {
  return row<Config>(std::move(name), std::move(kind), access, std::move(documentation));
}

template <class Access, class T>
Setting<CollectionSettings> collection(std::string name, Kind<T> kind, Access access,
                                       std::string documentation) {
  return row<CollectionSettings>(std::move(name), std::move(kind), access, std::move(documentation));
}

template <class Access, class T>
Setting<VariableSettings> variable(std::string name, Kind<T> kind, Access access, std::string documentation) {
  return row<VariableSettings>(std::move(name), std::move(kind), access, std::move(documentation));
}

/// Marks a setting that must be equal on all ranks, as the first argument of `session`,
/// `collection` and `variable`.
struct Agreed {};
inline constexpr Agreed agreed;

template <class Target>
Setting<Target> as_agreed(Setting<Target> setting) {
  setting.agreed = true;
  return setting;
}

template <class... Row>
Setting<Config> session(Agreed, Row&&... row) {
  return as_agreed(session(std::forward<Row>(row)...));
}

template <class... Row>
Setting<CollectionSettings> collection(Agreed, Row&&... row) {
  return as_agreed(collection(std::forward<Row>(row)...));
}

template <class... Row>
Setting<VariableSettings> variable(Agreed, Row&&... row) {
  return as_agreed(variable(std::forward<Row>(row)...));
}

#define AFTERBAY_FIELD(field) [](auto& target) -> auto& { return target.field; }

Kind<Placement> placement_kind();
Kind<PoolChoice> pool_choice_kind();

/// Settings for the placement of servers and the distribution of files.
void add_servers(std::vector<Setting<Config>>& table);

}  // namespace afterbay::config
