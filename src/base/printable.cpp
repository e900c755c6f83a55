// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace afterbay {
namespace {

/// Bytes of the well-formed, visible UTF-8 character that `text` begins with; 0: it begins with none.
/// Unicode 15, table 3-7; without the controls up to U+009F and the line and paragraph separators.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) && (first != 0xC2 || byte(1) >= 0xA0) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    const bool separator = first == 0xE2 && byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9);
    return follows(1) && follows(2) && !overlong && !surrogate && !separator ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const char letter = text.front();
    if (bytes > 0)
      shown += text.substr(0, bytes);
    else if (letter == '\n')
      shown += "\\n";
    else if (letter == '\r')
      shown += "\\r";
    else if (letter == '\t')
      shown += "\\t";
    else
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<std::uint8_t>(letter));
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return shown;
}

}  // namespace afterbay
