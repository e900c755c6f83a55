// SPDX-License-Identifier: Apache-2.0
// Checks a schema before the first file: everything that PP files cannot hold is refused.
#include <algorithm>

#include "base/suggest.hpp"
#include "model/format_traits.hpp"
#include "storage/messages/cf.hpp"
#include "storage/pp/definition.hpp"

namespace afterbay::storage::pp {
namespace {

class Check {
 public:
  Check(const Schema& schema, const MessageTraits::Add& add) : schema_(schema), add_(add) {}

  void run() {
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

  void times() {
    const Variable* time = cf::time_of(schema_);
    const bool records = std::ranges::any_of(schema_.variables, [this](const Variable& it) {
      return cf::role_of(schema_, it) == cf::Role::field && cf::has_records(schema_, it);
    });
    if (time == nullptr && records)
      add_(ErrorCode::invalid_argument, {},
           fmt::format("the unlimited dimension '{}' has no time: each PP header contains the time of its "
                       "record, so add a variable '{}' of this dimension with units such as \"hours since "
                       "2000-01-01\"",
                       cf::record_dimension(schema_), cf::record_dimension(schema_)));
    for (const Variable& variable : schema_.variables)
      if (cf::text_of(variable.attributes, "standard_name") == "forecast_reference_time") axis(variable);
    if (time == nullptr) time = cf::scalar_time_of(schema_);
    if (time != nullptr) return axis(*time);
    for (const Variable& variable : schema_.variables)
      if (!records && cf::role_of(schema_, variable) == cf::Role::field)
        return problem(variable, ErrorCode::invalid_argument,
                       "has no time, which each PP header contains: add a scalar constant with standard name "
                       "time");
  }

  /// All times have one calendar, which is that of the header.
  void axis(const Variable& time) {
    const auto read = cf::time_axis_of(time);
    if (!read) return problem(time, read.error().code, "gives no time: {}", read.error().message);
    const std::string& name = read->rules.name;
    if (name != "standard" && name != "proleptic_gregorian" && name != "360_day" && name != "noleap")
      return problem(time, ErrorCode::invalid_argument,
                     "has the calendar '{}', which has no code in PP headers (LBTIM, word 13): use standard, "
                     "proleptic_gregorian, 360_day or noleap, or netCDF",
                     name);
    const auto calendar = calendar_of(schema_);
    if (calendar && *calendar && (*calendar)->name() != name)
      problem(time, ErrorCode::invalid_argument,
              "has the calendar '{}', but the time has '{}': a PP header has one calendar", name,
              (*calendar)->name());
    whole_seconds(time, *read);
  }

  /// Times of records are known, and refused, when they are put.
  void whole_seconds(const Variable& time, const cf::TimeAxis& axis) {
    if (!time.dimensions.empty() || time.constant.count() != 1) return;
    const double number = cf::numbers_of(time.constant).front();
    const auto date = axis.date(number);
    if (date && date->nanosecond != 0)
      problem(time, ErrorCode::invalid_argument,
              "has the value {}, which is {}, but PP headers hold whole seconds: round it", number,
              Calendar(axis.rules.name).text(*date));
  }

  void bounds(const Variable& variable) {
    const Dimension* const last =
        variable.dimensions.empty() ? nullptr : schema_.find_dimension(variable.dimensions.back());
    if (variable.dimensions.size() != 2 || !cf::has_records(schema_, variable) || last == nullptr ||
        last->length != 2)
      problem(variable, ErrorCode::invalid_argument,
              "has the bounds of the time, but not two values per record: let it have the dimension '{}' and "
              "one of length 2",
              cf::record_dimension(schema_));
  }

  void coordinate(const Variable& variable) {
    if (!cf::has_records(schema_, variable) || &variable == cf::record_reference_of(schema_)) return;
    // Forecast periods are differences of two times, which headers contain.
    const auto reference = reference_of(schema_);
    const bool has_reference = cf::record_reference_of(schema_) != nullptr || (reference && *reference);
    if (!is_forecast_period(variable) || !has_reference)
      problem(
          variable, ErrorCode::invalid_argument,
          "is a coordinate that changes from record to record, which PP headers cannot state: use netCDF");
  }

  bool is_forecast_period(const Variable& variable) const {
    const auto is_one = [](const Variable& it) {
      return cf::text_of(it.attributes, "standard_name") == "forecast_period";
    };
    return is_one(variable) || std::ranges::any_of(schema_.variables, [&](const Variable& it) {
             return is_one(it) && cf::text_of(it.attributes, "bounds") == variable.name;
           });
  }

  void field(const Variable& variable) {
    if (slab_dimensions(schema_, variable) == 0)
      return problem(
          variable, ErrorCode::invalid_argument,
          "has no horizontal grid: a PP record holds a field on a grid; leave the variable out, or "
          "write it to a collection with a netCDF format");
    if (variable.type == Type::text || variable.type == Type::int64 || variable.type == Type::uint64 ||
        variable.type == Type::uint32)
      return problem(
          variable, ErrorCode::wrong_type,
          "is {}: PP records hold 32-bit reals and integers; use float32, float64, int32 or smaller",
          name_of(variable.type));
    attributes(variable);
    missing_values(variable);
    headers(variable);
  }

  void attributes(const Variable& variable) {
    for (const Attribute& attribute : variable.attributes)
      if (!is_known_attribute(attribute.name))
        problem(variable, ErrorCode::invalid_argument,
                "has the attribute '{}', which no PP header can hold{}: remove it", attribute.name,
                did_you_mean(attribute.name, known_attributes()));
  }

  /// A header has one missing value, which the fill value becomes.
  void missing_values(const Variable& variable) {
    const Attribute* const missing = cf::find_attribute(variable.attributes, "missing_value");
    if (missing == nullptr) return;
    const std::vector<double> values = cf::numbers_of(missing->values);
    const Attribute* const given = cf::find_attribute(variable.attributes, "_FillValue");
    const std::vector<double> fill = cf::numbers_of(!variable.fill.empty() ? variable.fill
                                                    : given != nullptr     ? given->values
                                                                           : Values());
    const auto same = [&](double a, double b) {
      const bool single = variable.type == Type::float32 && static_cast<float>(a) == static_cast<float>(b);
      return a == b || single || (a != a && b != b);
    };
    if (values.size() == 1 && fill.size() == 1 && same(values[0], fill[0])) return;
    const std::string others = fmt::format("{}", fmt::join(values, ", "));
    problem(
        variable, ErrorCode::invalid_argument,
        "has the missing_value {} besides its fill value {}: a PP header has one missing value (BMDI, word "
        "63), so use one of them for both",
        others, fill.empty() ? std::string("(that of netCDF)") : fmt::format("{}", fill[0]));
  }

  void headers(const Variable& variable) {
    const auto made = field_of(schema_, variable);
    if (!made) return problem(variable, made.error().code, "{}", made.error().message);
    if (made->over_time && !has_intervals(variable))
      problem(variable, ErrorCode::invalid_argument,
              "is a statistic over time by its cell_methods, but the time has no bounds: give the time "
              "variable the attribute bounds, and put that variable in every record");
    if (!made->storage.mask.empty())
      if (const auto mask = mask_of(schema_, variable, made->storage.mask); !mask)
        problem(variable, mask.error().code, "{}", mask.error().message);
    for (std::size_t slab = 0; slab < made->places.size(); ++slab)
      if (const auto described = describe_slab(*made, slab); !described)
        return problem(variable, described.error().code, "has no PP header: {}{}", described.error().message,
                       hint(made->description));
  }

  bool has_intervals(const Variable& variable) const {
    if (cf::has_records(schema_, variable)) return cf::time_bounds_of(schema_) != nullptr;
    const Variable* const scalar = cf::scalar_time_of(schema_);
    return cf::time_of(schema_) == nullptr && scalar != nullptr &&
           cf::scalar_bounds_of(schema_, *scalar) != nullptr;
  }

  /// How the code that is missing can be given.
  static std::string hint(const packing::PpDescription& description) {
    if (description.stash || description.field_code) return {};
    for (const packing::PpCode& code : packing::pp_codes())
      if (code.standard_name == description.standard_name)
        return fmt::format(
            " (attributes PP_stash and PP_LBFC; or a vertical coordinate{}, for which the code is known)",
            code.height == 0 ? std::string() : fmt::format(" such as a scalar height of {} m", code.height));
    return " (attributes PP_stash and PP_LBFC)";
  }

  const Schema& schema_;
  const MessageTraits::Add& add_;
};

void check(const Schema& schema, const MessageTraits::Add& add) { Check(schema, add).run(); }

}  // namespace

extern constinit const MessageTraits message_traits{
    .slab_dimensions = slab_dimensions, .needed_first = is_needed_first, .check = check};

}  // namespace afterbay::storage::pp
