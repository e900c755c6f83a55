// SPDX-License-Identifier: Apache-2.0
#include "describe/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/is_one_of.hpp"
#include "base/printable.hpp"

namespace afterbay::describe {

namespace {

constexpr std::size_t longest_shown = 60;

bool all_of_digits(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

std::string_view without_sign(std::string_view text) {
  return !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
}

constexpr std::string_view decimal = "0123456789";

bool is_integer(std::string_view text) {
  if (text.starts_with("0o")) return all_of_digits(text.substr(2), "01234567");
  if (text.starts_with("0x")) return all_of_digits(text.substr(2), "0123456789abcdefABCDEF");
  return all_of_digits(without_sign(text), decimal);
}

bool is_infinite(std::string_view text) { return is_one_of(without_sign(text), {".inf", ".Inf", ".INF"}); }
bool is_nan(std::string_view text) { return is_one_of(text, {".nan", ".NaN", ".NAN"}); }

/// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_decimal_real(std::string_view text) {
  text = without_sign(text);
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos && !all_of_digits(without_sign(text.substr(exponent + 1)), decimal))
    return false;
  const std::string_view mantissa = text.substr(0, exponent);
  const std::size_t point = mantissa.find('.');
  if (point == std::string_view::npos) return all_of_digits(mantissa, decimal);
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction = mantissa.substr(point + 1);
  const bool whole_good = whole.empty() || all_of_digits(whole, decimal);
  const bool fraction_good = fraction.empty() || all_of_digits(fraction, decimal);
  return whole_good && fraction_good && !(whole.empty() && fraction.empty());
}

std::string shown(std::string_view text) {
  if (text.size() <= longest_shown) return printable(text);
  return printable(text.substr(0, longest_shown)) + "...";
}

}  // namespace

std::string Position::text() const {
  if (line == 0) return file;
  if (file == program_text) return fmt::format("{}, line {}, column {}", file, line, column);
  return fmt::format("{}:{}:{}", file, line, column);
}

ScalarKind scalar_kind(std::string_view plain) {
  if (is_one_of(plain, {"", "~", "null", "Null", "NULL"})) return ScalarKind::null;
  if (is_one_of(plain, {"true", "True", "TRUE", "false", "False", "FALSE"})) return ScalarKind::boolean;
  if (is_integer(plain)) return ScalarKind::integer;
  if (is_decimal_real(plain) || is_infinite(plain) || is_nan(plain)) return ScalarKind::real;
  return ScalarKind::text;
}

bool integer_of(std::string_view text, std::int64_t& value) {
  int base = 10;
  if (text.starts_with("0o")) base = 8;
  if (text.starts_with("0x")) base = 16;
  if (base != 10) text.remove_prefix(2);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

double real_of(std::string_view text) {
  const double sign = text.starts_with('-') ? -1 : 1;
  if (is_infinite(text)) return sign * std::numeric_limits<double>::infinity();
  if (is_nan(text)) return std::numeric_limits<double>::quiet_NaN();
  if (std::int64_t whole = 0; is_integer(text) && integer_of(text, whole)) return static_cast<double>(whole);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
    return tiny ? 0 : sign * std::numeric_limits<double>::infinity();
  }
  return value;
}

Node Node::scalar(std::string text, bool quoted, Position at) {
  Node node;
  node.value_ = std::move(text);
  node.quoted_ = quoted;
  node.at = std::move(at);
  return node;
}

Node Node::text(std::string text) {
  const bool quoted = scalar_kind(text) != ScalarKind::text;
  return scalar(std::move(text), quoted);
}

Node Node::boolean(bool value) { return scalar(value ? "true" : "false", false); }
Node Node::integer(std::int64_t value) { return scalar(fmt::format("{}", value), false); }

Node Node::real(double value) {
  if (std::isnan(value)) return scalar(".nan", false);
  if (std::isinf(value)) return scalar(value < 0 ? "-.inf" : ".inf", false);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return scalar(std::move(text), false);
}

Node Node::sequence(Items items, Position at) {
  Node node;
  node.value_ = std::move(items);
  node.at = std::move(at);
  return node;
}

Node Node::mapping(Pairs pairs, Position at) {
  Node node;
  node.value_ = std::move(pairs);
  node.at = std::move(at);
  return node;
}

ScalarKind Node::kind() const {
  const auto* const text = std::get_if<std::string>(&value_);
  return text == nullptr || quoted_ ? ScalarKind::text : scalar_kind(*text);
}

const std::string& Node::characters() const {
  static const std::string none;
  const auto* const text = std::get_if<std::string>(&value_);
  return text == nullptr ? none : *text;
}

void Node::set_characters(std::string text) { value_ = std::move(text); }

const Items& Node::items() const noexcept {
  static const Items none;
  const auto* const items = std::get_if<Items>(&value_);
  return items == nullptr ? none : *items;
}

const Pairs& Node::pairs() const noexcept {
  static const Pairs none;
  const auto* const pairs = std::get_if<Pairs>(&value_);
  return pairs == nullptr ? none : *pairs;
}

Items& Node::items() noexcept { return std::get<Items>(value_); }
Pairs& Node::pairs() noexcept { return std::get<Pairs>(value_); }

const Node* Node::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : pairs())
    if (key.name == name) return &value;
  return nullptr;
}

Node* Node::find(std::string_view name) noexcept {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(name));
}

void Node::add(std::string name, Node value) {
  if (!is_mapping()) value_ = Pairs();
  pairs().emplace_back(Key{std::move(name), {}, false}, std::move(value));
}

std::string Node::described() const {
  if (is_sequence()) return "a list";
  if (is_mapping()) return "a mapping";
  switch (kind()) {
    case ScalarKind::null: return "nothing";
    case ScalarKind::boolean: return fmt::format("the boolean {}", characters());
    case ScalarKind::integer:
    case ScalarKind::real: return fmt::format("the number {}", shown(characters()));
    case ScalarKind::text: break;
  }
  return fmt::format("\"{}\"", shown(characters()));
}

}  // namespace afterbay::describe
