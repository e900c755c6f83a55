// SPDX-License-Identifier: Apache-2.0
// Resolver: from the sections of a Document to a Description. Used once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "describe/description.hpp"
#include "describe/document.hpp"
#include "describe/entries.hpp"
#include "describe/inheritance.hpp"

namespace afterbay::describe {

class Resolver {
 public:
  Resolver(const Document& document, const ReadOptions& options, Problems& problems);

  /// Problems are recorded; the result is meaningful if there are none.
  Description resolve();

 private:
  void resolve_case();
  /// After the files, which say whether there are epochs.
  void resolve_state();
  void resolve_fields();
  void resolve_field(const Key& key);
  void read_expression(Field& field, const Pairs& properties);
  void check_names(const Field& field);
  void resolve_grids();
  void resolve_files();
  void resolve_file(const Key& key, const Pairs& defaults);
  void add_variables(File& file, const Pairs& properties);
  void add_variable(File& file, const Entry& entry, Operation operation);
  [[nodiscard]] std::string given_name(const Entry& entry);
  [[nodiscard]] std::set<std::string> fields_without(const Pairs& properties);
  /// Reports if the key `grid` names no grid.
  void check_grid(const Pairs& properties);
  /// Gives names to variables without one, and refuses names that occur twice.
  void name_variables(File& file);

  const Document& document_;
  const ReadOptions& options_;
  Problems& problems_;
  Budget budget_;
  EntryLists lists_;
  std::map<std::string, Pairs> raw_fields_;        ///< keys of the entries of `fields`
  std::map<std::string, Pairs> field_properties_;  ///< with what they inherit
  std::map<std::string, Pairs> raw_files_;
  std::vector<std::string> misreadable_;  ///< entries under `fields` that expressions cannot name
  Description result_;
};

}  // namespace afterbay::describe
