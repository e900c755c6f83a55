// SPDX-License-Identifier: Apache-2.0
// The keys of a description: the only definition of their names, accepted values, defaults and
// documentation. The reader, the printer, the JSON Schema, the reference page and the nearest names
// in messages use it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/description.hpp"
#include "describe/node.hpp"
#include "describe/problems.hpp"

namespace afterbay::describe {

/// Records problems of the value of one key: "every: expected ...".
class ProblemReporter {
 public:
  ProblemReporter(Problems& problems, std::string key) : problems_(problems), key_(std::move(key)) {}
  void operator()(const Node& at, ErrorCode code, std::string_view text) const;
  /// "expected `accepted`, found ...`hint`".
  void expected(const Node& at, std::string_view accepted, std::string_view hint = {}) const;
  [[nodiscard]] ProblemReporter inside(std::string_view name) const {
    return {problems_, key_ + "." + std::string(name)};
  }

 private:
  Problems& problems_;
  std::string key_;
};

/// Reports text that is not UTF-8, which only variables can bring into a description.
void refuse_other_encodings(const Node& node, const ProblemReporter& report);

/// A key of a Target: File, VariableOptions or GridSubset. Keys that refer to other entries (like,
/// mean, ...) have no functions: they are resolved before the others are assigned.
template <class Target>
struct KeyRow {
  std::string name;
  std::string accepted;       ///< "a period, for example 6h, 1d or 1mo"
  std::string schema;         ///< JSON Schema of the value, as JSON
  std::string documentation;  ///< a paragraph of Markdown
  std::function<void(Target&, const Node&, const ProblemReporter&)> assign;
  std::function<std::optional<Node>(const Target&)> print;  ///< nullopt: unset
  bool in_defaults = true;                                  ///< may stand under `defaults`
  bool inherited = true;                                    ///< `like` takes it over
};

/// Keys of an entry of `files`, and of `defaults`.
const std::vector<KeyRow<File>>& file_keys();
/// Keys of an entry of `fields`, and, but `expression` and `like`, of a variable in a file.
const std::vector<KeyRow<VariableOptions>>& field_keys();
/// Keys of a variable in a file.
const std::vector<KeyRow<VariableOptions>>& variable_keys();
/// Keys of an entry of `grids`.
const std::vector<KeyRow<GridSubset>>& grid_keys();

/// Keys at the top, with their documentation.
struct TopKey {
  std::string name;
  std::string accepted;
  std::string documentation;
};
const std::vector<TopKey>& top_keys();
const std::vector<std::string>& top_key_names();

template <class Target>
const KeyRow<Target>* find_key(const std::vector<KeyRow<Target>>& table, std::string_view name) {
  for (const KeyRow<Target>& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

template <class Target>
std::vector<std::string> key_names(const std::vector<KeyRow<Target>>& table) {
  std::vector<std::string> names;
  for (const KeyRow<Target>& row : table) names.push_back(row.name);
  return names;
}

inline constexpr std::string_view own_grid = "own";
inline constexpr std::string_view group_open = "group(";  ///< group(NAME) in a list of fields

/// Whether it names an operation; which one.
std::optional<Operation> operation_of(std::string_view key) noexcept;
/// All operations in the order of messages.
const std::vector<Operation>& all_operations();

}  // namespace afterbay::describe
