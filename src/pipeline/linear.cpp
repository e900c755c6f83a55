// SPDX-License-Identifier: Apache-2.0
// linear: y = multiply * x + add. Computed in double precision, for integers of 64 bits in long
// double; integers are rounded to the nearest, halves to even.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/strict_floating_point.hpp"
#include "model/missing_values.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::pipeline {
namespace {

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::string> summand(std::string_view text) {
  const auto value = number(text);
  return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

std::optional<std::string> factor(std::string_view text) {
  const auto value = number(text);
  return value && *value != 0 ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

/// The type in which results for values of type T are computed.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, long double, double>;

template <class W>
W rounded(W value) {
  if constexpr (std::is_same_v<W, double>) {
    // For integers of up to 32 bits: after adding 1.5 * 2^52 there are no bits for the fraction.
    // Values too large for this are out of range before and after.
    constexpr double no_fraction = 6755399441055744.0;
    return (value + no_fraction) - no_fraction;
  } else {
    return std::rint(value);
  }
}

template <class T, class W>
bool fits(T before, W after) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T most = std::numeric_limits<T>::max();
    const bool was_infinite = (before > most) | (before < -most);
    const T stored = static_cast<T>(after);
    return ((stored <= most) & (stored >= -most)) | was_infinite;
  } else {
    constexpr W low = static_cast<W>(std::numeric_limits<T>::min());
    constexpr W high = static_cast<W>(std::numeric_limits<T>::max());
    constexpr bool high_is_exact = std::numeric_limits<W>::digits >= std::numeric_limits<T>::digits;
    return (after >= low) & (high_is_exact ? after <= high : after < high);
  }
}

template <class T>
class Linear : public PointwiseStage {
 public:
  Linear(const Variable& variable, double multiply, double add)
      : multiply_(multiply), add_(add), missing_(variable) {}

  std::uint64_t run(std::byte* to, const std::byte* from, std::size_t count) const override {
    return missing_.are_usual() ? run_all<true>(to, from, count) : run_all<false>(to, from, count);
  }

  [[nodiscard]] std::string text() const override {
    return fmt::format("multiply {}, add {}", static_cast<double>(multiply_),
                       add_ == 0 ? 0.0 : static_cast<double>(add_));
  }

 private:
  template <bool usual>
  std::uint64_t run_all(std::byte* to, const std::byte* from, std::size_t count) const {
    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      const bool kept = usual ? missing_.has_usual(value) : missing_.has(value);
      Wide<T> computed = multiply_ * static_cast<Wide<T>>(value) + add_;
      if constexpr (std::is_integral_v<T>) computed = rounded(computed);
      const bool good = fits(value, computed);
      const T result = kept || !good ? value : static_cast<T>(computed);
      bad += !(kept | good);
      std::memcpy(to + i * sizeof(T), &result, sizeof(T));
    }
    return bad;
  }

  Wide<T> multiply_;
  Wide<T> add_;
  model::MissingValues<T> missing_;
};

double value_of(const Settings& given, std::string_view name, double otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : number(found->second).value_or(otherwise);
}

using Made = Result<std::unique_ptr<const PointwiseStage>>;

template <class T>
Made linear_of(const Variable& variable, double multiply, double add) {
  return std::make_unique<const Linear<T>>(variable, multiply, add);
}

Made make_linear(const Variable& variable, const Settings& given) {
  const double multiply = value_of(given, "multiply", 1);
  double add = value_of(given, "add", 0);
  if (add == 0) add = -0.0;  // x + -0.0 is x for every x, but -0.0 + 0.0 is 0.0
  if (multiply == 1 && add == 0) return Made(nullptr);
  switch (variable.type) {
    case Type::int8: return linear_of<std::int8_t>(variable, multiply, add);
    case Type::uint8: return linear_of<std::uint8_t>(variable, multiply, add);
    case Type::int16: return linear_of<std::int16_t>(variable, multiply, add);
    case Type::uint16: return linear_of<std::uint16_t>(variable, multiply, add);
    case Type::int32: return linear_of<std::int32_t>(variable, multiply, add);
    case Type::uint32: return linear_of<std::uint32_t>(variable, multiply, add);
    case Type::int64: return linear_of<std::int64_t>(variable, multiply, add);
    case Type::uint64: return linear_of<std::uint64_t>(variable, multiply, add);
    case Type::float32: return linear_of<float>(variable, multiply, add);
    case Type::float64: return linear_of<double>(variable, multiply, add);
    default:
      return fail(ErrorCode::wrong_type, "values of type {} cannot be used in computations",
                  name_of(variable.type));
  }
}

}  // namespace

const StageKind& stages::linear() {
  static const StageKind kind{
      {{"multiply", "number", "a finite number other than 0",
        "Converts units: each value that is put is multiplied by this number, then `add` is added, before "
        "it is written. For example, `multiply: 0.01` converts Pa to hPa. The I/O servers do this; missing "
        "values remain unchanged. Give the file the units of the results: in the schema, or in an output "
        "description with `attributes: {units: hPa}`; its key `units` converts by itself. Not to be confused "
        "with the attribute `scale_factor`, by which readers of a file unpack its values.",
        &factor},
       {"add", "number", "a finite number",
        "The number that is added to each value after it has been multiplied by `multiply`. For example, "
        "`add: -273.15` converts K to degrees Celsius.",
        &summand}},
      &make_linear};
  return kind;
}

}  // namespace afterbay::pipeline
