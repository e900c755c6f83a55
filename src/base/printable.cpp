// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/utf8.hpp"

namespace afterbay {
namespace {

/// Control characters up to U+009F, and the line and paragraph separators.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  return character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9";
}

void append_byte(std::string& shown, char byte) {
  if (byte == '\n')
    shown += "\\n";
  else if (byte == '\r')
    shown += "\\r";
  else if (byte == '\t')
    shown += "\\t";
  else
    fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<std::uint8_t>(byte));
}

struct Escapes {
  bool controls = true;
  bool backslashes = true;
};

std::string escaped(std::string_view text, Escapes escapes) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t whole = utf8_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(whole, 1));
    if (whole == 0 || (escapes.controls && is_control(character)))
      for (const char byte : character) append_byte(shown, byte);
    else if (escapes.backslashes && character == "\\")
      shown += "\\\\";
    else
      shown += character;
    text.remove_prefix(character.size());
  }
  return shown;
}

/// The value of two hexadecimal digits; nothing if they are not hexadecimal.
std::optional<char> hexadecimal(std::string_view digits) {
  unsigned value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 2 || read.ptr != digits.data() + 2) return std::nullopt;
  return static_cast<char>(value);
}

}  // namespace

std::string printable(std::string_view name) { return escaped(name, {}); }

std::string printable_message(std::string_view text) { return escaped(text, {.backslashes = false}); }

std::string utf8_name(std::string_view name) { return escaped(name, {.controls = false}); }

std::string name_from_utf8(std::string_view encoded) {
  std::string name;
  while (!encoded.empty()) {
    std::size_t taken = 1;
    char byte = encoded.front();
    if (encoded.starts_with("\\\\")) {
      taken = 2;
    } else if (encoded.starts_with("\\x")) {
      if (const auto value = hexadecimal(encoded.substr(2, 2))) {
        byte = *value;
        taken = 4;
      }
    }
    name += byte;
    encoded.remove_prefix(taken);
  }
  return name;
}

}  // namespace afterbay
