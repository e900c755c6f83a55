// SPDX-License-Identifier: Apache-2.0
#include "describe/entries.hpp"

#include <algorithm>

#include "describe/yaml.hpp"

namespace afterbay::describe {

namespace {

constexpr std::string_view accepted_list = "a list of fields, [tas, toce: tos, group(surface)]";

std::vector<std::string> names_of_groups(const std::map<std::string, const Node*>& groups) {
  std::vector<std::string> names;
  for (const auto& [name, node] : groups) names.push_back(name);
  return names;
}

/// The same for entries that make the same variable.
std::string text_of(const Entry& entry) {
  const bool keeps_name =
      entry.options == nullptr || (entry.options->is_scalar() && entry.options->characters() == entry.field);
  return entry.field + ": " + (keeps_name ? std::string() : write_yaml(*entry.options));
}

}  // namespace

EntryLists::EntryLists(const Pairs& groups, Budget& budget, Problems& problems)
    : groups_(groups), budget_(budget), problems_(problems) {
  for (const auto& [key, node] : groups)
    if (check_entry_name(key, "groups", problems)) by_name_.emplace(key.name, &node);
}

std::vector<Entry> EntryLists::entries_of(const Node& list, const std::string& key) {
  std::vector<Entry> found;
  add_list(list, ProblemReporter(problems_, key), found);
  std::set<std::string> replaced;
  for (const Entry& entry : found)
    if (!entry.from_group) replaced.insert(entry.field);
  std::set<std::string> taken;
  std::erase_if(found, [&](const Entry& entry) {
    return entry.from_group && (replaced.contains(entry.field) || !taken.insert(text_of(entry)).second);
  });
  return found;
}

void EntryLists::check_all_groups() {
  for (const auto& [key, node] : groups_) {
    std::vector<Entry> ignored;
    open_ = {key.name};
    add_list(node, ProblemReporter(problems_, "groups." + printable(key.name)), ignored);
    open_.clear();
  }
}

void EntryLists::add_list(const Node& list, const ProblemReporter& report, std::vector<Entry>& found) {
  if (list.is_null()) return;
  if (list.is_sequence())
    for (const Node& item : list.items()) add_item(item, report, found);
  else
    add_item(list, report, found);
}

void EntryLists::add_item(const Node& item, const ProblemReporter& report, std::vector<Entry>& found) {
  if (item.is_mapping()) return add_pairs(item, report, found);
  if (!item.is_scalar()) return report.expected(item, accepted_list);
  const std::string& text = item.characters();
  if (text.starts_with(group_open) && text.ends_with(')')) return add_group(item, report, found);
  if (item.kind() != ScalarKind::text)
    return report.expected(item, "the name of a field",
                           item.is_null() ? "" : "; put it in quotes if it is one");
  if (!check_field({text, item.at, true})) return;
  budget_.take(1, item.at);
  found.push_back({text, item.at, nullptr, !open_.empty()});
}

void EntryLists::add_pairs(const Node& mapping, const ProblemReporter& report, std::vector<Entry>& found) {
  for (const auto& [key, value] : mapping.pairs()) {
    if (key.name.starts_with(group_open)) {
      problems_.add(
          ErrorCode::invalid_argument, key.at,
          fmt::format("a group cannot be renamed and has no keys; list \"{}\" by itself, and the fields "
                      "with keys beside it",
                      printable(key.name)));
      continue;
    }
    if (!check_field(key)) continue;
    if (value.is_sequence()) {
      report.inside(key.name).expected(value, "a new name, or keys of a variable");
      continue;
    }
    budget_.take(1, key.at);
    found.push_back({key.name, key.at, value.is_null() ? nullptr : &value, !open_.empty()});
  }
}

bool EntryLists::check_field(const Key& key) { return check_entry_name(key, "field", problems_); }

void EntryLists::add_group(const Node& item, const ProblemReporter& report, std::vector<Entry>& found) {
  const std::string& text = item.characters();
  const std::string name = text.substr(group_open.size(), text.size() - group_open.size() - 1);
  const auto group = by_name_.find(name);
  if (group == by_name_.end())
    return report(item, ErrorCode::unknown_name,
                  fmt::format("there is no group \"{}\" under \"groups:\"{}", printable(name),
                              did_you_mean(name, names_of_groups(by_name_))));
  if (const auto begin = std::ranges::find(open_, name); begin != open_.end()) {
    std::string cycle;
    for (auto it = begin; it != open_.end(); ++it) cycle += *it + " contains ";
    problems_.add(ErrorCode::conflict, item.at,
                  fmt::format("groups contain each other: {}{}; remove one of these entries", cycle, name));
    return;
  }
  if (open_.size() >= most_levels)
    return report(item, ErrorCode::resources, fmt::format("more than {} levels of groups", most_levels));
  budget_.take(1, item.at);
  open_.push_back(name);
  add_list(*group->second, ProblemReporter(problems_, "groups." + name), found);
  open_.pop_back();
}

}  // namespace afterbay::describe
