// SPDX-License-Identifier: Apache-2.0
#include "output/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "describe/operation_traits.hpp"
#include "model/converted_values.hpp"
#include "model/packing.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

constexpr std::array<std::string_view, 4> limits{"valid_min", "valid_max", "valid_range", "actual_range"};
constexpr std::array<std::string_view, 7> typed{"valid_min",   "valid_max",  "valid_range",  "actual_range",
                                                "flag_values", "flag_masks", "missing_value"};

bool is_limit(const Attribute& attribute) {
  return std::ranges::find(limits, attribute.name) != limits.end();
}

/// NaN if the attribute is not a number; nullopt: there is none.
std::optional<double> number_in(const describe::Attributes& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &describe::Attributes::value_type::first);
  if (found == attributes.end()) return std::nullopt;
  if (const auto* const real = std::get_if<double>(&found->second)) return *real;
  if (const auto* const whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void convert_limits(std::vector<Attribute>& attributes, describe::Operation operation,
                    const expression::Linear& conversion) {
  if (!traits_of(operation).keeps_limits) {
    std::erase_if(attributes, is_limit);
    return;
  }
  if (conversion == expression::Linear{}) return;
  for (Attribute& attribute : attributes) {
    if (!is_limit(attribute)) continue;
    const auto numbers = model::converted(attribute.values, Type::float64);
    if (!numbers) continue;
    std::vector<double> converted;
    for (std::size_t i = 0; i < numbers->count(); ++i)
      converted.push_back(conversion.multiply * numbers->at<double>(i) + conversion.add);
    std::ranges::sort(converted);
    attribute.values = converted;
  }
  // A negative factor turns the scale around.
  if (conversion.multiply >= 0) return;
  for (Attribute& attribute : attributes) {
    if (attribute.name == "valid_min")
      attribute.name = "valid_max";
    else if (attribute.name == "valid_max")
      attribute.name = "valid_min";
  }
}

void convert_types(std::vector<Attribute>& attributes, Type type) {
  for (Attribute& attribute : attributes)
    if (std::ranges::find(typed, attribute.name) != typed.end())
      if (auto converted = model::converted(attribute.values, type)) attribute.values = *std::move(converted);
}

void check_packing(const describe::Variable& variable, Type own, Type type) {
  const auto scale = number_in(variable.options.attributes, "scale_factor");
  const auto offset = number_in(variable.options.attributes, "add_offset");
  const bool is_integer = type != Type::float32 && type != Type::float64;
  if ((!scale && !offset) || (is_integer && own == type)) return;
  // The pipeline says that packing sets them.
  const auto pack = variable.options.settings.stages.find("pack");
  if (pack != variable.options.settings.stages.end() && pack->second != "off") return;
  std::string instead = "pack: int16, pack_range: [LOW, HIGH]";
  if (type == Type::int8 || type == Type::int16 || type == Type::int32) {
    const double reach = std::abs(scale.value_or(1)) * static_cast<double>(model::most_packed(type));
    const double middle = offset.value_or(0);
    instead = fmt::format("type: float32, pack: {}, pack_range: [{}, {}]", afterbay::name_of(type),
                          middle - reach, middle + reach);
  }
  refuse_at(
      variable.at, ErrorCode::conflict,
      "'{}' has the attribute {}, by which readers unpack values, but nothing here packs its values: write "
      "\"{}\" instead, which packs them and sets scale_factor and add_offset; \"multiply\" and \"add\" "
      "convert units",
      variable.field, scale ? "scale_factor" : "add_offset", instead);
}

void check_unpacking(std::vector<Attribute>& attributes, const describe::Variable& variable,
                     const expression::Linear& units, const expression::Linear& setting) {
  const auto pack = variable.options.settings.stages.find("pack");
  if (pack != variable.options.settings.stages.end() && pack->second != "off") return;
  const auto number = [&](std::string_view name, double otherwise) {
    const auto found = std::ranges::find(attributes, name, &Attribute::name);
    if (found == attributes.end()) return otherwise;
    const auto converted = model::converted(found->values, Type::float64);
    return converted && converted->count() == 1 ? converted->at<double>(0) : otherwise;
  };
  const double scale = number("scale_factor", 1);
  const double offset = number("add_offset", 0);
  if (scale == 1 && offset == 0) return;
  const auto refuse_it = [&](const std::string& why) {
    refuse_at(
        variable.at, ErrorCode::conflict,
        "'{}' has packed values, which readers unpack by the attributes scale_factor ({}) and add_offset "
        "({}): {}",
        variable.field, scale, offset, why);
  };
  if (!(units == expression::Linear{}) || !(setting == expression::Linear{}))
    refuse_it(
        "units, multiply and add would change the packed values; remove them, or let the model put unpacked "
        "values");
  const statistics::StatisticTraits traits = traits_of(variable.operation);
  if (traits.is_sum && offset != 0)
    refuse_it(
        "a sum would be unpacked with add_offset once; write the mean, or let the model put "
        "unpacked values");
  if (traits.needs_positive_factor && scale < 0)
    refuse_it(traits.is_difference
                  ? "with a negative factor it would be unpacked with the other sign; let the model put "
                    "unpacked values"
                  : "with a negative factor the smallest packed value is the largest one; let the model put "
                    "unpacked values");
  if (traits.is_difference)
    std::erase_if(attributes, [](const Attribute& it) { return it.name == "add_offset"; });
}

bool has_packed_values(const std::vector<Attribute>& attributes, const describe::Variable& variable) {
  constexpr std::array<std::string_view, 2> packing{"scale_factor", "add_offset"};
  return std::ranges::any_of(packing, [&](std::string_view name) {
    return std::ranges::find(attributes, name, &Attribute::name) != attributes.end() ||
           number_in(variable.options.attributes, name);
  });
}

expression::Linear linear_of(const pipeline::Settings& stages) {
  const auto number = [&](const char* name, double otherwise) {
    const auto found = stages.find(name);
    return found == stages.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
  };
  return {number("multiply", 1), number("add", 0)};
}

}  // namespace afterbay::output
