// SPDX-License-Identifier: Apache-2.0
// Formulas as nodes in postfix order: each operation follows its arguments. No recursion is needed
// to use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace afterbay::expression {

enum class Symbol : std::uint8_t {
  number,
  operand,
  negate,
  logical_not,
  power,
  multiply,
  divide,
  add,
  subtract,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  logical_and,
  logical_or,
  choose,  ///< condition ? first : second
  call,
};

struct Node {
  Symbol symbol = Symbol::number;
  double number = 0;
  std::size_t index = 0;      ///< operand: its position; call: the row of functions()
  std::size_t arguments = 0;  ///< number of arguments of a call
};

using Nodes = std::vector<Node>;

/// How an operator is written: "+", "<=", ...; empty if the symbol is not a binary operator.
std::string_view text_of(Symbol symbol) noexcept;
/// Number of arguments.
std::size_t arguments_of(const Node& node) noexcept;

/// In the grammar of expressions with as few parentheses as possible; operands are x0, x1, ...
std::string text_of(std::span<const Node> nodes);

/// The nodes of Formula::text.
Result<Nodes> nodes_of(std::string_view formula);

}  // namespace afterbay::expression
