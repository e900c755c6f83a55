// SPDX-License-Identifier: Apache-2.0
#include "output/result_type.hpp"

#include <cmath>
#include <cstdint>

#include "describe/operation_traits.hpp"
#include "output/numbers.hpp"

namespace afterbay::output {

namespace {

bool is_real(Type type) { return type == Type::float32 || type == Type::float64; }

/// A float32 holds all integers of up to 16 bits.
Type real_for(Type integer) {
  return size_of(integer) <= sizeof(std::int16_t) ? Type::float32 : Type::float64;
}

/// Whether results may be as large as the fill value.
bool can_be_reached(Type field, const Values& fill) {
  constexpr double never_reached = 1e15;
  if (!is_real(field)) return true;
  // False for NaN.
  return !fill.empty() && std::abs(numbers_of(fill).front()) < never_reached;
}

/// Messages hold no integers of 64 bits.
bool has_int64(const FormatTraits& format) {
  return format.messages == nullptr && format.types.has(Type::int64);
}

}  // namespace

Type type_of_results(Type field, describe::Operation operation, bool converted, const FormatTraits& format) {
  using From = describe::Operation;
  if (is_real(field)) return field;
  const bool is_long = size_of(field) == sizeof(std::int64_t);
  switch (operation) {
    case From::mean:
    case From::stddev:
    case From::rate: return real_for(field);
    case From::sum:
      if (converted) return Type::float64;
      if (is_long) return field;
      return has_int64(format) ? Type::int64 : Type::float64;
    case From::range:
    case From::difference:
      if (converted) return real_for(field);
      // Between -65535 and 65535.
      return size_of(field) <= sizeof(std::int16_t) ? Type::int32 : field;
    case From::instant:
    case From::min:
    case From::max:
    case From::once:
    case From::write: return converted ? real_for(field) : field;
  }
  return field;
}

bool may_equal_fill(Type field, const Values& fill, describe::Operation operation, bool converted) {
  if (traits_of(operation).selects_a_value && !converted) return false;
  return can_be_reached(field, fill);
}

bool may_widen(Type field, Type variable, statistics::StatisticKind kind) {
  if (!traits_of(kind).keeps_sums || is_real(field) || size_of(field) == sizeof(std::int64_t)) return false;
  return variable == Type::float64 || variable == Type::int64 || variable == real_for(field);
}

}  // namespace afterbay::output
