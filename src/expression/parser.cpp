// SPDX-License-Identifier: Apache-2.0
#include "expression/parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numbers>

#include "base/default_arithmetic.hpp"
#include "base/printable.hpp"
#include "base/strict_floating_point.hpp"
#include "base/suggest.hpp"
#include "expression/functions.hpp"
#include "expression/names.hpp"
#include "statistics/statistic_traits.hpp"
#include "time/periods.hpp"

namespace afterbay::expression {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view operator_characters = "+-*/^(),<>=!&|?:.";
/// The text of a formula may be longer than that of its expression: 1e15 becomes 1000000000000000.
constexpr std::size_t most_formula_characters = 16 * most_characters;
constexpr const char* name_advice =
    ", which begins with a letter in expressions: if there is a field of this name, the model must define it "
    "under another one, and units, multiply and add convert it without an expression";
constexpr std::string_view operand_expected = "a number, a field, a function or \"(\"";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }
bool is_in_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

struct OperatorRow {
  int level;
  Symbol symbol;
};

constexpr int comparisons = 2;
constexpr int last_level = 4;
/// From the loosest binding to the tightest; of one level, longer ones first.
constexpr std::array operator_rows{
    OperatorRow{0, Symbol::logical_or}, OperatorRow{1, Symbol::logical_and},
    OperatorRow{2, Symbol::less_equal}, OperatorRow{2, Symbol::greater_equal},
    OperatorRow{2, Symbol::equal},      OperatorRow{2, Symbol::unequal},
    OperatorRow{2, Symbol::less},       OperatorRow{2, Symbol::greater},
    OperatorRow{3, Symbol::add},        OperatorRow{3, Symbol::subtract},
    OperatorRow{4, Symbol::multiply},   OperatorRow{4, Symbol::divide},
};

/// The number at the beginning of a text, with the place after it; null if there is none.
struct Number {
  double value = 0;
  const char* end = nullptr;
  bool in_range = true;
};
Number number_at(std::string_view text) {
  const DefaultArithmetic rounding;
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error == std::errc::invalid_argument) return {};
  number.end = end;
  number.in_range = error == std::errc();
  return number;
}

std::string reduction_names() {
  std::vector<std::string> names;
  for (const Function& row : functions())
    if (row.reduction) names.emplace_back(row.name);
  return one_of(names);
}

std::string arguments_expected(const Function& row) {
  if (!row.is_pointwise())
    return "one argument and, if its period is not that of the file, a period such as 1d, or \"over\" and "
           "dimensions";
  if (row.one != nullptr) return "one argument";
  return row.two != nullptr ? "two arguments" : "arguments";
}

}  // namespace

Result<Expression> Parser::run(Nodes& nodes) {
  if (text_.size() > most_)
    return problem(most_, ErrorCode::invalid_argument,
                   "it has {} characters; at most {} are accepted: make a field of a part of it",
                   text_.size(), most_);
  skip_blanks();
  if (at_ == text_.size()) return fail(ErrorCode::invalid_argument, "the expression is empty");
  AFTERBAY_TRY(choice());
  if (next() == ')') return problem(at_, ErrorCode::invalid_argument, "the \")\" closes nothing");
  if (at_ < text_.size()) return unexpected("an operator");
  result_.result = take_formula(0, nodes);
  return std::move(result_);
}

Result<> Parser::choice() {
  AFTERBAY_TRY(operators(0));
  const std::size_t at = at_;
  if (!take("?")) return {};
  AFTERBAY_TRY(enter(at));
  AFTERBAY_TRY(choice());
  if (!take(":")) return unexpected("an operator or \":\" after the first value of \"?\"");
  AFTERBAY_TRY(choice());
  leave();
  add(Symbol::choose);
  return {};
}

Result<> Parser::operators(int level) {
  const auto argument = [&] { return level == last_level ? prefixed() : operators(level + 1); };
  AFTERBAY_TRY(argument());
  for (int count = 1;; ++count) {
    skip_blanks();
    const std::size_t at = at_;
    const auto symbol = take_operator(level);
    if (!symbol) return {};
    if (level == comparisons && count > 1)
      return problem(at, ErrorCode::invalid_argument,
                     "comparisons cannot be chained: write \"a < b && b < c\", or parentheses");
    AFTERBAY_TRY(argument());
    add(*symbol);
  }
}

Result<> Parser::prefixed() {
  const char sign = next();
  if (sign != '-' && sign != '+' && sign != '!') return powers();
  AFTERBAY_TRY(enter(at_));
  ++at_;
  AFTERBAY_TRY(prefixed());
  leave();
  if (sign == '-') add(Symbol::negate);
  if (sign == '!') add(Symbol::logical_not);
  return {};
}

Result<> Parser::powers() {
  AFTERBAY_TRY(single());
  skip_blanks();
  const std::size_t at = at_;
  if (!take("^") && !take("**")) return {};
  AFTERBAY_TRY(enter(at));
  AFTERBAY_TRY(prefixed());
  leave();
  add(Symbol::power);
  return {};
}

Result<> Parser::single() {
  const char c = next();
  if (c == '(') return parentheses();
  if (is_letter(c)) return word();
  const bool point = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
  if (is_digit(c) || point) return number();
  return unexpected(operand_expected);
}

Result<> Parser::number() {
  const std::string_view rest = text_.substr(at_);
  const Number number = number_at(rest);
  std::size_t end = static_cast<std::size_t>(number.end - rest.data());
  if (!number.in_range)
    return problem(at_, ErrorCode::invalid_argument, "{} is out of the range of double-precision numbers",
                   rest.substr(0, end));
  if (end < rest.size() && is_in_word(rest[end])) {
    while (end < rest.size() && is_in_word(rest[end])) ++end;
    return problem(
        at_, ErrorCode::invalid_argument,
        "\"{}\" is neither a number nor the name of a field{}; a period can only be the last argument "
        "of {}",
        rest.substr(0, end), std::ranges::any_of(rest.substr(0, end), is_letter) ? name_advice : "",
        reduction_names());
  }
  nodes_.push_back({Symbol::number, number.value});
  at_ += end;
  return {};
}

Result<> Parser::word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_in_word(text_[at_])) ++at_;
  const std::string_view name = text_.substr(begin, at_ - begin);
  if (next() == '(') return call(name, begin);
  if (is_constant(name))
    nodes_.push_back({Symbol::number, std::numbers::pi});
  else
    add_operand({Operand::Kind::field, std::string(name), 0});
  return {};
}

Result<> Parser::parentheses() {
  const std::size_t opened = at_;
  AFTERBAY_TRY(enter(opened));
  ++at_;
  AFTERBAY_TRY(choice());
  AFTERBAY_TRY(close(opened));
  leave();
  return {};
}

Result<> Parser::call(std::string_view name, std::size_t at) {
  const auto row = find_function(name);
  if (!row) {
    const std::vector<std::string> names = function_names();
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) hint = fmt::format("; functions are {}; a product needs \"*\"", one_of(names));
    return problem(at, ErrorCode::unknown_name, "there is no function \"{}\"{}", printable(name), hint);
  }
  Call call{.row = *row, .at = at, .first_node = nodes_.size()};
  const std::size_t opened = at_;
  AFTERBAY_TRY(enter(opened));
  ++at_;
  AFTERBAY_TRY(arguments(call));
  AFTERBAY_TRY(close(opened));
  leave();
  return end_call(call);
}

Result<> Parser::arguments(Call& call) {
  const bool is_reduction = functions()[call.row].reduction.has_value();
  do {
    skip_blanks();
    if (call.arguments == 1) call.second_at = at_;
    const std::string_view written = is_reduction && call.arguments > 0 ? period_here() : std::string_view();
    if (!written.empty()) return take_period(call, written);
    AFTERBAY_TRY(choice());
    ++call.arguments;
    if (is_reduction && call.arguments == 1 && takes_word("over")) return take_dimensions(call);
  } while (take(","));
  return {};
}

bool Parser::takes_word(std::string_view word) noexcept {
  skip_blanks();
  const std::size_t end = at_ + word.size();
  if (!text_.substr(at_).starts_with(word) || (end < text_.size() && is_in_word(text_[end]))) return false;
  at_ = end;
  return true;
}

Result<std::string> Parser::take_name(std::string_view expected) {
  if (!is_letter(next())) return unexpected(expected);
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_in_word(text_[at_])) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

Result<> Parser::take_dimensions(Call& call) {
  const Function& row = functions()[call.row];
  if (!statistics::traits_of(*row.reduction).may_reduce_dimensions)
    return problem(
        call.at, ErrorCode::invalid_argument,
        "{} is a reduction over time only; over dimensions there are mean, sum, min, max, range and "
        "stddev",
        row.name);
  do {
    const char c = next();
    const std::size_t begin = at_;
    if (is_digit(c))
      return problem(at_, ErrorCode::invalid_argument,
                     "a reduction over dimensions has no period: write {0}({0}(x over lev), 1d) for both",
                     row.name);
    AFTERBAY_TRY_ASSIGN(std::string name, take_name("the name of a dimension"));
    if (std::ranges::find(call.over, name) != call.over.end())
      return problem(begin, ErrorCode::invalid_argument, "the dimension \"{}\" is named twice", name);
    call.over.push_back(std::move(name));
  } while (take(","));
  if (!takes_word("by")) return {};
  AFTERBAY_TRY_ASSIGN(call.by, take_name("the name of a coordinate that numbers regions"));
  if (!takes_word("along")) return unexpected("\"along\" and the dimension of the regions");
  AFTERBAY_TRY_ASSIGN(call.along, take_name("the name of a dimension"));
  if (std::ranges::find(call.over, call.along) == call.over.end()) return {};
  return problem(call.at, ErrorCode::invalid_argument,
                 "the dimension \"{}\" is reduced, and cannot be that of regions", call.along);
}

std::string_view Parser::period_here() const {
  if (at_ >= text_.size() || !is_digit(text_[at_])) return {};
  std::size_t end = at_;
  while (end < text_.size() && (is_in_word(text_[end]) || is_blank(text_[end]))) ++end;
  if (end < text_.size() && text_[end] != ',' && text_[end] != ')') return {};
  while (is_blank(text_[end - 1])) --end;
  const std::string_view written = text_.substr(at_, end - at_);
  return number_at(written).end == written.data() + written.size() ? std::string_view() : written;
}

Result<> Parser::take_period(Call& call, std::string_view written) {
  const std::string_view name = functions()[call.row].name;
  try {
    call.period = Period::parse(written);
  } catch (const Failure& failure) {
    return problem(at_, failure.code(), "{}", failure.error().message);
  }
  if (call.period->is_zero())
    return problem(at_, ErrorCode::invalid_argument, "the period of {} must be longer than 0", name);
  if (dates::mixes_units(*call.period))
    return problem(
        at_, ErrorCode::invalid_argument,
        "the period of {} mixes months or years with days or shorter units: write one kind of them", name);
  if (call.arguments > 1)
    return problem(at_, ErrorCode::invalid_argument,
                   "with the period {} this is a reduction over time, which takes one argument: write "
                   "{}({}(a, b), {})",
                   written, name, name, written);
  at_ += written.size();
  if (next() == ',')
    return problem(at_, ErrorCode::invalid_argument, "nothing can follow the period of {}", name);
  return {};
}

Result<> Parser::check_arguments(const Call& call) const {
  const Function& row = functions()[call.row];
  if (row.reduction && call.arguments == 1) return {};
  if (row.several != nullptr) return {};
  const std::size_t wanted = row.two != nullptr ? 2 : 1;
  if (call.arguments == wanted) return {};
  return problem(call.arguments > 1 && wanted == 1 ? call.second_at : call.at, ErrorCode::invalid_argument,
                 "{} takes {}, found {} arguments", row.name, arguments_expected(row), call.arguments);
}

Result<> Parser::end_call(Call& call) {
  AFTERBAY_TRY(check_arguments(call));
  if (functions()[call.row].reduction && call.arguments == 1)
    add_reduction(call);
  else
    nodes_.push_back({Symbol::call, 0, call.row, call.arguments});
  return {};
}

void Parser::add_reduction(const Call& call) {
  Nodes unused;
  Reduction reduction{.kind = *functions()[call.row].reduction,
                      .over = call.over,
                      .by = call.by,
                      .along = call.along,
                      .period = call.period,
                      .argument = take_formula(call.first_node, unused),
                      .text = std::string(text_.substr(call.at, at_ - call.at))};
  std::string key =
      fmt::format("{}|{}|{}", call.row, call.period ? call.period->text() : "", reduction.argument.text);
  for (const std::string& dimension : reduction.over) key += "|over " + dimension;
  if (!reduction.by.empty()) key += "|by " + reduction.by + " along " + reduction.along;
  for (const Operand& operand : reduction.argument.operands)
    key += fmt::format("|{}:{}", operand.field, operand.reduction);
  const auto [known, fresh] = reductions_.emplace(std::move(key), operands_.size());
  if (fresh) {
    operands_.push_back({Operand::Kind::reduction, {}, result_.reductions.size()});
    result_.reductions.push_back(std::move(reduction));
  }
  nodes_.push_back({Symbol::operand, 0, known->second});
}

Formula Parser::take_formula(std::size_t first, Nodes& renumbered) {
  renumbered.assign(nodes_.begin() + static_cast<std::ptrdiff_t>(first), nodes_.end());
  nodes_.resize(first);
  Formula formula;
  std::map<std::size_t, std::size_t> positions;
  for (Node& node : renumbered) {
    if (node.symbol != Symbol::operand) continue;
    const auto [position, fresh] = positions.emplace(node.index, formula.operands.size());
    if (fresh) formula.operands.push_back(operands_[node.index]);
    node.index = position->second;
  }
  formula.text = text_of(renumbered);
  return formula;
}

void Parser::add_operand(const Operand& operand) {
  const auto [known, fresh] = fields_.emplace(operand.field, operands_.size());
  if (fresh) operands_.push_back(operand);
  nodes_.push_back({Symbol::operand, 0, known->second});
}

Result<> Parser::enter(std::size_t at) {
  if (++depth_ <= most_depth) return {};
  return problem(at, ErrorCode::invalid_argument,
                 "it is nested deeper than {} levels: make a field of a part of it", most_depth);
}

void Parser::skip_blanks() noexcept {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

char Parser::next() noexcept {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Parser::take(std::string_view sign) noexcept {
  skip_blanks();
  if (!text_.substr(at_).starts_with(sign)) return false;
  at_ += sign.size();
  return true;
}

std::optional<Symbol> Parser::take_operator(int level) {
  for (const OperatorRow& row : operator_rows)
    if (row.level == level && take(text_of(row.symbol))) return row.symbol;
  return std::nullopt;
}

Result<> Parser::close(std::size_t opened) {
  if (take(")")) return {};
  skip_blanks();
  if (at_ < text_.size()) return unexpected("an operator, \",\" or \")\"");
  return problem(opened, ErrorCode::invalid_argument, "the \"(\" is not closed");
}

std::string Parser::found_here() const {
  std::size_t end = at_ + 1;
  if (is_in_word(text_[at_]))
    while (end < text_.size() && is_in_word(text_[end])) ++end;
  while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) ++end;  // UTF-8
  return printable(text_.substr(at_, end - at_));
}

tl::unexpected<Error> Parser::unexpected(std::string_view expected) {
  const char c = next();
  if (at_ == text_.size())
    return problem(at_, ErrorCode::invalid_argument, "expected {}, but the expression ends here", expected);
  if (!is_in_word(c) && operator_characters.find(c) == std::string_view::npos)
    return problem(at_, ErrorCode::invalid_argument, "\"{}\" cannot occur in an expression", found_here());
  if ((c == '=' || c == '&' || c == '|') && !text_.substr(at_ + 1).starts_with(c))
    return problem(at_, ErrorCode::invalid_argument, "\"{0}\" is not an operator; write \"{0}{0}\"", c);
  return problem(at_, ErrorCode::invalid_argument, "expected {}, found \"{}\"", expected, found_here());
}

Result<Nodes> nodes_of(std::string_view formula) {
  Nodes nodes;
  AFTERBAY_TRY(Parser(formula, most_formula_characters).run(nodes));
  return nodes;
}

}  // namespace afterbay::expression
