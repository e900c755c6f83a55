// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

// Code table 4.5.
constexpr long isobaric = 100;
constexpr long above_sea = 102;
constexpr long above_ground = 103;
constexpr long sigma = 104;
constexpr long hybrid = 105;
constexpr long below_ground = 106;
constexpr long hybrid_height = 118;
constexpr long below_sea = 160;
/// Surfaces whose value is the number of a level: hybrid, snow, generalized vertical height, soil,
/// sea ice, ocean model.
constexpr std::array numbered_surfaces{105L, 113L, 114L, 118L, 119L, 150L, 151L, 152L, 168L};

/// A kind of vertical coordinate.
struct Kind {
  long surface = 0;
  double factor = 1;      ///< to the unit of GRIB2
  bool numbered = false;  ///< levels have numbers instead of values
};

std::optional<Kind> kind_of(const Variable& coordinate, bool ocean) {
  const std::string_view name = cf::text_of(coordinate.attributes, "standard_name");
  const std::string_view units = cf::text_of(coordinate.attributes, "units");
  if (name == "atmosphere_sigma_coordinate") return Kind{sigma};
  if (name == "atmosphere_hybrid_sigma_pressure_coordinate" || name == "model_level_number")
    return Kind{hybrid, 1, true};
  if (name == "atmosphere_hybrid_height_coordinate") return Kind{hybrid_height, 1, true};
  // CF, section 4.3.1: units of pressure alone say that a coordinate is vertical.
  if (const auto factor = cf::factor_of(cf::Measure::pressure, units);
      factor && (name == "air_pressure" || name.empty()))
    return Kind{isobaric, *factor};
  const auto factor = cf::factor_of(cf::Measure::length, units);
  if (!factor) return std::nullopt;
  if (name == "height") return Kind{above_ground, *factor};
  if (name == "altitude") return Kind{above_sea, *factor};
  if (name == "depth") return Kind{ocean ? below_sea : below_ground, *factor};
  return std::nullopt;
}

/// By the standard name; parameters that keys of ecCodes give are known to the encoder.
bool is_of_ocean(const Variable& field) {
  const std::string_view name = cf::text_of(field.attributes, "standard_name");
  const Parameter* const parameter = parameter_of(name);
  return (parameter != nullptr && parameter->discipline == ocean_discipline) || name.starts_with("sea_") ||
         name.starts_with("ocean_");
}

bool is_depth(long surface) { return surface == below_ground || surface == below_sea; }

/// The vertical coordinate of a field: of its dimension before those of the slab, or a scalar one.
struct Vertical {
  const Variable* coordinate = nullptr;
  const Variable* number = nullptr;  ///< a model_level_number of the same levels
  std::string dimension;             ///< empty: scalar or none
  std::uint64_t length = 1;
};

bool is_level_number(const Variable& coordinate) {
  return cf::text_of(coordinate.attributes, "standard_name") == "model_level_number";
}

Result<Vertical> vertical_of(const Schema& schema, const Variable& field) {
  const std::size_t first = cf::has_records(schema, field) ? 1 : 0;
  const std::size_t between = field.dimensions.size() - first - cf::slab_dimensions(schema, field);
  Vertical vertical;
  if (between > 1)
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "has the dimensions '{}' and '{}' besides its records and its horizontal grid: a GRIB2 "
                   "message has one level, so one of them must go: use a variable or a file for each of its "
                   "elements",
                   field.dimensions[first], field.dimensions[first + 1])
            .in_variable(field.name));
  if (between == 1) {
    vertical.dimension = field.dimensions[first];
    vertical.coordinate = cf::coordinate_of(schema, vertical.dimension);
    vertical.length = schema.find_dimension(vertical.dimension)->length;
  }
  const std::vector<std::string> dimensions =
      between == 1 ? std::vector<std::string>{vertical.dimension} : std::vector<std::string>();
  const std::vector<const Variable*> scalars = cf::scalar_verticals(schema, field);
  if (scalars.size() > 1 || (between == 1 && !scalars.empty()))
    return fail(make_error(ErrorCode::invalid_argument,
                           "has the vertical coordinates '{}' and '{}', but a GRIB2 message has one level: "
                           "remove one of them from the attribute 'coordinates'",
                           between == 1 ? vertical.dimension : scalars[0]->name,
                           scalars[between == 1 ? 0 : 1]->name)
                    .in_variable(field.name));
  const Variable* unknown = nullptr;  // a scalar vertical coordinate of no kind that GRIB2 has
  for (const Variable* const auxiliary : cf::auxiliary_coordinates(schema, field)) {
    if (auxiliary->dimensions != dimensions || auxiliary->constant.empty()) continue;
    if (is_level_number(*auxiliary))
      vertical.number = auxiliary;
    else if (between == 0 && kind_of(*auxiliary, false))
      vertical.coordinate = auxiliary;
    else if (between == 0 && cf::is_vertical(*auxiliary))
      unknown = auxiliary;
  }
  if (vertical.coordinate == nullptr && between == 0) vertical.coordinate = vertical.number;
  if (vertical.coordinate == nullptr) vertical.coordinate = unknown;
  if (vertical.coordinate != nullptr && is_level_number(*vertical.coordinate))
    vertical.number = vertical.coordinate;
  return vertical;
}

/// Numbers of model levels: those of the coordinate model_level_number, or else from 1.
Result<std::vector<double>> numbers_of(const Vertical& vertical, const Variable& field) {
  std::vector<double> numbers;
  if (vertical.number != nullptr) numbers = cf::numbers_of(vertical.number->constant);
  for (const double number : numbers)
    if (!(number >= 0) || number != std::trunc(number))
      return fail(make_error(ErrorCode::invalid_argument,
                             "has the coordinate '{}' of standard name model_level_number with the value {}: "
                             "numbers of levels are whole and not negative",
                             vertical.number->name, number)
                      .in_variable(field.name));
  if (numbers.size() == vertical.length) return numbers;
  numbers.clear();
  for (std::uint64_t k = 0; k < vertical.length; ++k) numbers.push_back(static_cast<double>(k) + 1);
  return numbers;
}

/// Upper and lower surfaces of layers; empty if all intervals are single levels.
std::vector<std::pair<double, double>> layers_of(const std::vector<double>& bounds, const Kind& kind) {
  const bool upwards = kind.surface == above_sea || kind.surface == above_ground;
  std::vector<std::pair<double, double>> layers;
  bool thick = false;
  for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
    const auto [least, largest] = std::minmax({bounds[i] * kind.factor, bounds[i + 1] * kind.factor});
    layers.emplace_back(upwards ? largest : least, upwards ? least : largest);
    thick = thick || least != largest;
  }
  return thick ? layers : std::vector<std::pair<double, double>>();
}

/// The values at half levels, from the top; empty if levels are not all from 1 on, or do not touch.
std::vector<double> half_levels(const std::vector<double>& bounds, const std::vector<double>& numbers) {
  const std::size_t count = numbers.size();
  if (bounds.size() != 2 * count) return {};
  std::vector<std::size_t> level_of(count, count);
  for (std::size_t k = 0; k < count; ++k)
    if (numbers[k] >= 1 && numbers[k] <= static_cast<double>(count))
      level_of[static_cast<std::size_t>(numbers[k]) - 1] = k;
  if (std::ranges::find(level_of, count) != level_of.end()) return {};
  for (const std::size_t above : {0u, 1u}) {  // which of both bounds is the upper one
    std::vector<double> halves{bounds[2 * level_of[0] + above]};
    for (const std::size_t k : level_of) {
      if (bounds[2 * k + above] != halves.back()) break;
      halves.push_back(bounds[2 * k + 1 - above]);
    }
    if (halves.size() == count + 1) return halves;
  }
  return {};
}

/// Coefficients of hybrid levels that the schema has as constant formula_terms. GRIB2 messages have
/// those of half levels.
Result<std::vector<double>> coefficients_of(const Schema& schema, const Variable& field,
                                            const Variable& coordinate, const std::vector<double>& numbers) {
  const cf::Terms terms = cf::formula_terms_of(schema, coordinate);
  const auto constant = [&](const char* name) -> const Variable* {
    const auto found = terms.find(name);
    return found == terms.end() || found->second == nullptr || found->second->constant.empty()
               ? nullptr
               : found->second;
  };
  const char* const pressure = constant("ap") != nullptr ? "ap" : "a";
  const Variable* const a = constant(pressure);
  const Variable* const b = constant("b");
  if (a == nullptr && b == nullptr) return std::vector<double>();
  const bool of_pressure =
      cf::text_of(coordinate.attributes, "standard_name") == "atmosphere_hybrid_sigma_pressure_coordinate";
  const Variable* const p0 = constant("p0");
  const bool in_pascals = constant("ap") != nullptr;
  if (of_pressure && a != nullptr && b != nullptr && (in_pascals || (p0 != nullptr && cf::number_of(*p0)))) {
    const auto term = [&](const char* name, const Variable& of, cf::Measure measure) {
      return cf::hybrid_term(schema, field, coordinate, name, of, measure);
    };
    double scale = 1;
    if (!in_pascals) {
      AFTERBAY_TRY_ASSIGN(const cf::HybridTerm factor, term("p0", *p0, cf::Measure::pressure));
      scale = factor.values.front();
    }
    AFTERBAY_TRY_ASSIGN(const cf::HybridTerm pressures,
                        term(pressure, *a, in_pascals ? cf::Measure::pressure : cf::Measure::ratio));
    AFTERBAY_TRY_ASSIGN(const cf::HybridTerm ratios, term("b", *b, cf::Measure::ratio));
    std::vector<double> all = half_levels(pressures.bounds, numbers);
    const std::vector<double> factors = half_levels(ratios.bounds, numbers);
    for (double& value : all) value *= scale;
    if (!all.empty() && all.size() == factors.size()) {
      all.insert(all.end(), factors.begin(), factors.end());
      return all;
    }
  }
  return fail(
      make_error(ErrorCode::invalid_argument,
                 "has the vertical coordinate '{}' with constant coefficients in formula_terms, but GRIB2 "
                 "messages hold those of hybrid sigma pressure levels only, at all half levels from the top: "
                 "give the bounds of its terms ap (or a and p0) and b, for levels 1 to {}, or leave out "
                 "formula_terms and its variables, so that messages have the numbers of levels only",
                 coordinate.name, numbers.size())
          .in_variable(field.name));
}

}  // namespace

Result<std::optional<long>> member_of(const Schema& schema, const Variable& field) {
  constexpr double most = 254;  // 255 means missing
  for (const Variable* const scalar : cf::auxiliary_coordinates(schema, field)) {
    if (!scalar->dimensions.empty() || cf::text_of(scalar->attributes, "standard_name") != "realization")
      continue;
    const std::optional<double> number = cf::number_of(*scalar);
    if (number && *number >= 0 && *number <= most && *number == std::trunc(*number))
      return std::optional(static_cast<long>(*number));
    return fail(make_error(ErrorCode::invalid_argument,
                           "has the coordinate '{}' of standard name realization{}: GRIB2 messages hold the "
                           "member of an ensemble as a whole number from 0 to {}",
                           scalar->name, number ? fmt::format(" with the value {}", *number) : std::string(),
                           most)
                    .in_variable(field.name));
  }
  return std::optional<long>();
}

Result<Levels> levels_of(const Schema& schema, const Variable& field) {
  AFTERBAY_TRY_ASSIGN(const Vertical vertical, vertical_of(schema, field));
  const Parameter* const parameter = parameter_of(cf::text_of(field.attributes, "standard_name"));
  Levels levels;
  if (vertical.coordinate == nullptr && vertical.dimension.empty()) {
    if (parameter != nullptr) levels.surface = parameter->surface;
    if (parameter != nullptr) levels.second_surface = parameter->second_surface;
    return levels;
  }
  std::vector<double> values;
  if (vertical.coordinate != nullptr) values = cf::numbers_of(vertical.coordinate->constant);
  const std::optional<Kind> kind =
      vertical.coordinate == nullptr ? std::nullopt : kind_of(*vertical.coordinate, is_of_ocean(field));
  const bool given = cf::find_attribute(field.attributes, "GRIB_typeOfLevel") != nullptr;
  const bool scalar = vertical.dimension.empty();
  const std::string_view units = vertical.coordinate == nullptr
                                     ? std::string_view()
                                     : cf::text_of(vertical.coordinate->attributes, "units");
  if ((!kind && !given) || (values.empty() && scalar))
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "has the {} '{}'{}, which is not a vertical coordinate that GRIB2 knows: give it a "
                   "coordinate with constant values, in units of pressure with the standard name "
                   "air_pressure or none, or in m with the standard name "
                   "height, altitude or depth, or with that of a hybrid or sigma coordinate or "
                   "model_level_number; or give the variable the attribute GRIB_typeOfLevel",
                   scalar ? "scalar coordinate" : "dimension",
                   scalar ? vertical.coordinate->name : vertical.dimension,
                   units.empty() ? std::string() : fmt::format(" in '{}'", units))
            .in_variable(field.name));
  if (kind && !kind->numbered && values.size() != vertical.length)
    return fail(make_error(ErrorCode::invalid_argument,
                           "has the coordinate '{}', whose values are not known when the file is defined: "
                           "GRIB2 messages contain the level, so give them as constant values",
                           vertical.coordinate->name)
                    .in_variable(field.name));
  levels.has_value = true;
  if (kind) {
    levels.known = true;
    levels.surface = kind->surface;
    levels.numbered = kind->numbered;
    levels.coordinate = vertical.coordinate->name;
  }
  if (values.size() != vertical.length || levels.numbered) {
    AFTERBAY_TRY_ASSIGN(levels.values, numbers_of(vertical, field));
    if (vertical.coordinate == nullptr) return levels;
    AFTERBAY_TRY_ASSIGN(levels.coefficients,
                        coefficients_of(schema, field, *vertical.coordinate, levels.values));
    return levels;
  }
  const std::vector<double> bounds =
      kind ? cf::bounds_of(schema, *vertical.coordinate) : std::vector<double>();
  const auto is_single = [](double value) { return static_cast<double>(static_cast<float>(value)) == value; };
  levels.single_precision = std::ranges::all_of(values, is_single) && std::ranges::all_of(bounds, is_single);
  for (const double value : values) levels.values.push_back(value * (kind ? kind->factor : 1));
  if (kind) levels.layers = layers_of(bounds, *kind);
  return levels;
}

bool can_lie_on(const Levels& levels, long surface) {
  if (!levels.known || surface == levels.surface) return true;
  if (levels.numbered) return std::ranges::find(numbered_surfaces, surface) != numbered_surfaces.end();
  return is_depth(levels.surface) && is_depth(surface);
}

void take_discipline(Levels& levels, long discipline) {
  if (levels.known && levels.surface == below_ground && discipline == ocean_discipline)
    levels.surface = below_sea;
}

}  // namespace afterbay::storage::grib2
