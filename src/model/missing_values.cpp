// SPDX-License-Identifier: Apache-2.0
#include "model/missing_values.hpp"

#include <cmath>
#include <cstring>

#include "model/converted_values.hpp"
#include "model/fill_value.hpp"

namespace afterbay::model {
namespace {

constexpr bool is_integer(Type type) {
  return type != Type::float32 && type != Type::float64 && type != Type::text && type != Type::string;
}

/// The value in `type`; nothing if integers would have to stand for another number.
std::optional<Values> exactly(const Values& value, Type type) {
  auto result = converted(value, type);
  if (!result || !is_integer(type)) return result;
  const auto back = converted(*result, value.type);
  return back && back->bytes == value.bytes ? result : std::nullopt;
}

/// `all` and the values of the attribute.
Values with_missing_value(Values all, const Variable& variable) {
  if (all.empty()) all.type = variable.type;
  for (const Attribute& attribute : variable.attributes) {
    if (attribute.name != "missing_value" || attribute.values.type == Type::string) continue;
    const std::size_t size = size_of(attribute.values.type);
    for (std::size_t i = 0; i < attribute.values.count(); ++i)
      if (const auto one = exactly(
              Values::raw(attribute.values.type, attribute.values.bytes.data() + i * size, 1), variable.type))
        all.bytes.insert(all.bytes.end(), one->bytes.begin(), one->bytes.end());
  }
  return all;
}

}  // namespace

Values missing_values(const Variable& variable) { return with_missing_value(fill_of(variable), variable); }

Values missing_marks(const Variable& variable) {
  return with_missing_value(missing_fill_of(variable), variable);
}

template <class T>
ValidRange<T> valid_range_of(const Variable& variable) {
  ValidRange<T> range;
  const auto take = [&range](const Values& limits, std::size_t i, T& limit) {
    const T value = static_cast<T>(limits.at<double>(i));
    if (std::isnan(value)) return;
    limit = value;
    range.exists = true;
  };
  for (const Attribute& attribute : variable.attributes) {
    const bool both = attribute.name == "valid_range";
    if (!both && attribute.name != "valid_min" && attribute.name != "valid_max") continue;
    auto limits = converted(attribute.values, variable.type);
    if (limits) limits = converted(*limits, Type::float64);
    if (!limits || limits->count() != (both ? 2 : 1)) continue;
    if (attribute.name != "valid_max") take(*limits, 0, range.low);
    if (attribute.name != "valid_min") take(*limits, both ? 1 : 0, range.high);
  }
  return range;
}

template ValidRange<float> valid_range_of(const Variable&);
template ValidRange<double> valid_range_of(const Variable&);

}  // namespace afterbay::model
