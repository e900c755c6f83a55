// SPDX-License-Identifier: Apache-2.0
#include "observe/text_table.hpp"

#include <algorithm>

namespace afterbay::observe {
namespace {

constexpr std::size_t space_between = 2;

std::size_t width_of(const TextColumn& column) {
  std::size_t width = text_width(column.heading);
  for (const std::string& cell : column.cells) width = std::max(width, text_width(cell));
  return width;
}

std::size_t width_of(const std::vector<TextColumn>& columns) {
  std::size_t width = 0;
  for (const TextColumn& column : columns) width += width_of(column) + space_between;
  return width - std::min(width, space_between);
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, text_width(text)), ' ');
  return left ? text + space : space + text;
}

}  // namespace

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut_to(std::string text, std::size_t width) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (seen++ == width) {
      text.resize(i);
      break;
    }
  }
  return text;
}

std::string text_table(std::vector<TextColumn> columns, std::size_t width) {
  while (width_of(columns) > width) {
    const auto least = std::ranges::max_element(columns, {}, &TextColumn::rank);
    if (least == columns.end() || least->rank == 0) break;
    columns.erase(least);
  }
  std::size_t rows = 0;
  for (const TextColumn& column : columns) rows = std::max(rows, column.cells.size());
  std::string text;
  for (std::size_t row = 0; row <= rows; ++row) {
    std::string line;
    for (const TextColumn& column : columns) {
      const std::string cell = row == 0                     ? column.heading
                               : row <= column.cells.size() ? column.cells[row - 1]
                                                            : "";
      line +=
          (line.empty() ? "" : std::string(space_between, ' ')) + padded(cell, width_of(column), column.left);
    }
    line = cut_to(line, width);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace afterbay::observe
