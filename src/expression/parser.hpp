// SPDX-License-Identifier: Apache-2.0
// Parser: recursive descent through the text of an expression, with bounded depth. Used once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expression/expression.hpp"
#include "expression/nodes.hpp"

namespace afterbay::expression {

class Parser {
 public:
  Parser(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  /// The reductions and, in `nodes`, the formula of the result.
  Result<Expression> run(Nodes& nodes);

 private:
  /// A call whose arguments are being parsed.
  struct Call {
    std::size_t row = 0;         ///< row of functions()
    std::size_t at = 0;          ///< position of the name
    std::size_t first_node = 0;  ///< first node of the arguments
    std::size_t arguments = 0;   ///< number of arguments without the period
    std::size_t second_at = 0;   ///< position of the second argument
    std::optional<Period> period = {};
    std::vector<std::string> over = {};
    std::string by = {};
    std::string along = {};
  };

  // Each parses one level of the grammar, and appends its nodes.
  Result<> choice();
  Result<> operators(int level);
  Result<> prefixed();
  Result<> powers();
  Result<> single();
  Result<> number();
  Result<> word();
  Result<> parentheses();
  Result<> call(std::string_view name, std::size_t at);
  Result<> arguments(Call& call);

  /// Whether an argument here is a period: "1d", but not "2" or "2*a".
  [[nodiscard]] std::string_view period_here() const;
  Result<> take_period(Call& call, std::string_view written);
  /// Takes the word if it comes next, such as "over", which ends the argument of a reduction over
  /// dimensions.
  [[nodiscard]] bool takes_word(std::string_view word) noexcept;
  Result<> take_dimensions(Call& call);
  Result<std::string> take_name(std::string_view expected);
  Result<> end_call(Call& call);
  Result<> check_arguments(const Call& call) const;
  void add_reduction(const Call& call);
  /// Takes the nodes from `first` on as a formula of its own. `renumbered` are its nodes.
  Formula take_formula(std::size_t first, Nodes& renumbered);

  void add(Symbol symbol) { nodes_.push_back({symbol}); }
  void add_operand(const Operand& operand);
  Result<> enter(std::size_t at);
  void leave() noexcept { --depth_; }

  void skip_blanks() noexcept;
  /// Skips blanks; 0 at the end.
  [[nodiscard]] char next() noexcept;
  /// Takes the sign if it comes next.
  bool take(std::string_view sign) noexcept;
  std::optional<Symbol> take_operator(int level);
  Result<> close(std::size_t opened);

  template <class... Args>
  tl::unexpected<Error> problem(std::size_t at, ErrorCode code, fmt::format_string<Args...> format,
                                Args&&... args) const {
    return fail(code, "column {} of the expression: {}", at + 1,
                fmt::format(format, std::forward<Args>(args)...));
  }
  /// What comes next is not what was expected.
  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view expected);
  [[nodiscard]] std::string found_here() const;

  std::string_view text_;
  std::size_t most_;  ///< characters
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  Nodes nodes_;  ///< operands are indices in operands_
  std::vector<Operand> operands_;
  std::map<std::string, std::size_t, std::less<>> fields_;      ///< in operands_
  std::map<std::string, std::size_t, std::less<>> reductions_;  ///< in operands_
  Expression result_;
};

}  // namespace afterbay::expression
