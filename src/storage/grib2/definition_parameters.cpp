// SPDX-License-Identifier: Apache-2.0
// Parameters by CF standard name. Source of the numbers: WMO code tables 0.0, 4.1 and 4.2; a test
// compares each row with ecCodes' table of parameters.
#include <algorithm>
#include <array>

#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

// Code table 4.5.
constexpr long ground = 1;
constexpr long top_of_atmosphere = 8;
constexpr long mean_sea = 101;
constexpr long ice_top = 174;
constexpr long ice_bottom = 176;

constexpr std::array parameters{
    Parameter{"air_temperature", "K", 0, 0, 0},
    Parameter{"air_potential_temperature", "K", 0, 0, 2},
    Parameter{"dew_point_temperature", "K", 0, 0, 6},
    Parameter{"surface_temperature", "K", 0, 0, 17},
    Parameter{"specific_humidity", "1", 0, 1, 0},
    Parameter{"relative_humidity", "%", 0, 1, 1},
    Parameter{"atmosphere_mass_content_of_water_vapor", "kg m-2", 0, 1, 64, ground, top_of_atmosphere},
    Parameter{"precipitation_flux", "kg m-2 s-1", 0, 1, 52},
    Parameter{"snowfall_flux", "kg m-2 s-1", 0, 1, 53},
    Parameter{"convective_precipitation_flux", "kg m-2 s-1", 0, 1, 37},
    Parameter{"surface_snow_thickness", "m", 0, 1, 11},
    Parameter{"surface_snow_amount", "kg m-2", 0, 1, 60},
    Parameter{"mass_fraction_of_cloud_liquid_water_in_air", "1", 0, 1, 83},
    Parameter{"mass_fraction_of_cloud_ice_in_air", "1", 0, 1, 84},
    Parameter{"wind_from_direction", "degree", 0, 2, 0},
    Parameter{"wind_speed", "m s-1", 0, 2, 1},
    Parameter{"eastward_wind", "m s-1", 0, 2, 2},
    Parameter{"northward_wind", "m s-1", 0, 2, 3},
    Parameter{"lagrangian_tendency_of_air_pressure", "Pa s-1", 0, 2, 8},
    Parameter{"upward_air_velocity", "m s-1", 0, 2, 9},
    Parameter{"atmosphere_absolute_vorticity", "s-1", 0, 2, 10},
    Parameter{"atmosphere_relative_vorticity", "s-1", 0, 2, 12},
    Parameter{"divergence_of_wind", "s-1", 0, 2, 13},
    Parameter{"wind_speed_of_gust", "m s-1", 0, 2, 22},
    Parameter{"air_pressure", "Pa", 0, 3, 0},
    Parameter{"surface_air_pressure", "Pa", 0, 3, 0},
    Parameter{"air_pressure_at_mean_sea_level", "Pa", 0, 3, 0, mean_sea},
    Parameter{"geopotential", "m2 s-2", 0, 3, 4},
    Parameter{"geopotential_height", "m", 0, 3, 5},
    Parameter{"surface_downwelling_shortwave_flux_in_air", "W m-2", 0, 4, 7},
    Parameter{"surface_upwelling_shortwave_flux_in_air", "W m-2", 0, 4, 8},
    Parameter{"surface_net_downward_shortwave_flux", "W m-2", 0, 4, 9},
    Parameter{"toa_outgoing_shortwave_flux", "W m-2", 0, 4, 8, top_of_atmosphere},
    Parameter{"surface_downwelling_longwave_flux_in_air", "W m-2", 0, 5, 3},
    Parameter{"surface_upwelling_longwave_flux_in_air", "W m-2", 0, 5, 4},
    Parameter{"surface_net_downward_longwave_flux", "W m-2", 0, 5, 5},
    Parameter{"toa_outgoing_longwave_flux", "W m-2", 0, 5, 4, top_of_atmosphere},
    Parameter{"cloud_area_fraction", "%", 0, 6, 1, ground, top_of_atmosphere},
    Parameter{"mass_fraction_of_ozone_in_air", "1", 0, 14, 1},
    Parameter{"visibility_in_air", "m", 0, 19, 0},
    Parameter{"land_area_fraction", "1", 2, 0, 0},
    Parameter{"land_binary_mask", "1", 2, 0, 0},
    Parameter{"soil_temperature", "K", 2, 3, 18},
    Parameter{"sea_surface_wave_significant_height", "m", 10, 0, 3},
    Parameter{"sea_ice_area_fraction", "1", 10, 2, 0},
    Parameter{"sea_ice_thickness", "m", 10, 2, 1, ice_top, ice_bottom},
    Parameter{"sea_surface_temperature", "K", 10, 3, 0},
};

/// Code table 4.10.
struct Statistic {
  std::string_view method;
  long number = 0;
};
constexpr std::array statistics{Statistic{"mean", 0},
                                Statistic{"sum", 1},
                                Statistic{"maximum", 2},
                                Statistic{"minimum", 3},
                                Statistic{"root_mean_square", 5},
                                Statistic{"standard_deviation", 6}};

/// ecCodes writes "m s**-1", and several words for numbers without a unit.
std::string plain_units(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '*') plain += c;
  for (const std::string_view number : {"(0 - 1)", "Proportion", "Numeric", "~", "dimensionless", "kg kg-1"})
    if (plain == number) return "1";
  if (plain == "gpm") return "m";
  if (plain == "degrees" || plain == "degree true" || plain == "Degree true") return "degree";
  return plain;
}

/// Methods over other dimensions than time: means over those of the grid, and of layers, are usual;
/// of others messages could not tell, nor of parts of an area.
Result<> check_other_methods(const Schema& schema, const Variable& field) {
  const std::size_t fixed = field.dimensions.size() - cf::slab_dimensions(schema, field);
  for (const cf::CellMethod& it : cf::cell_methods_of(field)) {
    if (!it.where.empty())
      return fail(
          make_error(ErrorCode::invalid_argument,
                     "has the method '{} where {}' over '{}' in cell_methods, but GRIB2 messages "
                     "cannot state parts of an area: remove 'where {}' from cell_methods, or use netCDF",
                     it.method, it.where, fmt::join(it.names, "', '"), it.where)
              .in_variable(field.name));
    if (it.method == "point") continue;
    for (const std::string_view name : it.names) {
      if (cf::is_of_time(schema, {.names = {name}, .method = {}, .where = {}})) continue;
      const auto found = std::ranges::find(field.dimensions, name);
      const bool of_slab = found != field.dimensions.end() &&
                           static_cast<std::size_t>(found - field.dimensions.begin()) >= fixed;
      const Variable* const coordinate = schema.find_variable(name);
      const bool of_grid =
          of_slab || name == "area" || name == "latitude" || name == "longitude" ||
          (coordinate != nullptr && (cf::is_x_axis(*coordinate) || cf::is_y_axis(*coordinate)));
      if (of_grid && it.method == "mean") continue;
      const auto levels = levels_of(schema, field);
      const bool of_layer = coordinate != nullptr && cf::is_vertical(*coordinate) && levels &&
                            levels->coordinate == coordinate->name && !levels->layers.empty();
      if (of_layer && it.method == "mean") continue;
      return fail(
          make_error(ErrorCode::invalid_argument,
                     "has the method '{}' over '{}' in cell_methods, which GRIB2 messages cannot "
                     "state: they have methods over time, means over the grid, and means over layers "
                     "if the vertical coordinate has bounds; remove it from cell_methods, or use netCDF",
                     it.method, name)
              .in_variable(field.name));
    }
  }
  return {};
}

}  // namespace

const Parameter* parameter_of(std::string_view standard_name) {
  const auto found = std::ranges::find(parameters, standard_name, &Parameter::standard_name);
  return found == parameters.end() ? nullptr : &*found;
}

std::vector<std::string> standard_names() {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.emplace_back(parameter.standard_name);
  return names;
}

bool same_units(std::string_view cf_units, std::string_view eccodes_units) {
  return plain_units(cf_units) == plain_units(eccodes_units);
}

Result<std::optional<long>> statistic_of(const Schema& schema, const Variable& field) {
  AFTERBAY_TRY(check_other_methods(schema, field));
  std::vector<std::string_view> methods = cf::time_methods_of(schema, field);
  std::erase(methods, "point");
  // A maximum of maxima is one of all values, and so on.
  const auto repeats =
      std::unique(methods.begin(), methods.end(), [](std::string_view left, std::string_view right) {
        return left == right && (left == "mean" || left == "sum" || left == "maximum" || left == "minimum");
      });
  methods.erase(repeats, methods.end());
  if (methods.empty()) return std::optional<long>();
  const std::string_view method = methods.front();
  const auto found = std::ranges::find(statistics, method, &Statistic::method);
  if (found != statistics.end() && methods.size() == 1) return std::optional<long>(found->number);
  if (found != statistics.end())
    return fail(make_error(ErrorCode::invalid_argument,
                           "has the methods '{}' over time in cell_methods, one after the other, but a GRIB2 "
                           "message states one: write the values of one statistic, or use netCDF",
                           fmt::join(methods, "', '"))
                    .in_variable(field.name));
  return fail(
      make_error(ErrorCode::invalid_argument,
                 "has the method '{}' over time in cell_methods, which GRIB2 messages cannot state: mean, "
                 "sum, maximum, minimum, root_mean_square and standard_deviation are possible",
                 method)
          .in_variable(field.name));
}

std::vector<Key> keys_of(const std::vector<Attribute>& attributes) {
  constexpr std::string_view prefix = "GRIB_";
  std::vector<Key> keys;
  for (const Attribute& attribute : attributes)
    if (attribute.name.starts_with(prefix))
      keys.push_back({attribute.name.substr(prefix.size()), attribute.values});
  return keys;
}

}  // namespace afterbay::storage::grib2
