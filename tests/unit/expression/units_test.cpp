// SPDX-License-Identifier: Apache-2.0
#include "expression/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "foreign_locale.hpp"

namespace afterbay::expression {
namespace {

using testing::HasSubstr;

class ExpressionUnits : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_udunits()) GTEST_SKIP() << "this build has no UDUNITS";
  }
};

Linear linear(const std::string& from, const std::string& to) {
  const auto result = conversion(from, to);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or(Linear{0, 0});
}

std::string refusal(const std::string& from, const std::string& to) {
  const auto result = conversion(from, to);
  return result ? "accepted" : result.error().message;
}

TEST(ExpressionUnitsText, TheSameTextNeedsNoConversion) {
  EXPECT_EQ(*conversion("furlongs of sugar", " furlongs of sugar "), Linear());
  EXPECT_EQ(*conversion("", ""), Linear());
}

TEST(ExpressionUnitsText, WithoutUdunitsTheRestIsRefused) {
  if (has_udunits()) GTEST_SKIP() << "this build has UDUNITS";
  EXPECT_THAT(refusal("m", "km"), HasSubstr("cannot convert \"m\" to \"km\": install UDUNITS-2"));
  EXPECT_TRUE(check_units("smoots"));
}

TEST_F(ExpressionUnits, FactorsAndOffsets) {
  EXPECT_EQ(linear("K", "degC"), (Linear{1, -273.15}));
  EXPECT_EQ(linear("degC", "K"), (Linear{1, 273.15}));
  EXPECT_EQ(linear("Pa", "hPa"), (Linear{0.01, 0}));
  EXPECT_EQ(linear("hPa", "Pa"), (Linear{100, 0}));
  EXPECT_EQ(linear("1", "%"), (Linear{100, 0}));
  EXPECT_EQ(linear("m s-1", "km/h").add, 0);
  EXPECT_DOUBLE_EQ(linear("m s-1", "km/h").multiply, 3.6);
  EXPECT_DOUBLE_EQ(linear("m s-1", "mm day-1").multiply, 8.64e7);
  EXPECT_DOUBLE_EQ(linear("degF", "degC").multiply, 5.0 / 9);
  EXPECT_NEAR(linear("degF", "degC").add, -160.0 / 9, 1e-12);
  EXPECT_DOUBLE_EQ(linear("degrees", "radian").multiply, 0.017453292519943295);
  EXPECT_EQ(linear("µm", "m").multiply, 1e-6);
}

TEST_F(ExpressionUnits, OtherTextsOfTheSameUnitsAreExact) {
  EXPECT_EQ(linear("W m-2", "J s-1 m^-2"), Linear());
  EXPECT_EQ(linear("K", "kelvin"), Linear());
  EXPECT_EQ(linear("kg m-2 s-1", "kg/(m^2 s)"), Linear());
}

TEST_F(ExpressionUnits, Refusals) {
  EXPECT_EQ(refusal("kg m-2 s-1", "mm day-1"),
            "\"kg m-2 s-1\" cannot be converted to \"mm day-1\": they measure different quantities");
  EXPECT_EQ(refusal("K", "m"), "\"K\" cannot be converted to \"m\": they measure different quantities");
  EXPECT_EQ(refusal("smoots per furlong", "m"), "UDUNITS does not know the units \"smoots per furlong\"");
  EXPECT_EQ(refusal("m", "smoots"), "UDUNITS does not know the units \"smoots\"");
  EXPECT_THAT(refusal("m", "m^("), HasSubstr("does not know the units \"m^(\""));
  EXPECT_THAT(refusal("m", std::string(10000, 'm')), HasSubstr("does not know the units \"mmm"));
  EXPECT_THAT(refusal("m", std::string("m\0", 2)), HasSubstr("does not know the units \"m\\x00\""));
  EXPECT_THAT(refusal("lg(re 1 mW)", "W"), HasSubstr("logarithmic units need more; write an expression"));
  EXPECT_THAT(refusal("W", "dBm"), HasSubstr("logarithmic units need more"));
  EXPECT_THAT(refusal("s", "Hz"), HasSubstr("the conversion is not linear"));
  EXPECT_THAT(refusal("days since 2000-01-01", "days since 1850-01-01"), HasSubstr("depend on the calendar"));
}

TEST_F(ExpressionUnits, Checks) {
  EXPECT_TRUE(check_units("kg m-2 s-1"));
  EXPECT_TRUE(check_units("%"));
  EXPECT_TRUE(check_units(""));
  EXPECT_TRUE(check_units("1e-3"));
  EXPECT_TRUE(check_units("degrees_north"));
  const auto unknown = check_units("smoots");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "UDUNITS does not know the units \"smoots\"");
}

TEST_F(ExpressionUnits, NothingIsWrittenToStderr) {
  testing::internal::CaptureStderr();
  EXPECT_NE(refusal("m", "smoots"), "accepted");
  EXPECT_NE(refusal("m^(", "1 2 3 ( /"), "accepted");
  EXPECT_NE(refusal("K", "m"), "accepted");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ExpressionUnits, NumbersDoNotDependOnTheLocale) {
  const ForeignLocale locale;
  if (!locale.is_set()) GTEST_SKIP() << "this system has no locale with decimal commas";
  EXPECT_EQ(linear("0.5 m", "m"), (Linear{0.5, 0}));
}

TEST(ThreadExpressionUnits, ManyThreads) {
  if (!has_udunits()) GTEST_SKIP() << "this build has no UDUNITS";
  std::vector<int> wrong(4, -1);
  std::vector<std::jthread> threads;
  for (int& it : wrong)
    threads.emplace_back([&it] {
      it = 0;
      for (int round = 0; round < 200; ++round) {
        it += conversion("K", "degC") == Linear{1, -273.15} ? 0 : 1;
        it += check_units("no such unit") ? 1 : 0;
      }
    });
  threads.clear();
  EXPECT_THAT(wrong, testing::Each(0));
}

}  // namespace
}  // namespace afterbay::expression
