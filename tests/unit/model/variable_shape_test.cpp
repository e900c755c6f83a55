// SPDX-License-Identifier: Apache-2.0
#include "model/variable_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace afterbay::model {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> lengths_of(const Schema& schema, std::size_t variable) {
  const Index shape = shape_of(schema, schema.variables[variable]);
  return {shape.begin(), shape.end()};
}

TEST(ModelVariableShape, has_all_dimensions_but_the_record) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 3).dimension("x", 5);
  schema.variable("v", Type::float64, {"time", "y", "x"});
  schema.variable("scalar", Type::float64, {});
  EXPECT_THAT(lengths_of(schema, 0), ElementsAre(3, 5));
  EXPECT_THAT(lengths_of(schema, 1), ElementsAre());
}

/// One of two functions that did this read through a null pointer.
TEST(ModelVariableShape, leaves_out_dimensions_that_the_schema_lacks) {
  Schema schema;
  schema.dimension("x", 5);
  schema.variable("v", Type::float64, {"y", "x"});
  EXPECT_THAT(lengths_of(schema, 0), ElementsAre(5));
}

TEST(ModelVariableShape, leaves_out_dimensions_beyond_the_maximum) {
  Schema schema;
  schema.dimension("x", 2);
  schema.variable("v", Type::float64, std::vector<std::string>(max_dimensions + 3, "x"));
  EXPECT_EQ(shape_of(schema, schema.variables[0]), Index::filled(max_dimensions, 2));
}

}  // namespace
}  // namespace afterbay::model
