// SPDX-License-Identifier: Apache-2.0
#include "base/glob.hpp"

#include <cstddef>

namespace afterbay {

bool is_glob(std::string_view pattern) noexcept {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

bool glob_match(std::string_view pattern, std::string_view name) noexcept {
  constexpr std::size_t none = std::string_view::npos;
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = none;  // the last * seen, and the first character after its match
  std::size_t star_end = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != none) {
      p = star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace afterbay
