// SPDX-License-Identifier: Apache-2.0
// Checks a schema before the first file: everything that GRIB2 messages cannot hold is refused.
#include "storage/messages/definition_check.hpp"

#include "base/suggest.hpp"
#include "storage/grib2/definition.hpp"
#ifdef AFTERBAY_HAS_ECCODES
#include "storage/grib2/prototype.hpp"
#endif

namespace afterbay::storage::grib2 {

extern const MessageAccuracy message_accuracy;  // definition_packing.cpp

namespace {

class Check final : public DefinitionCheck {
 public:
  Check(const Schema& schema, const MessageTraits::Add& add)
      : DefinitionCheck(schema, add, {.header = "GRIB2 message", .message = "GRIB2 message"}) {}

 private:
  void calendar(const Variable& time, const cf::TimeAxis& axis) override {
    const std::string& name = axis.rules.name;
    if (name != "standard" && name != "gregorian" && name != "proleptic_gregorian")
      problem(time, ErrorCode::invalid_argument,
              "has the calendar '{}': GRIB2 messages have dates of the Gregorian calendar; use netCDF", name);
  }

  [[nodiscard]] bool can_change(const Variable&) const override { return false; }

  [[nodiscard]] std::string refused_type(Type type) const override {
    if (type != Type::text && type != Type::int64 && type != Type::uint64) return {};
    return "GRIB2 messages hold numbers that a float64 can hold; use float64, float32, int32 or smaller";
  }

  [[nodiscard]] std::vector<std::string> attributes() const override {
    std::vector<std::string> known = common_attributes();
    known.insert(known.end(), {"mesh", "location"});
    return known;
  }

  [[nodiscard]] bool is_known(std::string_view attribute) const override {
    return attribute.starts_with("GRIB_");
  }

  [[nodiscard]] std::string_view advice() const override {
    return "remove it, or set a key of ecCodes by an attribute GRIB_KEY";
  }

  void describe(const Variable& variable) override {
    if (!variable.constant.empty())
      return problem(variable, ErrorCode::invalid_argument,
                     "has constant values, of which no GRIB2 message is made: put them");
    parameter(variable);
    take_error(variable, grid_of(schema(), variable));
    take_error(variable, levels_of(schema(), variable));
    take_error(variable, packing_of(schema(), variable));
    statistic(variable);
  }

#ifdef AFTERBAY_HAS_ECCODES
  /// What only ecCodes knows: names of keys and parameters, units, grids of its version.
  void file() override {
    if (has_problems()) return;
    for (const Variable& variable : schema().variables) {
      if (cf::role_of(schema(), variable) != cf::Role::field) continue;
      const auto made = prototype_of(schema(), variable);
      if (made) continue;
      std::string text = made.error().message;
      for (const std::string& line : made.error().context) text += ": " + line;
      problem(variable, made.error().code, "has no GRIB2 message: {}", text);
    }
  }
#endif

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
    const auto statistic = statistic_of(schema(), variable);
    take_error(variable, statistic);
    if (!statistic || !*statistic) return;
    if (!cf::has_records(schema(), variable) || cf::time_bounds_of(schema()) == nullptr)
      problem(variable, ErrorCode::invalid_argument,
              "is a statistic over time by its cell_methods, but the time has no bounds: give the time "
              "variable the attribute bounds and put that variable in every record");
  }
};

void check(const Schema& schema, const MessageTraits::Add& add) {
#ifndef AFTERBAY_HAS_ECCODES
  add(ErrorCode::invalid_argument, {},
      "this build of Afterbay has no ecCodes, which encodes GRIB2: install it (Debian's package "
      "libeccodes-dev) and build again, or use netCDF");
#endif
  Check(schema, add).run();
}

}  // namespace

extern constinit const MessageTraits message_traits{
    .slab_dimensions = slab_dimensions, .check = check, .accuracy = &message_accuracy};

}  // namespace afterbay::storage::grib2
