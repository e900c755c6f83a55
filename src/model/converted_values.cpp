// SPDX-License-Identifier: Apache-2.0
#include "model/converted_values.hpp"

#include <algorithm>

#include "model/convert/kernels.hpp"
#include "model/values.hpp"

namespace afterbay::model {
namespace {

void convert_in_place(Values& values, Type type) {
  if (auto result = converted(values, type)) values = *std::move(result);
}

Result<> check_one_fill(const Variable& variable, std::string_view what, const Values& values) {
  if (!converted(values, variable.type))
    return fail(ErrorCode::wrong_type, "is {}, but its {} is {}, which cannot become {}",
                name_of(variable.type), what, text_of(values), name_of(variable.type));
  if (values.count() != 1)
    return fail(ErrorCode::invalid_argument, "has a {} of {} elements: it must be one", what, values.count());
  return {};
}

}  // namespace

std::optional<Values> converted(const Values& values, Type type) {
  if (values.type == type || values.empty()) return values;
  const Kernel conversion = kernel(values.type, type, false);
  if (!conversion) return std::nullopt;
  const ArithmeticFor arithmetic(conversion);
  const std::size_t count = values.count();
  Values result;
  result.type = type;
  result.bytes.resize(count * size_of(type));
  const std::uint64_t out_of_range = conversion.row(result.bytes.data(), values.bytes.data(), count,
                                                    static_cast<std::ptrdiff_t>(size_of(type)),
                                                    static_cast<std::ptrdiff_t>(size_of(values.type)));
  if (out_of_range > 0) return std::nullopt;
  return result;
}

void convert_values(Schema& schema) {
  for (Variable& variable : schema.variables) {
    if (!variable.constant.empty()) convert_in_place(variable.constant, variable.type);
    if (!variable.fill.empty()) convert_in_place(variable.fill, variable.type);
    for (Attribute& attribute : variable.attributes)
      if (attribute.name == "_FillValue") convert_in_place(attribute.values, variable.type);
  }
}

Result<> check_fill(const Variable& variable) {
  const auto attribute = std::ranges::find(variable.attributes, "_FillValue", &Attribute::name);
  const bool has_attribute = attribute != variable.attributes.end();
  if (has_attribute) AFTERBAY_TRY(check_one_fill(variable, "attribute '_FillValue'", attribute->values));
  if (variable.fill.empty()) return {};
  AFTERBAY_TRY(check_one_fill(variable, "fill value", variable.fill));
  if (!has_attribute ||
      converted(attribute->values, variable.type) == converted(variable.fill, variable.type))
    return {};
  return fail(ErrorCode::conflict,
              "has a fill value and another one as attribute '_FillValue': give it once");
}

}  // namespace afterbay::model
