// SPDX-License-Identifier: Apache-2.0
// Sections of reference pages, made from tables of keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "describe/keys.hpp"
#include "describe/yaml.hpp"

namespace afterbay::describe {

/// The section of a key. `fallback`: its default; empty: not mentioned.
std::string section_of_key(std::string_view name, std::string_view accepted, std::string_view fallback,
                           std::string_view documentation);
/// A heading and a paragraph.
std::string heading(std::string_view title, std::string_view text);

/// The default of a key, as it would be written.
template <class Target>
std::string default_of(const KeyRow<Target>& row) {
  if (!row.print) return {};
  const auto value = row.print(Target());
  if (!value || (value->is_scalar() && value->characters().empty())) return "none";
  std::string text = write_yaml(*value);
  text.pop_back();
  return "`" + text + "`";
}

/// The sections of all keys of a table.
template <class Target>
std::string section_of_table(std::string_view title, std::string_view text,
                             const std::vector<KeyRow<Target>>& table, std::string_view prefix) {
  std::string page = heading(title, text);
  for (const KeyRow<Target>& row : table)
    page += section_of_key(std::string(prefix) + row.name, row.accepted, default_of(row), row.documentation);
  return page;
}

}  // namespace afterbay::describe
