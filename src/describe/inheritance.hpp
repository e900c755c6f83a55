// SPDX-License-Identifier: Apache-2.0
// Keys of entries: which are known, and what `like` and `defaults` add to them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "describe/keys.hpp"
#include "describe/node.hpp"
#include "describe/problems.hpp"

namespace afterbay::describe {

/// Bounds what groups and inheritance make out of a small text. Thrown after the problem was
/// recorded.
struct TooLarge {};
class Budget {
 public:
  explicit Budget(Problems& problems) : problems_(problems) {}
  /// Counts keys, attributes and variables.
  void take(std::size_t count, const Position& at);

 private:
  Problems& problems_;
  std::size_t used_ = 0;
};
inline constexpr std::size_t most_expanded = 500'000;
inline constexpr std::size_t most_levels = 32;  ///< depth of `like` and of groups in groups

/// Keys of `upper` replace those of `properties`, and are added to them; `attributes` are joined.
void put_over(Pairs& properties, const Pairs& upper, Budget& budget);

/// Whether the name of an entry can be used; problems are reported.
bool check_entry_name(const Key& key, std::string_view what, Problems& problems);
/// What is wrong with a name of a field, variable, file or grid; empty: nothing.
std::string problem_of_name(std::string_view name);

/// Entries of a section with their `like` chains.
class Inheritance {
 public:
  /// `section`: "files". `entries` must stay.
  Inheritance(std::string section, const std::map<std::string, Pairs>& entries, Budget& budget,
              Problems& problems)
      : section_(std::move(section)), entries_(entries), budget_(budget), problems_(problems) {}

  /// The keys of an entry, without `like`, over the inherited ones. `is_inherited(key)`.
  template <class IsInherited>
  [[nodiscard]] Pairs properties(const std::string& name, IsInherited is_inherited) {
    const std::vector<const Pairs*> chain = chain_of(name);
    Pairs result;
    for (auto level = chain.rbegin(); level != chain.rend(); ++level) {
      if (level + 1 == chain.rend()) {
        put_over(result, **level, budget_);
      } else {
        Pairs inherited;
        for (const auto& pair : **level)
          if (is_inherited(pair.first.name)) inherited.push_back(pair);
        put_over(result, inherited, budget_);
      }
    }
    std::erase_if(result, [](const auto& pair) { return pair.first.name == "like"; });
    return result;
  }

 private:
  /// The entry, the one that it is like, and so on.
  std::vector<const Pairs*> chain_of(const std::string& name);
  [[nodiscard]] const Pairs* next_of(const Pairs& entry, std::string& name);

  std::string section_;
  const std::map<std::string, Pairs>& entries_;
  Budget& budget_;
  Problems& problems_;
};

/// Where else a key is known, for messages.
std::string other_place_of(std::string_view key);
/// The key for what other systems call by this word: "every" for "output_freq". Empty: none.
std::string_view key_of_others(std::string_view word);

/// Whether the reference page of descriptions has the keys.
template <class Target>
inline constexpr bool is_of_descriptions =
    std::is_same_v<Target, File> || std::is_same_v<Target, VariableOptions> ||
    std::is_same_v<Target, GridSubset>;

/// The known keys of an entry, in which groups (`stripe: {count: 4}`) have become dotted names.
/// Others are reported. `what`: "a file".
template <class Target>
Pairs known_keys(const Pairs& entry, const std::vector<KeyRow<Target>>& table, std::string_view what,
                 Problems& problems, const std::string& prefix = {}) {
  Pairs known;
  for (const auto& [key, value] : entry) {
    Key full = key;
    full.name = prefix + key.name;
    const std::string group = full.name + ".";
    const bool is_group =
        std::ranges::any_of(table, [&](const auto& row) { return row.name.starts_with(group); });
    if (find_key(table, full.name) != nullptr) {
      known.emplace_back(std::move(full), value);
    } else if (is_group && value.is_mapping() && prefix.empty()) {
      for (auto& pair : known_keys(value.pairs(), table, what, problems, group))
        known.push_back(std::move(pair));
    } else {
      std::string hint = other_place_of(full.name);
      if (hint.empty()) hint = did_you_mean(full.name, key_names(table));
      if (const auto ours = key_of_others(full.name); hint.empty() && find_key(table, ours) != nullptr)
        hint = fmt::format("; here it is \"{}\"", ours);
      if (hint.empty() && is_of_descriptions<Target>) hint = "; afterbay describe --markdown lists all keys";
      problems.add(ErrorCode::unknown_name, key.at,
                   fmt::format("unknown key \"{}\" of {}{}", printable(full.name), what, hint));
    }
  }
  return known;
}

/// Assigns the values of keys that have functions.
template <class Target>
void assign_all(Target& target, const Pairs& properties, const std::vector<KeyRow<Target>>& table,
                Problems& problems) {
  for (const auto& [key, value] : properties) {
    const KeyRow<Target>* const row = find_key(table, key.name);
    if (row != nullptr && row->assign && !value.is_null())
      row->assign(target, value, ProblemReporter(problems, key.name));
  }
}

/// The value of a key; null if it is absent or null.
const Node* value_in(const Pairs& properties, std::string_view name);

}  // namespace afterbay::describe
