// SPDX-License-Identifier: Apache-2.0
// ServedFormula: values of float32, the floating-point environment, and operands of a piece.
#include "server/reduce/served_formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <thread>
#include <vector>

#include "unit/model_environment.hpp"

namespace afterbay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Variable variable_of(Type type) {
  Variable variable;
  variable.name = "w";
  variable.type = type;
  return variable;
}

wire::FormulaDefinition product() {
  wire::FormulaDefinition formula;
  formula.steps = {{"x0*x1", {0, 1}}};
  formula.operands = {{.source = 1}, {.source = 2}};
  return formula;
}

Result<std::vector<float>> results_of(const ServedFormula& formula, const std::vector<float>& a,
                                      const std::vector<float>& b) {
  const std::array<const std::byte*, 2> samples{std::as_bytes(std::span(a)).data(),
                                                std::as_bytes(std::span(b)).data()};
  std::vector<float> results(a.size());
  AFTERBAY_TRY(formula.write(samples, a.size(), std::as_writable_bytes(std::span(results)).data()));
  return results;
}

TEST(ServerFormula, ComputesInDoubleAndRoundsOnce) {
  const auto formula = ServedFormula::make(product(), variable_of(Type::float32)).value();
  EXPECT_THAT(results_of(*formula, {1e30F, 3, -0.0F}, {1e-30F, 0.1F, 1}).value(),
              ElementsAre(static_cast<float>(double{1e30F} * double{1e-30F}),
                          static_cast<float>(3 * double{0.1F}), 0.0F));
}

/// Models flush denormal numbers to zero; servers in their processes must not.
TEST(ServerFormula, DoesNotDependOnTheFloatingPointEnvironment) {
  const auto formula = ServedFormula::make(product(), variable_of(Type::float32)).value();
  const std::vector<float> a{1e-20F, 3}, b{1e-20F, 1e-41F};
  const std::vector<float> expected = results_of(*formula, a, b).value();
  EXPECT_GT(expected[0], 0) << "a denormal number";
  const test::ModelEnvironment environment;
  EXPECT_EQ(results_of(*formula, a, b).value(), expected);
}

/// A missing result of an expression is a missing value of those that compute with it, whatever
/// they do with it.
TEST(ServerFormula, ComputesStepByStep) {
  wire::FormulaDefinition formula = product();
  formula.steps = {{"x0/x1", {0, 1}}, {"x0 - x1*x2", {2, 0, 2}}};
  if (expression::has_muparser()) formula.steps.push_back({"x0 > 1 ? x1 : 0", {1, 3}});
  const auto served = ServedFormula::make(formula, variable_of(Type::float32)).value();
  const auto found = results_of(*served, {6, 0}, {3, 0}).value();
  EXPECT_EQ(found[0], 2 - 6 * 2);
  EXPECT_EQ(found[1], 9.9692099683868690e+36F) << "0/0 is missing, also where a condition does not use it";
}

TEST(ServerFormula, RefusesStepsThatUseLaterOnes) {
  for (const std::uint32_t later : {2U, 3U, 1000U}) {
    wire::FormulaDefinition formula = product();
    formula.steps = {{"x0/x1", {0, later}}, {"x0*x1", {2, 1}}};
    EXPECT_FALSE(ServedFormula::make(formula, variable_of(Type::float32))) << later;
  }
  wire::FormulaDefinition none = product();
  none.steps.clear();
  EXPECT_FALSE(ServedFormula::make(none, variable_of(Type::float32)));
}

TEST(ServerFormula, NamesHowManyValuesDoNotFit) {
  const auto formula = ServedFormula::make(product(), variable_of(Type::float32)).value();
  const auto refused = results_of(*formula, {1e30F, 1, 1e38F}, {1e30F, 1, 1e38F});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("2 values of an expression do not fit into float32"));
}

TEST(ServerFormula, IsOfFloatingPoint) {
  const auto refused = ServedFormula::make(product(), variable_of(Type::int32));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_type);
  EXPECT_EQ(refused.error().variable, "w");
}

TEST(ServerFormula, AnOperandIsHandedOverOnceInAStep) {
  const auto formula = ServedFormula::make(product(), variable_of(Type::float32)).value();
  std::pmr::monotonic_buffer_resource memory;
  PieceOperands operands(*formula, 2, memory);
  const std::vector<float> values{1, 2};
  const std::byte* const sample = std::as_bytes(std::span(values)).data();
  EXPECT_TRUE(operands.take(1, sample));
  EXPECT_FALSE(operands.are_there());
  EXPECT_FALSE(operands.take(1, sample))
      << "the samples of another step would be taken for those of this one";
  EXPECT_TRUE(operands.take(0, sample));
  EXPECT_TRUE(operands.are_there());
  operands.begin_step();
  EXPECT_TRUE(operands.take(1, sample));
}

/// Workers use the same formula for different pieces.
TEST(ThreadServerFormula, ComputesInSeveralWorkers) {
  wire::FormulaDefinition formula = product();
  if (expression::has_muparser()) formula.steps[0].text = "x0 > 100 ? exp(x1/1000) : x0*x1";
  const auto served = ServedFormula::make(formula, variable_of(Type::float32)).value();
  std::vector<float> a(20000);
  std::iota(a.begin(), a.end(), 0.0F);
  const std::vector<float> expected = results_of(*served, a, a).value();
  std::vector<std::vector<float>> found(4);
  {
    std::vector<std::jthread> workers;
    for (std::vector<float>& mine : found)
      workers.emplace_back([&] {
        for (int i = 0; i < 5; ++i) mine = results_of(*served, a, a).value();
      });
  }
  for (const std::vector<float>& mine : found) EXPECT_EQ(mine, expected);
}

}  // namespace
}  // namespace afterbay::server
