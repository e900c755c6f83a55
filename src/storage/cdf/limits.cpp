// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/limits.hpp"

#include <limits>
#include <string>

namespace afterbay::storage {
namespace {

constexpr std::uint64_t most_cdf2_variable_bytes = (std::uint64_t{1} << 32) - 4;
constexpr std::uint64_t most_cdf2_dimension = (std::uint64_t{1} << 31) - 4;

bool holds(Format format, Type type) {
  if (type == Type::string) return false;
  return format == Format::cdf5 || type == Type::int8 || type == Type::text || type == Type::int16 ||
         type == Type::int32 || type == Type::float32 || type == Type::float64;
}

Result<> check_type(Format format, Type type, const std::string& what) {
  if (holds(format, type)) return {};
  return fail(
      ErrorCode::wrong_type, "{} is of type {}, which {} files cannot hold: use {}", what, name_of(type),
      name_of(format),
      type == Type::string ? "text or the format netcdf4" : "int32, float64 or the format cdf5 or netcdf4");
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
  if (format == Format::cdf2 && layout.slab_bytes > most_cdf2_variable_bytes)
    return fail(
        ErrorCode::invalid_argument,
        "{} has {} bytes{}, but cdf2 files hold at most {} of one variable: use cdf5 or netcdf4, or split it",
        what, layout.slab_bytes, layout.record ? " a record" : "", most_cdf2_variable_bytes);
  return {};
}

}  // namespace

Result<> check_classic_limits(const Schema& schema, const model::FileLayout& layout) {
  for (const Dimension& dimension : schema.dimensions)
    if (layout.format == Format::cdf2 && dimension.length > most_cdf2_dimension)
      return fail(ErrorCode::invalid_argument,
                  "dimension '{}' has length {}, but cdf2 files hold at most {}: use cdf5 or netcdf4",
                  dimension.name, dimension.length, most_cdf2_dimension);
  AFTERBAY_TRY(check_attributes(layout.format, schema.attributes, "the file"));
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    auto checked = check_variable(layout.format, schema.variables[v], layout.variables[v]);
    if (!checked) return fail(std::move(checked).error().in_variable(schema.variables[v].name));
  }
  return {};
}

std::uint64_t most_records(Format format) noexcept {
  return format == Format::cdf2 ? std::numeric_limits<std::uint32_t>::max() - 1
                                : static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

}  // namespace afterbay::storage
