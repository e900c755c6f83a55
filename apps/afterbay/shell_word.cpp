// SPDX-License-Identifier: Apache-2.0
#include "shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/printable.hpp"

namespace afterbay::app {

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+=:@%,").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  if (printable_message(text) != text) {
    std::string word = "$'";
    for (const char c : printable(text)) word += c == '\'' ? "\\'" : std::string(1, c);
    return word + "'";
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace afterbay::app
