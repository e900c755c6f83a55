// SPDX-License-Identifier: Apache-2.0
#include "expression/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace afterbay::expression {

namespace {

bool continues_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Whether the name stands in the text, not as a part of a longer word.
bool contains(std::string_view text, std::string_view name) noexcept {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !continues_word(text[at - 1]);
    if (begins && (end == text.size() || !continues_word(text[end]))) return true;
  }
  return false;
}

}  // namespace

bool is_constant(std::string_view name) noexcept { return name == "pi"; }

std::vector<std::string> misreadable_names(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) {
    return !is_constant(name) && std::ranges::all_of(name, continues_word);
  });
  return names;
}

std::optional<std::string> misread_name(std::string_view expression, std::span<const std::string> names) {
  for (const std::string& name : names)
    if (contains(expression, name)) return name;
  return std::nullopt;
}

std::string misread_text(std::string_view name) {
  if (is_constant(name))
    return fmt::format(
        "in an expression, \"{}\" is the constant, and not the field of this name: write the number if the "
        "constant is meant, and give the field another name if the field is",
        name);
  return fmt::format(
      "\"{}\" is the name of a field, which expressions cannot contain: give the field another name; if an "
      "operator is meant, write it with blanks around it",
      name);
}

}  // namespace afterbay::expression
