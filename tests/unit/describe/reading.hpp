// SPDX-License-Identifier: Apache-2.0
// Reads descriptions from text in tests.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "describe/print.hpp"
#include "describe/read.hpp"
#include "describe/yaml.hpp"

namespace afterbay::describe {

inline ReadOptions no_variables() {
  ReadOptions options;
  options.environment.emplace();
  return options;
}

inline Result<Description> reading(const std::string& text, const ReadOptions& options = no_variables()) {
  return read_text(text, "d.yaml", options);
}

/// The description; an empty one, and a failure of the test, if it is refused.
inline Description described(const std::string& text, const ReadOptions& options = no_variables()) {
  auto result = reading(text, options);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *std::move(result) : Description();
}

/// The lines of problems without indentation; "accepted" if there are none.
inline std::string refusal(const std::string& text, const ReadOptions& options = no_variables()) {
  const auto result = reading(text, options);
  if (result) return "accepted";
  std::string lines = result.error().message;
  lines.erase(0, lines.find('\n') + 1);
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    out += (out.empty() ? "" : "\n") + lines.substr(at + 2, end - at - 2);
    at = end + 1;
  }
  return out;
}

inline const File& file_of(const Description& description, std::string_view name) {
  for (const File& file : description.files)
    if (file.name == name) return file;
  static const File none;
  ADD_FAILURE() << "no file " << name;
  return none;
}

/// "tas", "toce>tos", "tas>tas_max", with the operation before it if `with_operation`.
inline std::string names_in(const File& file, bool with_operation = false) {
  std::string text;
  for (const Variable& it : file.variables) {
    text += text.empty() ? "" : " ";
    if (with_operation) text += std::string(name_of(it.operation)) + ":";
    text += it.field + (it.name == it.field ? "" : ">" + it.name);
  }
  return text;
}

}  // namespace afterbay::describe
