// SPDX-License-Identifier: Apache-2.0
// Lists of fields under operations and groups: "[tas, toce: tos, group(surface)]".
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "describe/inheritance.hpp"

namespace afterbay::describe {

/// A field in a list.
struct Entry {
  std::string field;
  Position at;
  const Node* options = nullptr;  ///< a new name, or keys; null: none
  bool from_group = false;
};

class EntryLists {
 public:
  EntryLists(const Pairs& groups, Budget& budget, Problems& problems);

  /// The fields of a list in order; groups are replaced by their members. An entry outside of
  /// groups replaces those of the same field from groups. Equal entries of groups are taken once.
  [[nodiscard]] std::vector<Entry> entries_of(const Node& list, const std::string& key);

  /// Groups that were named in no list are checked as well.
  void check_all_groups();

 private:
  void add_item(const Node& item, const ProblemReporter& report, std::vector<Entry>& found);
  void add_pairs(const Node& mapping, const ProblemReporter& report, std::vector<Entry>& found);
  void add_list(const Node& list, const ProblemReporter& report, std::vector<Entry>& found);
  void add_group(const Node& item, const ProblemReporter& report, std::vector<Entry>& found);
  bool check_field(const Key& key);

  const Pairs& groups_;
  std::map<std::string, const Node*> by_name_;
  Budget& budget_;
  Problems& problems_;
  std::vector<std::string> open_;  ///< groups that are being replaced
};

}  // namespace afterbay::describe
