// SPDX-License-Identifier: Apache-2.0
// The list of all types of values: what loops over types uses it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "afterbay/types.hpp"

namespace afterbay::model {

/// In the order of their numbers.
inline constexpr std::array every_type{Type::int8,    Type::text,    Type::int16,  Type::int32,
                                       Type::float32, Type::float64, Type::uint8,  Type::uint16,
                                       Type::uint32,  Type::int64,   Type::uint64, Type::string};

/// For numbers that were received or read.
constexpr bool is_type(Type type) noexcept { return std::ranges::find(every_type, type) != every_type.end(); }

/// name_of has a case for each type.
consteval bool lists_every_type() {
  for (int number = 0; number <= std::numeric_limits<std::uint8_t>::max(); ++number) {
    const Type type{static_cast<std::uint8_t>(number)};
    if (is_type(type) != (name_of(type) != "unknown")) return false;
  }
  return true;
}
static_assert(lists_every_type(), "a type is missing in every_type");

}  // namespace afterbay::model
