// SPDX-License-Identifier: Apache-2.0
#include "expression/evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <thread>

#include "expression/kernel.hpp"
#include "foreign_locale.hpp"
#include "random_expression.hpp"

namespace afterbay::expression {
namespace {

using test::RandomTrees;
using test::Tree;
using Columns = std::vector<std::vector<double>>;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

Evaluator evaluator_of(const Formula& formula) {
  auto result = Evaluator::create(formula);
  EXPECT_TRUE(result) << formula.text << ": " << (result ? "" : result.error().message);
  return *std::move(result);
}

std::vector<const double*> pointers(const Columns& columns, std::size_t offset = 0) {
  std::vector<const double*> all;
  for (const auto& column : columns) all.push_back(column.data() + offset);
  return all;
}

/// The values of a pointwise expression; columns in the order of its fields.
std::vector<double> values(const std::string& text, const Columns& columns) {
  const auto expression = parse(text);
  EXPECT_TRUE(expression) << text << ": " << (expression ? "" : expression.error().message);
  if (!expression) return {};
  std::vector<double> to(columns.empty() ? 1 : columns[0].size());
  evaluator_of(expression->result).run(pointers(columns), to.data(), to.size());
  return to;
}

double value(const std::string& text, const std::vector<double>& fields = {}) {
  Columns columns;
  for (const double it : fields) columns.push_back({it});
  return values(text, columns)[0];
}

/// Values of all kinds, small whole numbers among them, so that comparisons are true now and then.
Columns random_columns(unsigned seed, std::size_t columns, std::size_t points) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 100);
  Columns all(columns);
  for (auto& column : all)
    for (std::size_t i = 0; i < points; ++i) {
      const unsigned kind = random() % 16;
      const double special[] = {nan_value, infinity, -infinity, -0.0, 0.0, 5e-324, 1e308};
      column.push_back(kind < 7 && random() % 4 == 0 ? special[kind]
                       : kind < 12                   ? std::floor(normal(random) / 50)
                                                     : normal(random));
    }
  return all;
}

/// Random expressions against the evaluation of their trees.
void compare_with_trees(bool only_arithmetic) {
  constexpr std::size_t points = 300;
  RandomTrees trees(only_arithmetic ? 1 : 2, 3, only_arithmetic);
  std::size_t numbers = 0;
  for (unsigned round = 0; round < 300; ++round) {
    const Tree tree = trees.tree(1 + static_cast<int>(round % 6));
    const std::string text = RandomTrees::text(tree);
    if (text.size() > most_characters) continue;
    SCOPED_TRACE(text);
    const auto expression = parse(text);
    ASSERT_TRUE(expression) << expression.error().message;
    const Columns columns = random_columns(round, 3, points);
    std::vector<const double*> used;
    for (const std::string& name : expression->fields()) used.push_back(columns[name[1] - '0'].data());
    std::vector<double> to(points);
    evaluator_of(expression->result).run(used, to.data(), points);
    for (std::size_t i = 0; i < points; ++i) {
      const double fields[] = {columns[0][i], columns[1][i], columns[2][i]};
      double wanted = RandomTrees::value(tree, fields);
      for (const double* const column : used) wanted = std::isnan(column[i]) ? nan_value : wanted;
      if (std::isnan(wanted)) wanted = nan_value;
      ASSERT_EQ(bits(to[i]), bits(wanted)) << "point " << i << ": " << fields[0] << " " << fields[1] << " "
                                           << fields[2] << ": " << to[i] << " instead of " << wanted;
      numbers += std::isnan(wanted) ? 0 : 1;
    }
  }
  EXPECT_GT(numbers, points * 100);
}

TEST(ExpressionEvaluator, RandomArithmetic) { compare_with_trees(true); }

TEST(ExpressionEvaluator, RandomExpressions) {
  if (!has_muparser()) GTEST_SKIP() << "this build has no muParser";
  compare_with_trees(false);
}

TEST(ExpressionEvaluator, BothKernelsGiveTheSameBits) {
  if (!has_muparser()) GTEST_SKIP() << "this build has no muParser";
  constexpr std::size_t points = statistics::strip_points;
  RandomTrees trees(3, 3, true);
  for (unsigned round = 0; round < 200; ++round) {
    const auto expression = parse(RandomTrees::text(trees.tree(5)));
    ASSERT_TRUE(expression) << expression.error().message;
    const auto nodes = nodes_of(expression->result.text);
    ASSERT_TRUE(nodes);
    const std::size_t operands = expression->result.operands.size();
    const auto direct = direct_kernel(*nodes);
    ASSERT_NE(direct, nullptr);
    const auto muparser = muparser_kernel(*nodes, operands);
    ASSERT_TRUE(muparser) << muparser.error().message;
    const Columns columns = random_columns(round, operands, points);
    const double* const a = direct->run(pointers(columns), 0, points);
    const double* const b = (*muparser)->run(pointers(columns), 0, points);
    for (std::size_t i = 0; i < points; ++i)
      ASSERT_TRUE(bits(a[i]) == bits(b[i]) || (std::isnan(a[i]) && std::isnan(b[i])))
          << expression->result.text << " at " << i << ": " << a[i] << ", " << b[i];
  }
}

TEST(ExpressionEvaluator, PlainArithmeticNeedsNoMuparser) {
  for (const char* text : {"x0*x1", "sqrt(x0^2 + x1^2)", "-x0/3 + abs(x1)^4 - sqr(x0)^3", "x0", "1.5"})
    EXPECT_NE(direct_kernel(*nodes_of(text)), nullptr) << text;
  for (const char* text : {"sin(x0)", "x0^0.5", "x0^x1", "x0 > 1", "x0 ? 1 : 2", "!x0", "min(x0, x1)"})
    EXPECT_EQ(direct_kernel(*nodes_of(text)), nullptr) << text;
}

TEST(ExpressionEvaluator, WithoutMuparserTheRestIsRefused) {
  if (has_muparser()) GTEST_SKIP() << "this build has muParser";
  const auto result = Evaluator::create({"sin(x0)", {{}}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              testing::HasSubstr("install muParser (Debian's package libmuparser-dev)"));
}

TEST(ExpressionEvaluator, Functions) {
  if (!has_muparser()) GTEST_SKIP() << "this build has no muParser";
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("pow(2, 10)"), 1024);
  EXPECT_EQ(value("sqr(a)", {-3}), 9);
  EXPECT_EQ(value("log(a) - ln(a)", {5}), 0);
  EXPECT_EQ(value("log10(1000) + log2(8)"), 6);
  EXPECT_EQ(value("round(2.5) + floor(-1.5) + ceil(1.2)"), 3 - 2 + 2);
  EXPECT_EQ(value("sign(-3) + 10*sign(2) + 100*sign(0)"), 9);
  EXPECT_EQ(value("atan2(1, -1)"), std::atan2(1, -1));
  EXPECT_EQ(value("asinh(a) + acosh(b) + atanh(c)", {0.5, 1.5, 0.25}),
            std::asinh(0.5) + std::acosh(1.5) + std::atanh(0.25));
  EXPECT_EQ(value("asin(a)*acos(a)*atan(a)", {0.5}), std::asin(0.5) * std::acos(0.5) * std::atan(0.5));
  EXPECT_EQ(value("sinh(a)*cosh(a)*tan(a)*cos(a)", {0.5}),
            std::sinh(0.5) * std::cosh(0.5) * std::tan(0.5) * std::cos(0.5));
  EXPECT_EQ(value("min(a, b, 1) + max(a, b)", {3, -2}), 1);
  EXPECT_EQ(value("(a > 0) + 2*(a <= 0) + 4*(a == 3) + 8*(a != 3)", {3}), 5);
  EXPECT_EQ(value("!a + 2*!!a", {3}), 2);
  EXPECT_EQ(value("a && b || !b", {3, 0}), 1);
  EXPECT_EQ(value("a > 0 ? b : c", {1, 10, 20}), 10);
  EXPECT_EQ(value("a > 0 ? b : c", {-1, 10, 20}), 20);
  EXPECT_EQ(value("pi"), 3.141592653589793);
}

TEST(ExpressionEvaluator, MissingIfAnyOperandIs) {
  if (!has_muparser()) GTEST_SKIP() << "this build has no muParser";
  const double other_nan = std::bit_cast<double>(std::uint64_t{0xfff8000000000abcULL});
  for (const char* text : {"a > 0 ? b : c", "a > 100 || b > 0 || c > 0", "a*0 + b + c", "a^0 + b + c",
                           "max(a, b) + c", "(a != a) + b + c", "0*(a + b + c)", "1^a + b + c"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(std::isnan(value(text, {1, 2, 3})));
    for (int which = 0; which < 3; ++which)
      for (const double missing : {nan_value, -nan_value, other_nan}) {
        std::vector<double> fields{1, 2, 3};
        fields[static_cast<std::size_t>(which)] = missing;
        EXPECT_EQ(bits(value(text, fields)), bits(nan_value));
      }
  }
}

TEST(ExpressionEvaluator, NoNumberIsMissingInfinityIsNot) {
  EXPECT_EQ(bits(value("a/b", {0, 0})), bits(nan_value));
  EXPECT_EQ(bits(value("sqrt(a)", {-1})), bits(nan_value));
  EXPECT_EQ(bits(value("a - b", {infinity, infinity})), bits(nan_value));
  EXPECT_EQ(value("a/b", {1, 0}), infinity);
  EXPECT_EQ(value("a*b", {1e300, -1e300}), -infinity);
  if (!has_muparser()) return;
  EXPECT_EQ(bits(value("log(a)", {-1})), bits(nan_value));
  EXPECT_EQ(value("log(a)", {0}), -infinity);
  EXPECT_EQ(bits(value("max(a, 0/a)", {0})), bits(nan_value));
}

TEST(ExpressionEvaluator, TheSameBitsHoweverPointsAreCut) {
  const std::size_t points = 3 * statistics::strip_points + 17;
  const Columns columns = random_columns(7, 2, points);
  for (const char* text : {"sqrt(a^2 + b^2)/3 - a*b", "exp(a/100)*sin(b) + (a > b ? 1 : a^1.5)"}) {
    if (std::string_view(text).find("sin") != std::string_view::npos && !has_muparser()) continue;
    const std::vector<double> whole = values(text, columns);
    Evaluator evaluator = evaluator_of(parse(text)->result);
    for (const std::size_t cut :
         {std::size_t{1}, std::size_t{7}, std::size_t{255}, std::size_t{256}, std::size_t{500}}) {
      std::vector<double> to(points);
      for (std::size_t begin = 0; begin < points; begin += cut)
        evaluator.run(pointers(columns, begin), to.data() + begin, std::min(cut, points - begin));
      for (std::size_t i = 0; i < points; ++i) ASSERT_EQ(bits(to[i]), bits(whole[i])) << text << " " << cut;
    }
  }
}

TEST(ExpressionEvaluator, TheResultMayReplaceAnOperand) {
  Columns columns = random_columns(8, 2, 1000);
  const std::vector<double> wanted = values("a*b - a", columns);
  Evaluator evaluator = evaluator_of(parse("a*b - a")->result);
  evaluator.run(pointers(columns), columns[0].data(), 1000);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(bits(columns[0][i]), bits(wanted[i]));
}

TEST(ExpressionEvaluator, IgnoresTheModelsRounding) {
  const double nearest = value("a/b", {1, 3});
  std::fesetround(FE_UPWARD);
  const double up = value("a/b", {1, 3});
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(bits(up), bits(nearest));
  EXPECT_EQ(mode, FE_UPWARD);
}

TEST(ExpressionEvaluator, NumbersDoNotDependOnTheLocale) {
  const ForeignLocale locale;
  if (!locale.is_set()) GTEST_SKIP() << "this system has no locale with decimal commas";
  EXPECT_EQ(value("0.5*a", {3}), 1.5);
  if (has_muparser()) {
    EXPECT_EQ(value("max(0.5*a, 1.25)", {3}), 1.5);
  }
}

TEST(ExpressionEvaluator, NoPointsAndNoOperands) {
  Evaluator constant = evaluator_of(parse("1.5 + 2")->result);
  std::vector<double> to(600, 0);
  constant.run({}, to.data(), to.size());
  EXPECT_THAT(to, testing::Each(3.5));
  constant.run({}, nullptr, 0);
}

TEST(ExpressionEvaluator, LongAndDeepFormulas) {
  std::string sum = "a";
  for (int i = 0; i < 3000; ++i) sum += "+a";
  EXPECT_EQ(value(sum, {1}), 3001);
  std::string nested = "a";
  for (int i = 0; i < 190; ++i) nested = "1+(" + nested + ")";
  EXPECT_EQ(value(nested, {1}), 191);
  if (!has_muparser()) return;
  for (int i = 0; i < 9; ++i) nested = "abs(" + nested + ")";
  EXPECT_EQ(value("sin(a)*0 + " + nested, {1}), 191);
  std::string ones = "sin(a)";
  for (int i = 0; i < 3900; ++i) ones += "+1";
  const auto refused = Evaluator::create(parse(ones)->result);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::StartsWith("muParser cannot evaluate the expression: "));
}

TEST(ExpressionEvaluator, RefusesWhatIsNoFormula) {
  EXPECT_FALSE(Evaluator::create({"x0 +", {{}}}));
  const auto result = Evaluator::create({"x0*x1", {{}}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("has more operands than the 1 that are given"));
}

TEST(ThreadExpressionEvaluator, EvaluatorsOfSeveralThreads) {
  const std::string text = has_muparser() ? "exp(a/100)*b - (a > b)" : "a*b - a/3";
  const Columns columns = random_columns(9, 2, 2000);
  const std::vector<double> wanted = values(text, columns);
  std::vector<std::jthread> threads;
  std::vector<int> differ(4, -1);
  for (int& differences : differ)
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const std::vector<double> found = values(text, columns);
        differences = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
          differences += bits(found[i]) != bits(wanted[i]) ? 1 : 0;
      }
    });
  threads.clear();
  EXPECT_THAT(differ, testing::Each(0));
}

}  // namespace
}  // namespace afterbay::expression
