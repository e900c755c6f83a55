// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

Variable& variable_of(afterbay_schema* handle, const char* name) {
  Schema& schema = need(handle, "schema").schema;
  const std::string_view wanted = text(name, "variable");
  if (Variable* variable = schema.find_variable(wanted)) return *variable;
  std::vector<std::string> names;
  for (const Variable& variable : schema.variables) names.push_back(variable.name);
  throw Failure(Error(ErrorCode::unknown_name, "the schema has no variable \"" + std::string(wanted) + "\"" +
                                                   did_you_mean(wanted, names))
                    .in_variable(std::string(wanted)));
}

void set_attribute(afterbay_schema* schema, const char* variable, const char* name, Values values) {
  std::string key(text(name, "name"));
  if (variable == nullptr) {
    need(schema, "schema").schema.attribute(std::move(key), std::move(values));
  } else {
    variable_of(schema, variable).attribute(std::move(key), std::move(values));
  }
}

void change_attribute(afterbay_changes* changes, const char* variable, const char* name, Values values) {
  need(changes, "changes")
      .changes.attribute(std::string(text_or_empty(variable)), std::string(text(name, "name")),
                         std::move(values));
}

}  // namespace

int afterbay_schema_create(afterbay_schema** schema) {
  return guarded([&] {
    afterbay_schema*& result = need(schema, "schema");
    result = new afterbay_schema;
  });
}

void afterbay_schema_free(afterbay_schema* schema) { delete schema; }

int afterbay_schema_add_dimension(afterbay_schema* schema, const char* name, uint64_t length) {
  return guarded([&] { need(schema, "schema").schema.dimension(std::string(text(name, "name")), length); });
}

int afterbay_schema_add_variable(afterbay_schema* schema, const char* name, int type, int rank,
                                 const char* const* dimensions) {
  return guarded([&] {
    need(schema, "schema")
        .schema.variable(std::string(text(name, "name")), type_from(type),
                         strings(dimensions, rank_of(rank), "dimensions"));
  });
}

int afterbay_schema_set_attribute(afterbay_schema* schema, const char* variable, const char* name, int type,
                                  size_t count, const void* values) {
  return guarded([&] { set_attribute(schema, variable, name, values_from(type, count, values)); });
}

int afterbay_schema_set_text(afterbay_schema* schema, const char* variable, const char* name,
                             const char* value) {
  return guarded([&] { set_attribute(schema, variable, name, Values(text(value, "text"))); });
}

int afterbay_schema_set_fill(afterbay_schema* schema, const char* variable, int type, const void* value) {
  return guarded([&] { variable_of(schema, variable).with_fill(values_from(type, 1, value)); });
}

int afterbay_schema_set_chunk(afterbay_schema* schema, const char* variable, int rank,
                              const uint64_t* lengths) {
  return guarded([&] { variable_of(schema, variable).with_chunk(list(lengths, rank_of(rank), "lengths")); });
}

int afterbay_schema_set_deflate(afterbay_schema* schema, const char* variable, int level, int shuffle) {
  return guarded([&] { variable_of(schema, variable).with_deflate(level, shuffle != 0); });
}

int afterbay_schema_set_filter(afterbay_schema* schema, const char* variable, const char* filter, int level) {
  return guarded([&] { variable_of(schema, variable).with_filter(text(filter, "filter"), level); });
}

int afterbay_schema_set_packing(afterbay_schema* schema, const char* variable, const char* packed_type,
                                double low, double high, double absolute_error) {
  return guarded([&] {
    variable_of(schema, variable).with_packing(text(packed_type, "packed_type"), low, high, absolute_error);
  });
}

int afterbay_schema_set_decomposition(afterbay_schema* schema, const char* variable,
                                      const char* decomposition) {
  return guarded(
      [&] { variable_of(schema, variable).on(std::string(text(decomposition, "decomposition"))); });
}

int afterbay_schema_set_constant(afterbay_schema* schema, const char* variable, int type, size_t count,
                                 const void* values) {
  return guarded([&] { variable_of(schema, variable).with_constant(values_from(type, count, values)); });
}

int afterbay_changes_create(afterbay_changes** changes) {
  return guarded([&] {
    afterbay_changes*& result = need(changes, "changes");
    result = new afterbay_changes;
  });
}

void afterbay_changes_free(afterbay_changes* changes) { delete changes; }

int afterbay_changes_set_attribute(afterbay_changes* changes, const char* variable, const char* name,
                                   int type, size_t count, const void* values) {
  return guarded([&] { change_attribute(changes, variable, name, values_from(type, count, values)); });
}

int afterbay_changes_set_text(afterbay_changes* changes, const char* variable, const char* name,
                              const char* value) {
  return guarded([&] { change_attribute(changes, variable, name, Values(text(value, "text"))); });
}

int afterbay_changes_remove_attribute(afterbay_changes* changes, const char* variable, const char* name) {
  return guarded([&] { change_attribute(changes, variable, name, Values()); });
}

int afterbay_changes_set_constant(afterbay_changes* changes, const char* variable, int type, size_t count,
                                  const void* values) {
  return guarded([&] {
    need(changes, "changes")
        .changes.constant(std::string(text(variable, "variable")), values_from(type, count, values));
  });
}
