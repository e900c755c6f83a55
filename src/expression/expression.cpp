// SPDX-License-Identifier: Apache-2.0
#include "expression/expression.hpp"

#include <algorithm>

#include "expression/parser.hpp"

namespace afterbay::expression {

namespace {

/// Collects names in the order of the text. Its depth is that of the expression.
class FieldNames {
 public:
  explicit FieldNames(const Expression& expression)
      : expression_(expression), visited_(expression.reductions.size()) {}

  void add(const Formula& formula) {
    for (const Operand& operand : formula.operands) {
      if (operand.kind == Operand::Kind::field) {
        if (std::ranges::find(names_, operand.field) == names_.end()) names_.push_back(operand.field);
      } else if (!visited_[operand.reduction]) {
        visited_[operand.reduction] = true;
        add(expression_.reductions[operand.reduction].argument);
      }
    }
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const Expression& expression_;
  std::vector<bool> visited_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> Expression::fields() const {
  FieldNames names(*this);
  names.add(result);
  return names.take();
}

Result<Expression> parse(std::string_view text) {
  Nodes nodes;
  return Parser(text, most_characters).run(nodes);
}

}  // namespace afterbay::expression
