// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/regular_axis.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

/// GRIB2 has angles in units of 10^-6 degrees; coordinates are often 32-bit numbers.
constexpr double angle_tolerance = 2e-5;

template <class... Args>
tl::unexpected<Error> refuse(const Variable& field, fmt::format_string<Args...> format, Args&&... args) {
  return fail(make_error(ErrorCode::invalid_argument, "{}", fmt::format(format, std::forward<Args>(args)...))
                  .in_variable(field.name));
}

/// Tolerance for coordinates of a regular grid, which can be 32-bit numbers.
double tolerance_of(const std::vector<double>& points) {
  return std::max(angle_tolerance, std::min(float32_tolerance(points), 0.05 * std::abs(mean_step(points))));
}

/// A regular axis as GRIB2 writes it. Points that are the 32-bit numbers nearest to whole multiples
/// of a distance of whole 10^-6 degrees have these multiples.
struct Axis {
  double first = 0;
  double last = 0;
  double step = 0;
};
Axis axis_of(const std::vector<double>& points) {
  constexpr double per_degree = 1e6;
  const auto whole = [](double degrees) { return std::round(degrees * per_degree) / per_degree; };
  const double first = whole(points.front());
  const double step = whole(mean_step(points));
  const auto meant = [&](std::size_t i) { return whole(first + static_cast<double>(i) * step); };
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i] != static_cast<double>(static_cast<float>(meant(i))))
      return {points.front(), points.back(), mean_step(points)};
  return {first, meant(points.size() - 1), step};
}

double east_of_greenwich(double longitude) {
  const double turned = std::fmod(longitude, 360.0);
  return turned < 0 ? turned + 360 : turned;
}

/// N if the values are the latitudes of a whole Gaussian grid, from north to south or back.
std::uint64_t gaussian_number(std::vector<double> latitudes) {
  if (latitudes.size() < 2 || latitudes.size() % 2 != 0) return 0;
  if (latitudes.front() < latitudes.back()) std::ranges::reverse(latitudes);
  const std::vector<double> wanted = gaussian_latitudes(latitudes.size() / 2);
  for (std::size_t j = 0; j < wanted.size(); ++j)
    if (std::abs(wanted[j] - latitudes[j]) > angle_tolerance) return 0;
  return latitudes.size() / 2;
}

/// Units alone do not tell latitudes from those of a rotated grid.
Result<> check_mapping(const Schema& schema, const Variable& field, const Variable& y, const Variable& x) {
  if (cf::is_rotated(schema, field, y, x))
    return refuse(
        field,
        "lies on the rotated latitudes and longitudes '{}' and '{}', of which no GRIB2 messages are "
        "written: interpolate it, or write it as PP or netCDF",
        y.name, x.name);
  const Variable* const mapping = cf::mapping_of(schema, field);
  const std::string_view name =
      mapping == nullptr ? std::string_view() : cf::text_of(mapping->attributes, "grid_mapping_name");
  if (!name.empty() && name != "latitude_longitude")
    return refuse(field,
                  "has the grid_mapping '{}' with grid_mapping_name '{}', but lies on '{}' and '{}': regular "
                  "and Gaussian grids have latitude_longitude",
                  mapping->name, name, y.name, x.name);
  if (cf::is_latitude(y) && cf::is_longitude(x)) return {};
  return refuse(field,
                "lies on the coordinates '{}' and '{}', which are not latitudes and longitudes: regular, "
                "Gaussian, reduced Gaussian and unstructured grids can be written",
                y.name, x.name);
}

Result<Grid> rectilinear(const Schema& schema, const Variable& field, const Variable& y, const Variable& x) {
  const std::vector<double> latitudes = cf::numbers_of(y.constant);
  const std::vector<double> longitudes = cf::numbers_of(x.constant);
  for (const auto* const axis : {&y, &x})
    if (axis->constant.empty())
      return refuse(field,
                    "has the coordinate '{}', whose values are not known when the file is defined: GRIB2 "
                    "messages contain the grid, so give them as constant values",
                    axis->name);
  AFTERBAY_TRY(check_mapping(schema, field, y, x));
  Grid grid;
  AFTERBAY_TRY_ASSIGN(grid.earth, cf::earth_of(schema, field));
  const Axis parallels = axis_of(latitudes);
  const Axis meridians = axis_of(longitudes);
  grid.points = latitudes.size() * longitudes.size();
  grid.ni = longitudes.size();
  grid.nj = latitudes.size();
  grid.first_latitude = latitudes.front();
  grid.last_latitude = latitudes.back();
  grid.first_longitude = east_of_greenwich(meridians.first);
  grid.last_longitude = east_of_greenwich(meridians.last);
  grid.di = meridians.step;
  grid.dj = std::abs(parallels.step);
  if (!is_regular(longitudes, tolerance_of(longitudes)) || grid.di < 0)
    return refuse(field,
                  "has longitudes '{}' without equal, ascending distances: write it as a field on an "
                  "unstructured grid, or use netCDF",
                  x.name);
  grid.gauss = gaussian_number(latitudes);
  if (grid.gauss != 0) {
    grid.kind = GridKind::regular_gg;
    return grid;
  }
  grid.kind = GridKind::regular_ll;
  grid.first_latitude = parallels.first;
  grid.last_latitude = parallels.last;
  if (is_regular(latitudes, tolerance_of(latitudes))) return grid;
  return refuse(field,
                "has latitudes '{}' that are neither of equal distances nor those of a whole Gaussian grid: "
                "write it as a field on an unstructured grid, or use netCDF",
                y.name);
}

/// The points per parallel if these are all points of a reduced Gaussian grid; otherwise empty.
std::vector<long> reduced_gaussian(const std::vector<double>& latitudes,
                                   const std::vector<double>& longitudes) {
  std::vector<long> pl;
  std::vector<double> parallels;
  for (std::size_t i = 0; i < latitudes.size(); ++i) {
    if (parallels.empty() || std::abs(latitudes[i] - parallels.back()) > angle_tolerance) {
      if (!parallels.empty() && latitudes[i] > parallels.back()) return {};  // not from north to south
      parallels.push_back(latitudes[i]);
      pl.push_back(0);
    }
    ++pl.back();
  }
  if (parallels.size() < 4 || gaussian_number(parallels) == 0) return {};
  std::size_t at = 0;
  for (const long count : pl)
    for (long i = 0; i < count; ++i, ++at)
      if (const double wanted = 360.0 * static_cast<double>(i) / static_cast<double>(count);
          std::abs(std::remainder(longitudes[at] - wanted, 360.0)) > angle_tolerance)
        return {};
  return pl;
}

/// The order of HEALPix by CF's indexing_scheme, or by healpix_order of other tools; nullopt: it is
/// not given.
std::optional<bool> is_nested(const Variable& mapping) {
  for (const char* name : {"indexing_scheme", "healpix_order"}) {
    const std::string_view order = cf::text_of(mapping.attributes, name);
    if (order == "nested" || order == "nest") return true;
    if (order == "ring") return false;
  }
  return std::nullopt;
}

/// Coordinates of points, which need not be in degrees.
std::vector<double> degrees_of(const Variable& coordinate) {
  std::vector<double> values = cf::numbers_of(coordinate.constant);
  if (cf::text_of(coordinate.attributes, "units").starts_with("rad"))
    for (double& value : values) value *= 180 / std::numbers::pi;
  return values;
}

/// Fails if a dimension is not a horizontal grid: a vertical axis, latitudes without longitudes, or
/// longitudes without latitudes.
Result<> check_cells(const Schema& schema, const Variable& field, const std::string& dimension) {
  const auto refuse_axis = [&](const Variable& coordinate, const char* what) {
    return refuse(
        field,
        "has only the dimension '{}' besides its records and levels, which is not a horizontal grid: "
        "'{}' is {}; a GRIB2 message holds a field on a grid, so use netCDF",
        dimension, coordinate.name, what);
  };
  const Variable* const own = cf::coordinate_of(schema, dimension);
  if (own != nullptr && cf::is_vertical(*own)) return refuse_axis(*own, "a vertical coordinate");
  if (own != nullptr && cf::is_y_axis(*own)) return refuse_axis(*own, "a latitude without longitudes");
  if (own != nullptr && cf::is_x_axis(*own)) return refuse_axis(*own, "a longitude without latitudes");
  const Variable* vertical = nullptr;
  for (const Variable* const auxiliary : cf::auxiliary_coordinates(schema, field)) {
    if (auxiliary->dimensions != std::vector{dimension}) continue;
    if (cf::is_latitude(*auxiliary) || cf::is_longitude(*auxiliary)) return {};
    if (cf::is_vertical(*auxiliary)) vertical = auxiliary;
  }
  return vertical == nullptr ? Result<>() : refuse_axis(*vertical, "a vertical coordinate");
}

/// A grid with one dimension; Source of the attributes of HEALPix: CF 1.13, appendix F.
Result<Grid> one_dimensional(const Schema& schema, const Variable& field, const Dimension& cells) {
  AFTERBAY_TRY(check_cells(schema, field, cells.name));
  const std::uint64_t points = cells.length;
  Grid grid;
  grid.points = points;
  AFTERBAY_TRY_ASSIGN(grid.earth, cf::earth_of(schema, field));
  if (const Variable* const mapping = cf::mapping_of(schema, field);
      mapping != nullptr && cf::text_of(mapping->attributes, "grid_mapping_name") == "healpix") {
    grid.kind = GridKind::healpix;
    grid.nside = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(points) / 12)));
    const std::optional<bool> nested = is_nested(*mapping);
    if (!nested)
      return refuse(
          field,
          "lies on a HEALPix grid whose grid_mapping '{}' has the indexing_scheme '{}': GRIB2 knows "
          "nested and ring",
          mapping->name, cf::text_of(mapping->attributes, "indexing_scheme"));
    grid.nested = *nested;
    if (12 * grid.nside * grid.nside == points) return grid;
    return refuse(
        field,
        "lies on a HEALPix grid and has {} points, which is not 12 nside^2: a GRIB2 message has all "
        "points of the sphere",
        points);
  }
  std::vector<double> latitudes;
  std::vector<double> longitudes;
  for (const Variable* const coordinate : cf::auxiliary_coordinates(schema, field)) {
    if (coordinate->constant.count() != points) continue;
    if (cf::is_latitude(*coordinate)) latitudes = degrees_of(*coordinate);
    if (cf::is_longitude(*coordinate)) longitudes = degrees_of(*coordinate);
  }
  if (latitudes.empty() || longitudes.empty()) return grid;
  grid.pl = reduced_gaussian(latitudes, longitudes);
  if (grid.pl.empty()) return grid;
  grid.kind = GridKind::reduced_gg;
  grid.nj = grid.pl.size();
  grid.gauss = grid.nj / 2;
  grid.first_latitude = latitudes.front();
  grid.last_latitude = latitudes.back();
  grid.last_longitude = 360.0 - 360.0 / static_cast<double>(*std::ranges::max_element(grid.pl));
  return grid;
}

}  // namespace

/// Roots of the Legendre polynomial of degree 2n, by Newton's method from Bruns' approximation.
std::vector<double> gaussian_latitudes(std::uint64_t n) {
  const auto degree = static_cast<double>(2 * n);
  std::vector<double> latitudes(2 * n);
  for (std::uint64_t j = 0; j < n; ++j) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(j) + 0.75) / (degree + 0.5));
    for (int step = 0; step < 20; ++step) {
      double before = 1;
      double value = x;
      for (std::uint64_t k = 2; k <= 2 * n; ++k) {
        const auto order = static_cast<double>(k);
        const double next = ((2 * order - 1) * x * value - (order - 1) * before) / order;
        before = value;
        value = next;
      }
      const double change = value * (1 - x * x) / (degree * (before - x * value));
      x -= change;
      if (std::abs(change) < 1e-14) break;
    }
    latitudes[j] = std::asin(x) * 180 / std::numbers::pi;
    latitudes[2 * n - 1 - j] = -latitudes[j];
  }
  return latitudes;
}

Result<Grid> grid_of(const Schema& schema, const Variable& field) {
  const unsigned dimensions = cf::slab_dimensions(schema, field);
  const std::size_t count = field.dimensions.size();
  if (dimensions == 1) {
    const Dimension* const cells = schema.find_dimension(field.dimensions[count - 1]);
    return one_dimensional(schema, field, *cells);
  }
  const Variable* const y = cf::coordinate_of(schema, field.dimensions[count - 2]);
  const Variable* const x = cf::coordinate_of(schema, field.dimensions[count - 1]);
  if (y != nullptr && x != nullptr) return rectilinear(schema, field, *y, *x);
  return refuse(field,
                "lies on a curvilinear grid of two dimensions, which GRIB2 messages cannot describe: let it "
                "have one dimension of all points (unstructured), or use netCDF");
}

unsigned slab_dimensions(const Schema& schema, const Variable& variable) {
  return cf::slab_dimensions(schema, variable);
}

}  // namespace afterbay::storage::grib2
