// SPDX-License-Identifier: Apache-2.0
#include "base/shell_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/printable.hpp"

namespace afterbay {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("/._-+=:@%,").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// The format with which printf writes the text.
std::string printf_format(const std::string& text) {
  std::string format;
  for (const char c : text)
    if (c == '%')
      format += "%%";
    else if (is_plain(c) || c == ' ')
      format += c;
    else
      format += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return format;
}

}  // namespace

/// A command substitution loses newlines at its end, but the line does not end with one: a word
/// that does is in quotes.
std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  if (printable_message(line) == line) return line;
  return "eval \"$(printf '" + printf_format(line) + "')\"";
}

}  // namespace afterbay
