// SPDX-License-Identifier: Apache-2.0
#include "describe/print.hpp"

#include <map>

#include "describe/keys.hpp"
#include "describe/yaml.hpp"

namespace afterbay::describe {

namespace {

template <class Target>
Node node_of_keys(const Target& target, const std::vector<KeyRow<Target>>& table) {
  Node node = Node::mapping({});
  for (const KeyRow<Target>& row : table)
    if (row.print)
      if (auto value = row.print(target)) node.add(row.name, *std::move(value));
  return node;
}

/// The keys whose values differ from their defaults.
Node node_of_given(const VariableOptions& options, const std::vector<KeyRow<VariableOptions>>& table) {
  const Node all = node_of_keys(options, table);
  static const Node untouched = node_of_keys(VariableOptions(), variable_keys());
  Node node = Node::mapping({});
  for (const auto& [key, value] : all.pairs()) {
    const Node* const fallback = untouched.find(key.name);
    if (fallback == nullptr || write_json(*fallback) != write_json(value)) node.add(key.name, value);
  }
  return node;
}

/// What `variable` adds to the keys of its field. Keys that the field has and the variable does not
/// are null, because the reader would take them from the field.
Node over_field(const VariableOptions& variable, const VariableOptions* field) {
  Node node = node_of_given(variable, variable_keys());
  if (field == nullptr) return node;
  const Node inherited = node_of_given(*field, variable_keys());
  for (const auto& [key, value] : inherited.pairs()) {
    Node* const own = node.find(key.name);
    if (own == nullptr) {
      node.add(key.name, Node());
    } else if (key.name == "attributes") {
      for (const auto& [name, attribute] : value.pairs())
        if (own->find(name.name) == nullptr) own->add(name.name, Node());
    }
  }
  return node;
}

using FieldsByName = std::map<std::string, const VariableOptions*>;

/// "tas", "toce: tos", or "tas: {name: t2m, type: float64}".
Node node_of_variable(const Variable& variable, const FieldsByName& fields) {
  const auto field = fields.find(variable.field);
  const Node options = over_field(variable.options, field == fields.end() ? nullptr : field->second);
  const bool renamed = variable.name != variable.field;
  if (options.pairs().empty() && !renamed) return Node::text(variable.field);
  Node value;
  if (options.pairs().empty()) {
    value = Node::text(variable.name);
  } else {
    if (renamed) value.add("name", Node::text(variable.name));
    for (const auto& [key, option] : options.pairs()) value.add(key.name, option);
  }
  Node item;
  item.add(variable.field, std::move(value));
  return item;
}

Node node_of_file(const File& file, const FieldsByName& fields) {
  Node node = Node::mapping({});
  for (const KeyRow<File>& row : file_keys()) {
    if (row.print) {
      if (auto value = row.print(file)) node.add(row.name, *std::move(value));
    } else if (const auto operation = operation_of(row.name)) {
      Items items;
      for (const Variable& variable : file.variables)
        if (variable.operation == *operation) items.push_back(node_of_variable(variable, fields));
      if (!items.empty()) node.add(row.name, Node::sequence(std::move(items)));
    }
  }
  return node;
}

Node node_of_field(const Field& field) {
  const Node options = node_of_given(field.options, field_keys());
  if (options.pairs().empty()) return field.expression.empty() ? Node() : Node::text(field.expression);
  Node node;
  if (!field.expression.empty()) node.add("expression", Node::text(field.expression));
  for (const auto& [key, value] : options.pairs()) node.add(key.name, value);
  return node;
}

}  // namespace

Node node_of(const Description& description) {
  Node root = Node::mapping({});
  if (!description.case_name.empty()) root.add("case", Node::text(description.case_name));
  if (!description.state.empty()) root.add("state", Node::text(description.state));
  FieldsByName by_name;
  Node fields;
  for (const Field& field : description.fields) {
    by_name.emplace(field.name, &field.options);
    fields.add(field.name, node_of_field(field));
  }
  Node grids;
  for (const GridSubset& grid : description.grids) grids.add(grid.name, node_of_keys(grid, grid_keys()));
  Node files;
  for (const File& file : description.files) files.add(file.name, node_of_file(file, by_name));
  if (fields.is_mapping()) root.add("fields", std::move(fields));
  if (grids.is_mapping()) root.add("grids", std::move(grids));
  if (files.is_mapping()) root.add("files", std::move(files));
  return root;
}

}  // namespace afterbay::describe
