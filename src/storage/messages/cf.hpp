// SPDX-License-Identifier: Apache-2.0
// What the variables of a schema are by the CF conventions, for formats whose files are messages:
// fields, the time of records, coordinates. Pure functions; CF 1.11 is meant where nothing else is
// said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/calendar.hpp"
#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "time/rules.hpp"

namespace afterbay::storage::cf {

enum class Role : std::uint8_t {
  field,        ///< its values are written as messages, one per slab
  time,         ///< the time of each record
  time_bounds,  ///< two times per record
  coordinate    ///< any other variable that describes fields: it is read for headers, not written
};

/// The text of an attribute; empty if there is none, or if it is not text.
std::string_view text_of(const std::vector<Attribute>& attributes, std::string_view name);
const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name);
/// The words of a text, which blanks separate.
std::vector<std::string_view> words_of(std::string_view text);
/// Values of any number type as doubles; empty for text and strings.
std::vector<double> numbers_of(const Values& values);
/// The number of a scalar constant; nullopt if it is none, or not one.
std::optional<double> number_of(const Variable& scalar);

/// The name of the unlimited dimension; empty if there is none.
std::string_view record_dimension(const Schema& schema);
bool has_records(const Schema& schema, const Variable& variable);
Role role_of(const Schema& schema, const Variable& variable);
/// The variable with the role, or null.
const Variable* time_of(const Schema& schema);
const Variable* time_bounds_of(const Schema& schema);
/// The time of all fields: a scalar constant. Null if there is none.
const Variable* scalar_time_of(const Schema& schema);
/// The constant bounds of a scalar time, two values; null if there are none.
const Variable* scalar_bounds_of(const Schema& schema, const Variable& scalar_time);
/// A forecast_reference_time per record, or null.
const Variable* record_reference_of(const Schema& schema);
/// The variable with the name of a dimension and no other dimension, or null.
const Variable* coordinate_of(const Schema& schema, std::string_view dimension);
/// The constant bounds of a coordinate, two per value; empty if there are none.
std::vector<double> bounds_of(const Schema& schema, const Variable& coordinate);
/// "a: level_height b: sigma": the variables of the terms, null for those that the schema does not
/// have.
using Terms = std::map<std::string_view, const Variable*>;
Terms formula_terms_of(const Schema& schema, const Variable& coordinate);

/// What the numbers of a coordinate measure.
enum class Measure : std::uint8_t { ratio, pressure, length };
/// The factor from units, by names that UDUNITS knows, to 1, Pa or m; nullopt for other units.
std::optional<double> factor_of(Measure measure, std::string_view units);
/// Constant numbers of a term of a hybrid coordinate, in Pa or m, in which they are without units.
struct HybridTerm {
  std::vector<double> values;
  /// Two per value: the term's own, or the term of the coordinate's bounds (section 7.1). Empty if
  /// there are none.
  std::vector<double> bounds;
};
/// Fails with the field's name for units of another kind.
Result<HybridTerm> hybrid_term(const Schema& schema, const Variable& field, const Variable& coordinate,
                               std::string_view name, const Variable& term, Measure measure);

/// Variables that the attribute `coordinates` of a field names, as far as the schema has them.
std::vector<const Variable*> auxiliary_coordinates(const Schema& schema, const Variable& field);

bool is_latitude(const Variable& variable);
bool is_longitude(const Variable& variable);
/// A latitude, or another coordinate along y or x.
bool is_y_axis(const Variable& variable);
bool is_x_axis(const Variable& variable);
/// By its standard name, its units (of pressure), `axis` or `positive`.
bool is_vertical(const Variable& variable);

/// Scalar constants in `coordinates` of a field that each are a vertical coordinate. Numbers of
/// model levels, and coefficients of a hybrid coordinate, belong to others.
std::vector<const Variable*> scalar_verticals(const Schema& schema, const Variable& field);

/// The variable that the attribute `grid_mapping` names first; null if there is none.
const Variable* mapping_of(const Schema& schema, const Variable& field);
/// Whether the axes of a field are those of a rotated grid: by their standard names, or by the
/// grid_mapping.
bool is_rotated(const Schema& schema, const Variable& field, const Variable& y, const Variable& x);

/// The figure of the Earth, in metres; a sphere has equal axes.
struct Earth {
  double semi_major = 0;
  double semi_minor = 0;
  [[nodiscard]] bool is_sphere() const { return semi_major == semi_minor; }
};
/// What the grid_mapping says of it; nullopt if it does not. Fails with the field's name for
/// numbers that give no figure, and for another prime meridian than Greenwich.
Result<std::optional<Earth>> earth_of(const Schema& schema, const Variable& field);

/// The number of trailing dimensions that a slab of a field has: two if the last but one is a
/// latitude or another y axis, otherwise one. 0 if the variable is not a field, or has no
/// dimensions but the unlimited one.
unsigned slab_dimensions(const Schema& schema, const Variable& variable);

/// Numbers of a time axis as dates.
struct TimeAxis {
  dates::Rules rules;
  Date reference;
  std::int64_t unit_ns = 0;
  bool is_float32 = false;

  /// A number of the type of the time variable: a whole second, if it is within 1 ms of the number
  /// or within the precision of the type. Models add up time steps, which are not sums of binary
  /// fractions.
  [[nodiscard]] Result<Date> date(double number) const;
  /// Seconds from one date to another, rounded down.
  [[nodiscard]] std::int64_t seconds(const Date& from, const Date& to) const;
};
/// From the attributes `units` and `calendar` of a time variable. Fails with invalid_argument and
/// the variable's name.
Result<TimeAxis> time_axis_of(const Variable& time);

/// One method of the attribute `cell_methods`: "lat: lon: mean (interval: 1 degree)".
struct CellMethod {
  std::vector<std::string_view> names;
  std::string_view method;  ///< "mean", or "mean within years"
  std::string_view where;   ///< the type of area of "mean where land"; empty: all areas
};
std::vector<CellMethod> cell_methods_of(const Variable& field);
/// Whether the time dimension is among those of the method.
bool is_of_time(const Schema& schema, const CellMethod& method);
/// The methods for the time dimension in the attribute `cell_methods`, in the order of their
/// application: "mean", "point", "mean within years".
std::vector<std::string_view> time_methods_of(const Schema& schema, const Variable& field);
/// The first of them; empty if there is none.
std::string_view time_method_of(const Schema& schema, const Variable& field);

}  // namespace afterbay::storage::cf
