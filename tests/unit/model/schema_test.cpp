// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "afterbay/error.hpp"
#include "afterbay/schema.hpp"
#include "model/values.hpp"

namespace afterbay {
namespace {

TEST(ModelSchema, is_built_and_found_by_names) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 4).attribute("title", "a").attribute("title", "b");
  schema.variable("T", Type::float32, {"time", "x"})
      .attribute("units", "K")
      .attribute("units", "C")
      .on("grid");
  EXPECT_TRUE(schema.find_dimension("time")->is_unlimited());
  EXPECT_EQ(schema.find_dimension("x")->length, 4u);
  EXPECT_EQ(schema.find_dimension("y"), nullptr);
  EXPECT_EQ(schema.attributes, (std::vector<Attribute>{{"title", "b"}}));
  const Variable* t = schema.find_variable("T");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->attributes, (std::vector<Attribute>{{"units", "C"}}));
  EXPECT_EQ(t->decomposition, "grid");
  EXPECT_EQ(schema.find_variable("U"), nullptr);
}

TEST(ModelSchema, values_in_words) {
  EXPECT_EQ(model::text_of(Values()), "none");
  EXPECT_EQ(model::text_of("K"), "text \"K\"");
  EXPECT_EQ(model::text_of(273.15F), "float32 273.15");
  EXPECT_EQ(model::text_of(0.1 + 0.2), "float64 0.30000000000000004");
  EXPECT_EQ(model::text_of(std::vector<std::int8_t>{1, -2}), "int8 1, -2");
  EXPECT_EQ(model::text_of(std::vector<std::int32_t>(12, 3)), "int32 3, 3, 3, 3, ... (12 values)");
  EXPECT_EQ(model::text_of(std::vector<std::string>{"a", "b"}), "string \"a\", \"b\"");
  EXPECT_EQ(model::text_of(std::string(100, 'x')),
            "text \"" + std::string(60, 'x') + "...\" (100 characters)");
}

TEST(ModelSchema, an_error_says_all_it_knows) {
  Error error(ErrorCode::no_space, "the disk is full: free some room");
  EXPECT_EQ(error.text(), "the disk is full: free some room [no_space]");
  error.at_rank(3)
      .at_rank(9)
      .in_file("out.nc")
      .in_variable("T")
      .with_native(28)
      .add("while writing record 7")
      .add("closing");
  EXPECT_EQ(error.text(),
            "rank 3, file out.nc, variable T: the disk is full: free some room [no_space, 28]\n"
            "  while writing record 7\n  closing");
  EXPECT_STREQ(Failure(error).what(), error.text().c_str());
}

}  // namespace
}  // namespace afterbay
