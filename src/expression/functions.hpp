// SPDX-License-Identifier: Apache-2.0
// The functions of expressions: one table.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/statistic.hpp"

namespace afterbay::expression {

/// Has one of the three pointers, or is only a reduction. `min` and `max` are both.
struct Function {
  std::string_view name;
  std::optional<statistics::StatisticKind> reduction =
      {};                                           ///< over time, with one argument and perhaps a period
  double (*one)(double) = nullptr;                  ///< function of one argument
  double (*two)(double, double) = nullptr;          ///< function of two arguments
  double (*several)(const double*, int) = nullptr;  ///< function of two or more arguments

  [[nodiscard]] bool is_pointwise() const noexcept {
    return one != nullptr || two != nullptr || several != nullptr;
  }
};

/// Sorted by name.
std::span<const Function> functions();
/// The row in functions().
std::optional<std::size_t> find_function(std::string_view name);
std::vector<std::string> function_names();

/// x^y: products for the exponents 2, 3 and 4, else std::pow.
double power(double x, double y);

}  // namespace afterbay::expression
