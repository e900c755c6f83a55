// SPDX-License-Identifier: Apache-2.0
// ASCII, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace afterbay::dates {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

inline std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = lower(c);
  return all;
}

/// Without blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace afterbay::dates
