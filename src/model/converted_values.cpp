// SPDX-License-Identifier: Apache-2.0
#include "model/converted_values.hpp"

#include "model/convert/kernels.hpp"

namespace afterbay::model {
namespace {

void convert_in_place(Values& values, Type type) {
  if (auto result = converted(values, type)) values = *std::move(result);
}

}  // namespace

std::optional<Values> converted(const Values& values, Type type) {
  if (values.type == type || values.empty()) return values;
  const Kernel conversion = kernel(values.type, type, false);
  if (!conversion) return std::nullopt;
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

}  // namespace afterbay::model
