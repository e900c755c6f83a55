// SPDX-License-Identifier: Apache-2.0
// Which values of a variable mark missing points.
#include "model/missing_values.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace afterbay::model {
namespace {

Variable variable_of(Type type) {
  Schema schema;
  return schema.dimension("x", 3).variable("v", type, {"x"});
}

TEST(ModelMissingValues, are_the_fill_value_and_those_of_the_attribute) {
  Variable variable = variable_of(Type::int16);
  EXPECT_EQ(missing_values(variable), Values(std::int16_t{-32767})) << "netCDF's default";
  EXPECT_EQ(missing_marks(variable), Values(std::int16_t{-32767}));
  variable.with_fill(Values(std::int16_t{-1})).attribute("missing_value", Values({-2, 70000}));
  const Values both(std::vector<std::int16_t>{-1, -2});
  EXPECT_EQ(missing_values(variable), both) << "the type cannot hold 70000";
  EXPECT_EQ(missing_marks(variable), both);
}

TEST(ModelMissingValues, of_bytes_are_marked_only_if_they_are_given) {
  Variable variable = variable_of(Type::int8);
  EXPECT_EQ(missing_values(variable), Values(std::int8_t{-127}));
  EXPECT_TRUE(missing_marks(variable).empty());
  variable.attribute("missing_value", Values(std::int8_t{5}));
  EXPECT_EQ(missing_marks(variable), Values(std::int8_t{5}));
  variable.with_fill(Values(std::int8_t{-127}));
  EXPECT_EQ(missing_marks(variable), Values(std::vector<std::int8_t>{-127, 5}));
}

}  // namespace
}  // namespace afterbay::model
