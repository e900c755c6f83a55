// SPDX-License-Identifier: Apache-2.0
// The stage `linear` for all numeric types: values, missing values, extremes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "model/missing_values.hpp"
#include "pipeline/plan.hpp"

namespace afterbay::pipeline {
namespace {

using ::testing::HasSubstr;

template <class T>
Variable variable_of() {
  Variable variable;
  variable.name = "v";
  variable.type = type_of<T>;
  return variable;
}

template <class T>
struct Computed {
  std::vector<T> values;
  std::uint64_t out_of_range = 0;
};

/// At odd addresses, once in place and once from one place to another.
template <class T>
Computed<T> run(const Variable& variable, const Settings& given, const std::vector<T>& values) {
  const Stages stages = make_stages(variable, given).value();
  EXPECT_EQ(stages.size(), 1u);
  const std::size_t bytes = values.size() * sizeof(T);
  std::vector<std::byte> from(bytes + 1), to(bytes + 1);
  std::memcpy(from.data() + 1, values.data(), bytes);
  Computed<T> result{std::vector<T>(values.size()), 0};
  result.out_of_range = stages[0]->run(to.data() + 1, from.data() + 1, values.size());
  EXPECT_EQ(std::memcmp(from.data() + 1, values.data(), bytes), 0);
  EXPECT_EQ(stages[0]->run(from.data() + 1, from.data() + 1, values.size()), result.out_of_range);
  EXPECT_EQ(from, to);
  std::memcpy(result.values.data(), to.data() + 1, bytes);
  return result;
}

template <class T>
class PipelineLinear : public ::testing::Test {};
using Numbers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                 std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(PipelineLinear, Numbers);

TYPED_TEST(PipelineLinear, multiplies_then_adds) {
  using T = TypeParam;
  std::vector<T> values, expected;
  for (int i = 0; i < 40; ++i) {  // more than a register of any instruction set
    values.push_back(static_cast<T>(i));
    expected.push_back(static_cast<T>(3 * i + 2));
  }
  const auto computed = run<T>(variable_of<T>(), {{"multiply", "3"}, {"add", "2"}}, values);
  EXPECT_EQ(computed.values, expected);
  EXPECT_EQ(computed.out_of_range, 0u);
}

TYPED_TEST(PipelineLinear, each_setting_alone) {
  using T = TypeParam;
  EXPECT_EQ(run<T>(variable_of<T>(), {{"multiply", "2"}}, {T{1}, T{50}}).values, (std::vector<T>{2, 100}));
  EXPECT_EQ(run<T>(variable_of<T>(), {{"add", "5"}}, {T{1}, T{50}}).values, (std::vector<T>{6, 55}));
}

TYPED_TEST(PipelineLinear, keeps_fill_values_and_missing_values) {
  using T = TypeParam;
  Variable variable = variable_of<T>();
  const T by_default = model::missing_values(variable).at<T>(0);
  EXPECT_EQ(run<T>(variable, {{"add", "1"}}, {by_default, T{1}}).values, (std::vector<T>{by_default, T{2}}));

  variable.with_fill(Values(T{9}));
  EXPECT_EQ(run<T>(variable, {{"add", "1"}}, {T{9}, T{8}, T{10}}).values, (std::vector<T>{9, 9, 11}));

  variable.attribute("missing_value", Values(std::vector<T>{T{7}, T{20}, T{30}}));
  const auto computed = run<T>(variable, {{"multiply", "2"}}, {T{7}, T{20}, T{30}, T{9}, T{1}, T{11}, T{31}});
  EXPECT_EQ(computed.values, (std::vector<T>{7, 20, 30, 9, 2, 22, 62}));

  Variable by_attribute = variable_of<T>();
  by_attribute.attribute("_FillValue", Values(T{4}));
  EXPECT_EQ(run<T>(by_attribute, {{"add", "1"}}, {T{4}, T{5}}).values, (std::vector<T>{4, 6}));
}

TYPED_TEST(PipelineLinear, counts_what_the_type_cannot_hold) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  Variable variable = variable_of<T>();
  variable.with_fill(Values(T{3}));
  const auto more = run<T>(variable, {{"multiply", "2"}}, {Limits::max(), T{1}, T{3}});
  EXPECT_EQ(more.out_of_range, 1u);
  EXPECT_EQ(more.values[1], T{2});
  EXPECT_EQ(more.values[2], T{3});
  EXPECT_EQ(run<T>(variable, {{"multiply", "-2"}}, {Limits::max(), T{4}}).out_of_range,
            std::is_unsigned_v<T> ? 2u : 1u);
  // The largest and the smallest value themselves can be results.
  if constexpr (std::is_integral_v<T>) {
    const auto edge = run<T>(variable, {{"add", "-1"}}, {Limits::max(), static_cast<T>(Limits::min() + 1)});
    EXPECT_EQ(edge.out_of_range, 0u);
    EXPECT_EQ(edge.values, (std::vector<T>{static_cast<T>(Limits::max() - 1), Limits::min()}));
    EXPECT_EQ(run<T>(variable, {{"add", "-1"}}, {Limits::min()}).out_of_range, 1u);
    EXPECT_EQ(run<T>(variable, {{"add", "1"}}, {Limits::max()}).out_of_range, 1u);
    EXPECT_EQ(run<T>(variable, {{"add", "1"}}, {static_cast<T>(Limits::max() - 1)}).values[0], Limits::max());
  }
}

TYPED_TEST(PipelineLinear, rounds_integers_to_the_nearest) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    const Settings quarter{{"multiply", "0.25"}};
    EXPECT_EQ(run<T>(variable_of<T>(), quarter, {T{5}, T{6}, T{7}, T{10}}).values,
              (std::vector<T>{1, 2, 2, 2}));  // 1.25, 1.5, 1.75, 2.5: halves to even
    if constexpr (std::is_signed_v<T>) {
      EXPECT_EQ(run<T>(variable_of<T>(), quarter, {T{-5}, T{-6}, T{-7}, T{-10}}).values,
                (std::vector<T>{-1, -2, -2, -2}));
    }
  }
}

TYPED_TEST(PipelineLinear, leaves_not_a_number_and_infinity_as_they_are) {
  using T = TypeParam;
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const auto computed =
        run<T>(variable_of<T>(), {{"multiply", "-2"}, {"add", "1"}},
               {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T{1}});
    EXPECT_EQ(computed.out_of_range, 0u);
    EXPECT_TRUE(std::isnan(computed.values[0]) && !std::signbit(computed.values[0]));
    EXPECT_TRUE(std::isnan(computed.values[1]) && std::signbit(computed.values[1]));
    EXPECT_EQ(computed.values[2], -Limits::infinity());
    EXPECT_EQ(computed.values[3], Limits::infinity());
    EXPECT_EQ(computed.values[4], T{-1});
    Variable nan_is_fill = variable_of<T>();
    nan_is_fill.with_fill(Values(Limits::quiet_NaN()));
    EXPECT_EQ(run<T>(nan_is_fill, {{"add", "1"}}, {T{1}, T{2}}).values, (std::vector<T>{2, 3}));
  }
}

/// Before, 0.0 was added if `add` was missing, and -0.0 became 0.0.
TYPED_TEST(PipelineLinear, keeps_the_sign_of_zeros_if_nothing_is_added) {
  using T = TypeParam;
  if constexpr (std::is_floating_point_v<T>) {
    for (const Settings& given :
         {Settings{{"multiply", "0.01"}}, Settings{{"multiply", "0.01"}, {"add", "0"}},
          Settings{{"multiply", "0.01"}, {"add", "-0"}}}) {
      const auto values = run<T>(variable_of<T>(), given, {-T{0}, T{0}}).values;
      EXPECT_EQ(values, (std::vector<T>{0, 0}));
      EXPECT_TRUE(std::signbit(values[0]));
      EXPECT_FALSE(std::signbit(values[1]));
      EXPECT_EQ(make_stages(variable_of<T>(), given).value()[0]->text(), "multiply 0.01, add 0");
    }
  }
}

TEST(PipelineLinearTypes, float32_is_computed_in_double_and_rounded_once) {
  const auto computed = run<float>(variable_of<float>(), {{"multiply", "9.80665"}, {"add", "-273.15"}},
                                   {300.0F, 16777216.0F, 1e-3F});
  for (std::size_t i = 0; i < 3; ++i) {
    const float before[] = {300.0F, 16777216.0F, 1e-3F};
    EXPECT_EQ(computed.values[i], static_cast<float>(9.80665 * static_cast<double>(before[i]) - 273.15)) << i;
  }
}

/// Every 64-bit integer is exact in long double on x86; double would lose its last bits.
TEST(PipelineLinearTypes, integers_of_64_bits_lose_nothing) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is not wider than double";
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(run<std::int64_t>(variable_of<std::int64_t>(), {{"add", "1"}}, {large, -large}).values,
            (std::vector<std::int64_t>{large + 1, -large + 1}));
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(run<std::uint64_t>(variable_of<std::uint64_t>(), {{"add", "-2"}}, {most}).values[0], most - 2);
}

TEST(PipelineMissingValues, of_another_type_count_if_the_variable_can_hold_them) {
  Variable variable = variable_of<float>();
  variable.attribute("missing_value", Values(1e20));
  EXPECT_EQ(run<float>(variable, {{"multiply", "2"}}, {1e20F, 1.0F}).values,
            (std::vector<float>{1e20F, 2.0F}));
  Variable counts = variable_of<std::int16_t>();
  counts.attribute("missing_value", Values(std::vector<double>{-999.5, 70000, -999, 12}));
  EXPECT_EQ(run<std::int16_t>(counts, {{"add", "1"}}, {-999, 12, 5, 4464}).values,
            (std::vector<std::int16_t>{-999, 12, 6, 4465}));
}

TEST(PipelineStages, what_changes_nothing_is_left_out) {
  EXPECT_TRUE(make_stages(variable_of<float>(), {}).value().empty());
  EXPECT_TRUE(make_stages(variable_of<float>(), {{"multiply", "1"}, {"add", "0"}}).value().empty());
  Schema schema;
  schema.dimension("x", 3).variable("a", Type::float32, {"x"});
  EXPECT_TRUE(make_plan(schema, std::vector<Settings>{{{"multiply", "1"}}}).value().empty());
}

TEST(PipelineStages, refuse_variables_without_numbers_and_constant_ones) {
  Variable text = variable_of<float>();
  text.type = Type::text;
  auto refused = make_stages(text, {{"multiply", "2"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_type);
  EXPECT_EQ(refused.error().variable, "v");
  EXPECT_THAT(refused.error().message, HasSubstr("multiply is set for variable 'v', which holds text"));
  text.type = Type::string;
  EXPECT_FALSE(make_stages(text, {{"add", "2"}}));
  Variable constant = variable_of<double>();
  constant.with_constant(Values{1.0, 2.0});
  refused = make_stages(constant, {{"add", "2"}, {"multiply", "2"}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("add and multiply is set for variable 'v', which is constant"));
}

TEST(PipelineStages, refuse_settings_that_are_not_accepted) {
  for (const char* const value :
       {"0", "nan", "inf", "-inf", "1e999", "two", "", "1 2", "0x10", "-0", "+", "+-5", "++5", "-+5"}) {
    const auto refused = make_stages(variable_of<float>(), {{"multiply", value}});
    ASSERT_FALSE(refused) << value;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message, HasSubstr("expected a finite number other than 0"));
  }
  EXPECT_FALSE(make_stages(variable_of<float>(), {{"add", "nan"}}));
  EXPECT_FALSE(make_stages(variable_of<float>(), {{"add", "+-5"}}));
  EXPECT_FALSE(make_stages(variable_of<float>(), {{"scale", "2"}}));
  EXPECT_TRUE(make_stages(variable_of<float>(), {{"add", "0"}, {"multiply", "+2.5e3"}}));
}

TEST(PipelinePlan, without_stages_both_layouts_are_one_object) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 3000);
  schema.variable("a", Type::float32, {"time", "x"});
  schema.variable("b", Type::int16, {"time", "x"});
  for (const Format format : all_formats()) {
    const auto files =
        std::make_shared<const model::FileLayout>(model::make_layout(schema, format, {}).value());
    EXPECT_EQ(handover_layout(files, {}), files);
    const Plan plan = make_plan(schema, std::vector<Settings>{{}, {{"add", "1"}}}).value();
    EXPECT_EQ(plan.stages.size(), 2u);
    const auto handover = handover_layout(files, plan);
    EXPECT_EQ(handover == files, !traits_of(format).big_endian) << name_of(format);
    EXPECT_FALSE(handover->big_endian);
    ASSERT_EQ(handover->frames.size(), files->frames.size());
    for (std::size_t f = 0; f < files->frames.size(); ++f)
      for (const std::uint64_t record : {0, 1, 5, 1000001})
        EXPECT_EQ(handover->phase(handover->frames[f], record), files->phase(files->frames[f], record));
  }
}

}  // namespace
}  // namespace afterbay::pipeline
