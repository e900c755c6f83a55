// SPDX-License-Identifier: Apache-2.0
#include "model/changes.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "model/converted_values.hpp"
#include "model/values.hpp"

namespace afterbay::model {
namespace {

tl::unexpected<Error> no_such_variable(const Schema& schema, const std::string& name) {
  std::vector<std::string> names;
  for (const Variable& variable : schema.variables) names.push_back(variable.name);
  return fail(make_error(ErrorCode::unknown_name,
                         "a change is for variable '{}', which the schema does not have{}", name,
                         did_you_mean(name, names))
                  .in_variable(name));
}

tl::unexpected<Error> no_such_attribute(const std::vector<Attribute>& attributes, const std::string& variable,
                                        const std::string& name) {
  std::vector<std::string> names;
  for (const Attribute& attribute : attributes) names.push_back(attribute.name);
  const std::string owner = variable.empty() ? "the file" : fmt::format("variable '{}'", variable);
  return fail(make_error(ErrorCode::unknown_name,
                         "attribute '{}' is to be removed from {}, which does not have it{}", name, owner,
                         did_you_mean(name, names))
                  .in_variable(variable));
}

Result<> change_attribute(Schema& schema, const SchemaChanges::AttributeChange& change) {
  Variable* variable = nullptr;
  if (!change.variable.empty()) {
    variable = schema.find_variable(change.variable);
    if (variable == nullptr) return no_such_variable(schema, change.variable);
  }
  const auto& [name, values] = change.attribute;
  std::vector<Attribute>& attributes = variable != nullptr ? variable->attributes : schema.attributes;
  if (!values.empty() && variable == nullptr) {
    schema.attribute(name, values);
    return {};
  }
  if (!values.empty()) {
    std::optional<Values> fill;  // `validate` refuses values that cannot be converted
    if (name == "_FillValue") fill = converted(values, variable->type);
    variable->attribute(name, fill.value_or(values));
    return {};
  }
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&wanted = name](const auto& a) { return a.name == wanted; });
  if (found == attributes.end()) return no_such_attribute(attributes, change.variable, name);
  attributes.erase(found);
  return {};
}

Result<> change_constant(Schema& schema, const SchemaChanges::ConstantChange& change) {
  Variable* variable = schema.find_variable(change.variable);
  if (variable == nullptr) return no_such_variable(schema, change.variable);
  const Values& old = variable->constant;
  if (old.empty())
    return fail(
        make_error(ErrorCode::conflict,
                   "variable '{}' has no constant values that a file could change: it is written by put",
                   change.variable)
            .in_variable(change.variable));
  std::optional<Values> values = converted(change.constant, old.type);
  if (!values)
    return fail(make_error(ErrorCode::wrong_type,
                           "the new values of variable '{}' are {}, which cannot all become {}",
                           change.variable, text_of(change.constant), name_of(old.type))
                    .in_variable(change.variable));
  if (old.count() != change.constant.count())
    return fail(make_error(ErrorCode::invalid_argument, "variable '{}' has {} values, but a change gives {}",
                           change.variable, old.count(), change.constant.count())
                    .in_variable(change.variable));
  variable->constant = *std::move(values);
  return {};
}

}  // namespace

Result<Schema> apply(const Schema& schema, const SchemaChanges& changes) {
  Schema changed = schema;
  for (const auto& change : changes.attributes) AFTERBAY_TRY(change_attribute(changed, change));
  for (const auto& change : changes.constants) AFTERBAY_TRY(change_constant(changed, change));
  return changed;
}

}  // namespace afterbay::model
