// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "describe/document.hpp"

namespace afterbay::describe {

namespace {

constexpr std::size_t longest_replaced = std::size_t{1} << 16;

bool is_variable_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

Result<std::string> value_of_variable(std::string_view inside,
                                      const std::map<std::string, std::string>& variables) {
  const std::size_t separator = inside.find(":-");
  const std::string name(inside.substr(0, separator));
  if (!is_variable_name(name))
    return fail(
        ErrorCode::invalid_argument,
        "expected ${{NAME}} or ${{NAME:-fallback}}, found \"${{{}}}\"; write $${{ for the characters ${{",
        printable(inside));
  const auto found = variables.find(name);
  const bool has_fallback = separator != std::string_view::npos;
  if (found != variables.end() && !(has_fallback && found->second.empty())) return found->second;
  if (has_fallback) return std::string(inside.substr(separator + 2));
  std::vector<std::string> names;
  for (const auto& [known, value] : variables) names.push_back(known);
  return fail(ErrorCode::unknown_name,
              "the variable {} has no value{}: set it in the environment, write ${{{}:-fallback}}, or, for "
              "afterbay describe, give --set {}=VALUE",
              name, did_you_mean(name, names), name, name);
}

}  // namespace

Result<std::string> replace_variables(std::string_view text,
                                      const std::map<std::string, std::string>& variables) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("$${")) {
      out += "${";
      at += 3;
    } else if (text.substr(at).starts_with("${")) {
      const std::size_t close = text.find('}', at);
      if (close == std::string_view::npos)
        return fail(ErrorCode::invalid_argument,
                    "\"${{\" is not closed by \"}}\"; write $${{ for the characters ${{");
      AFTERBAY_TRY_ASSIGN(const std::string value,
                          value_of_variable(text.substr(at + 2, close - at - 2), variables));
      out += value;
      at = close + 1;
    } else {
      out += text[at++];
    }
    if (out.size() > longest_replaced)
      return fail(ErrorCode::invalid_argument,
                  "the text is longer than {} KiB after its variables are replaced", longest_replaced >> 10);
  }
  return out;
}

}  // namespace afterbay::describe
