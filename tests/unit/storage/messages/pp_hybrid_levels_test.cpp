// SPDX-License-Identifier: Apache-2.0
// Hybrid levels in PP headers: coefficients, their units and bounds.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/validate.hpp"
#include "storage/pp/file_kind.hpp"
#include "unit/storage/messages/message_schema.hpp"

namespace afterbay::storage::pp {
namespace {

/// Two hybrid levels, of which `first` is the term in metres or pascals. Their bounds are those
/// that CF, section 7.1, names.
Schema on_hybrid_levels(const char* standard_name, const std::string& first) {
  Schema schema = test::temperature_on("lev");
  schema.dimension("bnds", 2);
  schema.variable("lev", Type::float64, {"lev"})
      .attribute("standard_name", standard_name)
      .attribute("bounds", "lev_bnds")
      .attribute("formula_terms", first + ": A b: B p0: P")
      .with_constant(Values({0.9, 0.5}));
  schema.variable("lev_bnds", Type::float64, {"lev", "bnds"})
      .attribute("formula_terms", first + ": A_bnds b: B_bnds p0: P")
      .with_constant(Values({1.0, 0.8, 0.8, 0.2}));
  schema.variable("A", Type::float64, {"lev"}).with_constant(Values({20.0, 80.0}));
  schema.variable("B", Type::float64, {"lev"}).with_constant(Values({0.75, 0.5}));
  schema.variable("A_bnds", Type::float64, {"lev", "bnds"}).with_constant(Values({0.0, 50.0, 50.0, 120.0}));
  schema.variable("B_bnds", Type::float64, {"lev", "bnds"}).with_constant(Values({1.0, 0.7, 0.7, 0.3}));
  schema.variable("P", Type::float64, {}).with_constant(Values(1000.0));
  return schema;
}

um::Field hybrid_field(const Schema& schema) {
  auto field = um::field_of(schema, *schema.find_variable("ta"), file_kind);
  EXPECT_TRUE(field) << field.error().text();
  return field ? *std::move(field) : um::Field();
}

/// They were left out.
TEST(PpHybridLevels, have_bounds_that_are_terms_of_the_bounds_of_their_coordinate) {
  struct Case {
    const char* name;
    const char* term;
    double factor = 1;
  };
  for (const Case& it : {Case{"atmosphere_hybrid_height_coordinate", "a"},
                         {"atmosphere_hybrid_sigma_pressure_coordinate", "ap"},
                         {"atmosphere_hybrid_sigma_pressure_coordinate", "a", 1000}}) {
    const um::Field field = hybrid_field(on_hybrid_levels(it.name, it.term));
    ASSERT_EQ(field.places.size(), 2u);
    const packing::PpLevel& level = field.places[1].level;
    EXPECT_EQ(level.value, 80 * it.factor);
    EXPECT_EQ(level.coefficient, 0.5);
    ASSERT_TRUE(level.bounds && level.coefficient_bounds) << it.name;
    EXPECT_EQ(level.bounds->lower, 50 * it.factor);
    EXPECT_EQ(level.bounds->upper, 120 * it.factor);
    EXPECT_EQ(level.coefficient_bounds->lower, 0.7);
    EXPECT_EQ(level.coefficient_bounds->upper, 0.3);
  }
}

/// Headers had the numbers as they were.
TEST(PpHybridLevels, have_coefficients_that_are_converted_by_their_units) {
  struct Case {
    const char* name;
    const char* term;
    std::vector<std::pair<std::string, std::string>> units;
    double factor = 1;
  };
  const char* const height = "atmosphere_hybrid_height_coordinate";
  const char* const pressure = "atmosphere_hybrid_sigma_pressure_coordinate";
  for (const Case& it :
       {Case{height, "a", {{"A", "km"}}, 1000},
        Case{height, "a", {{"A", "km"}, {"A_bnds", "km"}, {"B", "1"}}, 1000},
        Case{height, "a", {{"A", "metres"}}, 1}, Case{pressure, "ap", {{"A", "hPa"}}, 100},
        Case{pressure, "ap", {{"A", "Pa"}, {"B", "1"}}, 1},
        Case{pressure, "a", {{"P", "hPa"}, {"A", "1"}}, 100'000}, Case{pressure, "a", {{"P", "Pa"}}, 1000}}) {
    Schema schema = on_hybrid_levels(it.name, it.term);
    for (const auto& [variable, units] : it.units) schema.find_variable(variable)->attribute("units", units);
    ASSERT_TRUE(model::validate(schema, Format::pp)) << model::validate(schema, Format::pp).error().text();
    const packing::PpLevel level = hybrid_field(schema).places[1].level;
    EXPECT_EQ(level.value, 80 * it.factor);
    EXPECT_EQ(level.bounds->lower, 50 * it.factor);
    EXPECT_EQ(level.bounds->upper, 120 * it.factor);
    EXPECT_EQ(level.coefficient, 0.5);
  }
}

TEST(PpHybridLevels, with_coefficients_in_other_units_are_refused) {
  struct Case {
    const char* name;
    const char* term;
    const char* variable;
    const char* units;
    const char* text;
  };
  const char* const height = "atmosphere_hybrid_height_coordinate";
  const char* const pressure = "atmosphere_hybrid_sigma_pressure_coordinate";
  for (const Case& it :
       {Case{height, "a", "A", "hPa", "'A' as its term a, which is in 'hPa': expected a height in m"},
        Case{height, "a", "A_bnds", "K", "'A_bnds' as its term a, which is in 'K'"},
        Case{pressure, "ap", "A", "m", "which is in 'm': expected a pressure in Pa, hPa"},
        Case{pressure, "a", "A", "Pa", "which is in 'Pa': expected a number without dimension"},
        Case{pressure, "a", "P", "atmos", "'P' as its term p0, which is in 'atmos'"},
        Case{pressure, "ap", "B", "Pa", "'B' as its term b, which is in 'Pa'"}}) {
    Schema schema = on_hybrid_levels(it.name, it.term);
    schema.find_variable(it.variable)->attribute("units", it.units);
    const auto refused = model::validate(schema, Format::pp);
    ASSERT_FALSE(refused) << it.text;
    EXPECT_EQ(refused.error().variable, "ta");
    EXPECT_NE(refused.error().message.find(it.text), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace afterbay::storage::pp
