// SPDX-License-Identifier: Apache-2.0
// Expressions of derived fields, as in output descriptions: sqrt(uas^2 + vas^2), mean(max(tas,
// 1d)). The grammar is described in docs/reference/expressions.md. Pure values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"
#include "statistics/statistic.hpp"

namespace afterbay::expression {

/// Bounds of what is parsed; longer or deeper texts are refused.
inline constexpr std::size_t most_characters = 8000;
/// Nesting of parentheses, arguments, signs, exponents and ?:.
inline constexpr std::size_t most_depth = 200;

/// What a formula computes with.
struct Operand {
  enum class Kind : std::uint8_t { field, reduction };
  Kind kind = Kind::field;
  std::string field;          ///< the name of a field; empty for a reduction
  std::size_t reduction = 0;  ///< index in Expression::reductions
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// A computation point by point: no reductions.
struct Formula {
  /// In the grammar of expressions, with operands named by position: "sqrt(x0^2 + x1^2)".
  std::string text;
  /// Operands in the order of their first use, each once. Empty for constants.
  std::vector<Operand> operands;
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// A reduction of a formula, over time or over dimensions of its fields.
struct Reduction {
  statistics::StatisticKind kind = statistics::StatisticKind::mean;
  std::vector<std::string> over;  ///< names of dimensions, each once; empty: over time
  /// Over dimensions: a coordinate that numbers regions from 1, and the dimension of the regions;
  /// empty: there is one result.
  std::string by;
  std::string along;
  std::optional<Period> period;  ///< over time: longer than 0; unset: that of the file
  Formula argument;
  std::string text;  ///< as written, for messages: "max(tas, 1d)", "mean(toce over lev)"
  [[nodiscard]] bool is_over_time() const noexcept { return over.empty(); }
};

/// An expression, taken apart: reductions first, then a formula of fields and of reductions.
struct Expression {
  /// Each one uses only earlier ones. Equal reductions occur once. Whether the period of a
  /// reduction fits those inside it is not checked here.
  std::vector<Reduction> reductions;
  Formula result;

  /// Whether there are no reductions.
  [[nodiscard]] bool is_pointwise() const noexcept { return reductions.empty(); }
  /// Names of all fields in the order of their first use, each once.
  [[nodiscard]] std::vector<std::string> fields() const;
};

/// Fails with invalid_argument, for an unknown function with unknown_name. The message begins with
/// the place: "column 7 of the expression: ...", counted from 1. Numbers do not depend on the
/// locale.
Result<Expression> parse(std::string_view text);

}  // namespace afterbay::expression
