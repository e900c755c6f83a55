// SPDX-License-Identifier: Apache-2.0
// Formulas in muParser, point by point.
//
// - Not its bulk mode: with OpenMP, as Debian builds it, that starts threads in the model's
//   processes; it is about 20 % faster on one thread.
// - No number is written into its text, because how it reads numbers depends on state of the
//   process that other users of muParser may change. Numbers, operands and functions are names that
//   are defined here, and the functions are those of functions.cpp.
// - Without its optimizer, which contracts operations with constants and so changes results.
#include "expression/evaluator.hpp"
#include "expression/kernel.hpp"

#ifdef AFTERBAY_HAS_MUPARSER
#include <muParser.h>

#include <array>
#include <type_traits>
#include <vector>

#include "expression/functions.hpp"
#endif

namespace afterbay::expression {

#ifdef AFTERBAY_HAS_MUPARSER

namespace {

static_assert(std::is_same_v<mu::value_type, double>, "muParser must be built for double precision");

std::string joined(std::span<const std::string> arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : ",") + argument;
  return text;
}

class MuparserKernel : public Kernel {
 public:
  /// Throws mu::ParserError.
  MuparserKernel(std::span<const Node> nodes, std::size_t operands) : values_(operands, 1.0) {
    parser_.EnableOptimizer(false);
    for (std::size_t i = 0; i < operands; ++i) parser_.DefineVar(fmt::format("x{}", i), &values_[i]);
    parser_.DefineFun("power", power);
    for (std::size_t i = 0; i < functions().size(); ++i) define(functions()[i], fmt::format("f{}", i));
    parser_.SetExpr(text_of_nodes(nodes));
    parser_.Eval();
  }

  const double* run(std::span<const double* const> operands, std::size_t begin, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = operands[k][begin + i];
      results_[i] = parser_.Eval();
    }
    return results_.data();
  }

  /// Comparisons, conditions and x^0 do not.
  [[nodiscard]] bool keeps_missing() const noexcept override { return false; }

 private:
  void define(const Function& row, const std::string& name) {
    if (row.one != nullptr) parser_.DefineFun(name, row.one);
    if (row.two != nullptr) parser_.DefineFun(name, row.two);
    if (row.several != nullptr) parser_.DefineFun(name, row.several);
  }

  std::string text_of_nodes(std::span<const Node> nodes) {
    std::vector<std::string> parts;
    Node before;  // for a power: the root of its exponent
    for (const Node& node : nodes) {
      const std::size_t first = parts.size() - arguments_of(node);
      const bool squared =
          node.symbol == Symbol::power && before.symbol == Symbol::number && before.number == 2;
      std::string part = squared ? fmt::format("f{}({})", square_, parts[first])
                                 : text_of_node(node, std::span(parts).subspan(first));
      before = node;
      parts.resize(first);
      parts.push_back(std::move(part));
    }
    return std::move(parts.back());
  }

  std::string text_of_node(const Node& node, std::span<const std::string> arguments) {
    switch (node.symbol) {
      case Symbol::number: return constant(node.number);
      case Symbol::operand: return fmt::format("x{}", node.index);
      case Symbol::negate: return fmt::format("(-{})", arguments[0]);
      case Symbol::logical_not: return fmt::format("({}=={})", arguments[0], constant(0));
      case Symbol::power: return fmt::format("power({})", joined(arguments));
      case Symbol::choose: return fmt::format("({}?{}:{})", arguments[0], arguments[1], arguments[2]);
      case Symbol::call: return fmt::format("f{}({})", node.index, joined(arguments));
      default: return fmt::format("({}{}{})", arguments[0], text_of(node.symbol), arguments[1]);
    }
  }

  std::string constant(double value) {
    const std::string name = fmt::format("c{}", constants_++);
    parser_.DefineConst(name, value);
    return name;
  }

  std::array<double, statistics::strip_points> results_{};
  std::vector<double> values_;  ///< values of the operands; muParser has their addresses
  std::size_t constants_ = 0;
  std::size_t square_ = find_function("sqr").value();  ///< faster than power
  mu::Parser parser_;
};

}  // namespace

bool has_muparser() noexcept { return true; }

Result<std::unique_ptr<Kernel>> muparser_kernel(std::span<const Node> nodes, std::size_t operands) {
  try {
    return std::make_unique<MuparserKernel>(nodes, operands);
  } catch (const mu::ParserError& error) {
    return fail(ErrorCode::invalid_argument, "muParser cannot evaluate the expression: {}", error.GetMsg());
  }
}

#else

bool has_muparser() noexcept { return false; }

Result<std::unique_ptr<Kernel>> muparser_kernel(std::span<const Node>, std::size_t) {
  return fail(
      ErrorCode::invalid_argument,
      "this build of Afterbay evaluates expressions only if they consist of + - * /, of ^ with the "
      "exponents 2, 3 and 4, and of sqrt, sqr and abs. For others, install muParser (Debian's package "
      "libmuparser-dev) and build Afterbay again");
}

#endif

}  // namespace afterbay::expression
