// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pack.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/converted_values.hpp"
#include "model/format_traits.hpp"
#include "model/largest_error.hpp"
#include "model/missing_values.hpp"
#include "pipeline/quantize.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::pipeline {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 4> packed_type_words{
    {{"int8", Type::int8}, {"int16", Type::int16}, {"int32", Type::int32}, {"auto", Type::text}}};
constexpr std::string_view off = "off";

std::optional<double> finite_number(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// With or without the brackets that lists have in YAML.
std::optional<std::pair<double, double>> range_of(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto low = finite_number(text.substr(0, comma));
  const auto high = finite_number(text.substr(comma + 1));
  if (!low || !high || !(*low < *high)) return std::nullopt;
  return std::pair(*low, *high);
}

std::optional<std::string> packed_type_word(std::string_view text) {
  if (text == off || text == "false") return std::string(off);
  for (const auto& [word, type] : packed_type_words)
    if (text == word) return std::string(text);
  return std::nullopt;
}

std::optional<std::string> canonical_range(std::string_view text) {
  const auto range = range_of(text);
  return range ? std::optional(fmt::format("{},{}", range->first, range->second)) : std::nullopt;
}

/// The number of a setting, which is removed.
double take_number(Settings& given, std::string_view name, double otherwise) {
  const auto found = given.find(name);
  if (found == given.end()) return otherwise;
  const double value = finite_number(found->second).value_or(otherwise);
  given.erase(found);
  return value;
}

/// What is asked for. Removes the settings of packing.
std::optional<Packing> wanted_packing(const Variable& variable, Settings& given) {
  std::optional<Packing> wanted = variable.packing;
  if (const auto found = given.find("pack"); found != given.end()) {
    if (!wanted) wanted.emplace();
    wanted->type = found->second;
    given.erase(found);
  }
  if (wanted && wanted->type == off) wanted.reset();
  const auto range = given.find("pack_range");
  if (range == given.end()) return wanted;
  if (wanted)
    if (const auto bounds = range_of(range->second)) std::tie(wanted->low, wanted->high) = *bounds;
  given.erase(range);
  return wanted;
}

Result<> check_can_be_packed(const Variable& variable, Format format) {
  if (variable.type != Type::float32 && variable.type != Type::float64)
    return fail(ErrorCode::wrong_type,
                "variable '{}' of type {} cannot be packed: only float32 and float64 can, and become the "
                "type that pack says; give it one of them, or remove its packing (pack: off)",
                variable.name, name_of(variable.type));
  if (!variable.constant.empty())
    return fail(ErrorCode::invalid_argument,
                "variable '{}' is constant and cannot be packed: remove its packing (pack: off)",
                variable.name);
  if (traits_of(format).messages != nullptr)
    return fail(ErrorCode::invalid_argument,
                "variable '{}' cannot be packed as integers in {}, whose messages have a packing of their "
                "own: remove its packing (pack: off)",
                variable.name, traits_of(format).title);
  for (const Attribute& it : variable.attributes)
    if (it.name == "scale_factor" || it.name == "add_offset")
      return fail(ErrorCode::conflict,
                  "variable '{}' has the attribute {}, but is packed, which sets it: remove the attribute, "
                  "or the packing (pack: off)",
                  variable.name, it.name);
  if (const auto good = model::check_fill(variable); !good)
    return fail(good.error().code, "variable '{}' {}", variable.name, good.error().message);
  return {};
}

Result<> check_not_rounded(const Variable& variable, const Settings& given) {
  for (const StageSetting& it : stages::quantize().settings)
    if (it.name != "absolute_error" && given.contains(it.name))
      return fail(ErrorCode::invalid_argument,
                  "{} is set for variable '{}', which is packed as integers: packed numbers have an "
                  "absolute_error; remove {}, or set pack to off",
                  it.name, variable.name, it.name);
  return {};
}

template <class Integer>
Values integers_of(const model::PackedValues& packing, const std::vector<double>& numbers) {
  std::vector<Integer> all;
  for (const double number : numbers)
    all.push_back(static_cast<Integer>(model::packed_value(packing, number)));
  return Values(all);
}

Values packed_values(const model::PackedValues& packing, const std::vector<double>& numbers) {
  if (packing.packed == Type::int8) return integers_of<std::int8_t>(packing, numbers);
  if (packing.packed == Type::int16) return integers_of<std::int16_t>(packing, numbers);
  return integers_of<std::int32_t>(packing, numbers);
}

Values fill_value_of(Type type) {
  const std::int64_t fill = model::packed_fill(type);
  if (type == Type::int8) return static_cast<std::int8_t>(fill);
  if (type == Type::int16) return static_cast<std::int16_t>(fill);
  return static_cast<std::int32_t>(fill);
}

/// The attributes that CF wants in the type of the file.
bool holds_limits(std::string_view attribute) {
  return attribute == "valid_min" || attribute == "valid_max" || attribute == "valid_range";
}

/// Packs limits as the values are, so that no valid value becomes invalid. Values beyond a limit by
/// less than the error of packing may become the limit, which is valid.
Result<> pack_limits(const Variable& variable, Attribute& attribute, const model::PackedValues& packing) {
  const auto numbers = model::converted(attribute.values, Type::float64);
  std::vector<double> limits;
  for (std::size_t i = 0; numbers && i < numbers->count(); ++i) limits.push_back(numbers->at<double>(i));
  if (limits.empty() || std::ranges::any_of(limits, [](double it) { return std::isnan(it); }))
    return fail(ErrorCode::invalid_argument,
                "variable '{}' is packed, but its attribute {} is {}: packing needs numbers; remove the "
                "attribute, or correct it",
                variable.name, attribute.name, limits.empty() ? "not a number" : "NaN");
  attribute.values = packed_values(packing, limits);
  return {};
}

Result<> set_attributes(Variable& variable, const model::PackedValues& packing) {
  for (Attribute& it : variable.attributes)
    if (holds_limits(it.name)) AFTERBAY_TRY(pack_limits(variable, it, packing));
  std::erase_if(variable.attributes,
                [](const Attribute& it) { return it.name == "_FillValue" || it.name == "missing_value"; });
  forget_quantization(variable);
  variable.attribute("scale_factor", packing.scale).attribute("add_offset", packing.offset);
  model::reserve_largest_error(variable);
  variable.fill = fill_value_of(packing.packed);
  variable.type = packing.packed;
  variable.packing.reset();
  return {};
}

}  // namespace

std::span<const StageSetting> packing_settings() {
  static const std::vector<StageSetting> settings{
      {"pack",
       "choice",
       "int8, int16, int32, auto or off",
       "Packs values as integers of this type: the file has the attributes `scale_factor` and `add_offset`, "
       "with which readers unpack them, and `_FillValue` for missing values. `auto`: the smallest type that "
       "`absolute_error` allows. For variables of type float32 and float64; netCDF only. See [which "
       "codec](../how-to/which-codec.md#packed-integers).",
       &packed_type_word,
       false,
       {"int8", "int16", "int32", "auto", "off"}},
      {"pack_range", "list of numbers", "two numbers, the smaller one first",
       "The range of packed values, in the units of the file. Values that the integers cannot hold are "
       "refused when they are put; nothing is clipped.",
       &canonical_range, true}};
  return settings;
}

Result<std::optional<model::PackedValues>> pack(Variable& variable, Settings& given, Format format) {
  using Packed = std::optional<model::PackedValues>;
  const bool has_range = given.contains("pack_range");
  const bool has_word = given.contains("pack");
  const std::optional<Packing> wanted = wanted_packing(variable, given);
  variable.packing.reset();
  const auto refused = [&variable](Error error) { return fail(std::move(error).in_variable(variable.name)); };
  if (!wanted) {
    if (has_range && !has_word)
      return refused(make_error(ErrorCode::invalid_argument,
                                "pack_range is set for variable '{}', which is not packed: set pack as well, "
                                "for example to int16",
                                variable.name));
    return Packed();
  }
  const auto type =
      std::ranges::find(packed_type_words, wanted->type, &std::pair<std::string_view, Type>::first);
  if (type == packed_type_words.end())
    return refused(make_error(ErrorCode::invalid_argument,
                              "variable '{}' is packed as '{}': expected int8, int16, int32 or auto",
                              variable.name, wanted->type));
  if (auto good = check_can_be_packed(variable, format); !good) return refused(std::move(good).error());
  if (auto good = check_not_rounded(variable, given); !good) return refused(std::move(good).error());
  if (wanted->low == 0 && wanted->high == 0)
    return refused(make_error(ErrorCode::invalid_argument,
                              "variable '{}' is packed, but the range of its values is not given: set "
                              "pack_range, for example to 180,340",
                              variable.name));
  const double error = take_number(given, "absolute_error", wanted->absolute_error);
  auto packing = model::packing_for(type->second, wanted->low, wanted->high, error);
  if (!packing) return refused(std::move(packing).error());
  packing->unpacked = variable.type;
  packing->missing = model::missing_values(variable);
  packing->multiply = take_number(given, "multiply", 1);
  packing->add = take_number(given, "add", 0);
  if (auto good = set_attributes(variable, *packing); !good) return refused(std::move(good).error());
  return Packed(*std::move(packing));
}

}  // namespace afterbay::pipeline
