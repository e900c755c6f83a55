// SPDX-License-Identifier: Apache-2.0
// YAML text to a Node and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "describe/node.hpp"
#include "describe/problems.hpp"

namespace afterbay::describe {

/// Bounds of one file. A description of 10 000 variables needs less than a tenth of each.
inline constexpr std::size_t most_yaml_bytes = std::size_t{4} << 20;
inline constexpr std::size_t most_yaml_nodes = 500'000;
inline constexpr int most_yaml_depth = 50;

/// The document in `text`; an empty one is null. Problems are recorded. The result is nullopt if it
/// is not one YAML document within the bounds, or contains anchors, aliases, merge keys (`like`,
/// `defaults` and `groups` replace them; positions in messages stay exact, and no alias can
/// multiply) or tags other than !!str. Keys that occur twice, of which yaml-cpp would take the
/// last, and keys that are not scalars are refused and left out, so that the rest can be checked.
std::optional<Node> parse_yaml(const std::string& text, const std::string& file, Problems& problems);

/// Document, section, entry: each key of an entry has a line of its own.
inline constexpr int keys_on_lines = 3;
/// YAML that reads back to the same node: block style, from the level `flow_from` on with short
/// lists and mappings in flow style. Lists of numbers are always in flow style.
std::string write_yaml(const Node& node, int flow_from = keys_on_lines);
/// Indented JSON. Infinities and NaN become text.
std::string write_json(const Node& node);

}  // namespace afterbay::describe
