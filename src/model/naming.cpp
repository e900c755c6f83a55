// SPDX-License-Identifier: Apache-2.0
#include "model/naming.hpp"

#include <fmt/ranges.h>

#include <variant>
#include <vector>

#include "base/suggest.hpp"
#include "model/template_text.hpp"
#include "time/date_text.hpp"

namespace afterbay::model {
namespace {

constexpr std::string_view default_date_format = "%Y%m%d";
const std::vector<std::string> token_names{"collection", "step", "member", "date"};

struct Token {
  std::string name;
  int digits = 0;           ///< for step and member
  std::string date_format;  ///< for date
};
using Part = std::variant<std::string, Token>;

Result<Token> parse_token(std::string_view text) {
  const std::size_t colon = text.find(':');
  Token token{std::string(text.substr(0, colon)), 0, std::string(default_date_format)};
  const bool has_spec = colon != std::string_view::npos;
  const std::string_view spec = has_spec ? text.substr(colon + 1) : std::string_view();
  if (token.name == "date") {
    if (has_spec) token.date_format = spec;
    AFTERBAY_TRY(dates::check_pattern_without_calendar(token.date_format));
  } else if (token.name == "step" || token.name == "member") {
    if (!has_spec) return token;
    AFTERBAY_TRY_ASSIGN(token.digits, template_digits(token.name, spec));
  } else if (token.name != "collection") {
    return fail(ErrorCode::unknown_name,
                "'{{{}}}' is unknown{}; {{{}}} can be used, and {{{{ and }}}} for braces", text,
                did_you_mean(token.name, token_names), fmt::join(token_names, "}, {"));
  } else if (has_spec) {
    return fail(ErrorCode::invalid_argument,
                "'{{{}}}': the collection's name has no format, write {{collection}}", text);
  }
  return token;
}

/// Splits a template into literal text and tokens.
Result<std::vector<Part>> parse(std::string_view pattern) {
  AFTERBAY_TRY_ASSIGN(const std::vector<TemplatePiece> pieces, split_template(pattern));
  std::vector<Part> parts;
  for (const TemplatePiece& piece : pieces) {
    if (!piece.is_token) {
      parts.emplace_back(piece.text);
      continue;
    }
    AFTERBAY_TRY_ASSIGN(Token token, parse_token(piece.text));
    parts.emplace_back(std::move(token));
  }
  return parts;
}

Result<std::vector<Part>> parse_named(std::string_view pattern) {
  auto parts = parse(pattern);
  if (!parts) {
    parts.error().message = fmt::format("file name template '{}': {}", pattern, parts.error().message);
    return fail(std::move(parts).error());
  }
  return parts;
}

/// The value with an optional sign and at least that many digits.
std::string padded(std::int64_t value, int digits) {
  const auto magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return fmt::format("{}{:0{}}", value < 0 ? "-" : "", magnitude, digits);
}

Result<std::string> value_of(const Token& token, std::string_view collection, const FileName& values) {
  const auto absent = [&] {
    return fail(ErrorCode::invalid_argument,
                "it contains {{{}}}, but no {} was given when the file was opened", token.name, token.name);
  };
  if (token.name == "collection") return std::string(collection);
  if (token.name == "date") {
    if (!values.date) return absent();
    AFTERBAY_TRY_ASSIGN(const Date date, dates::parse_date(*values.date));
    return dates::format_date(date, token.date_format);
  }
  const std::optional<std::int64_t>& number = token.name == "step" ? values.step : values.member;
  if (!number) return absent();
  return padded(*number, token.digits);
}

constexpr std::string_view part_end = ".part";
constexpr std::string_view epochs_end = ".part.epochs";
constexpr std::string_view owner_end = ".part.owner";
/// NAME_MAX of Linux, minus the longest suffix that is appended to a name.
constexpr std::size_t longest_file_name = 255 - std::string_view(".part.owner.0123456789abcdef.new").size();

/// Whether the name ends like ".part.0123456789abcdef.new", the temporary name of a file that
/// replaces another one.
bool ends_as_a_third_name(std::string_view name) {
  constexpr std::string_view end = ".new";
  constexpr std::size_t digits = 16;
  if (name.size() < part_end.size() + 1 + digits + end.size() || !name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  const std::string_view token = name.substr(name.size() - digits);
  name.remove_suffix(digits);
  return token.find_first_not_of("0123456789abcdef") == std::string_view::npos && name.ends_with(".part.");
}

/// Whether it is the name of another file's part file, epoch log or owner file.
bool is_of_a_part(std::string_view name) {
  if (name.ends_with(part_end) || name.ends_with(epochs_end) || ends_as_a_third_name(name) ||
      name.find(owner_end) != std::string_view::npos)
    return true;
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || !name.substr(0, dot).ends_with(epochs_end)) return false;
  const std::string_view end = name.substr(dot + 1);
  return end == "recovering" || end == "copy" ||
         end.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<> check_name(const std::string& name) {
  if (name.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_argument, "file name '{}' contains a NUL character",
                name.substr(0, name.find('\0')));
  // npos + 1 is 0.
  const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
  if (last.empty() || last == "." || last == "..")
    return fail(ErrorCode::invalid_argument, "'{}' is not the name of a file", name);
  if (last.size() > longest_file_name)
    return fail(ErrorCode::invalid_argument,
                "file name '{}' has {} bytes: at most {} are possible, since its part file and its "
                "epoch log have longer names",
                last, last.size(), longest_file_name);
  if (is_of_a_part(last))
    return fail(
        ErrorCode::invalid_argument,
        "file name '{}' ends like the names of part files and their logs ({}, {}): choose another one", last,
        part_end, epochs_end);
  return {};
}

}  // namespace

std::string default_template(Format format) { return with_ending("{collection}", format); }

Result<> check_template(std::string_view pattern) {
  AFTERBAY_TRY(parse_named(pattern));
  return {};
}

Result<std::string> file_name(std::string_view pattern, std::string_view collection, const FileName& values) {
  std::string name = values.name;
  if (name.empty()) {
    AFTERBAY_TRY_ASSIGN(const std::vector<Part> parts, parse_named(pattern));
    for (const Part& part : parts) {
      if (const auto* text = std::get_if<std::string>(&part)) {
        name += *text;
        continue;
      }
      auto value = value_of(std::get<Token>(part), collection, values);
      if (!value) {
        value.error().message = fmt::format("file name template '{}' of collection '{}': {}", pattern,
                                            collection, value.error().message);
        return fail(std::move(value).error());
      }
      name += *value;
    }
  }
  AFTERBAY_TRY(check_name(name));
  return name;
}

}  // namespace afterbay::model
