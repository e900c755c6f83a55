// SPDX-License-Identifier: Apache-2.0
// How a row of a table of settings is made from a kind of values and the field that it fills.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "config/kinds.hpp"
#include "config/settings.hpp"

namespace afterbay::config {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// A row: `access` takes a Target (const or not) to the T, or optional T, that the setting fills.
template <class Target, class T, class Access>
Setting<Target> row(std::string name, Kind<T> kind, Access access, std::string documentation) {
  Setting<Target> setting{
      std::move(name), kind.type, kind.accepted, std::move(documentation), kind.list, {}, {}};
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

}  // namespace afterbay::config
