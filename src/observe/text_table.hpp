// SPDX-License-Identifier: Apache-2.0
// A table for a terminal of any width: when it is too narrow, the least important columns are left out.
#pragma once

#include <string>
#include <vector>

namespace afterbay::observe {

struct TextColumn {
  std::string heading;
  int rank = 0;  ///< 0: always shown; the others leave in the order of their ranks, highest first
  bool left = false;
  std::vector<std::string> cells{};
};

/// Lines with newlines, heading first. The last of the columns that stay is cut where even those do not fit.
std::string text_table(std::vector<TextColumn> columns, std::size_t width);

/// Columns that `text` takes on a terminal: characters, not bytes.
std::size_t text_width(const std::string& text);
/// `text` in at most `width` columns.
std::string cut_to(std::string text, std::size_t width);

}  // namespace afterbay::observe
