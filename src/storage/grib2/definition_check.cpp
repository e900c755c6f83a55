// SPDX-License-Identifier: Apache-2.0
// Checks a schema before the first file: everything that GRIB2 messages cannot hold is refused.
#include <algorithm>
#include <array>

#include "base/suggest.hpp"
#include "model/format_traits.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

/// Attributes of fields that become keys of messages, or only describe the field in words. What
/// others mean would be lost.
constexpr std::array known_attributes{
    "standard_name",      "long_name",     "units",         "cell_methods", "coordinates", "grid_mapping",
    "_FillValue",         "missing_value", "cell_measures", "comment",      "history",     "source",
    "references",         "institution",   "title",         "valid_min",    "valid_max",   "valid_range",
    "actual_range",       "axis",          "positive",      "mesh",         "location",    "online_operation",
    "interval_operation", "interval_write"};

class Check {
 public:
  Check(const Schema& schema, const MessageTraits::Add& add) : schema_(schema), add_(add) {}

  void run() {
#ifndef AFTERBAY_HAS_ECCODES
    add_(ErrorCode::invalid_argument, {},
         "this build of Afterbay has no ecCodes, which encodes GRIB2: install it (Debian's package "
         "libeccodes-dev) "
         "and build again, or use netCDF");
#endif
    times();
    for (const Variable& variable : schema_.variables) {
      switch (cf::role_of(schema_, variable)) {
        case cf::Role::field: field(variable); break;
        case cf::Role::coordinate: coordinate(variable); break;
        case cf::Role::time: break;
        case cf::Role::time_bounds: bounds(variable); break;
      }
    }
  }

 private:
  template <class... Args>
  void problem(const Variable& variable, ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    add_(code, variable.name,
         fmt::format("variable '{}' {}", variable.name, fmt::format(format, std::forward<Args>(args)...)));
  }

  template <class T>
  void take_error(const Variable& variable, const Result<T>& result) {
    if (!result) problem(variable, result.error().code, "{}", result.error().message);
  }

  void times() {
    const bool records = std::ranges::any_of(schema_.variables, [this](const Variable& it) {
      return cf::role_of(schema_, it) == cf::Role::field && cf::has_records(schema_, it);
    });
    const Variable* const time = cf::time_of(schema_);
    if (time == nullptr && records)
      add_(
          ErrorCode::invalid_argument, {},
          fmt::format(
              "the unlimited dimension '{}' has no time: each GRIB2 message contains the time of its record, "
              "so add a variable '{}' of this dimension with units such as \"hours since 2000-01-01\"",
              cf::record_dimension(schema_), cf::record_dimension(schema_)));
    if (time == nullptr) return;
    const auto axis = cf::time_axis_of(*time);
    if (!axis) {
      problem(*time, axis.error().code, "gives no time: {}", axis.error().message);
    } else if (const std::string& name = axis->rules.name;
               name != "standard" && name != "gregorian" && name != "proleptic_gregorian") {
      problem(*time, ErrorCode::invalid_argument,
              "has the calendar '{}': GRIB2 messages have dates of the Gregorian calendar; use netCDF", name);
    }
  }

  void bounds(const Variable& variable) {
    const Dimension* const last =
        variable.dimensions.empty() ? nullptr : schema_.find_dimension(variable.dimensions.back());
    if (variable.dimensions.size() != 2 || !cf::has_records(schema_, variable) || last == nullptr ||
        last->length != 2)
      problem(variable, ErrorCode::invalid_argument,
              "has the bounds of the time, but not two values per record: let it have the dimension '{}' and "
              "one of "
              "length 2",
              cf::record_dimension(schema_));
  }

  void coordinate(const Variable& variable) {
    if (cf::has_records(schema_, variable))
      problem(variable, ErrorCode::invalid_argument,
              "is a coordinate that changes from record to record, which GRIB2 messages cannot state: use "
              "netCDF");
  }

  void field(const Variable& variable) {
    if (slab_dimensions(schema_, variable) == 0)
      return problem(
          variable, ErrorCode::invalid_argument,
          "has no horizontal grid: a GRIB2 message holds a field on a grid; leave the variable out, or "
          "write it to a collection with a netCDF format");
    if (!variable.constant.empty())
      return problem(variable, ErrorCode::invalid_argument,
                     "has constant values, of which no GRIB2 message is made: put them");
    if (variable.type == Type::text || variable.type == Type::int64 || variable.type == Type::uint64)
      return problem(
          variable, ErrorCode::wrong_type,
          "is {}: GRIB2 messages hold numbers that a float64 can hold; use float64, float32, int32 or "
          "smaller",
          name_of(variable.type));
    attributes(variable);
    parameter(variable);
    take_error(variable, grid_of(schema_, variable));
    take_error(variable, levels_of(schema_, variable));
    take_error(variable, packing_of(schema_, variable));
    statistic(variable);
  }

  void attributes(const Variable& variable) {
    const std::vector<std::string> known(known_attributes.begin(), known_attributes.end());
    for (const Attribute& attribute : variable.attributes) {
      if (attribute.name.starts_with("GRIB_") || std::ranges::find(known, attribute.name) != known.end())
        continue;
      problem(variable, ErrorCode::invalid_argument,
              "has the attribute '{}', which no GRIB2 message can hold{}: remove it, or set a key of ecCodes "
              "by an "
              "attribute GRIB_KEY",
              attribute.name, did_you_mean(attribute.name, known));
    }
  }

  void parameter(const Variable& variable) {
    for (const Key& key : keys_of(variable.attributes))
      if (key.name == "paramId" || key.name == "shortName" || key.name == "parameterNumber") return;
    const std::string name(cf::text_of(variable.attributes, "standard_name"));
    const Parameter* const row = parameter_of(name);
    if (row == nullptr)
      return problem(variable, ErrorCode::unknown_name,
                     "has {}, for which no GRIB2 parameter is known{}: give the variable the attribute "
                     "GRIB_shortName or GRIB_paramId",
                     name.empty() ? std::string("no standard_name") : "the standard_name '" + name + "'",
                     name.empty() ? std::string() : did_you_mean(name, standard_names()));
    const std::string_view units = cf::text_of(variable.attributes, "units");
    if (!same_units(units, row->units))
      problem(variable, ErrorCode::invalid_argument,
              "has units '{}', but {} is in '{}' in GRIB2: convert it (settings add and multiply)", units,
              name, row->units);
  }

  void statistic(const Variable& variable) {
    const auto statistic = statistic_of(schema_, variable);
    take_error(variable, statistic);
    if (!statistic || !*statistic) return;
    if (!cf::has_records(schema_, variable) || cf::time_bounds_of(schema_) == nullptr)
      problem(variable, ErrorCode::invalid_argument,
              "is a statistic over time by its cell_methods, but the time has no bounds: give the time "
              "variable the "
              "attribute bounds and put that variable in every record");
  }

  const Schema& schema_;
  const MessageTraits::Add& add_;
};

void check(const Schema& schema, const MessageTraits::Add& add) { Check(schema, add).run(); }

}  // namespace

extern constinit const MessageTraits message_traits{.slab_dimensions = slab_dimensions, .check = check};

}  // namespace afterbay::storage::grib2
