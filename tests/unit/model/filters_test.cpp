// SPDX-License-Identifier: Apache-2.0
// The spelling of filters in the interface, and the chain that the library uses.
#include "model/filters.hpp"

#include <gtest/gtest.h>

namespace afterbay::model {
namespace {

TEST(ModelFilters, the_fields_deflate_and_shuffle_are_part_of_the_chain) {
  Variable variable;
  EXPECT_TRUE(filters_of(variable).empty());
  EXPECT_FALSE(is_filtered(variable));
  variable.with_filter(3).with_deflate(4);
  EXPECT_EQ(filters_of(variable), (FilterChain{{3, {}}, {2, {}}, {1, {4}}}));
  EXPECT_TRUE(is_filtered(variable));
  variable = {};
  variable.shuffle = true;
  EXPECT_EQ(filters_of(variable), (FilterChain{{2, {}}}));
  EXPECT_TRUE(is_filtered(variable));
}

TEST(ModelFilters, a_chain_is_spelled_with_these_fields_again) {
  Variable variable;
  variable.with_deflate(9).with_filter(3);
  Variable other;
  set_filters(other, filters_of(variable));
  EXPECT_EQ(other, variable);
  set_filters(other, {{2, {}}, {3, {}}});
  EXPECT_EQ(other.deflate, 0);
  EXPECT_TRUE(other.shuffle);
  EXPECT_EQ(other.filters, (FilterChain{{3, {}}}));
  set_filters(other, {});
  EXPECT_EQ(other, Variable());
}

}  // namespace
}  // namespace afterbay::model
