// SPDX-License-Identifier: Apache-2.0
// A table for terminals of any width: if it is too narrow, the least important columns are left
// out.
#pragma once

#include <string>
#include <vector>

namespace afterbay::observe {

struct TextColumn {
  std::string heading;
  int rank = 0;  ///< 0: always shown; the others are left out by rank, highest first
  bool left = false;
  std::vector<std::string> cells{};
};

/// Lines with newlines, heading first. If not even the required columns fit, the last one is
/// truncated.
std::string text_table(std::vector<TextColumn> columns, std::size_t width);

/// Number of terminal columns that `text` takes: characters, not bytes.
std::size_t text_width(const std::string& text);
/// `text` truncated to `width` columns.
std::string cut_to(std::string text, std::size_t width);

}  // namespace afterbay::observe
