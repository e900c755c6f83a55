// SPDX-License-Identifier: Apache-2.0
#include "output/coordinates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/caller_terms.hpp"
#include "base/is_one_of.hpp"
#include "output/numbers.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

constexpr double half_turn = 180;
constexpr double turn = 360;
constexpr double quarter_turn = 90;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// CF Conventions 1.11, sections 4.1 and 4.2.
constexpr std::array<std::string_view, 6> units_east{"degrees_east", "degree_east", "degree_E",
                                                     "degrees_E",    "degreeE",     "degreesE"};
constexpr std::array<std::string_view, 6> units_north{"degrees_north", "degree_north", "degree_N",
                                                      "degrees_N",     "degreeN",      "degreesN"};

bool means_longitude(std::string_view name) { return name == "lon" || name == "longitude"; }
bool means_latitude(std::string_view name) { return name == "lat" || name == "latitude"; }

Quantity quantity_of(std::string_view name, const CoordinateOptions& options) {
  if (options.standard_name == "longitude" || means_longitude(name)) return Quantity::longitude;
  if (options.standard_name == "latitude" || means_latitude(name)) return Quantity::latitude;
  if (!options.standard_name.empty()) return Quantity::other;
  if (is_one_of(options.units, units_east)) return Quantity::longitude;
  return is_one_of(options.units, units_north) ? Quantity::latitude : Quantity::other;
}

std::string_view standard_name_of(std::string_view name) {
  if (name == "lon") return "longitude";
  return name == "lat" ? "latitude" : name;
}

bool has_units_of(std::string_view name, const std::string& units) {
  return (means_longitude(name) && is_one_of(units, units_east)) ||
         (means_latitude(name) && is_one_of(units, units_north));
}

/// Whether the field has the coordinate at each point.
bool belongs_to(const Coordinate& coordinate, const Field& field,
                const std::vector<std::string>& dimensions) {
  if (!coordinate.options.vertices.empty()) return false;
  if (!coordinate.grid.empty()) return coordinate.grid == field.options.grid;
  return !coordinate.dimensions.empty() && std::ranges::all_of(coordinate.dimensions, [&](const auto& name) {
    return is_one_of(name, dimensions);
  });
}

bool is_named(const Field& field, const std::string& coordinate) {
  for (const Attribute& attribute : field.options.attributes) {
    if (attribute.name != "coordinates" || attribute.values.type != Type::text) continue;
    const std::string words = " " + std::string(attribute.values.text()) + " ";
    if (words.find(" " + coordinate + " ") != std::string::npos) return true;
  }
  return false;
}

class Finder {
 public:
  Finder(const FieldDefinitions& definitions, const Field& field, std::string_view name)
      : definitions_(definitions),
        field_(field),
        name_(name),
        dimensions_(definitions.dimensions_of(field)) {}

  [[nodiscard]] std::optional<FoundCoordinate> run() const {
    if (auto found = by([&](const std::string& name, const auto&) { return name == name_; })) return found;
    if (auto found = by([&](const auto&, const CoordinateOptions& options) {
          return options.standard_name == standard_name_of(name_);
        }))
      return found;
    return by([&](const auto&, const CoordinateOptions& options) {
      return options.standard_name.empty() && has_units_of(name_, options.units);
    });
  }

 private:
  template <class Is>
  [[nodiscard]] std::optional<FoundCoordinate> by(Is is) const {
    for (const std::string& name : dimensions_) {
      const Dimension& dimension = definitions_.dimension(name);
      if (!dimension.values.empty() && is(dimension.name, dimension.options))
        return found(dimension.name, nullptr, dimension.options);
    }
    std::vector<const Coordinate*> candidates;
    for (const Coordinate& coordinate : definitions_.coordinates())
      if (belongs_to(coordinate, field_, dimensions_) && is(coordinate.name, coordinate.options))
        candidates.push_back(&coordinate);
    if (candidates.size() > 1 &&
        std::ranges::any_of(candidates, [&](const Coordinate* it) { return is_named(field_, it->name); }))
      std::erase_if(candidates, [&](const Coordinate* it) { return !is_named(field_, it->name); });
    if (candidates.empty()) return std::nullopt;
    if (candidates.size() > 1)
      refuse(
          ErrorCode::conflict,
          "field '{}' has several coordinates that '{}' could mean, '{}' and '{}': write the name of one, or "
          "name one in the field's attribute \"coordinates\"",
          field_.name, name_, candidates[0]->name, candidates[1]->name);
    return found(candidates[0]->name, candidates[0], candidates[0]->options);
  }

  [[nodiscard]] FoundCoordinate found(const std::string& name, const Coordinate* coordinate,
                                      const CoordinateOptions& options) const {
    Quantity quantity = quantity_of(name, options);
    if (means_longitude(name_)) quantity = Quantity::longitude;
    if (means_latitude(name_)) quantity = Quantity::latitude;
    return {name, coordinate, quantity, options.units};
  }

  const FieldDefinitions& definitions_;
  const Field& field_;
  std::string_view name_;
  std::vector<std::string> dimensions_;
};

void append_block(std::vector<GridPoint>& points, const std::vector<std::uint64_t>& lengths,
                  const Block& block) {
  std::vector<std::uint64_t> at = block.start;
  std::uint64_t count = 1;
  for (const std::uint64_t length : block.count) count *= length;
  points.reserve(count);
  for (std::uint64_t element = 0; element < count; ++element) {
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < lengths.size(); ++d) index = index * lengths[d] + at[d];
    points.push_back({static_cast<std::uint32_t>(element), index});
    for (std::size_t d = lengths.size(); d-- > 0;) {
      if (++at[d] < block.start[d] + block.count[d]) break;
      at[d] = block.start[d];
    }
  }
}

}  // namespace

std::optional<FoundCoordinate> find_coordinate(const FieldDefinitions& definitions, const Field& field,
                                               std::string_view name) {
  return Finder(definitions, field, name).run();
}

bool has_several_dimensions(const FoundCoordinate& coordinate) {
  const Coordinate* const of = coordinate.coordinate;
  return of != nullptr && (!of->grid.empty() || of->dimensions.size() > 1);
}

bool has_known_values(const FieldDefinitions& definitions, const FoundCoordinate& coordinate) {
  return coordinate.coordinate == nullptr ? definitions.dimension(coordinate.name).has_known_values
                                          : coordinate.coordinate->has_known_values;
}

std::vector<std::string> coordinate_names(const FieldDefinitions& definitions, const Field& field) {
  std::vector<std::string> names;
  const std::vector<std::string> dimensions = definitions.dimensions_of(field);
  for (const std::string& name : dimensions)
    if (!definitions.dimension(name).values.empty()) names.push_back(name);
  for (const Coordinate& coordinate : definitions.coordinates())
    if (belongs_to(coordinate, field, dimensions)) names.push_back(coordinate.name);
  return names;
}

double degrees_per_unit(std::string_view units) {
  return units == "rad" || units == "radian" || units == "radians" ? half_turn / std::numbers::pi : 1;
}

double tolerance_of(const FoundCoordinate& coordinate, Type type) {
  constexpr double of_float32 = std::numeric_limits<float>::epsilon();
  if (coordinate.quantity != Quantity::other) return type == Type::float32 ? turn * of_float32 / 2 : 1e-9;
  // Values that were float32 before the model handed them over are as imprecise.
  return type == Type::float32 || type == Type::float64 ? of_float32 : 0;
}

bool is_between(double value, double low, double high, double tolerance) {
  const auto margin = [&](double bound) { return tolerance * std::max(std::abs(value), std::abs(bound)); };
  return value >= low - margin(low) && value <= high + margin(high);
}

bool is_between_longitudes(double value, double low, double high, double tolerance) {
  const double width = high - low;
  const double span = width >= turn ? turn : width - turn * std::floor(width / turn);
  const double from = value - (low - tolerance);
  return from - turn * std::floor(from / turn) <= span + 2 * tolerance;
}

std::vector<GridPoint> points_of(const std::vector<std::uint64_t>& lengths,
                                 const client::Decomposition* decomposition) {
  std::vector<GridPoint> points;
  if (decomposition == nullptr) {
    append_block(points, lengths, Block(lengths, std::vector<std::uint64_t>(lengths.size(), 0), lengths));
  } else if (decomposition->map) {
    const model::PointRuns& runs = decomposition->map->described();
    points.reserve(runs.points());
    runs.for_each([&](const model::PointRun& run) {
      for (std::uint32_t i = 0; i < run.length; ++i) points.push_back({run.element + i, run.offset + i});
    });
  } else {
    append_block(points, lengths, decomposition->block);
  }
  return points;
}

PointValues::PointValues(const FieldDefinitions& definitions, const Grid& grid,
                         const FoundCoordinate& coordinate)
    : name_(coordinate.name), quantity_(coordinate.quantity) {
  const Values& given = coordinate.coordinate == nullptr ? definitions.dimension(coordinate.name).values
                                                         : coordinate.coordinate->values;
  if (given.type == Type::text || given.type == Type::string)
    refuse(ErrorCode::wrong_type, "coordinate '{}' holds {}; points are found by numbers", name_,
           afterbay::name_of(given.type));
  tolerance_ = tolerance_of(coordinate, given.type);
  values_ = numbers_of(given);
  const double scale = quantity_ == Quantity::other ? 1 : degrees_per_unit(coordinate.units);
  if (scale != 1)
    for (double& value : values_) value *= scale;
  by_element_ = coordinate.coordinate != nullptr && !coordinate.coordinate->grid.empty();
  if (by_element_) return;
  for (const std::string& name : grid.dimensions) lengths_.push_back(definitions.dimension(name).length);
  strides_.assign(grid.dimensions.size(), 0);
  const std::vector<std::string> own =
      coordinate.coordinate == nullptr ? std::vector{coordinate.name} : coordinate.coordinate->dimensions;
  std::uint64_t stride = 1;
  for (std::size_t i = own.size(); i-- > 0;) {
    const auto d = std::ranges::find(grid.dimensions, own[i]) - grid.dimensions.begin();
    strides_.at(static_cast<std::size_t>(d)) = stride;
    stride *= definitions.dimension(own[i]).length;
  }
}

double PointValues::at(const GridPoint& point) const {
  double value = no_value;
  if (by_element_) {
    value = values_[point.element];
  } else {
    std::uint64_t rest = point.index;
    std::uint64_t place = 0;
    for (std::size_t d = lengths_.size(); d-- > 0;) {
      place += rest % lengths_[d] * strides_[d];
      rest /= lengths_[d];
    }
    value = values_[place];
  }
  if (!std::isfinite(value)) return no_value;
  // Fill values are no coordinates.
  if (quantity_ == Quantity::latitude && std::abs(value) > quarter_turn + tolerance_) return no_value;
  if (quantity_ == Quantity::longitude && std::abs(value) > 2 * turn) return no_value;
  return value;
}

bool is_of_grid(const FoundCoordinate& coordinate, const Grid& grid) {
  if (coordinate.coordinate == nullptr) return is_one_of(coordinate.name, grid.dimensions);
  if (!coordinate.coordinate->grid.empty()) return coordinate.coordinate->grid == grid.name;
  return std::ranges::all_of(coordinate.coordinate->dimensions,
                             [&](const std::string& name) { return is_one_of(name, grid.dimensions); });
}

}  // namespace afterbay::output
