// SPDX-License-Identifier: Apache-2.0
#include "base/wrapped.hpp"

#include <algorithm>

namespace afterbay {

std::string wrapped(std::string_view text, std::size_t columns, std::string_view first,
                    std::string_view next) {
  std::string lines;
  std::string line;
  std::string_view indent = first;
  const auto finish = [&] {
    lines.append(indent).append(line).append("\n");
    line.clear();
    indent = next;
  };
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > columns) finish();
    line.append(line.empty() ? "" : " ").append(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  finish();
  return lines;
}

}  // namespace afterbay
