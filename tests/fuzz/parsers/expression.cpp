// SPDX-License-Identifier: Apache-2.0
#include "expression/expression.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/nodes.hpp"
#include "expression/units.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t points = 300;  // more than a strip

/// Ends the program if an expression that was accepted has not the properties that follow.
void expect_of_expression(bool holds) {
  if (!holds) std::abort();
}

void check_formula(const expression::Formula& formula) {
  const auto nodes = expression::nodes_of(formula.text);
  expect_of_expression(nodes && expression::text_of(*nodes) == formula.text);
  auto evaluator = expression::Evaluator::create(formula);
  if (!evaluator) return;
  constexpr double values[] = {0, 1, -2.5, 1e308, -1e-320, std::numeric_limits<double>::quiet_NaN(), 3};
  std::vector<std::vector<double>> columns(formula.operands.size(), std::vector<double>(points));
  std::vector<const double*> operands;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (std::size_t i = 0; i < points; ++i) columns[k][i] = values[(i + k) % std::size(values)];
    operands.push_back(columns[k].data());
  }
  std::vector<double> whole(points);
  evaluator->run(operands, whole.data(), points);
  for (std::size_t i = 0; i < points; i += 23) {
    std::vector<const double*> here;
    bool missing = false;
    for (const double* const operand : operands) {
      here.push_back(operand + i);
      missing = missing || operand[i] != operand[i];
    }
    double alone = 0;
    evaluator->run(here, &alone, 1);
    expect_of_expression(std::bit_cast<std::uint64_t>(alone) == std::bit_cast<std::uint64_t>(whole[i]));
    expect_of_expression(!missing || alone != alone);
  }
}

void parse_expression_line(std::string_view line) {
  const auto expression = expression::parse(line);
  if (!expression) {
    static_cast<void>(expression::conversion(line, "K"));
    return;
  }
  static_cast<void>(expression->fields());
  for (std::size_t i = 0; i < expression->reductions.size(); ++i) {
    const auto& argument = expression->reductions[i].argument;
    for (const auto& operand : argument.operands)
      expect_of_expression(operand.kind == expression::Operand::Kind::field || operand.reduction < i);
    check_formula(argument);
  }
  check_formula(expression->result);
}

}  // namespace

void parse_expression(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    parse_expression_line(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_expression);
