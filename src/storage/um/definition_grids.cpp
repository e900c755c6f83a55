// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "storage/messages/cf.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {
namespace {

using packing::PpGrid;

Result<std::vector<double>> points_of(const Variable& field, const Variable& axis) {
  if (axis.constant.empty())
    return refuse(field,
                  "has the coordinate '{}', whose values are not known when the file is defined: PP headers "
                  "contain the grid, so give them as constant values",
                  axis.name);
  return cf::numbers_of(axis.constant);
}

/// A number without which the place of a rotated grid is not known.
Result<double> number_of_mapping(const Variable& field, const Variable& mapping, const char* name) {
  const Attribute* const found = cf::find_attribute(mapping.attributes, name);
  const auto numbers = found == nullptr ? std::vector<double>() : cf::numbers_of(found->values);
  if (numbers.size() == 1 && std::isfinite(numbers.front())) return numbers.front();
  const std::string state = found == nullptr      ? "which does not have"
                            : numbers.empty()     ? "whose value is text for"
                            : numbers.size() == 1 ? "whose value is not finite for"
                                                  : fmt::format("which has {} values for", numbers.size());
  return refuse(field,
                "has the grid_mapping '{}', {} the attribute {}: PP headers contain the pole of a rotated "
                "grid, so give it as one number in degrees",
                mapping.name, state, name);
}

/// A grid whose pole is that of the Earth is unrotated if the longitude of its pole is 180 degrees:
/// by CF and PROJ (ob_tran), the longitudes 0 of the grid and of the Earth are 180 degrees from
/// those of the poles. Source: CF, appendix F.
Result<> rotate(const Schema& schema, const Variable& field, const Variable& y, const Variable& x,
                PpGrid& grid) {
  for (const Variable* const axis : {&y, &x})
    if (const std::string_view name = cf::text_of(axis->attributes, "standard_name");
        name == "latitude" || name == "longitude")
      return refuse(field,
                    "has the coordinate '{}' of standard name {}, but lies on a rotated grid: if its values "
                    "are those of the grid, they are grid_latitude and grid_longitude; otherwise remove the "
                    "grid_mapping",
                    axis->name, name);
  const Variable* const mapping = cf::mapping_of(schema, field);
  if (mapping == nullptr ||
      cf::text_of(mapping->attributes, "grid_mapping_name") != "rotated_latitude_longitude")
    return refuse(
        field,
        "lies on rotated latitudes and longitudes, but has no grid_mapping that says where the pole "
        "is: name a variable with grid_mapping_name rotated_latitude_longitude");
  AFTERBAY_TRY_ASSIGN(grid.pole_latitude, number_of_mapping(field, *mapping, "grid_north_pole_latitude"));
  AFTERBAY_TRY_ASSIGN(grid.pole_longitude, number_of_mapping(field, *mapping, "grid_north_pole_longitude"));
  if (static_cast<float>(grid.pole_latitude) == 90 && std::remainder(grid.pole_longitude, 360) == 0)
    return refuse(
        field,
        "has the grid_mapping '{}' with grid_north_pole_latitude 90 and grid_north_pole_longitude "
        "{}: by CF its longitudes are shifted by 180 degrees, but readers of PP headers take such a "
        "grid for unrotated; if it is, let grid_north_pole_longitude be 180, or use the "
        "grid_mapping_name latitude_longitude",
        mapping->name, grid.pole_longitude);
  if (cf::find_attribute(mapping->attributes, "north_pole_grid_longitude") == nullptr) return {};
  AFTERBAY_TRY_ASSIGN(const double shift, number_of_mapping(field, *mapping, "north_pole_grid_longitude"));
  if (shift == 0) return {};
  return refuse(field,
                "has a grid_mapping with north_pole_grid_longitude, for which PP headers have no word: shift "
                "the longitudes by it, or use netCDF");
}

/// A mean over longitudes has one point per latitude.
Result<PpGrid> zonal(const Schema& schema, const Variable& field, const Variable& y) {
  PpGrid grid;
  AFTERBAY_TRY_ASSIGN(grid.latitudes, points_of(field, y));
  grid.latitude_bounds = bounds_of(schema, y);
  for (const Variable* const scalar : cf::auxiliary_coordinates(schema, field)) {
    if (!scalar->dimensions.empty() || !cf::is_longitude(*scalar)) continue;
    AFTERBAY_TRY_ASSIGN(grid.longitudes, points_of(field, *scalar));
    grid.longitude_bounds = bounds_of(schema, *scalar);
    return grid;
  }
  return refuse(
      field,
      "has latitudes, but no longitude: if it is a mean over longitudes, name a scalar constant with "
      "the longitude in the attribute 'coordinates'");
}

/// PP headers have no words for other coordinates, nor for the figure of the Earth.
Result<> check_mapping(const Schema& schema, const Variable& field) {
  const Variable* const mapping = cf::mapping_of(schema, field);
  const std::string_view name =
      mapping == nullptr ? std::string_view() : cf::text_of(mapping->attributes, "grid_mapping_name");
  if (name.empty() || name == "latitude_longitude") return {};
  return refuse(field,
                "has the grid_mapping '{}' with grid_mapping_name '{}': PP headers know latitude_longitude "
                "and rotated_latitude_longitude; interpolate the field, or write it as netCDF",
                mapping->name, name);
}

Result<> check_earth(const Schema& schema, const Variable& field) {
  constexpr double radius_of_um = 6371229;
  AFTERBAY_TRY_ASSIGN(const std::optional<cf::Earth> earth, cf::earth_of(schema, field));
  if (!earth || (earth->is_sphere() && earth->semi_major == radius_of_um)) return {};
  return refuse(field,
                "has a grid_mapping with an Earth of {} m, but readers of PP headers take a sphere of {} m: "
                "remove the axes or the radius from the grid_mapping if this difference does not matter, or "
                "use GRIB2 or netCDF",
                earth->is_sphere() ? fmt::format("{}", earth->semi_major)
                                   : fmt::format("{} x {}", earth->semi_major, earth->semi_minor),
                radius_of_um);
}

}  // namespace

Result<PpGrid> grid_of(const Schema& schema, const Variable& field) {
  const std::size_t count = field.dimensions.size();
  const Variable* const last = cf::coordinate_of(schema, field.dimensions[count - 1]);
  if (cf::slab_dimensions(schema, field) == 1) {
    if (last != nullptr && cf::is_latitude(*last)) return zonal(schema, field, *last);
    return refuse(
        field,
        "lies on the dimension '{}', which is not a grid of latitudes and longitudes: PP headers have "
        "no other grids; interpolate the field, or write it as netCDF or GRIB2",
        field.dimensions[count - 1]);
  }
  const Variable* const y = cf::coordinate_of(schema, field.dimensions[count - 2]);
  if (y == nullptr || last == nullptr)
    return refuse(field,
                  "lies on a curvilinear grid of two dimensions, which PP headers cannot describe: "
                  "interpolate it to latitudes and longitudes, or write it as netCDF");
  PpGrid grid;
  AFTERBAY_TRY_ASSIGN(grid.latitudes, points_of(field, *y));
  AFTERBAY_TRY_ASSIGN(grid.longitudes, points_of(field, *last));
  grid.latitude_bounds = bounds_of(schema, *y);
  grid.longitude_bounds = bounds_of(schema, *last);
  // Units alone do not tell latitudes from those of a rotated grid.
  if (cf::is_rotated(schema, field, *y, *last)) {
    AFTERBAY_TRY(rotate(schema, field, *y, *last, grid));
    AFTERBAY_TRY(check_earth(schema, field));
    return grid;
  }
  if (cf::is_latitude(*y) && cf::is_longitude(*last)) {
    AFTERBAY_TRY(check_mapping(schema, field));
    AFTERBAY_TRY(check_earth(schema, field));
    return grid;
  }
  return refuse(field,
                "lies on the coordinates '{}' and '{}', which are neither latitudes and longitudes nor those "
                "of a rotated grid: interpolate it, or write it as netCDF",
                y->name, last->name);
}

unsigned slab_dimensions(const Schema& schema, const Variable& variable) {
  return cf::slab_dimensions(schema, variable);
}

}  // namespace afterbay::storage::um
