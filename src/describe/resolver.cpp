// SPDX-License-Identifier: Apache-2.0
#include "describe/resolver.hpp"

#include <algorithm>
#include <cstdlib>

#include "describe/checks.hpp"
#include "describe/name_template.hpp"
#include "describe/operation_traits.hpp"
#include "expression/expression.hpp"
#include "expression/names.hpp"

namespace afterbay::describe {

namespace {

template <class Target>
bool key_is_inherited(const std::vector<KeyRow<Target>>& table, std::string_view key) {
  const KeyRow<Target>* const row = find_key(table, key);
  return row != nullptr && row->inherited;
}

Pairs without_keys(Pairs properties, std::initializer_list<std::string_view> keys) {
  std::erase_if(properties,
                [&](const auto& pair) { return std::ranges::find(keys, pair.first.name) != keys.end(); });
  return properties;
}

double number_in(const Node* node) {
  return node != nullptr && node->is_scalar() ? std::strtod(node->characters().c_str(), nullptr) : 0;
}

/// A negative factor of a field turns its scale around: the largest value becomes the smallest one,
/// and the width of a range negative.
void check_factor(Operation operation, const Pairs& of_field, const Entry& entry, Problems& problems) {
  const Node* const multiply = value_in(of_field, "multiply");
  if (number_in(multiply) >= 0 || !traits_of(operation).needs_positive_factor) return;
  problems.add(
      ErrorCode::conflict, entry.at,
      fmt::format("the field \"{}\" has \"multiply: {}\" under fields (at {}), by which its {} would be that "
                  "of values with the other sign: make a derived field, \"{}*{}\", or write \"multiply: 1\" "
                  "into this entry",
                  entry.field, printable(multiply->characters()), multiply->at.text(), name_of(operation),
                  printable(multiply->characters()), entry.field));
}

/// `add` of a field moves the zero of its scale, as units such as degC do: differences of values
/// stay as they are, and a sum would change by it as often as there are values.
Pairs moved_for(Operation operation, Pairs of_field, const Entry& entry, Problems& problems) {
  if (traits_of(operation).is_difference) return without_keys(std::move(of_field), {"add"});
  if (!traits_of(operation).is_sum) return of_field;
  const Node* const add = value_in(of_field, "add");
  if (number_in(add) != 0)
    problems.add(
        ErrorCode::conflict, entry.at,
        fmt::format("the field \"{}\" has \"add: {}\" under fields (at {}), which moves its zero, so "
                    "that a {} cannot be converted: write \"add: 0\" into this entry",
                    entry.field, printable(add->characters()), add->at.text(), name_of(operation)));
  return of_field;
}

/// A file of fields that are written once has no records. `defaults` may say when those of other
/// files begin and end, and put dates into their names.
void leave_out_records(File& file, bool has_own_name) {
  Timing& timing = file.timing;
  for (std::optional<Period>* const period :
       {&timing.every, &timing.sample, &timing.sample_offset, &timing.cycle, &timing.cycle_step})
    period->reset();
  timing.at_start = false;
  file.naming.split = {};
  if (!has_own_name) file.naming.name = name_without_parts(file.naming.name);
}

}  // namespace

Resolver::Resolver(const Document& document, const ReadOptions& options, Problems& problems)
    : document_(document),
      options_(options),
      problems_(problems),
      budget_(problems),
      lists_(document.groups, budget_, problems) {}

Description Resolver::resolve() {
  try {
    resolve_case();
    resolve_fields();
    resolve_grids();
    lists_.check_all_groups();
    resolve_files();
    resolve_state();
    check_cycles(result_, problems_);
    check_file_names(result_, problems_);
  } catch (const TooLarge&) {
    // has been recorded
  }
  return std::move(result_);
}

void Resolver::resolve_case() {
  const Node& node = document_.case_name;
  if (node.is_null()) return;
  const ProblemReporter report(problems_, "case");
  if (!node.is_scalar() || node.characters().find('/') != std::string::npos)
    return report.expected(node, "text without slashes");
  refuse_other_encodings(node, report);
  result_.case_name = node.characters();
}

void Resolver::resolve_state() {
  const Node& node = document_.state;
  if (node.is_null()) return;
  const ProblemReporter report(problems_, "state");
  if (!node.is_scalar() || node.kind() != ScalarKind::text || node.characters().empty())
    return report.expected(node, "a template of names of files, for example state_{date}.nc");
  result_.state = node.characters();
  result_.state_at = node.at;
  check_state_name(result_, report, node);
}

void Resolver::resolve_fields() {
  for (const auto& [key, node] : document_.fields) {
    if (!check_entry_name(key, "fields", problems_)) continue;
    Pairs& raw = raw_fields_[key.name];
    if (node.is_mapping())
      raw = known_keys(node.pairs(), field_keys(), "a field", problems_);
    else if (node.is_scalar() && !node.is_null())
      raw.emplace_back(Key{"expression", node.at, false}, node);
    else if (!node.is_null())
      ProblemReporter(problems_, "fields." + key.name)
          .expected(node, "an expression, or indented keys of a field");
  }
  std::vector<std::string> names;
  for (const auto& [name, properties] : raw_fields_) names.push_back(name);
  misreadable_ = expression::misreadable_names(std::move(names));
  for (const auto& [key, node] : document_.fields)
    if (raw_fields_.contains(key.name)) resolve_field(key);
}

void Resolver::resolve_field(const Key& key) {
  Inheritance inheritance("fields", raw_fields_, budget_, problems_);
  Pairs properties = inheritance.properties(
      key.name, [](std::string_view name) { return key_is_inherited(field_keys(), name); });
  Field field{key.name, key.at, {}, key.at, {}, {}};
  read_expression(field, properties);
  properties = without_keys(std::move(properties), {"expression"});
  assign_all(field.options, properties, field_keys(), problems_);
  check_grid(properties);
  field_properties_.emplace(key.name, std::move(properties));
  result_.fields.push_back(std::move(field));
}

void Resolver::read_expression(Field& field, const Pairs& properties) {
  const Node* const node = value_in(properties, "expression");
  if (node == nullptr) return;
  const ProblemReporter report(problems_, "expression");
  if (!node->is_scalar() || node->kind() == ScalarKind::boolean)
    return report.expected(*node, "an expression of other fields");
  field.expression = node->characters();
  field.expression_at = node->at;
  check_names(field);
  const auto parsed = expression::parse(field.expression);
  if (parsed) {
    field.operands = parsed->fields();
    return;
  }
  // Within { } YAML ends a plain scalar at a comma, and so amid the arguments of a function.
  const bool cut = std::ranges::count(field.expression, '(') > std::ranges::count(field.expression, ')');
  report(*node, parsed.error().code,
         parsed.error().message + (cut ? "; within { } an expression with commas needs quotes" : ""));
}

/// A field that expressions would not mean where they name it.
void Resolver::check_names(const Field& field) {
  if (expression::is_constant(field.name))
    problems_.add(ErrorCode::conflict, field.at,
                  fmt::format("fields: \"{}\" is a constant in expressions, so that none can contain a field "
                              "of this name; give this one another name",
                              field.name));
  if (const auto misread = expression::misread_name(field.expression, misreadable_))
    problems_.add(ErrorCode::conflict, field.expression_at,
                  "expression: " + expression::misread_text(*misread));
}

void Resolver::resolve_grids() {
  for (const auto& [key, node] : document_.grids) {
    if (!check_entry_name(key, "grids", problems_)) continue;
    if (key.name == own_grid) {
      problems_.add(ErrorCode::conflict, key.at,
                    "grids: \"own\" is the name of each field's own grid; rename this one");
      continue;
    }
    GridSubset grid;
    grid.name = key.name;
    grid.at = key.at;
    const ProblemReporter report(problems_, "grids." + key.name);
    const bool good = node.is_mapping() && !node.pairs().empty();
    if (good)
      assign_all(grid, known_keys(node.pairs(), grid_keys(), "a grid", problems_), grid_keys(), problems_);
    else
      report.expected(node, "indented keys of a grid: " + one_of(key_names(grid_keys())));
    if (!grid.stations.empty() && !(grid.box.empty() && grid.index.empty() && grid.stride.empty()))
      report(node, ErrorCode::conflict,
             "stations cannot be combined with box, index or stride; make two grids");
    if (grid.stations.empty() && (grid.max_distance_m || !grid.mask.empty()))
      report(node, ErrorCode::conflict,
             "max_distance and mask belong to stations: add stations, or remove them");
    if (grid.outside && grid.box.empty())
      report(node, ErrorCode::conflict, "outside belongs to a box: add box, or remove it");
    result_.grids.push_back(std::move(grid));
  }
}

void Resolver::check_grid(const Pairs& properties) {
  const Node* const node = value_in(properties, "grid");
  if (node == nullptr || !node->is_scalar() || node->characters() == own_grid) return;
  std::vector<std::string> names{std::string(own_grid)};
  for (const auto& [key, grid] : document_.grids) names.push_back(key.name);
  if (std::ranges::find(names, node->characters()) != names.end()) return;
  problems_.add(ErrorCode::unknown_name, node->at,
                fmt::format("grid: there is no \"{}\" under \"grids:\"{}", printable(node->characters()),
                            did_you_mean(node->characters(), names)));
}

void Resolver::resolve_files() {
  Pairs defaults = known_keys(document_.defaults, file_keys(), "defaults", problems_);
  std::erase_if(defaults, [&](const auto& pair) {
    if (find_key(file_keys(), pair.first.name)->in_defaults) return false;
    problems_.add(
        ErrorCode::invalid_argument, pair.first.at,
        fmt::format("\"{}\" cannot stand under \"defaults:\"; write it into a file, or into a pattern for "
                    "like:",
                    pair.first.name));
    return true;
  });
  for (const auto& [key, node] : document_.files) {
    if (!check_entry_name(key, "files", problems_)) continue;
    Pairs& raw = raw_files_[key.name];
    if (node.is_mapping())
      raw = known_keys(node.pairs(), file_keys(), "a file", problems_);
    else
      ProblemReporter(problems_, "files." + key.name).expected(node, "indented keys of a file");
  }
  for (const auto& [key, node] : document_.files)
    if (raw_files_.contains(key.name) && node.is_mapping()) resolve_file(key, defaults);
}

void Resolver::resolve_file(const Key& key, const Pairs& defaults) {
  Inheritance inheritance("files", raw_files_, budget_, problems_);
  Pairs properties;
  put_over(properties, defaults, budget_);
  put_over(properties,
           inheritance.properties(key.name,
                                  [](std::string_view name) { return key_is_inherited(file_keys(), name); }),
           budget_);
  File file;
  file.name = key.name;
  file.at = key.at;
  assign_all(file, properties, file_keys(), problems_);
  check_grid(properties);
  add_variables(file, properties);
  if (!file.variables.empty() && !has_records(file))
    leave_out_records(file, value_in(raw_files_.at(key.name), "name") != nullptr);
  // The end of a file that is split by records is known when it is reached.
  if (file.naming.name.empty())
    file.naming.name = !file.naming.split.any()   ? "{file}"
                       : file.naming.split.period ? "{file}_{start}-{end}"
                                                  : "{file}_{start}";
  check_file(file, properties, options_, result_, problems_);
  result_.files.push_back(std::move(file));
}

void Resolver::add_variables(File& file, const Pairs& properties) {
  const std::set<std::string> without = fields_without(properties);
  std::set<std::string> used;
  std::vector<std::string> listed;
  for (const Operation operation : all_operations()) {
    const std::string key(name_of(operation));
    const Node* const list = value_in(properties, key);
    if (list == nullptr) continue;
    for (const Entry& entry : lists_.entries_of(*list, key)) {
      listed.push_back(entry.field);
      if (without.contains(entry.field))
        used.insert(entry.field);
      else
        add_variable(file, entry, operation);
    }
  }
  for (const std::string& field : without)
    if (!used.contains(field))
      problems_.add(ErrorCode::unknown_name, value_in(properties, "without")->at,
                    fmt::format("without: no list of the file \"{}\" contains the field \"{}\"{}", file.name,
                                field, did_you_mean(field, listed)));
  name_variables(file);
}

std::set<std::string> Resolver::fields_without(const Pairs& properties) {
  std::set<std::string> fields;
  const Node* const list = value_in(properties, "without");
  if (list == nullptr) return fields;
  for (const Entry& entry : lists_.entries_of(*list, "without")) {
    fields.insert(entry.field);
    if (entry.options != nullptr)
      problems_.add(ErrorCode::invalid_argument, entry.at,
                    "without: expected names of fields, without new names");
  }
  return fields;
}

std::string Resolver::given_name(const Entry& entry) {
  if (entry.options == nullptr) return {};
  const Node* const node =
      entry.options->is_mapping() ? value_in(entry.options->pairs(), "name") : entry.options;
  if (node == nullptr) return {};
  const ProblemReporter report(problems_, entry.field);
  if (!node->is_scalar() || node->kind() != ScalarKind::text) {
    report.expected(*node, "the name of the variable in the file", "; put it in quotes if it is one");
    return {};
  }
  const std::string problem = problem_of_name(node->characters());
  if (problem.empty()) return node->characters();
  report(*node, ErrorCode::invalid_argument, problem);
  return {};
}

void Resolver::add_variable(File& file, const Entry& entry, Operation operation) {
  Variable variable{entry.field, given_name(entry), operation, entry.at, {}};
  Pairs properties;
  if (const auto field = field_properties_.find(entry.field); field != field_properties_.end())
    properties = field->second;
  budget_.take(properties.size(), entry.at);
  Pairs own;
  if (entry.options != nullptr && entry.options->is_mapping())
    own =
        without_keys(known_keys(entry.options->pairs(), variable_keys(), "a variable", problems_), {"name"});
  if (value_in(own, "multiply") == nullptr) check_factor(operation, properties, entry, problems_);
  if (value_in(own, "add") == nullptr)
    properties = moved_for(operation, std::move(properties), entry, problems_);
  put_over(properties, own, budget_);
  assign_all(variable.options, properties, variable_keys(), problems_);
  check_grid(properties);
  file.variables.push_back(std::move(variable));
}

void Resolver::name_variables(File& file) {
  std::map<std::string, const Variable*> taken;
  const auto take = [&](const Variable& variable) {
    const auto [earlier, fresh] = taken.emplace(variable.name, &variable);
    if (!fresh)
      problems_.add(
          ErrorCode::conflict, variable.at,
          fmt::format("the file \"{}\" has two variables \"{}\", the other one at {}; rename one, as in "
                      "\"{}: NAME\"",
                      file.name, variable.name, earlier->second->at.text(), variable.field));
  };
  for (const Variable& variable : file.variables)
    if (!variable.name.empty()) take(variable);
  for (Variable& variable : file.variables) {
    if (!variable.name.empty()) continue;
    variable.name = variable.field;
    const auto other = taken.find(variable.name);
    if (other != taken.end() && other->second->operation != variable.operation)
      variable.name += "_" + std::string(name_of(variable.operation));
    take(variable);
  }
}

namespace {

Result<Description> resolved(const Document& document, const ReadOptions& options, Problems& problems) {
  Description description = Resolver(document, options, problems).resolve();
  if (!problems.empty()) return fail(problems.error());
  return description;
}

}  // namespace

Result<Description> read_files_and_text(const std::vector<std::string>& paths, const std::string& text,
                                        const ReadOptions& options) {
  Problems problems;
  const Document document = join_files(paths, text, options, problems);
  return resolved(document, options, problems);
}

Result<Description> read_files(const std::vector<std::string>& paths, const ReadOptions& options) {
  return read_files_and_text(paths, {}, options);
}

Result<Description> read_text(const std::string& text, const std::string& name, const ReadOptions& options) {
  Problems problems;
  const Document document = join_text(text, name, options, problems);
  return resolved(document, options, problems);
}

}  // namespace afterbay::describe
