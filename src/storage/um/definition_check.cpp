// SPDX-License-Identifier: Apache-2.0
// Checks a schema before the first file: everything that headers of the Unified Model cannot hold
// is refused.
#include "storage/um/definition_check.hpp"

#include <algorithm>

namespace afterbay::storage::um {
namespace {

/// How a code that is missing can be given.
std::string hint(const packing::PpDescription& description, const Error& error) {
  if (error.code != ErrorCode::unknown_name) return {};
  for (const packing::PpCode& code : packing::pp_codes())
    if (code.standard_name == description.standard_name)
      return fmt::format(
          " (attributes PP_stash and PP_LBFC; or a vertical coordinate{}, for which the code is known)",
          code.height == 0 ? std::string() : fmt::format(" such as a scalar height of {} m", code.height));
  return " (attributes PP_stash and PP_LBFC)";
}

}  // namespace

HeaderCheck::HeaderCheck(const Schema& schema, const MessageTraits::Add& add, const FileKind& kind)
    : DefinitionCheck(schema, add, {.header = "PP header", .message = kind.message}), kind_(kind) {}

void HeaderCheck::calendar(const Variable& time, const cf::TimeAxis& axis) {
  const std::string& name = axis.rules.name;
  if (packing::pp_calendar_code(name) == 0)
    return problem(time, ErrorCode::invalid_argument,
                   "has the calendar '{}', which has no code in PP headers (LBTIM, word 13): use standard, "
                   "proleptic_gregorian, 360_day or noleap, or netCDF",
                   name);
  whole_seconds(time, axis);
}

/// Times of records are known, and refused, when they are put.
void HeaderCheck::whole_seconds(const Variable& time, const cf::TimeAxis& axis) {
  const std::optional<double> number = cf::number_of(time);
  if (!number) return;
  const auto date = axis.date(*number);
  if (date && date->nanosecond != 0)
    problem(time, ErrorCode::invalid_argument,
            "has the value {}, which is {}, but PP headers hold whole seconds: round it", *number,
            Calendar(axis.rules.name).text(*date));
}

/// Forecast periods are differences of two times, which headers contain.
bool HeaderCheck::can_change(const Variable& coordinate) const {
  if (&coordinate == cf::record_reference_of(schema())) return true;
  const auto reference = reference_of(schema());
  const bool has_reference = cf::record_reference_of(schema()) != nullptr || (reference && *reference);
  return is_forecast_period(coordinate) && has_reference;
}

bool HeaderCheck::is_forecast_period(const Variable& variable) const {
  const auto is_one = [](const Variable& it) {
    return cf::text_of(it.attributes, "standard_name") == "forecast_period";
  };
  return is_one(variable) || std::ranges::any_of(schema().variables, [&](const Variable& it) {
           return is_one(it) && cf::text_of(it.attributes, "bounds") == variable.name;
         });
}

std::string HeaderCheck::refused_type(Type type) const {
  return kind_.types.has(type) ? std::string() : std::string(kind_.types_text);
}

std::vector<std::string> HeaderCheck::attributes() const { return known_attributes(); }

bool HeaderCheck::is_known(std::string_view attribute) const { return is_known_attribute(attribute); }

void HeaderCheck::describe(const Variable& field) {
  missing_values(field);
  headers(field);
}

/// A header has one missing value, which the fill value becomes.
void HeaderCheck::missing_values(const Variable& variable) {
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
  const bool is_byte = variable.type == Type::int8 || variable.type == Type::uint8;
  const std::string_view usual = is_byte ? "(bytes have none unless it is given)" : "(that of netCDF)";
  problem(variable, ErrorCode::invalid_argument,
          "has the missing_value {} besides its fill value {}: a PP header has one missing value (BMDI, word "
          "63), so use one of them for both",
          others, fill.empty() ? std::string(usual) : fmt::format("{}", fill[0]));
}

void HeaderCheck::headers(const Variable& variable) {
  const auto made = field_of(schema(), variable, kind_);
  if (!made) return problem(variable, made.error().code, "{}", made.error().message);
  if (made->over_time && !has_intervals(variable))
    problem(variable, ErrorCode::invalid_argument,
            "is a statistic over time by its cell_methods, but the time has no bounds: give the time "
            "variable the attribute bounds, and put that variable in every record");
  if (!made->storage.mask.empty())
    if (const auto mask = mask_of(schema(), variable, made->storage.mask); !mask)
      problem(variable, mask.error().code, "{}", mask.error().message);
  for (std::size_t slab = 0; slab < made->places.size(); ++slab)
    if (const auto described = describe_slab(*made, slab); !described)
      return problem(variable, described.error().code, "has no PP header: {}{}", described.error().message,
                     hint(made->description, described.error()));
}

bool HeaderCheck::has_intervals(const Variable& variable) const {
  if (cf::has_records(schema(), variable)) return cf::time_bounds_of(schema()) != nullptr;
  const Variable* const scalar = cf::scalar_time_of(schema());
  return cf::time_of(schema()) == nullptr && scalar != nullptr &&
         cf::scalar_bounds_of(schema(), *scalar) != nullptr;
}

}  // namespace afterbay::storage::um
