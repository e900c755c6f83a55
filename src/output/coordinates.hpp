// SPDX-License-Identifier: Apache-2.0
// Coordinates of the points of a field: which coordinate a name means, and its values at points of
// a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/decomposition.hpp"
#include "output/field_definitions.hpp"

namespace afterbay::output {

/// Longitudes go around; the values of both are compared in degrees.
enum class Quantity : std::uint8_t { other, longitude, latitude };

/// What gives the points of a field a coordinate.
struct FoundCoordinate {
  std::string name;                        ///< name of the coordinate or dimension
  const Coordinate* coordinate = nullptr;  ///< null: the values of a dimension
  Quantity quantity = Quantity::other;
  std::string units;
};

/// The coordinate of a field that a description means by `name`: its name; a standard name; for
/// "lon" and "lat" also units such as degrees_east. Coordinates of dimensions come before others,
/// and coordinates that the field's attribute `coordinates` names before the rest. nullopt: there
/// is none. Throws conflict if several coordinates could be meant.
std::optional<FoundCoordinate> find_coordinate(const FieldDefinitions& definitions, const Field& field,
                                               std::string_view name);
/// Whether boxes by it need points that several ranks hold together: it has several dimensions, or
/// each rank holds a part of it.
bool has_several_dimensions(const FoundCoordinate& coordinate);
/// False for definitions on file that do not have its values.
bool has_known_values(const FieldDefinitions& definitions, const FoundCoordinate& coordinate);
/// Names of all coordinates that a description can name, for messages.
std::vector<std::string> coordinate_names(const FieldDefinitions& definitions, const Field& field);

/// Numbers to degrees: of radians 180 / pi, otherwise 1.
double degrees_per_unit(std::string_view units);
/// Values are compared within the precision with which they are stored: longitudes and latitudes in
/// degrees, others relative to the values.
double tolerance_of(const FoundCoordinate& coordinate, Type type);
/// Whether the value lies from `low` to `high`, both included. `tolerance`: relative to the values.
bool is_between(double value, double low, double high, double tolerance);
/// Whether the value lies east of `low`, at most as far as `high` does; in degrees.
bool is_between_longitudes(double value, double low, double high, double tolerance);

/// A point of a grid on this rank.
struct GridPoint {
  std::uint32_t element = 0;  ///< element of the rank's array
  std::uint64_t index = 0;    ///< in the grid, row-major
};
/// The points of this rank, without holes of a map, in any order. `decomposition`: null: the rank
/// holds all points.
std::vector<GridPoint> points_of(const std::vector<std::uint64_t>& lengths,
                                 const client::Decomposition* decomposition);

/// Values of a coordinate at points of a grid, in degrees if it is a longitude or latitude.
class PointValues {
 public:
  /// `coordinate`: of the grid, or of some of its dimensions: see is_of_grid. Throws wrong_type if
  /// its values are not numbers.
  PointValues(const FieldDefinitions& definitions, const Grid& grid, const FoundCoordinate& coordinate);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Quantity quantity() const noexcept { return quantity_; }
  [[nodiscard]] double tolerance() const noexcept { return tolerance_; }
  /// NaN if the point has none: no finite number, or no latitude or longitude.
  [[nodiscard]] double at(const GridPoint& point) const;

 private:
  std::string name_;
  Quantity quantity_;
  double tolerance_;
  bool by_element_ = false;
  std::vector<double> values_;
  std::vector<std::uint64_t> lengths_;  ///< dimension lengths of the grid
  std::vector<std::uint64_t> strides_;  ///< in `values_`, per dimension of the grid
};

/// Whether each point of a grid has the coordinate: it is distributed as the grid, or has
/// dimensions of it only.
bool is_of_grid(const FoundCoordinate& coordinate, const Grid& grid);

}  // namespace afterbay::output
