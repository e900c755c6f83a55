// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "handles.hpp"

namespace afterbay::c {

std::vector<std::string> strings(const char* const* values, std::size_t count, const char* name) {
  std::vector<std::string> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    result.emplace_back(text(values == nullptr ? nullptr : values[i], name));
  return result;
}

std::size_t rank_of(int rank) {
  if (rank < 0)
    refuse(ErrorCode::invalid_argument,
           "the number of dimensions is " + std::to_string(rank) + "; give 0 or more");
  return static_cast<std::size_t>(rank);
}

Type type_from(int type) {
  if (type < AFTERBAY_INT8 || type > AFTERBAY_STRING)
    refuse(ErrorCode::wrong_type,
           "there is no type number " + std::to_string(type) + "; use one of enum afterbay_type");
  return static_cast<Type>(type);
}

Values values_from(int type_number, std::size_t count, const void* values) {
  const Type type = type_from(type_number);
  if (type == Type::string) return Values(strings(static_cast<const char* const*>(values), count, "values"));
  if (values == nullptr && count != 0) refuse_null("values");
  return Values::raw(type, values, count);
}

}  // namespace afterbay::c

size_t afterbay_type_bytes(int type) { return afterbay::size_of(static_cast<afterbay::Type>(type)); }
