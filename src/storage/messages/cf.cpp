// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/cf.hpp"

#include <algorithm>
#include <array>

#include "time/date_text.hpp"
#include "time/instant.hpp"
#include "time/time_units.hpp"

namespace afterbay::storage::cf {
namespace {

template <class T>
std::vector<double> numbers_as(const Values& values) {
  std::vector<double> numbers(values.count());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(values.at<T>(i));
  return numbers;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool names(std::string_view text, std::string_view name) {
  const std::vector<std::string_view> words = words_of(text);
  return std::ranges::find(words, name) != words.end();
}

/// Whether another variable names this one as something that describes it. Terms of a formula that
/// change from record to record, such as the surface pressure, are fields, even if they are named
/// as coordinates.
bool is_referred_to(const Schema& schema, const Variable& variable) {
  constexpr std::array always{"bounds", "climatology", "grid_mapping"};
  constexpr std::array fixed{"cell_measures", "formula_terms", "ancillary_variables"};
  const auto refers = [&](const Variable& other, const char* attribute) {
    return names(text_of(other.attributes, attribute), variable.name);
  };
  const bool changes = has_records(schema, variable);
  const bool changing_term = changes && std::ranges::any_of(schema.variables, [&](const Variable& other) {
                               return refers(other, "formula_terms");
                             });
  for (const Variable& other : schema.variables) {
    if (!changing_term && refers(other, "coordinates")) return true;
    for (const char* attribute : always)
      if (refers(other, attribute)) return true;
    for (const char* attribute : fixed)
      if (!changes && refers(other, attribute)) return true;
  }
  return false;
}

/// Bounds of means within and over years have a name of their own (section 7.4).
std::string_view bounds_name_of(const Variable& time) {
  const std::string_view bounds = text_of(time.attributes, "bounds");
  return bounds.empty() ? text_of(time.attributes, "climatology") : bounds;
}

bool is_y_axis(const Variable& variable) {
  return is_latitude(variable) || text_of(variable.attributes, "axis") == "Y" ||
         is_one_of(text_of(variable.attributes, "standard_name"),
                   {"grid_latitude", "projection_y_coordinate"});
}

}  // namespace

const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string_view text_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const Attribute* const found = find_attribute(attributes, name);
  return found == nullptr || found->values.type != Type::text ? std::string_view() : found->values.text();
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::vector<double> numbers_of(const Values& values) {
  switch (values.type) {
    case Type::int8: return numbers_as<std::int8_t>(values);
    case Type::int16: return numbers_as<std::int16_t>(values);
    case Type::int32: return numbers_as<std::int32_t>(values);
    case Type::int64: return numbers_as<std::int64_t>(values);
    case Type::uint8: return numbers_as<std::uint8_t>(values);
    case Type::uint16: return numbers_as<std::uint16_t>(values);
    case Type::uint32: return numbers_as<std::uint32_t>(values);
    case Type::uint64: return numbers_as<std::uint64_t>(values);
    case Type::float32: return numbers_as<float>(values);
    case Type::float64: return numbers_as<double>(values);
    case Type::text:
    case Type::string: break;
  }
  return {};
}

std::string_view record_dimension(const Schema& schema) {
  const auto found = std::ranges::find_if(schema.dimensions, &Dimension::is_unlimited);
  return found == schema.dimensions.end() ? std::string_view() : std::string_view(found->name);
}

bool has_records(const Schema& schema, const Variable& variable) {
  return !variable.dimensions.empty() && variable.dimensions.front() == record_dimension(schema);
}

const Variable* time_of(const Schema& schema) {
  const std::string_view record = record_dimension(schema);
  if (record.empty()) return nullptr;
  for (const Variable& variable : schema.variables) {
    if (variable.dimensions.size() != 1 || variable.dimensions[0] != record) continue;
    if (variable.name == record || text_of(variable.attributes, "standard_name") == "time" ||
        text_of(variable.attributes, "axis") == "T")
      return &variable;
  }
  return nullptr;
}

const Variable* time_bounds_of(const Schema& schema) {
  const Variable* const time = time_of(schema);
  if (time == nullptr) return nullptr;
  const std::string_view bounds = bounds_name_of(*time);
  return bounds.empty() ? nullptr : schema.find_variable(bounds);
}

const Variable* scalar_time_of(const Schema& schema) {
  for (const Variable& variable : schema.variables)
    if (variable.dimensions.empty() && !variable.constant.empty() &&
        text_of(variable.attributes, "standard_name") == "time")
      return &variable;
  return nullptr;
}

const Variable* scalar_bounds_of(const Schema& schema, const Variable& scalar_time) {
  const std::string_view name = bounds_name_of(scalar_time);
  const Variable* const bounds = name.empty() ? nullptr : schema.find_variable(name);
  return bounds != nullptr && bounds->constant.count() == 2 ? bounds : nullptr;
}

const Variable* record_reference_of(const Schema& schema) {
  for (const Variable& variable : schema.variables)
    if (variable.dimensions.size() == 1 && has_records(schema, variable) &&
        text_of(variable.attributes, "standard_name") == "forecast_reference_time")
      return &variable;
  return nullptr;
}

const Variable* coordinate_of(const Schema& schema, std::string_view dimension) {
  const Variable* const found = schema.find_variable(dimension);
  return found != nullptr && found->dimensions.size() == 1 && found->dimensions[0] == dimension ? found
                                                                                                : nullptr;
}

std::vector<const Variable*> auxiliary_coordinates(const Schema& schema, const Variable& field) {
  std::vector<const Variable*> found;
  for (const std::string_view name : words_of(text_of(field.attributes, "coordinates")))
    if (const Variable* const variable = schema.find_variable(name)) found.push_back(variable);
  return found;
}

Role role_of(const Schema& schema, const Variable& variable) {
  if (&variable == time_of(schema)) return Role::time;
  if (&variable == time_bounds_of(schema)) return Role::time_bounds;
  const bool of_dimension = schema.find_dimension(variable.name) != nullptr;
  return of_dimension || is_referred_to(schema, variable) ? Role::coordinate : Role::field;
}

/// Source: CF, sections 4.1 and 4.2.
bool is_latitude(const Variable& variable) {
  return text_of(variable.attributes, "standard_name") == "latitude" ||
         is_one_of(text_of(variable.attributes, "units"),
                   {"degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"});
}

bool is_longitude(const Variable& variable) {
  return text_of(variable.attributes, "standard_name") == "longitude" ||
         is_one_of(text_of(variable.attributes, "units"),
                   {"degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"});
}

unsigned slab_dimensions(const Schema& schema, const Variable& variable) {
  if (role_of(schema, variable) != Role::field) return 0;
  const std::size_t fixed = variable.dimensions.size() - (has_records(schema, variable) ? 1 : 0);
  if (fixed < 2) return static_cast<unsigned>(fixed);
  const std::size_t count = variable.dimensions.size();
  if (const Variable* const y = coordinate_of(schema, variable.dimensions[count - 2]))
    return is_y_axis(*y) ? 2 : 1;
  for (const Variable* const auxiliary : auxiliary_coordinates(schema, variable))
    if (auxiliary->dimensions.size() == 2 && auxiliary->dimensions[0] == variable.dimensions[count - 2] &&
        auxiliary->dimensions[1] == variable.dimensions[count - 1])
      return 2;
  return 1;
}

Result<Date> TimeAxis::date(double number) const {
  return dates::date_of_number(rules, reference, number, unit_ns);
}

std::int64_t TimeAxis::seconds(const Date& from, const Date& to) const {
  return dates::between(dates::instant_of(rules, from), dates::instant_of(rules, to)).seconds;
}

Result<TimeAxis> time_axis_of(const Variable& time) {
  const auto make = [&]() -> Result<TimeAxis> {
    TimeAxis axis;
    const std::string_view calendar = text_of(time.attributes, "calendar");
    AFTERBAY_TRY_ASSIGN(axis.rules, dates::named_rules(calendar.empty() ? "standard" : calendar));
    AFTERBAY_TRY_ASSIGN(const dates::UnitsText units, dates::split_units(text_of(time.attributes, "units")));
    AFTERBAY_TRY_ASSIGN(const dates::UnitName unit, dates::find_unit(axis.rules, units.unit));
    axis.unit_ns = unit.nanoseconds;
    AFTERBAY_TRY_ASSIGN(axis.reference, dates::parse_date(axis.rules, units.reference));
    return axis;
  };
  auto axis = make();
  if (!axis) axis.error().in_variable(time.name);
  return axis;
}

/// "time: mean (interval: 600 s) area: mean": the words before a method end in a colon, unless they
/// are in parentheses.
std::vector<std::string_view> time_methods_of(const Schema& schema, const Variable& field) {
  const std::string_view record = record_dimension(schema);
  const std::vector<std::string_view> words = words_of(text_of(field.attributes, "cell_methods"));
  std::vector<std::string_view> methods;
  bool of_time = false;
  bool in_parentheses = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    in_parentheses = in_parentheses || word.starts_with('(');
    if (in_parentheses) {
      in_parentheses = !word.ends_with(')');
    } else if (word.ends_with(':')) {
      const std::string_view name = word.substr(0, word.size() - 1);
      of_time = of_time || name == record || name == "time";
    } else if (of_time) {
      const bool qualified = i + 2 < words.size() && (words[i + 1] == "within" || words[i + 1] == "over");
      const std::string_view& last = qualified ? words[i + 2] : word;
      methods.emplace_back(word.data(), static_cast<std::size_t>(last.data() + last.size() - word.data()));
      of_time = false;
    }
  }
  return methods;
}

std::string_view time_method_of(const Schema& schema, const Variable& field) {
  const std::vector<std::string_view> methods = time_methods_of(schema, field);
  return methods.empty() ? std::string_view() : methods.front();
}

}  // namespace afterbay::storage::cf
