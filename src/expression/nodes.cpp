// SPDX-License-Identifier: Apache-2.0
#include "expression/nodes.hpp"

#include <array>
#include <utility>

#include "expression/functions.hpp"

namespace afterbay::expression {

namespace {

/// How tightly the outermost operation of a text binds.
struct Binding {
  enum Level : int { ternary, disjunction, conjunction, comparison, sum, product, prefix, exponent, primary };
};

struct Written {
  std::string text;
  int binding = Binding::primary;
};

int binding_of(Symbol symbol) noexcept {
  switch (symbol) {
    case Symbol::logical_or: return Binding::disjunction;
    case Symbol::logical_and: return Binding::conjunction;
    case Symbol::add:
    case Symbol::subtract: return Binding::sum;
    case Symbol::multiply:
    case Symbol::divide: return Binding::product;
    case Symbol::power: return Binding::exponent;
    default: return Binding::comparison;
  }
}

std::string in_parentheses_below(int least, Written part) {
  return part.binding < least ? fmt::format("({})", part.text) : std::move(part.text);
}

Written written_binary(Symbol symbol, Written left, Written right) {
  const int binding = binding_of(symbol);
  int least_left = binding;
  int least_right = binding + 1;
  if (symbol == Symbol::power) {  // groups from the right, and its exponent may have a sign
    least_left = Binding::primary;
    least_right = Binding::prefix;
  } else if (binding == Binding::comparison) {
    least_left = Binding::comparison + 1;
  }
  // The left text grows in place: long sums take linear time.
  std::string text = in_parentheses_below(least_left, std::move(left));
  const bool spaced = binding < Binding::product;
  text += spaced ? " " : "";
  text += text_of(symbol);
  text += spaced ? " " : "";
  text += in_parentheses_below(least_right, std::move(right));
  return {std::move(text), binding};
}

Written written_call(const Node& node, std::span<Written> arguments) {
  std::string text(functions()[node.index].name);
  text += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) text += (i > 0 ? ", " : "") + arguments[i].text;
  return {text + ')', Binding::primary};
}

Written written(const Node& node, std::span<Written> arguments) {
  switch (node.symbol) {
    case Symbol::number: return {fmt::format("{}", node.number), Binding::primary};
    case Symbol::operand: return {fmt::format("x{}", node.index), Binding::primary};
    case Symbol::negate:
      return {fmt::format("-{}", in_parentheses_below(Binding::prefix, std::move(arguments[0]))),
              Binding::prefix};
    case Symbol::logical_not:
      return {fmt::format("!{}", in_parentheses_below(Binding::prefix, std::move(arguments[0]))),
              Binding::prefix};
    case Symbol::choose:
      return {fmt::format("{} ? {} : {}", in_parentheses_below(Binding::disjunction, std::move(arguments[0])),
                          arguments[1].text, arguments[2].text),
              Binding::ternary};
    case Symbol::call: return written_call(node, arguments);
    default: return written_binary(node.symbol, std::move(arguments[0]), std::move(arguments[1]));
  }
}

}  // namespace

std::string_view text_of(Symbol symbol) noexcept {
  switch (symbol) {
    case Symbol::power: return "^";
    case Symbol::multiply: return "*";
    case Symbol::divide: return "/";
    case Symbol::add: return "+";
    case Symbol::subtract: return "-";
    case Symbol::less: return "<";
    case Symbol::less_equal: return "<=";
    case Symbol::greater: return ">";
    case Symbol::greater_equal: return ">=";
    case Symbol::equal: return "==";
    case Symbol::unequal: return "!=";
    case Symbol::logical_and: return "&&";
    case Symbol::logical_or: return "||";
    default: return {};
  }
}

std::size_t arguments_of(const Node& node) noexcept {
  switch (node.symbol) {
    case Symbol::number:
    case Symbol::operand: return 0;
    case Symbol::negate:
    case Symbol::logical_not: return 1;
    case Symbol::choose: return 3;
    case Symbol::call: return node.arguments;
    default: return 2;
  }
}

std::string text_of(std::span<const Node> nodes) {
  std::vector<Written> parts;
  for (const Node& node : nodes) {
    const std::size_t first = parts.size() - arguments_of(node);
    Written part = written(node, std::span(parts).subspan(first));
    parts.resize(first);
    parts.push_back(std::move(part));
  }
  return std::move(parts.back().text);
}

}  // namespace afterbay::expression
