// SPDX-License-Identifier: Apache-2.0
#include "model/fill_value.hpp"

namespace afterbay::model {

Values default_fill(Type type) {
  switch (type) {
    case Type::int8: return Values(std::int8_t{-127});
    case Type::text: return Values::raw(Type::text, "\0", 1);
    case Type::int16: return Values(std::int16_t{-32767});
    case Type::int32: return Values(std::int32_t{-2147483647});
    case Type::float32: return Values(9.9692099683868690e+36f);
    case Type::float64: return Values(9.9692099683868690e+36);
    case Type::uint8: return Values(std::uint8_t{255});
    case Type::uint16: return Values(std::uint16_t{65535});
    case Type::uint32: return Values(std::uint32_t{4294967295u});
    case Type::int64: return Values(std::int64_t{-9223372036854775806ll});
    case Type::uint64: return Values(std::uint64_t{18446744073709551614ull});
    case Type::string: {
      Values none;
      none.type = Type::string;
      return none;
    }
  }
  return {};
}

namespace {

/// Empty if there is none.
Values given_fill(const Variable& variable) {
  if (!variable.fill.empty()) return variable.fill;
  for (const Attribute& attribute : variable.attributes)
    if (attribute.name == "_FillValue" && attribute.values.type == variable.type &&
        attribute.values.count() == 1)
      return attribute.values;
  return {};
}

}  // namespace

Values fill_of(const Variable& variable) {
  Values given = given_fill(variable);
  return given.empty() ? default_fill(variable.type) : given;
}

Values missing_fill_of(const Variable& variable) {
  const bool is_byte = variable.type == Type::int8 || variable.type == Type::uint8;
  return is_byte ? given_fill(variable) : fill_of(variable);
}

}  // namespace afterbay::model
