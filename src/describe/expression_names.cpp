// SPDX-License-Identifier: Apache-2.0
#include "describe/expression_names.hpp"

#include <algorithm>

#include "base/printable.hpp"

namespace afterbay::describe {

namespace {

constexpr std::string_view operator_characters = "+-*/^(),<>=!&|?: \t\n";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of the name or number that begins at `at`.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  std::size_t end = at;
  const bool number = !is_letter(text[at]);
  while (end < text.size()) {
    const char c = text[end];
    const bool exponent_sign = number && (c == '+' || c == '-') &&
                               (text[end - 1] == 'e' || text[end - 1] == 'E') && end - 1 > at &&
                               end + 1 < text.size() && is_digit(text[end + 1]);
    if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent_sign) break;
    ++end;
  }
  return end;
}

Result<> check_parentheses(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth < 0)
      return fail(ErrorCode::invalid_argument, "the \")\" at place {} of the expression closes nothing",
                  at + 1);
  }
  if (depth > 0)
    return fail(ErrorCode::invalid_argument,
                "{} of the expression {} not closed; within {{ }} an expression with commas needs quotes",
                depth == 1 ? "a \"(\"" : fmt::format("{} \"(\"", depth), depth == 1 ? "is" : "are");
  return {};
}

}  // namespace

Result<std::vector<std::string>> names_in_expression(std::string_view expression) {
  if (expression.find_first_not_of(" \t\n") == std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "the expression is empty");
  std::vector<std::string> names;
  for (std::size_t at = 0; at < expression.size();) {
    const char c = expression[at];
    if (!is_letter(c) && !is_digit(c) && c != '.') {
      if (operator_characters.find(c) == std::string_view::npos)
        return fail(ErrorCode::invalid_argument, "\"{}\" at place {} cannot occur in an expression",
                    printable(expression.substr(at, 1)), at + 1);
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(expression, at);
    const std::string word(expression.substr(at, end - at));
    const std::size_t next = expression.find_first_not_of(" \t\n", end);
    const bool function = next != std::string_view::npos && expression[next] == '(';
    if (is_letter(c) && !function && word != "pi" && std::ranges::find(names, word) == names.end())
      names.push_back(word);
    at = end;
  }
  AFTERBAY_TRY(check_parentheses(expression));
  return names;
}

}  // namespace afterbay::describe
