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
  if (units == "Pa") return Kind{isobaric};
  if (units == "hPa" || units == "mbar" || units == "millibar") return Kind{isobaric, 100};
  if (units != "m") return std::nullopt;
  if (name == "height") return Kind{above_ground};
  if (name == "altitude") return Kind{above_sea};
  if (name == "depth") return Kind{ocean ? below_sea : below_ground};
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
  for (const Variable* const auxiliary : cf::auxiliary_coordinates(schema, field)) {
    if (auxiliary->dimensions != dimensions || auxiliary->constant.empty()) continue;
    if (is_level_number(*auxiliary))
      vertical.number = auxiliary;
    else if (between == 0 && kind_of(*auxiliary, false))
      vertical.coordinate = auxiliary;
  }
  if (vertical.coordinate == nullptr && between == 0) vertical.coordinate = vertical.number;
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

}  // namespace

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
  if ((!kind && !given) || (values.empty() && vertical.dimension.empty()))
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "has the dimension '{}', which is no vertical coordinate that GRIB2 knows: give it a "
                   "coordinate with constant values and the standard name air_pressure, height, altitude, "
                   "depth, model_level_number or that of a hybrid or sigma coordinate, or give the variable "
                   "the attribute GRIB_typeOfLevel",
                   vertical.dimension)
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
    return levels;
  }
  for (const double value : values) levels.values.push_back(value * (kind ? kind->factor : 1));
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
