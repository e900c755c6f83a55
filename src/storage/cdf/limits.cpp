// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/limits.hpp"

#include <cstdint>
#include <string>

namespace afterbay::storage {
namespace {

Result<> check_type(Format format, Type type, const std::string& what) {
  if (traits_of(format).types.has(type)) return {};
  return fail(ErrorCode::wrong_type, "{} is of type {}, which {} files cannot hold: use {} or the format {}",
              what, name_of(type), name_of(format), type == Type::string ? "text" : "int32, float64",
              formats_that_hold(type));
}

Result<> check_attributes(Format format, const std::vector<Attribute>& attributes, const std::string& owner) {
  for (const Attribute& attribute : attributes)
    AFTERBAY_TRY(check_type(format, attribute.values.type, "attribute '" + attribute.name + "' of " + owner));
  return {};
}

Result<> check_variable(Format format, const Variable& variable, const model::VariableLayout& layout) {
  const std::string what = "variable '" + variable.name + "'";
  AFTERBAY_TRY(check_type(format, variable.type, what));
  AFTERBAY_TRY(check_attributes(format, variable.attributes, what));
  const std::uint64_t most = traits_of(format).most_variable_bytes;
  if (layout.slab_bytes > most)
    return fail(ErrorCode::invalid_argument,
                "{} has {} bytes{}, but {} files hold at most {} of one variable: use {}, or split it", what,
                layout.slab_bytes, layout.record ? " per record" : "", name_of(format), most,
                formats_with([](const FormatTraits& it) { return it.most_variable_bytes == UINT64_MAX; }));
  return {};
}

}  // namespace

Result<> check_classic_limits(const Schema& schema, const model::FileLayout& layout) {
  const std::uint64_t longest = traits_of(layout.format).most_dimension_length;
  for (const Dimension& dimension : schema.dimensions)
    if (dimension.length > longest)
      return fail(ErrorCode::invalid_argument,
                  "dimension '{}' has length {}, but {} files hold at most {}: use {}", dimension.name,
                  dimension.length, name_of(layout.format), longest,
                  formats_with([](const FormatTraits& it) { return it.most_dimension_length > INT32_MAX; }));
  AFTERBAY_TRY(check_attributes(layout.format, schema.attributes, "the file"));
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    auto checked = check_variable(layout.format, schema.variables[v], layout.variables[v]);
    if (!checked) return fail(std::move(checked).error().in_variable(schema.variables[v].name));
  }
  return {};
}

}  // namespace afterbay::storage
