// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <string>

#include "expression/expression.hpp"
#include "expression/functions.hpp"
#include "expression/nodes.hpp"

namespace afterbay::expression {
namespace {

using statistics::StatisticKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Expression parsed(const std::string& text) {
  auto result = parse(text);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().message);
  return result ? *std::move(result) : Expression();
}

/// The formula of the result: its structure, without blanks and with as few parentheses as
/// possible.
std::string text(const std::string& expression) { return parsed(expression).result.text; }

std::string refusal(const std::string& expression) {
  const auto result = parse(expression);
  return result ? "accepted" : result.error().message;
}

std::string names(const Formula& formula) {
  std::string all;
  for (const Operand& it : formula.operands)
    all += (all.empty() ? "" : " ") +
           (it.kind == Operand::Kind::field ? it.field : "#" + std::to_string(it.reduction));
  return all;
}

TEST(ExpressionParse, FieldsBecomeOperandsByPosition) {
  const Expression it = parsed("sqrt(uas^2 + vas^2)*uas");
  EXPECT_TRUE(it.is_pointwise());
  EXPECT_EQ(it.result.text, "sqrt(x0^2 + x1^2)*x0");
  EXPECT_EQ(names(it.result), "uas vas");
  EXPECT_THAT(it.fields(), ElementsAre("uas", "vas"));
}

TEST(ExpressionParse, Precedence) {
  EXPECT_EQ(text("a+b*c"), "x0 + x1*x2");
  EXPECT_EQ(text("(a+b)*c"), "(x0 + x1)*x2");
  EXPECT_EQ(text("a-b-c"), "x0 - x1 - x2");
  EXPECT_EQ(text("a-(b-c)"), "x0 - (x1 - x2)");
  EXPECT_EQ(text("a/b*c"), "x0/x1*x2");
  EXPECT_EQ(text("a/(b*c)"), "x0/(x1*x2)");
  EXPECT_EQ(text("a^b^c"), "x0^x1^x2");
  EXPECT_EQ(text("a^(b^c)"), "x0^x1^x2");
  EXPECT_EQ(text("(a^b)^c"), "(x0^x1)^x2");
  EXPECT_EQ(text("-a^2"), "-x0^2");
  EXPECT_EQ(text("-(a^2)"), "-x0^2");
  EXPECT_EQ(text("(-a)^2"), "(-x0)^2");
  EXPECT_EQ(text("a^-b^c"), "x0^-x1^x2");
  EXPECT_EQ(text("a**2"), "x0^2");
  EXPECT_EQ(text("2*-a - -b"), "2*-x0 - -x1");
  EXPECT_EQ(text("+a - +b"), "x0 - x1");
  EXPECT_EQ(text("a < b && c >= d || !e == f"), "x0 < x1 && x2 >= x3 || !x4 == x5");
  EXPECT_EQ(text("a && (b || c)"), "x0 && (x1 || x2)");
  EXPECT_EQ(text("(a < b) == (c < d)"), "(x0 < x1) == (x2 < x3)");
  EXPECT_EQ(text("a+b < c*d"), "x0 + x1 < x2*x3");
  EXPECT_EQ(text("a > 0 ? b : c"), "x0 > 0 ? x1 : x2");
  EXPECT_EQ(text("a ? b : c ? d : e"), "x0 ? x1 : x2 ? x3 : x4");
  EXPECT_EQ(text("(a ? b : c) ? d : e"), "(x0 ? x1 : x2) ? x3 : x4");
  EXPECT_EQ(text("a ? b ? c : d : e"), "x0 ? x1 ? x2 : x3 : x4");
  EXPECT_EQ(text("1 + (a ? b : c)"), "1 + (x0 ? x1 : x2)");
}

TEST(ExpressionParse, Numbers) {
  EXPECT_EQ(text("1e-5*a + .5 + 2. + 1.5E+3"), "1e-05*x0 + 0.5 + 2 + 1500");
  EXPECT_EQ(text("0.1 + 1e300"), "0.1 + 1e+300");
  EXPECT_EQ(text("2*pi"), "2*3.141592653589793");
  EXPECT_EQ(refusal("a*1e999"),
            "column 3 of the expression: 1e999 is out of the range of double-precision numbers");
  EXPECT_THAT(refusal("2a"),
              StartsWith("column 1 of the expression: \"2a\" is neither a number nor the name"));
  EXPECT_THAT(
      refusal("2t - 273.15"),
      HasSubstr("the model must define it under another one, and units, multiply and add convert it"));
  EXPECT_THAT(refusal("0x1f"), HasSubstr("\"0x1f\" is neither a number"));
  EXPECT_THAT(refusal("1.2.3"), HasSubstr("\"1.2.3\" is neither a number"));
  EXPECT_THAT(refusal("sqrt(a, 1d)"), HasSubstr("column 9 of the expression: \"1d\" is neither a number"));
}

TEST(ExpressionParse, NumbersDoNotDependOnRoundingMode) {
  std::fesetround(FE_UPWARD);
  const auto up = parse("0.1");
  std::fesetround(FE_TONEAREST);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->result.text, "0.1");
}

TEST(ExpressionParse, NamesOfFunctionsCanBeFields) {
  const Expression it = parsed("mean + max*q.850 - _x1 + log (min)");
  EXPECT_TRUE(it.is_pointwise());
  EXPECT_EQ(it.result.text, "x0 + x1*x2 - x3 + log(x4)");
  EXPECT_THAT(it.fields(), ElementsAre("mean", "max", "q.850", "_x1", "min"));
}

TEST(ExpressionParse, ReductionsComeFirst) {
  const Expression it = parsed("mean(toce*e3t) / mean(e3t)");
  EXPECT_FALSE(it.is_pointwise());
  ASSERT_EQ(it.reductions.size(), 2U);
  EXPECT_EQ(it.reductions[0].kind, StatisticKind::mean);
  EXPECT_FALSE(it.reductions[0].period);
  EXPECT_EQ(it.reductions[0].argument.text, "x0*x1");
  EXPECT_EQ(names(it.reductions[0].argument), "toce e3t");
  EXPECT_EQ(it.reductions[0].text, "mean(toce*e3t)");
  EXPECT_EQ(it.reductions[1].argument.text, "x0");
  EXPECT_EQ(names(it.reductions[1].argument), "e3t");
  EXPECT_EQ(it.result.text, "x0/x1");
  EXPECT_EQ(names(it.result), "#0 #1");
  EXPECT_THAT(it.fields(), ElementsAre("toce", "e3t"));
}

TEST(ExpressionParse, ReductionsInReductions) {
  const Expression it = parsed("tos - mean( max(tas - x, 1d6h) + min(x,12h) ,1mo)^2");
  ASSERT_EQ(it.reductions.size(), 3U);
  EXPECT_EQ(it.reductions[0].kind, StatisticKind::maximum);
  EXPECT_EQ(it.reductions[0].period, Period::parse("1d6h"));
  EXPECT_EQ(it.reductions[0].text, "max(tas - x, 1d6h)");
  EXPECT_EQ(it.reductions[1].kind, StatisticKind::minimum);
  EXPECT_EQ(it.reductions[2].kind, StatisticKind::mean);
  EXPECT_EQ(it.reductions[2].period, Period::parse("1mo"));
  EXPECT_EQ(it.reductions[2].argument.text, "x0 + x1");
  EXPECT_EQ(names(it.reductions[2].argument), "#0 #1");
  EXPECT_EQ(it.result.text, "x0 - x1^2");
  EXPECT_EQ(names(it.result), "tos #2");
  EXPECT_THAT(it.fields(), ElementsAre("tos", "tas", "x"));
}

TEST(ExpressionParse, EqualReductionsOccurOnce) {
  const Expression it = parsed("mean(a)^2 + mean( a ) + mean(b) + mean(a, 1d) + sum(a)");
  EXPECT_EQ(it.reductions.size(), 4U);
  EXPECT_EQ(it.result.text, "x0^2 + x0 + x1 + x2 + x3");
}

TEST(ExpressionParse, AllOperations) {
  const auto operation = [](const std::string& name) {
    const Expression it = parsed(name + "(a)");
    return it.reductions.size() == 1 ? it.reductions[0].kind : StatisticKind();
  };
  EXPECT_EQ(operation("mean"), StatisticKind::mean);
  EXPECT_EQ(operation("sum"), StatisticKind::sum);
  EXPECT_EQ(operation("min"), StatisticKind::minimum);
  EXPECT_EQ(operation("max"), StatisticKind::maximum);
  EXPECT_EQ(operation("range"), StatisticKind::range);
  EXPECT_EQ(operation("stddev"), StatisticKind::standard_deviation);
  EXPECT_EQ(operation("rate"), StatisticKind::rate);
  EXPECT_EQ(operation("difference"), StatisticKind::difference);
  EXPECT_EQ(operation("instant"), StatisticKind::instant);
  EXPECT_EQ(operation("once"), StatisticKind::once);
}

TEST(ExpressionParse, MinimumOfTwoValuesIsPointwise) {
  EXPECT_EQ(text("min(a, 2)"), "min(x0, 2)");
  EXPECT_EQ(text("max(a, 1e5, b, -c)"), "max(x0, 100000, x1, -x2)");
  EXPECT_EQ(text("max(a, 2*b)"), "max(x0, 2*x1)");
  EXPECT_EQ(parsed("max(min(a, b), 1ts)").reductions[0].argument.text, "min(x0, x1)");
  EXPECT_EQ(refusal("max(a, b, 1d)"),
            "column 11 of the expression: with the period 1d this is a reduction over time, which takes one "
            "argument: write max(max(a, b), 1d)");
}

TEST(ExpressionParse, Periods) {
  EXPECT_EQ(parsed("mean(a, 1.5 h)").reductions[0].period, Period::parse("90min"));
  EXPECT_THAT(
      refusal("mean(a, 1 fortnight)"),
      StartsWith("column 9 of the expression: \"1 fortnight\" is not a period: \"fortnight\" is not"));
  EXPECT_EQ(refusal("mean(a, 0d)"), "column 9 of the expression: the period of mean must be longer than 0");
  EXPECT_EQ(refusal("mean(a, 1d, b)"), "column 11 of the expression: nothing can follow the period of mean");
  EXPECT_EQ(
      refusal("mean(a, 2)"),
      "column 9 of the expression: mean takes one argument and, if its period is not that of the file, a "
      "period such as 1d, or \"over\" and dimensions, found 2 arguments");
  EXPECT_THAT(refusal("mean(a, b)"), StartsWith("column 9 of the expression: mean takes one argument"));
  EXPECT_THAT(refusal("mean(1d)"), StartsWith("column 6 of the expression: \"1d\" is neither a number"));
}

TEST(ExpressionParse, Dimensions) {
  const Expression it = parsed("sum(a*b over lev) / sum(b over lev , x.1) + mean(max(a over lev), 1d)");
  ASSERT_EQ(it.reductions.size(), 4U);
  EXPECT_THAT(it.reductions[0].over, ElementsAre("lev"));
  EXPECT_EQ(it.reductions[0].kind, StatisticKind::sum);
  EXPECT_EQ(it.reductions[0].text, "sum(a*b over lev)");
  EXPECT_THAT(it.reductions[1].over, ElementsAre("lev", "x.1"));
  EXPECT_FALSE(it.reductions[2].is_over_time());
  EXPECT_TRUE(it.reductions[3].is_over_time());
  EXPECT_EQ(it.reductions[3].period, Period::parse("1d"));
  EXPECT_THAT(it.fields(), ElementsAre("a", "b")) << "names of dimensions are not fields";
  EXPECT_EQ(parsed("mean(a over x) + mean(a over y) + mean(a) + mean(a over x)").reductions.size(), 3U);
  EXPECT_THAT(parsed("mean(over over over)").reductions[0].over, ElementsAre("over"));
  EXPECT_EQ(parsed("max(overland, a)").reductions.size(), 0U);
  EXPECT_THAT(refusal("mean(a over)"),
              StartsWith("column 12 of the expression: expected the name of a dimension, found \")\""));
  EXPECT_THAT(refusal("mean(a over lev, 1d)"),
              StartsWith("column 18 of the expression: a reduction over dimensions has no period: write "
                         "mean(mean(x over lev), 1d)"));
  EXPECT_EQ(refusal("mean(a over x, x)"), "column 16 of the expression: the dimension \"x\" is named twice");
  EXPECT_THAT(refusal("rate(a over x)"), HasSubstr("over time only"));
  EXPECT_THAT(refusal("sqrt(a over x)"), HasSubstr("found \"over\""));
  EXPECT_THAT(refusal("max(a, b over x)"), HasSubstr("found \"over\""));
}

TEST(ExpressionParse, Regions) {
  const Expression it = parsed("mean(a over x, y by basin along region) / mean(a over x, y)");
  ASSERT_EQ(it.reductions.size(), 2U);
  EXPECT_THAT(it.reductions[0].over, ElementsAre("x", "y"));
  EXPECT_EQ(it.reductions[0].by, "basin");
  EXPECT_EQ(it.reductions[0].along, "region");
  EXPECT_EQ(it.reductions[0].text, "mean(a over x, y by basin along region)");
  EXPECT_EQ(it.reductions[1].by, "");
  EXPECT_THAT(it.fields(), ElementsAre("a")) << "a coordinate is not a field";
  EXPECT_THAT(parsed("mean(by over by by by along along)").reductions[0].by, "by");
  EXPECT_EQ(parsed("sum(a over x by b along r) + sum(a over x by b along r) + sum(a over x by c along r)")
                .reductions.size(),
            2U);
  EXPECT_THAT(refusal("mean(a over x by)"),
              HasSubstr("expected the name of a coordinate that numbers regions"));
  EXPECT_THAT(refusal("mean(a over x by b)"),
              HasSubstr("expected \"along\" and the dimension of the regions"));
  EXPECT_THAT(refusal("mean(a over x by b along)"), HasSubstr("expected the name of a dimension"));
  EXPECT_THAT(refusal("mean(a over x by b along x)"), HasSubstr("is reduced, and cannot be that of regions"));
  EXPECT_THAT(refusal("mean(a by b along r)"), HasSubstr("found \"by\""));
}

TEST(ExpressionParse, ProblemsNameTheirPlace) {
  EXPECT_EQ(refusal(""), "the expression is empty");
  EXPECT_EQ(refusal(" \t"), "the expression is empty");
  EXPECT_EQ(refusal("a +"),
            "column 4 of the expression: expected a number, a field, a function or \"(\", but the "
            "expression ends here");
  EXPECT_EQ(refusal("a + * b"),
            "column 5 of the expression: expected a number, a field, a function or \"(\", found "
            "\"*\"");
  EXPECT_EQ(refusal("a bc"), "column 3 of the expression: expected an operator, found \"bc\"");
  EXPECT_EQ(refusal("a, b"), "column 2 of the expression: expected an operator, found \",\"");
  EXPECT_EQ(refusal("(a + (b)"), "column 1 of the expression: the \"(\" is not closed");
  EXPECT_EQ(refusal("a + b)"), "column 6 of the expression: the \")\" closes nothing");
  EXPECT_EQ(refusal("(a b)"),
            "column 4 of the expression: expected an operator, \",\" or \")\", found \"b\"");
  EXPECT_EQ(refusal("a $ b"), "column 3 of the expression: \"$\" cannot occur in an expression");
  EXPECT_EQ(refusal("a × b"), "column 3 of the expression: \"×\" cannot occur in an expression");
  EXPECT_EQ(refusal(std::string("\0a", 2)),
            "column 1 of the expression: \"\\x00\" cannot occur in an expression");
  EXPECT_EQ(refusal("a = b"), "column 3 of the expression: \"=\" is not an operator; write \"==\"");
  EXPECT_EQ(refusal("a & b"), "column 3 of the expression: \"&\" is not an operator; write \"&&\"");
  EXPECT_EQ(refusal("a < b < c"),
            "column 7 of the expression: comparisons cannot be chained: write \"a < b && b < "
            "c\", or parentheses");
  EXPECT_EQ(refusal("a ? b"),
            "column 6 of the expression: expected an operator or \":\" after the first value of "
            "\"?\", but the expression ends here");
  EXPECT_EQ(refusal("a : b"), "column 3 of the expression: expected an operator, found \":\"");
  EXPECT_EQ(refusal("sqrt()"),
            "column 6 of the expression: expected a number, a field, a function or \"(\", found "
            "\")\"");
  EXPECT_EQ(refusal("sin(a, b)"), "column 8 of the expression: sin takes one argument, found 2 arguments");
  EXPECT_EQ(refusal("1 + atan2(a)"),
            "column 5 of the expression: atan2 takes two arguments, found 1 arguments");
  EXPECT_EQ(refusal("sqr(a) + sqroot(b)"),
            "column 10 of the expression: there is no function \"sqroot\"; did you mean \"sqrt\"?");
  EXPECT_EQ(parse("maen(a)").error().code, ErrorCode::unknown_name);
  EXPECT_THAT(refusal("q(a + b)"), HasSubstr("there is no function \"q\"; functions are abs, acos, "));
}

TEST(ExpressionParse, HostileTextsAreRefused) {
  const auto repeated = [](const std::string& part, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += part;
    return all;
  };
  for (const char* part : {"(", "-", "!", "a^", "sin(", "mean(", "a ? ", "a ? b : ", "min(a, "}) {
    SCOPED_TRACE(part);
    EXPECT_THAT(refusal(repeated(part, 900) + "a"), HasSubstr("it is nested deeper than 200 levels"));
  }
  EXPECT_EQ(refusal(repeated("(", most_depth) + "a" + repeated(")", most_depth)), "accepted");
  EXPECT_THAT(refusal(repeated("(", most_depth + 1) + "a" + repeated(")", most_depth + 1)),
              StartsWith("column 201 of the expression: it is nested deeper"));
  EXPECT_EQ(refusal("a" + repeated("+a", 3999)), "accepted");
  EXPECT_THAT(refusal("a" + repeated("+a", 4000)), HasSubstr("it has 8001 characters; at most 8000"));
}

TEST(ExpressionParse, FormulasReadBack) {
  const std::string sum = "1e15" + [] {
    std::string all;
    for (int i = 0; i < 900; ++i) all += "+1e15*a";
    return all;
  }();
  for (const std::string& it :
       {std::string("-a^-b + (c ? -(d + e) : !f)*2 - min(g, h, 3) <= pow(i, j)"),
        std::string("(a < b) == (c < d)"), std::string("a - (b - c) / (d / e) ^ (f ^ g)"), sum}) {
    const Formula formula = parsed(it).result;
    const auto nodes = nodes_of(formula.text);
    ASSERT_TRUE(nodes) << formula.text;
    EXPECT_EQ(text_of(*nodes), formula.text);
  }
}

TEST(ExpressionParse, FunctionsAreSorted) {
  const std::vector<std::string> all = function_names();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  for (const std::string& name : all) EXPECT_TRUE(find_function(name)) << name;
  EXPECT_FALSE(find_function("zz"));
  EXPECT_FALSE(find_function("SQRT"));
}

}  // namespace
}  // namespace afterbay::expression
