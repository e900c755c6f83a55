// SPDX-License-Identifier: Apache-2.0
#include "output/field_definitions.hpp"

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "base/utf8.hpp"
#include "output/file_schema.hpp"
#include "output/numbers.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

template <class Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.name);
  return names;
}

template <class Item>
const Item* find(const std::vector<Item>& items, std::string_view name) {
  const auto found = std::ranges::find(items, name, &Item::name);
  return found == items.end() ? nullptr : &*found;
}

template <class Item>
const Item& get(const std::vector<Item>& items, std::string_view name, std::string_view what) {
  if (const Item* const found = find(items, name)) return *found;
  refuse(ErrorCode::unknown_name, "there is no {} '{}'{}", what, name, did_you_mean(name, names_of(items)));
}

/// Files and the state of a run have text in UTF-8. `owner`: "field 'tas'"; `what`: "its units".
void check_utf8(const std::string& owner, std::string_view what, std::string_view text) {
  const std::size_t at = find_not_utf8(text);
  if (at == std::string_view::npos) return;
  refuse(
      ErrorCode::invalid_argument,
      "{}: {} must be UTF-8, but \"{}\" has the byte {:#04x} at {}: convert text in another encoding, such "
      "as Latin-1",
      owner, what, printable(text), static_cast<unsigned char>(text[at]), at);
}

/// `options`: of a field or a coordinate.
template <class Options>
void check_texts(std::string_view what, const std::string& name, const Options& options) {
  const std::string owner = fmt::format("{} '{}'", what, printable(name));
  check_utf8(owner, "its units", options.units);
  check_utf8(owner, "its standard_name", options.standard_name);
  check_utf8(owner, "its long_name", options.long_name);
  for (const Attribute& attribute : options.attributes) {
    check_utf8(owner, "the name of an attribute", attribute.name);
    const std::string its = fmt::format("its attribute {}", attribute.name);
    if (attribute.values.type == Type::text) check_utf8(owner, its, attribute.values.text());
    for (const std::string& text : attribute.values.strings) check_utf8(owner, its, text);
  }
}

bool is_number(Type type) { return type != Type::text && type != Type::string; }

void check_monotonic(const Dimension& dimension) {
  const std::vector<double> values = numbers_of(dimension.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      refuse(ErrorCode::invalid_argument,
             "dimension '{}': value {} of its coordinate is {}: it must be a finite number", dimension.name,
             i + 1, values[i]);
    if (i >= 2 && (values[i] > values[i - 1]) != (values[1] > values[0]))
      refuse(
          ErrorCode::invalid_argument,
          "dimension '{}': its coordinate must increase or decrease throughout, but value {} is {} after {}",
          dimension.name, i + 1, values[i], values[i - 1]);
    if (i >= 1 && values[i] == values[i - 1])
      refuse(ErrorCode::invalid_argument, "dimension '{}': values {} and {} of its coordinate are both {}",
             dimension.name, i, i + 1, values[i]);
  }
}

void check_bounds(const std::string& name, const Values& values, const Values& bounds, bool one_dimensional) {
  if (bounds.empty()) return;
  if (!one_dimensional)
    refuse(ErrorCode::invalid_argument,
           "coordinate '{}': bounds can be given for constant coordinates of one dimension", name);
  if (!is_number(bounds.type) || bounds.count() != 2 * values.count())
    refuse(ErrorCode::invalid_argument,
           "coordinate '{}': expected {} numbers as bounds, two per value, found {}", name,
           2 * values.count(), bounds.count());
}

}  // namespace

void FieldDefinitions::check_new(const std::string& name, std::string_view what) const {
  if (name.empty()) refuse(ErrorCode::invalid_argument, "a {} needs a name: it is empty", what);
  if (name.find('/') != std::string::npos || name.front() == ' ' || name.back() == ' ')
    refuse(ErrorCode::invalid_argument, "'{}' cannot be the name of a {} in a netCDF file", name, what);
  check_utf8(fmt::format("{} '{}'", what, printable(name)), "its name", name);
}

void FieldDefinitions::add(Dimension dimension) {
  check_new(dimension.name, "dimension");
  check_texts("dimension", dimension.name, dimension.options);
  if (find(dimensions_, dimension.name) != nullptr || find(coordinates_, dimension.name) != nullptr)
    refuse(ErrorCode::conflict, "dimension '{}' is defined already", dimension.name);
  // Files have dimensions of these names: of records, and of bounds.
  if (dimension.name == time_name || (dimension.name == bounds_dimension && dimension.length != 2))
    refuse(ErrorCode::conflict,
           "dimension '{}': files have a dimension of this name already{}; choose another name",
           dimension.name, dimension.name == time_name ? "" : ", with the length 2");
  if (dimension.length == 0)
    refuse(ErrorCode::invalid_argument, "dimension '{}' has no points: its length must be at least 1",
           dimension.name);
  if (!dimension.values.empty()) {
    if (!is_number(dimension.values.type))
      refuse(ErrorCode::wrong_type, "dimension '{}': its coordinate must be numbers, not {}", dimension.name,
             name_of(dimension.values.type));
    if (dimension.has_known_values) check_monotonic(dimension);
    check_bounds(dimension.name, dimension.values, dimension.options.bounds, true);
  }
  dimensions_.push_back(std::move(dimension));
}

void FieldDefinitions::add(Grid grid) {
  check_new(grid.name, "grid");
  if (find(grids_, grid.name) != nullptr)
    refuse(ErrorCode::conflict, "grid '{}' is defined already", grid.name);
  if (grid.dimensions.empty())
    refuse(ErrorCode::invalid_argument,
           "grid '{}' has no dimensions: a field with the same values on all ranks needs no grid", grid.name);
  for (const std::string& name : grid.dimensions) static_cast<void>(dimension(name));
  grids_.push_back(std::move(grid));
}

void FieldDefinitions::add(Coordinate coordinate) {
  check_new(coordinate.name, "coordinate");
  check_texts("coordinate", coordinate.name, coordinate.options);
  if (find(coordinates_, coordinate.name) != nullptr || find(dimensions_, coordinate.name) != nullptr)
    refuse(ErrorCode::conflict, "coordinate '{}' is defined already", coordinate.name);
  std::uint64_t points = 1;
  if (coordinate.grid.empty()) {
    if (!coordinate.options.vertices.empty())
      refuse(
          ErrorCode::invalid_argument,
          "coordinate '{}': vertices belong to coordinates of a grid; name '{}' among its dimensions instead",
          coordinate.name, coordinate.options.vertices);
    for (const std::string& name : coordinate.dimensions) points *= dimension(name).length;
    if (coordinate.values.type != Type::string && coordinate.values.count() != points)
      refuse(ErrorCode::invalid_argument,
             "coordinate '{}': expected {} values, as its dimensions have, found {}", coordinate.name, points,
             coordinate.values.count());
  } else {
    coordinate.dimensions = grid(coordinate.grid).dimensions;
    if (!coordinate.options.vertices.empty()) static_cast<void>(dimension(coordinate.options.vertices));
  }
  check_bounds(coordinate.name, coordinate.values, coordinate.options.bounds,
               coordinate.grid.empty() && coordinate.dimensions.size() == 1);
  coordinates_.push_back(std::move(coordinate));
}

void FieldDefinitions::add(Field field) {
  check_new(field.name, "field");
  check_texts("field", field.name, field.options);
  if (find_field(field.name) != nullptr)
    refuse(ErrorCode::conflict, "field '{}' is defined already", field.name);
  if (!is_number(field.options.type))
    refuse(ErrorCode::wrong_type, "field '{}': its type is {}; fields are numbers", field.name,
           name_of(field.options.type));
  if (!field.options.fill.empty()) {
    if (field.options.fill.count() != 1 || field.options.fill.type != field.options.type)
      refuse(ErrorCode::wrong_type, "field '{}': its fill value must be one {}, not {} of {}", field.name,
             name_of(field.options.type), field.options.fill.count(), name_of(field.options.fill.type));
  }
  if (std::ranges::find(field.options.attributes, "_FillValue", &Attribute::name) !=
      field.options.attributes.end())
    refuse(ErrorCode::invalid_argument,
           "field '{}' has the attribute _FillValue, by which statistics would not recognize missing values: "
           "give the value as the field's option `fill`, which also makes the attribute",
           field.name);
  if (!field.options.grid.empty()) {
    const std::string& mapping = grid(field.options.grid).mapping;
    std::vector<Attribute>& attributes = field.options.attributes;
    if (!mapping.empty() &&
        std::ranges::find(attributes, "grid_mapping", &Attribute::name) == attributes.end())
      attributes.push_back({"grid_mapping", mapping});
  }
  for (const std::string& axis : field.options.axes) static_cast<void>(dimension(axis));
  const std::vector<std::string> all = dimensions_of(field);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::ranges::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]) !=
        all.begin() + static_cast<std::ptrdiff_t>(i))
      refuse(ErrorCode::invalid_argument, "field '{}' has the dimension '{}' twice", field.name, all[i]);
  field_numbers_.emplace(field.name, fields_.size());
  fields_.push_back(std::move(field));
}

const Dimension& FieldDefinitions::dimension(std::string_view name) const {
  return get(dimensions_, name, "dimension");
}
const Grid& FieldDefinitions::grid(std::string_view name) const { return get(grids_, name, "grid"); }
const Field* FieldDefinitions::find_field(std::string_view name) const noexcept {
  const auto found = field_numbers_.find(name);
  return found == field_numbers_.end() ? nullptr : &fields_[found->second];
}
std::vector<std::string> FieldDefinitions::field_names() const { return names_of(fields_); }

std::vector<std::string> FieldDefinitions::dimensions_of(const Field& field) const {
  std::vector<std::string> all = field.options.axes;
  if (!field.options.grid.empty()) {
    const auto& of_grid = grid(field.options.grid).dimensions;
    all.insert(all.end(), of_grid.begin(), of_grid.end());
  }
  return all;
}

}  // namespace afterbay::output
