// SPDX-License-Identifier: Apache-2.0
// Access to the contents of a schema.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/suggest.hpp"
#include "handles.hpp"
#include "model/convert/kernels.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

template <class Named>
[[noreturn]] void refuse_name(const char* what, std::string_view wanted, const std::vector<Named>& known) {
  std::vector<std::string> names;
  for (const Named& one : known) names.push_back(one.name);
  refuse(ErrorCode::unknown_name, std::string("there is no ") + what + " \"" + std::string(wanted) + "\"" +
                                      did_you_mean(wanted, names));
}

const Variable& find_variable(const afterbay_schema* handle, const char* name) {
  const Schema& schema = need(handle, "schema").schema;
  const std::string_view wanted = text(name, "variable");
  if (const Variable* variable = schema.find_variable(wanted)) return *variable;
  refuse_name("variable", wanted, schema.variables);
}

/// The values of an attribute; `variable` NULL: a global attribute. Null if there is none. A schema
/// stores fill values separately, but in a file they are attributes.
const Values* find_attribute(const afterbay_schema* schema, const char* variable, std::string_view name) {
  const Variable* of = variable == nullptr ? nullptr : &find_variable(schema, variable);
  const auto& attributes = of == nullptr ? need(schema, "schema").schema.attributes : of->attributes;
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  if (found != attributes.end()) return &found->values;
  if (of != nullptr && name == "_FillValue" && of->fill.count() != 0) return &of->fill;
  return nullptr;
}

const Values& need_attribute(const afterbay_schema* schema, const char* variable, const char* name) {
  const std::string_view wanted = text(name, "name");
  if (const Values* values = find_attribute(schema, variable, wanted)) return *values;
  if (variable == nullptr) refuse_name("attribute of the file", wanted, schema->schema.attributes);
  const std::string what = std::string("attribute of the variable \"") + variable + "\" named";
  refuse_name(what.c_str(), wanted, find_variable(schema, variable).attributes);
}

/// Text with a terminating NUL, in the schema's own copy.
const char* lend_text(const afterbay_schema* schema, const char* variable, const char* name,
                      const Values& values) {
  std::string& copy = schema->lent[{std::string(text_or_empty(variable)), name}].text;
  copy.assign(reinterpret_cast<const char*>(values.bytes.data()), values.bytes.size());
  return copy.c_str();
}

const void* lend(const afterbay_schema* schema, const char* variable, const char* name,
                 const Values& values) {
  if (values.type == Type::text) return lend_text(schema, variable, name, values);
  if (values.type != Type::string) return values.bytes.data();
  auto& pointers = schema->lent[{std::string(text_or_empty(variable)), name}].pointers;
  pointers = pointers_to(values.strings);
  return pointers.data();
}

template <class T>
void give(T* wanted, T value) {
  if (wanted != nullptr) *wanted = value;
}

void copy_numbers(const Values& values, const char* name, Type type, std::size_t count, void* to) {
  if (count != values.count())
    refuse(ErrorCode::invalid_argument, std::string("the attribute \"") + name + "\" has " +
                                            std::to_string(values.count()) + " values, " +
                                            std::to_string(count) + " were requested");
  const model::Kernel kernel = model::kernel(values.type, type, false);
  if (!kernel || type == Type::text)
    refuse(ErrorCode::wrong_type, std::string("the attribute \"") + name + "\" is of type " +
                                      std::string(name_of(values.type)) + ", which is not a number of type " +
                                      std::string(name_of(type)));
  if (to == nullptr && count != 0) refuse_null("values");
  const auto bytes = [](Type of) { return static_cast<std::ptrdiff_t>(size_of(of)); };
  if (kernel.row(static_cast<std::byte*>(to), values.bytes.data(), count, bytes(type), bytes(values.type)) !=
      0)
    refuse(ErrorCode::wrong_type, std::string("the attribute \"") + name + "\" has values out of range of " +
                                      std::string(name_of(type)) + "; its own type is " +
                                      std::string(name_of(values.type)));
}

}  // namespace

int afterbay_schema_get_dimension(const afterbay_schema* schema, const char* dimension, uint64_t* length) {
  return guarded([&] {
    const std::string_view wanted = text(dimension, "dimension");
    const Dimension* found = need(schema, "schema").schema.find_dimension(wanted);
    if (found == nullptr) refuse_name("dimension", wanted, schema->schema.dimensions);
    need(length, "length") = found->length;
  });
}

int afterbay_schema_variable_count(const afterbay_schema* schema, size_t* count) {
  return guarded([&] { need(count, "count") = need(schema, "schema").schema.variables.size(); });
}

int afterbay_schema_get_variable_name(const afterbay_schema* schema, size_t index, const char** name) {
  return guarded([&] {
    const auto& variables = need(schema, "schema").schema.variables;
    if (index >= variables.size())
      refuse(ErrorCode::invalid_argument, "there is no variable number " + std::to_string(index) +
                                              "; the schema has " + std::to_string(variables.size()) +
                                              ", numbered from 0");
    need(name, "name") = variables[index].name.c_str();
  });
}

int afterbay_schema_has_variable(const afterbay_schema* schema, const char* variable, int* there) {
  return guarded([&] {
    const Schema& in = need(schema, "schema").schema;
    need(there, "there") = in.find_variable(text(variable, "variable")) == nullptr ? 0 : 1;
  });
}

int afterbay_schema_get_variable(const afterbay_schema* schema, const char* variable, int* type, int* rank) {
  return guarded([&] {
    const Variable& found = find_variable(schema, variable);
    give(type, static_cast<int>(found.type));
    give(rank, static_cast<int>(found.dimensions.size()));
  });
}

int afterbay_schema_get_variable_dimension(const afterbay_schema* schema, const char* variable, int index,
                                           const char** name, uint64_t* length) {
  return guarded([&] {
    const auto& dimensions = find_variable(schema, variable).dimensions;
    if (index < 0 || static_cast<std::size_t>(index) >= dimensions.size())
      refuse(ErrorCode::invalid_argument, "there is no dimension number " + std::to_string(index) +
                                              "; the variable has " + std::to_string(dimensions.size()) +
                                              ", numbered from 0");
    const std::string& wanted = dimensions[static_cast<std::size_t>(index)];
    const Dimension* found = schema->schema.find_dimension(wanted);
    if (found == nullptr) refuse_name("dimension", wanted, schema->schema.dimensions);
    give(name, found->name.c_str());
    give(length, found->length);
  });
}

int afterbay_schema_has_attribute(const afterbay_schema* schema, const char* variable, const char* name,
                                  int* there) {
  return guarded([&] {
    need(there, "there") = find_attribute(schema, variable, text(name, "name")) == nullptr ? 0 : 1;
  });
}

int afterbay_schema_get_attribute(const afterbay_schema* schema, const char* variable, const char* name,
                                  int* type, size_t* count, const void** values) {
  return guarded([&] {
    const Values& found = need_attribute(schema, variable, name);
    const void* lent = values == nullptr ? nullptr : lend(schema, variable, name, found);
    give(type, static_cast<int>(found.type));
    give(count, found.count());
    give(values, lent);
  });
}

int afterbay_schema_get_text(const afterbay_schema* schema, const char* variable, const char* name,
                             const char** value) {
  return guarded([&] {
    const Values& found = need_attribute(schema, variable, name);
    const char*& lent = need(value, "text");
    if (found.type == Type::text) {
      lent = lend_text(schema, variable, name, found);
    } else if (found.type == Type::string && found.count() == 1) {
      lent = found.strings.front().c_str();
    } else {
      refuse(ErrorCode::wrong_type, std::string("the attribute \"") + name + "\" is not text: it has " +
                                        std::to_string(found.count()) + " values of type " +
                                        std::string(name_of(found.type)));
    }
  });
}

int afterbay_schema_get_numbers(const afterbay_schema* schema, const char* variable, const char* name,
                                int type, size_t count, void* values) {
  return guarded(
      [&] { copy_numbers(need_attribute(schema, variable, name), name, type_from(type), count, values); });
}
