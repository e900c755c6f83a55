// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/cf.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {
namespace {

using packing::PpGrid;

/// The variable that the attribute `grid_mapping` names; null if there is none.
const Variable* mapping_of(const Schema& schema, const Variable& field) {
  const auto words = cf::words_of(cf::text_of(field.attributes, "grid_mapping"));
  if (words.empty()) return nullptr;
  std::string_view name = words.front();
  if (name.ends_with(':')) name.remove_suffix(1);
  return schema.find_variable(name);
}

bool is_named(const Variable& coordinate, std::string_view standard_name) {
  return cf::text_of(coordinate.attributes, "standard_name") == standard_name;
}

Result<std::vector<double>> points_of(const Variable& field, const Variable& axis) {
  if (axis.constant.empty())
    return refuse(field,
                  "has the coordinate '{}', whose values are not known when the file is defined: PP headers "
                  "contain the grid, so give them as constant values",
                  axis.name);
  return cf::numbers_of(axis.constant);
}

/// Source: CF, appendix F.
Result<> rotate(const Schema& schema, const Variable& field, PpGrid& grid) {
  const Variable* const mapping = mapping_of(schema, field);
  if (mapping == nullptr ||
      cf::text_of(mapping->attributes, "grid_mapping_name") != "rotated_latitude_longitude")
    return refuse(
        field,
        "lies on rotated latitudes and longitudes, but has no grid_mapping that says where the pole "
        "is: name a variable with grid_mapping_name rotated_latitude_longitude");
  const auto number = [&](const char* name, double otherwise) {
    const Attribute* const found = cf::find_attribute(mapping->attributes, name);
    const auto numbers = found == nullptr ? std::vector<double>() : cf::numbers_of(found->values);
    return numbers.size() == 1 ? numbers.front() : otherwise;
  };
  grid.pole_latitude = number("grid_north_pole_latitude", 90);
  grid.pole_longitude = number("grid_north_pole_longitude", 0);
  if (number("north_pole_grid_longitude", 0) == 0) return {};
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

}  // namespace

Result<PpGrid> grid_of(const Schema& schema, const Variable& field) {
  const std::size_t count = field.dimensions.size();
  const Variable* const last = cf::coordinate_of(schema, field.dimensions[count - 1]);
  if (cf::slab_dimensions(schema, field) == 1) {
    if (last != nullptr && cf::is_latitude(*last)) return zonal(schema, field, *last);
    return refuse(field,
                  "lies on the dimension '{}', which is no grid of latitudes and longitudes: PP headers have "
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
  if (cf::is_latitude(*y) && cf::is_longitude(*last)) return grid;
  if (is_named(*y, "grid_latitude") && is_named(*last, "grid_longitude")) {
    AFTERBAY_TRY(rotate(schema, field, grid));
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
