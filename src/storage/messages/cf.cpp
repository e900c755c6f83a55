// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/cf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/is_one_of.hpp"
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

bool names(std::string_view text, std::string_view name) {
  const std::vector<std::string_view> words = words_of(text);
  return std::ranges::find(words, name) != words.end();
}

/// Whether another variable names this one as something that describes it. Terms of a formula that
/// change from record to record, such as the surface pressure, are fields, even if they are named
/// as coordinates.
bool is_referred_to(const Schema& schema, const Variable& variable) {
  constexpr std::array always{"bounds", "climatology", "grid_mapping", "quantization"};
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

/// Whether it is a container of attributes on a method of rounding, also if no variable names it
/// any more (section 8.4).
bool describes_quantization(const Variable& variable) {
  return variable.dimensions.empty() && find_attribute(variable.attributes, "algorithm") != nullptr &&
         find_attribute(variable.attributes, "implementation") != nullptr;
}

/// Bounds of means within and over years have a name of their own (section 7.4).
std::string_view bounds_name_of(const Variable& time) {
  const std::string_view bounds = text_of(time.attributes, "bounds");
  return bounds.empty() ? text_of(time.attributes, "climatology") : bounds;
}

struct UnitFactor {
  Measure measure = Measure::ratio;
  std::string_view name;
  double factor = 1;  ///< to 1, Pa or m
};
/// By the names that UDUNITS knows; `level` and `sigma_level` are those of CF, section 4.3.2.
constexpr std::array unit_factors{UnitFactor{Measure::ratio, "1"},
                                  UnitFactor{Measure::ratio, "dimensionless"},
                                  UnitFactor{Measure::ratio, "level"},
                                  UnitFactor{Measure::ratio, "sigma_level"},
                                  UnitFactor{Measure::ratio, "%", 0.01},
                                  UnitFactor{Measure::ratio, "percent", 0.01},
                                  UnitFactor{Measure::pressure, "Pa"},
                                  UnitFactor{Measure::pressure, "pascal"},
                                  UnitFactor{Measure::pressure, "pascals"},
                                  UnitFactor{Measure::pressure, "Pascal"},
                                  UnitFactor{Measure::pressure, "Pascals"},
                                  UnitFactor{Measure::pressure, "hPa", 100},
                                  UnitFactor{Measure::pressure, "hectopascal", 100},
                                  UnitFactor{Measure::pressure, "hectopascals", 100},
                                  UnitFactor{Measure::pressure, "mbar", 100},
                                  UnitFactor{Measure::pressure, "mb", 100},
                                  UnitFactor{Measure::pressure, "millibar", 100},
                                  UnitFactor{Measure::pressure, "millibars", 100},
                                  UnitFactor{Measure::pressure, "kPa", 1000},
                                  UnitFactor{Measure::length, "m"},
                                  UnitFactor{Measure::length, "meter"},
                                  UnitFactor{Measure::length, "meters"},
                                  UnitFactor{Measure::length, "metre"},
                                  UnitFactor{Measure::length, "metres"},
                                  UnitFactor{Measure::length, "cm", 0.01},
                                  UnitFactor{Measure::length, "km", 1e3}};

std::string_view expected_units(Measure measure) {
  switch (measure) {
    case Measure::pressure: return "a pressure in Pa, hPa, mbar or kPa";
    case Measure::length: return "a height in m, cm or km";
    case Measure::ratio: break;
  }
  return "a number without dimension (units '1')";
}

/// The variable with the constant bounds of a term: the term's own, or the term of the coordinate's
/// bounds (section 7.1). Null if there is none.
const Variable* bounds_of_term(const Schema& schema, const Variable& coordinate, std::string_view name,
                               const Variable& term) {
  const auto has_bounds = [&](const Variable* bounds) {
    return bounds != nullptr && bounds->constant.count() == 2 * term.constant.count();
  };
  const Variable* const own = schema.find_variable(text_of(term.attributes, "bounds"));
  if (has_bounds(own)) return own;
  const Variable* const bounds = schema.find_variable(text_of(coordinate.attributes, "bounds"));
  if (bounds == nullptr) return nullptr;
  const Terms terms = formula_terms_of(schema, *bounds);
  const auto found = terms.find(name);
  return found != terms.end() && has_bounds(found->second) ? found->second : nullptr;
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

std::optional<double> number_of(const Variable& scalar) {
  if (!scalar.dimensions.empty()) return std::nullopt;
  const std::vector<double> numbers = numbers_of(scalar.constant);
  return numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
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
    if (number_of(variable) && text_of(variable.attributes, "standard_name") == "time") return &variable;
  return nullptr;
}

const Variable* scalar_bounds_of(const Schema& schema, const Variable& scalar_time) {
  const std::string_view name = bounds_name_of(scalar_time);
  const Variable* const bounds = name.empty() ? nullptr : schema.find_variable(name);
  return bounds != nullptr && numbers_of(bounds->constant).size() == 2 ? bounds : nullptr;
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

std::vector<double> bounds_of(const Schema& schema, const Variable& coordinate) {
  const Variable* const bounds = schema.find_variable(text_of(coordinate.attributes, "bounds"));
  if (bounds == nullptr) return {};
  std::vector<double> numbers = numbers_of(bounds->constant);
  return numbers.size() == 2 * coordinate.constant.count() ? numbers : std::vector<double>();
}

Terms formula_terms_of(const Schema& schema, const Variable& coordinate) {
  const auto words = words_of(text_of(coordinate.attributes, "formula_terms"));
  Terms terms;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    if (words[i].ends_with(':'))
      terms[words[i].substr(0, words[i].size() - 1)] = schema.find_variable(words[i + 1]);
  return terms;
}

std::optional<double> factor_of(Measure measure, std::string_view units) {
  const auto found = std::ranges::find_if(
      unit_factors, [&](const UnitFactor& it) { return it.measure == measure && it.name == units; });
  return found == unit_factors.end() ? std::nullopt : std::optional(found->factor);
}

Result<HybridTerm> hybrid_term(const Schema& schema, const Variable& field, const Variable& coordinate,
                               std::string_view name, const Variable& term, Measure measure) {
  const auto read = [&](const Variable& variable, const Variable& with_units) -> Result<std::vector<double>> {
    const std::string_view units = text_of(with_units.attributes, "units");
    const std::optional<double> factor = units.empty() ? 1.0 : factor_of(measure, units);
    if (!factor)
      return fail(make_error(ErrorCode::invalid_argument,
                             "has the vertical coordinate '{}' with '{}' as its term {}, which is in '{}': "
                             "expected {}, so convert it, or correct its attribute units",
                             coordinate.name, with_units.name, name, units, expected_units(measure))
                      .in_variable(field.name));
    std::vector<double> numbers = numbers_of(variable.constant);
    for (double& number : numbers) number *= *factor;
    return numbers;
  };
  HybridTerm made;
  AFTERBAY_TRY_ASSIGN(made.values, read(term, term));
  if (const Variable* const bounds = bounds_of_term(schema, coordinate, name, term)) {
    const bool has_units = !text_of(bounds->attributes, "units").empty();
    AFTERBAY_TRY_ASSIGN(made.bounds, read(*bounds, has_units ? *bounds : term));
  }
  return made;
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
  return of_dimension || is_referred_to(schema, variable) || describes_quantization(variable)
             ? Role::coordinate
             : Role::field;
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

bool is_y_axis(const Variable& variable) {
  return is_latitude(variable) || text_of(variable.attributes, "axis") == "Y" ||
         is_one_of(text_of(variable.attributes, "standard_name"),
                   {"grid_latitude", "projection_y_coordinate"});
}

bool is_x_axis(const Variable& variable) {
  return is_longitude(variable) || text_of(variable.attributes, "axis") == "X" ||
         is_one_of(text_of(variable.attributes, "standard_name"),
                   {"grid_longitude", "projection_x_coordinate"});
}

/// Source: CF, section 4.3 and appendix D; names of pressures: UDUNITS.
bool is_vertical(const Variable& variable) {
  const std::string_view name = text_of(variable.attributes, "standard_name");
  const std::string_view units = text_of(variable.attributes, "units");
  const std::string_view positive = text_of(variable.attributes, "positive");
  if (text_of(variable.attributes, "axis") == "Z" || positive == "up" || positive == "down") return true;
  if (name.starts_with("height") || name.starts_with("altitude") || name.starts_with("depth") ||
      ((name.starts_with("atmosphere_") || name.starts_with("ocean_")) && name.ends_with("_coordinate")))
    return true;
  if (is_one_of(name, {"air_pressure", "air_potential_temperature", "geopotential_height",
                       "model_level_number", "sea_water_pressure"}))
    return true;
  return name.empty() &&
         is_one_of(units, {"Pa", "hPa", "kPa", "pascal", "pascals", "Pascal", "Pascals", "hectopascal",
                           "mbar", "mb", "millibar", "millibars", "bar", "bars", "decibar", "dbar", "atm"});
}

std::vector<const Variable*> scalar_verticals(const Schema& schema, const Variable& field) {
  std::vector<const Variable*> scalars;
  for (const Variable* const it : auxiliary_coordinates(schema, field))
    if (it->dimensions.empty() && !it->constant.empty()) scalars.push_back(it);
  const auto is_part = [&](const Variable& coordinate) {
    // The name that iris gives a coefficient if the level has no formula_terms.
    const std::string_view name = text_of(coordinate.attributes, "standard_name");
    if (name == "model_level_number" ||
        (name.empty() && text_of(coordinate.attributes, "long_name") == "sigma"))
      return true;
    return std::ranges::any_of(scalars, [&](const Variable* of) {
      return of != &coordinate && std::ranges::any_of(formula_terms_of(schema, *of), [&](const auto& term) {
               return term.second == &coordinate;
             });
    });
  };
  std::vector<const Variable*> found;
  for (const Variable* const it : scalars)
    if (is_vertical(*it) && !is_part(*it)) found.push_back(it);
  return found;
}

const Variable* mapping_of(const Schema& schema, const Variable& field) {
  const auto words = words_of(text_of(field.attributes, "grid_mapping"));
  if (words.empty()) return nullptr;
  std::string_view name = words.front();
  if (name.ends_with(':')) name.remove_suffix(1);
  return schema.find_variable(name);
}

bool is_rotated(const Schema& schema, const Variable& field, const Variable& y, const Variable& x) {
  const Variable* const mapping = mapping_of(schema, field);
  return text_of(y.attributes, "standard_name") == "grid_latitude" ||
         text_of(x.attributes, "standard_name") == "grid_longitude" ||
         (mapping != nullptr &&
          text_of(mapping->attributes, "grid_mapping_name") == "rotated_latitude_longitude");
}

/// Source of the attributes: CF, appendix F.
Result<std::optional<Earth>> earth_of(const Schema& schema, const Variable& field) {
  const Variable* const mapping = mapping_of(schema, field);
  if (mapping == nullptr) return std::optional<Earth>();
  const auto number = [&](const char* name) -> std::optional<double> {
    const Attribute* const found = find_attribute(mapping->attributes, name);
    const std::vector<double> numbers = found == nullptr ? std::vector<double>() : numbers_of(found->values);
    return numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
  };
  if (number("longitude_of_prime_meridian").value_or(0) != 0)
    return fail(make_error(ErrorCode::invalid_argument,
                           "has the grid_mapping '{}' with longitude_of_prime_meridian {}: longitudes are "
                           "counted from Greenwich, so convert them",
                           mapping->name, *number("longitude_of_prime_meridian"))
                    .in_variable(field.name));
  const std::optional<double> major = number("semi_major_axis");
  const std::optional<double> radius = number("earth_radius");
  if (!major && !radius) return std::optional<Earth>();
  Earth earth;
  earth.semi_major = earth.semi_minor = major.value_or(radius.value_or(0));
  if (const auto minor = number("semi_minor_axis"); major && minor)
    earth.semi_minor = *minor;
  else if (const auto flattening = number("inverse_flattening"); major && flattening && *flattening != 0)
    earth.semi_minor = *major * (1 - 1 / *flattening);
  constexpr double least = 1e3, most = 1e9;
  if (earth.semi_minor >= least && earth.semi_minor <= earth.semi_major && earth.semi_major <= most)
    return std::optional(earth);
  return fail(
      make_error(ErrorCode::invalid_argument,
                 "has the grid_mapping '{}', whose Earth has the axes {} and {}: expected metres, and "
                 "a semi-minor axis that does not exceed the semi-major one",
                 mapping->name, earth.semi_major, earth.semi_minor)
          .in_variable(field.name));
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

bool is_of_time(const Schema& schema, const CellMethod& method) {
  return std::ranges::any_of(method.names, [&](std::string_view name) {
    return name == "time" || name == record_dimension(schema);
  });
}

Result<Date> TimeAxis::date(double number) const {
  AFTERBAY_TRY_ASSIGN(const Date exact, dates::date_of_number(rules, reference, number, unit_ns));
  constexpr double least_tolerance_ns = 1e6;
  // Half the distance of numbers of the type.
  const double epsilon = is_float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                    : std::numeric_limits<double>::epsilon();
  const double tolerance_ns =
      std::max(least_tolerance_ns, std::abs(number) * static_cast<double>(unit_ns) * epsilon / 2);
  const dates::Instant instant = dates::instant_of(rules, exact);
  // If the type does not resolve seconds, use the roundest time that the number can stand for.
  for (const std::int64_t grain_seconds : {std::int64_t{3600}, std::int64_t{60}, std::int64_t{1}}) {
    const dates::Wide grain = dates::Wide{grain_seconds} * dates::second_ns;
    if (grain_seconds > 1 && tolerance_ns < static_cast<double>(dates::second_ns) / 2) continue;
    const dates::Wide time = dates::Wide{instant.seconds} * dates::second_ns + instant.nanoseconds;
    dates::Wide rest = time % grain;
    if (rest < 0) rest += grain;
    const dates::Wide change = rest * 2 < grain ? -rest : grain - rest;
    if (std::abs(static_cast<double>(change)) > tolerance_ns) continue;
    return dates::date_of(rules, (time + change) / dates::second_ns, 0);
  }
  return exact;
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
    axis.is_float32 = time.type == Type::float32;
    AFTERBAY_TRY_ASSIGN(axis.reference, dates::parse_date(axis.rules, units.reference));
    return axis;
  };
  auto axis = make();
  if (!axis) axis.error().in_variable(time.name);
  return axis;
}

/// "time: mean (interval: 600 s) area: mean": the words before a method end in a colon, unless they
/// are in parentheses.
std::vector<CellMethod> cell_methods_of(const Variable& field) {
  const std::vector<std::string_view> words = words_of(text_of(field.attributes, "cell_methods"));
  std::vector<CellMethod> methods;
  CellMethod next;
  bool in_parentheses = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    in_parentheses = in_parentheses || word.starts_with('(');
    if (in_parentheses) {
      in_parentheses = !word.ends_with(')');
    } else if (word.ends_with(':')) {
      next.names.push_back(word.substr(0, word.size() - 1));
    } else if (!next.names.empty()) {
      const bool qualified = i + 2 < words.size() && (words[i + 1] == "within" || words[i + 1] == "over");
      const std::string_view& last = qualified ? words[i + 2] : word;
      next.method = {word.data(), static_cast<std::size_t>(last.data() + last.size() - word.data())};
      if (i + 2 < words.size() && words[i + 1] == "where") next.where = words[i + 2];
      methods.push_back(std::move(next));
      next = {};
    }
  }
  return methods;
}

std::vector<std::string_view> time_methods_of(const Schema& schema, const Variable& field) {
  std::vector<std::string_view> methods;
  for (const CellMethod& it : cell_methods_of(field))
    if (is_of_time(schema, it)) methods.push_back(it.method);
  return methods;
}

std::string_view time_method_of(const Schema& schema, const Variable& field) {
  const std::vector<std::string_view> methods = time_methods_of(schema, field);
  return methods.empty() ? std::string_view() : methods.front();
}

}  // namespace afterbay::storage::cf
