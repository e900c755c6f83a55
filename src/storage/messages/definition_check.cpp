// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/definition_check.hpp"

#include <algorithm>

#include "base/suggest.hpp"

namespace afterbay::storage {
namespace {

/// Source: UDUNITS' names of the degree.
bool is_in_degrees(const Variable& coordinate) {
  const std::string_view units = cf::text_of(coordinate.attributes, "units");
  return units.empty() || units.starts_with("deg") || units == "arc_degree" || units == "°";
}

bool is_angle(const Variable& coordinate) {
  const std::string_view name = cf::text_of(coordinate.attributes, "standard_name");
  return cf::is_latitude(coordinate) || cf::is_longitude(coordinate) || name == "grid_latitude" ||
         name == "grid_longitude";
}

/// Whether headers of some format contain the number of a coordinate. Forecast reference times are
/// checked as times.
bool has_number_in_header(const Variable& coordinate) {
  const std::string_view name = cf::text_of(coordinate.attributes, "standard_name");
  return name == "time" || name == "realization" || cf::is_vertical(coordinate) || is_angle(coordinate);
}

}  // namespace

void DefinitionCheck::run() {
  times();
  for (const Variable& variable : schema_.variables) {
    switch (cf::role_of(schema_, variable)) {
      case cf::Role::field: field(variable); break;
      case cf::Role::coordinate: coordinate(variable); break;
      case cf::Role::time: break;
      case cf::Role::time_bounds: bounds(variable); break;
    }
  }
  file();
}

void DefinitionCheck::times() {
  const bool records = std::ranges::any_of(schema_.variables, [this](const Variable& it) {
    return cf::role_of(schema_, it) == cf::Role::field && cf::has_records(schema_, it);
  });
  const Variable* const time = cf::time_of(schema_);
  if (time == nullptr && records)
    add(ErrorCode::invalid_argument, {},
        fmt::format(
            "the unlimited dimension '{}' has no time: each {} contains the time of its record, so add "
            "a variable '{}' of this dimension with units such as \"hours since 2000-01-01\"",
            cf::record_dimension(schema_), names_.header, cf::record_dimension(schema_)));
  if (time != nullptr) axis(*time);
  other_times(records);
}

void DefinitionCheck::other_times(bool records) {
  for (const Variable& variable : schema_.variables)
    if (cf::text_of(variable.attributes, "standard_name") == "forecast_reference_time") axis(variable);
  if (cf::time_of(schema_) != nullptr) return;
  if (const Variable* const scalar = cf::scalar_time_of(schema_)) return axis(*scalar);
  for (const Variable& variable : schema_.variables)
    if (!records && cf::role_of(schema_, variable) == cf::Role::field)
      return problem(variable, ErrorCode::invalid_argument,
                     "has no time, which each {} contains: add a scalar constant with standard name time",
                     names_.header);
}

/// All times have one calendar.
void DefinitionCheck::axis(const Variable& time) {
  if (time.type == Type::text || time.type == Type::string)
    return problem(time, ErrorCode::wrong_type,
                   "is a time and {}, but {}s are made of numbers in its units: give it a numeric type",
                   name_of(time.type), names_.header);
  const auto read = cf::time_axis_of(time);
  if (!read) return problem(time, read.error().code, "gives no time: {}", read.error().message);
  const Variable* leading = cf::time_of(schema_);
  if (leading == nullptr) leading = cf::scalar_time_of(schema_);
  const auto of_records = leading == nullptr ? read : cf::time_axis_of(*leading);
  // They are the same from 1582 on.
  const auto is_gregorian = [](const cf::TimeAxis& axis) {
    return axis.rules.name == "standard" || axis.rules.name == "gregorian" ||
           axis.rules.name == "proleptic_gregorian";
  };
  if (of_records && of_records->rules.name != read->rules.name &&
      !(is_gregorian(*of_records) && is_gregorian(*read)))
    return problem(time, ErrorCode::invalid_argument,
                   "has the calendar '{}', but the time has '{}': a {} has one calendar", read->rules.name,
                   of_records->rules.name, names_.header);
  calendar(time, *read);
}

void DefinitionCheck::bounds(const Variable& variable) {
  const Dimension* const last =
      variable.dimensions.empty() ? nullptr : schema_.find_dimension(variable.dimensions.back());
  if (variable.dimensions.size() != 2 || !cf::has_records(schema_, variable) || last == nullptr ||
      last->length != 2)
    problem(
        variable, ErrorCode::invalid_argument,
        "has the bounds of the time, but not two values per record: let it have the dimension '{}' and one "
        "of length 2",
        cf::record_dimension(schema_));
}

void DefinitionCheck::coordinate(const Variable& variable) {
  if (cf::has_records(schema_, variable) && !can_change(variable))
    problem(variable, ErrorCode::invalid_argument,
            "is a coordinate that changes from record to record, which {}s cannot state: use netCDF",
            names_.header);
  written(variable);
}

/// Coordinates, cell areas and terms without records that ranks put on a grid are left out.
/// Attributes for headers say that this one is meant to be written.
void DefinitionCheck::written(const Variable& variable) {
  const std::vector<std::string> common = common_attributes();
  const auto own = std::ranges::find_if(variable.attributes, [&](const Attribute& it) {
    return is_known(it.name) && std::ranges::find(common, it.name) == common.end();
  });
  if (own == variable.attributes.end() || !variable.constant.empty() || !lies_on_grid(variable)) return;
  for (const Variable& other : schema_.variables)
    for (const char* attribute : {"coordinates", "cell_measures", "formula_terms"}) {
      const std::vector<std::string_view> named = cf::words_of(cf::text_of(other.attributes, attribute));
      if (std::ranges::find(named, variable.name) == named.end()) continue;
      return problem(
          variable, ErrorCode::invalid_argument,
          "has the attribute '{}', but '{}' names it in '{}', so that it would be in no {}: remove "
          "it from there to write it as a field, or remove '{}'",
          own->name, other.name, attribute, names_.message, own->name);
    }
}

/// Whether a field lies on the same grid.
bool DefinitionCheck::lies_on_grid(const Variable& variable) const {
  return std::ranges::any_of(schema_.variables, [&](const Variable& field) {
    const auto grid = static_cast<std::ptrdiff_t>(cf::slab_dimensions(schema_, field));
    return grid > 0 && std::ssize(variable.dimensions) >= grid &&
           std::equal(field.dimensions.end() - grid, field.dimensions.end(),
                      variable.dimensions.end() - grid);
  });
}

void DefinitionCheck::field(const Variable& variable) {
  if (cf::slab_dimensions(schema_, variable) == 0)
    return problem(
        variable, ErrorCode::invalid_argument,
        "has no horizontal grid: a {} holds a field on a grid; leave the variable out, or write it to "
        "a collection with a netCDF format",
        names_.message);
  if (const std::string refused = refused_type(variable.type); !refused.empty())
    return problem(variable, ErrorCode::wrong_type, "is {}: {}", name_of(variable.type), refused);
  check_attributes(variable);
  degrees(variable);
  coordinates(variable);
  describe(variable);
}

/// Coordinates of which headers are made: of the dimensions of a slab, and scalar ones.
void DefinitionCheck::degrees(const Variable& variable) {
  std::vector<const Variable*> coordinates;
  const std::size_t count = variable.dimensions.size();
  for (std::size_t d = count - cf::slab_dimensions(schema_, variable); d < count; ++d)
    if (const Variable* const own = cf::coordinate_of(schema_, variable.dimensions[d]))
      coordinates.push_back(own);
  for (const Variable* const auxiliary : cf::auxiliary_coordinates(schema_, variable))
    if (auxiliary->dimensions.empty()) coordinates.push_back(auxiliary);
  for (const Variable* const coordinate : coordinates)
    if (is_angle(*coordinate) && !is_in_degrees(*coordinate))
      problem(variable, ErrorCode::invalid_argument,
              "has the coordinate '{}' in '{}': {}s have degrees, so convert it", coordinate->name,
              cf::text_of(coordinate->attributes, "units"), names_.header);
}

/// Headers are made of scalar coordinates, and of those along levels or members, before values are
/// put.
void DefinitionCheck::coordinates(const Variable& variable) {
  const auto of_slab = variable.dimensions.end() - cf::slab_dimensions(schema_, variable);
  for (const Variable* const coordinate : cf::auxiliary_coordinates(schema_, variable)) {
    const bool in_slab = std::any_of(of_slab, variable.dimensions.end(), [&](const std::string& it) {
      return std::ranges::find(coordinate->dimensions, it) != coordinate->dimensions.end();
    });
    if (in_slab || cf::has_records(schema_, *coordinate)) continue;
    const bool text = coordinate->type == Type::text || coordinate->type == Type::string;
    if (text && has_number_in_header(*coordinate))
      problem(variable, ErrorCode::wrong_type,
              "has the coordinate '{}', which is {}, but {}s contain its number: give it a numeric type",
              coordinate->name, name_of(coordinate->type), names_.header);
    else if (coordinate->constant.empty() && !can_change(*coordinate))
      problem(variable, ErrorCode::invalid_argument,
              "has the coordinate '{}', whose value is not known when the file is defined: {}s contain it or "
              "cannot state it; give it as a constant value, or remove it from the attribute 'coordinates'",
              coordinate->name, names_.header);
  }
}

void DefinitionCheck::check_attributes(const Variable& variable) {
  const std::vector<std::string> known = attributes();
  for (const Attribute& attribute : variable.attributes)
    // _Quantize...: what netCDF-C says of rounded values.
    if (!is_known(attribute.name) && !attribute.name.starts_with("_Quantize") &&
        std::ranges::find(known, attribute.name) == known.end())
      problem(variable, ErrorCode::invalid_argument, "has the attribute '{}', which no {} can hold{}: {}",
              attribute.name, names_.header, did_you_mean(attribute.name, known), advice());
}

std::vector<std::string> common_attributes() {
  return {"standard_name",
          "long_name",
          "units",
          "cell_methods",
          "coordinates",
          "grid_mapping",
          "_FillValue",
          "missing_value",
          "cell_measures",
          "comment",
          "history",
          "source",
          "references",
          "institution",
          "title",
          "valid_min",
          "valid_max",
          "valid_range",
          "actual_range",
          "axis",
          "positive",
          "online_operation",
          "interval_operation",
          "interval_write",
          "largest_error",
          "quantization",
          "quantization_nsb",
          "quantization_nsd"};
}

}  // namespace afterbay::storage
