// SPDX-License-Identifier: Apache-2.0
#include "expression/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/strict_floating_point.hpp"

namespace afterbay::expression {

namespace {

using statistics::StatisticKind;

double squared_value(double x) { return x * x; }

/// -1, 0 or 1; not a number stays so.
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

double smallest(const double* values, int count) {
  double result = values[0];
  for (int i = 1; i < count; ++i)
    if (values[i] < result || std::isnan(values[i])) result = values[i];
  return result;
}

double largest(const double* values, int count) {
  double result = values[0];
  for (int i = 1; i < count; ++i)
    if (values[i] > result || std::isnan(values[i])) result = values[i];
  return result;
}

const std::array function_rows{
    Function{.name = "abs", .one = std::fabs},
    Function{.name = "acos", .one = std::acos},
    Function{.name = "acosh", .one = std::acosh},
    Function{.name = "asin", .one = std::asin},
    Function{.name = "asinh", .one = std::asinh},
    Function{.name = "atan", .one = std::atan},
    Function{.name = "atan2", .two = std::atan2},
    Function{.name = "atanh", .one = std::atanh},
    Function{.name = "ceil", .one = std::ceil},
    Function{.name = "cos", .one = std::cos},
    Function{.name = "cosh", .one = std::cosh},
    Function{.name = "difference", .reduction = StatisticKind::difference},
    Function{.name = "exp", .one = std::exp},
    Function{.name = "floor", .one = std::floor},
    Function{.name = "instant", .reduction = StatisticKind::instant},
    Function{.name = "ln", .one = std::log},
    Function{.name = "log", .one = std::log},
    Function{.name = "log10", .one = std::log10},
    Function{.name = "log2", .one = std::log2},
    Function{.name = "max", .reduction = StatisticKind::maximum, .several = largest},
    Function{.name = "mean", .reduction = StatisticKind::mean},
    Function{.name = "min", .reduction = StatisticKind::minimum, .several = smallest},
    Function{.name = "once", .reduction = StatisticKind::once},
    Function{.name = "pow", .two = power},
    Function{.name = "range", .reduction = StatisticKind::range},
    Function{.name = "rate", .reduction = StatisticKind::rate},
    Function{.name = "round", .one = std::round},
    Function{.name = "sign", .one = sign_of},
    Function{.name = "sin", .one = std::sin},
    Function{.name = "sinh", .one = std::sinh},
    Function{.name = "sqr", .one = squared_value},
    Function{.name = "sqrt", .one = std::sqrt},
    Function{.name = "stddev", .reduction = StatisticKind::standard_deviation},
    Function{.name = "sum", .reduction = StatisticKind::sum},
    Function{.name = "tan", .one = std::tan},
    Function{.name = "tanh", .one = std::tanh},
};

}  // namespace

std::span<const Function> functions() { return function_rows; }

std::optional<std::size_t> find_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(function_rows, name, {}, &Function::name);
  if (found == function_rows.end() || found->name != name) return std::nullopt;
  return static_cast<std::size_t>(found - function_rows.begin());
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& row : function_rows) names.emplace_back(row.name);
  return names;
}

double power(double x, double y) {
  if (y == 2) return x * x;
  if (y == 3) return x * x * x;
  if (y == 4) return (x * x) * (x * x);
  return std::pow(x, y);
}

}  // namespace afterbay::expression
