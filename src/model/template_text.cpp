// SPDX-License-Identifier: Apache-2.0
#include "model/template_text.hpp"

#include <charconv>

namespace afterbay::model {

namespace {

constexpr int most_digits = 20;

void append_literal(std::vector<TemplatePiece>& pieces, char c) {
  if (pieces.empty() || pieces.back().is_token) pieces.emplace_back();
  pieces.back().text += c;
}

}  // namespace

Result<std::vector<TemplatePiece>> split_template(std::string_view pattern) {
  std::vector<TemplatePiece> pieces;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\0') return fail(ErrorCode::invalid_argument, "it contains a NUL character (at place {})", at);
    const bool doubled = at + 1 < pattern.size() && pattern[at + 1] == c;
    if (c != '{' && c != '}') {
      append_literal(pieces, c);
    } else if (doubled) {
      append_literal(pieces, c);
      ++at;
    } else if (c == '}') {
      return fail(ErrorCode::invalid_argument, "the '}}' at place {} closes nothing: write }}}} for a brace",
                  at);
    } else {
      const std::size_t close = pattern.find('}', at);
      if (close == std::string_view::npos)
        return fail(ErrorCode::invalid_argument, "the '{{' at place {} is not closed: write {{{{ for a brace",
                    at);
      pieces.push_back({std::string(pattern.substr(at + 1, close - at - 1)), true});
      at = close;
    }
  }
  return pieces;
}

Result<int> template_digits(std::string_view name, std::string_view spec) {
  int digits = 0;
  const auto [end, error] = std::from_chars(spec.data(), spec.data() + spec.size(), digits);
  if (error != std::errc{} || end != spec.data() + spec.size() || digits < 1 || digits > most_digits)
    return fail(ErrorCode::invalid_argument,
                "'{{{}:{}}}': a number of places from 1 to {} is expected after the colon, as in {{{}:04}}",
                name, spec, most_digits, name);
  return digits;
}

}  // namespace afterbay::model
