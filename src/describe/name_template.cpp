// SPDX-License-Identifier: Apache-2.0
#include "describe/name_template.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "afterbay/calendar.hpp"
#include "base/suggest.hpp"
#include "model/template_text.hpp"

namespace afterbay::describe {

namespace {

using Words = std::vector<std::string>;

const Words& words_of_files() {
  static const Words words{"case", "file", "period", "grid", "start", "end", "part", "member"};
  return words;
}

const Words& words_of_states() {
  static const Words words{"case", "date", "step", "member"};
  return words;
}

Result<NameToken> name_token(std::string_view text, const Words& words) {
  const std::size_t colon = text.find(':');
  NameToken token{std::string(text.substr(0, colon)), {}};
  if (std::ranges::find(words, token.name) == words.end())
    return fail(ErrorCode::unknown_name,
                "'{{{}}}' is unknown{}; {{{}}} can be used, and {{{{ and }}}} for braces", text,
                did_you_mean(token.name, words), fmt::join(words, "}, {"));
  if (colon == std::string_view::npos) return token;
  token.format = text.substr(colon + 1);
  if (token.name == "start" || token.name == "end" || token.name == "date") {
    try {
      static_cast<void>(Calendar().format(Date{}, token.format));
    } catch (const Failure& failure) {
      return fail(ErrorCode::invalid_argument, "'{{{}}}': {}", text, failure.error().message);
    }
  } else if (token.name == "part" || token.name == "member" || token.name == "step") {
    AFTERBAY_TRY(model::template_digits(token.name, token.format));
  } else {
    return fail(ErrorCode::invalid_argument, "'{{{}}}' has no format, write {{{}}}", text, token.name);
  }
  return token;
}

Result<std::vector<NameToken>> tokens_of(std::string_view pattern, const Words& words) {
  AFTERBAY_TRY_ASSIGN(const std::vector<model::TemplatePiece> pieces, model::split_template(pattern));
  std::vector<NameToken> tokens;
  for (const model::TemplatePiece& piece : pieces) {
    if (!piece.is_token) continue;
    AFTERBAY_TRY_ASSIGN(NameToken token, name_token(piece.text, words));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// With braces as in a template.
std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) made.append(c == '{' || c == '}' ? 2 : 1, c);
  return made;
}

}  // namespace

Result<std::vector<NameToken>> name_tokens(std::string_view pattern) {
  return tokens_of(pattern, words_of_files());
}

Result<std::vector<NameToken>> state_name_tokens(std::string_view pattern) {
  return tokens_of(pattern, words_of_states());
}

std::string name_without_parts(std::string_view pattern) {
  constexpr std::string_view joining = "_-. /";
  const auto pieces = model::split_template(pattern);
  if (!pieces) return std::string(pattern);
  std::string name;
  for (const model::TemplatePiece& piece : *pieces) {
    if (!piece.is_token) {
      const bool follows_nothing = name.empty() && &piece != &pieces->front();
      const std::size_t begin = follows_nothing ? piece.text.find_first_not_of(joining) : 0;
      for (const char c : piece.text.substr(std::min(begin, piece.text.size())))
        name.append(c == '{' || c == '}' ? 2 : 1, c);
      continue;
    }
    const std::string word = piece.text.substr(0, piece.text.find(':'));
    if (word == "start" || word == "end" || word == "part")
      name.erase(name.find_last_not_of(joining) + 1);
    else
      name += "{" + piece.text + "}";
  }
  return name;
}

std::string partial_name(std::string_view pattern, const NameValues& values) {
  std::string name;
  const auto pieces = model::split_template(pattern);
  if (!pieces) return std::string(pattern);
  for (const model::TemplatePiece& piece : *pieces) {
    if (!piece.is_token)
      name += escaped(piece.text);
    else if (piece.text == "case")
      name += escaped(values.case_name);
    else if (piece.text == "file")
      name += escaped(values.file);
    else if (piece.text == "period")
      name += escaped(values.period);
    else if (piece.text == "grid")
      name += escaped(values.grid);
    else
      name += "{" + piece.text + "}";
  }
  return with_ending(std::move(name), values.store);
}

}  // namespace afterbay::describe
