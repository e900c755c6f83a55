// SPDX-License-Identifier: Apache-2.0
// PreviewLayout: where the parts of a drawing lie. Stages are in columns, each to the right of its
// inputs; files are the last column.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "output/preview.hpp"

namespace afterbay::app {

class PreviewLayout {
 public:
  static constexpr double row_height = 22;
  static constexpr double row_gap = 6;
  static constexpr double header_height = 40;  ///< height of a file's header
  static constexpr double file_gap = 18;
  static constexpr double top = 78;

  /// A stage; or, without a label, the place where a line crosses a column.
  struct Box {
    std::size_t column = 0;
    std::string label;
    std::size_t stage = 0;
    double y = 0;  ///< y of the middle
    [[nodiscard]] bool is_crossing() const noexcept { return label.empty(); }
    [[nodiscard]] double height() const noexcept { return is_crossing() ? 4 : row_height; }
    std::set<std::size_t> files;            ///< files to which it leads
    std::vector<std::size_t> next;          ///< boxes of the next column
    std::vector<std::size_t> to_variables;  ///< numbers of rows
  };
  /// A variable of a file.
  struct Row {
    std::size_t file = 0;
    std::size_t variable = 0;
    double y = 0;  ///< y of the middle
  };
  struct FileBox {
    double y = 0;  ///< y of the upper edge
    double height = 0;
  };

  explicit PreviewLayout(const output::Preview& preview);

  [[nodiscard]] const std::vector<Box>& boxes() const noexcept { return boxes_; }
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
  [[nodiscard]] const std::vector<FileBox>& files() const noexcept { return files_; }
  /// Without that of the files.
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] double bottom() const noexcept { return bottom_; }

 private:
  void stack_files();
  void add_stages();
  void add_line(std::size_t from, std::size_t to);
  /// Crossings from a box up to the column before `column`; returns the last one.
  std::size_t extend(std::size_t from, std::size_t column);
  void collect_files();
  void place(std::size_t column);
  [[nodiscard]] double wanted_y(const Box& box) const;
  void shift_down();

  const output::Preview& preview_;
  std::vector<Box> boxes_;
  std::vector<std::size_t> box_of_stage_;
  std::vector<Row> rows_;
  std::vector<FileBox> files_;
  std::size_t columns_ = 1;
  double bottom_ = 0;
};

/// As many characters as fit, with "..." in place of the rest.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace afterbay::app
