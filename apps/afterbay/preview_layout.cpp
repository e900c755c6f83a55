// SPDX-License-Identifier: Apache-2.0
#include "preview_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace afterbay::app {

namespace {

using output::PreviewStage;

constexpr std::size_t most_label_characters = 40;

std::string label_of(const PreviewStage& stage) {
  switch (stage.kind) {
    case PreviewStage::Kind::field:
    case PreviewStage::Kind::reduction: return stage.text;
    case PreviewStage::Kind::subset: return "on " + stage.text;
    case PreviewStage::Kind::statistic: return fmt::format("{} {}", stage.text, stage.timing);
    case PreviewStage::Kind::expression:
      return stage.formula.empty() ? stage.text : fmt::format("{} = {}", stage.text, stage.formula);
  }
  return stage.text;
}

/// Consecutive things at the mean of their wanted places.
struct Cluster {
  double sum = 0;
  double count = 0;
  std::size_t first = 0;
  [[nodiscard]] double place() const { return sum / count; }
};

}  // namespace

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a letter
  return text.substr(0, end) + "...";
}

PreviewLayout::PreviewLayout(const output::Preview& preview) : preview_(preview) {
  stack_files();
  add_stages();
  collect_files();
  for (std::size_t column = columns_; column-- > 0;) place(column);
  shift_down();
}

void PreviewLayout::stack_files() {
  double y = top;
  for (std::size_t f = 0; f < preview_.files.size(); ++f) {
    const std::size_t variables = preview_.files[f].variables.size();
    files_.push_back({y, header_height + static_cast<double>(variables) * row_height + row_gap});
    for (std::size_t v = 0; v < variables; ++v)
      rows_.push_back({f, v, y + header_height + (static_cast<double>(v) + 0.5) * row_height});
    y += files_.back().height + file_gap;
  }
}

void PreviewLayout::add_stages() {
  for (const PreviewStage& stage : preview_.stages) {
    Box box;
    for (const std::size_t input : stage.of)
      box.column = std::max(box.column, boxes_[box_of_stage_[input]].column + 1);
    box.label = shortened(label_of(stage), most_label_characters);
    box.stage = box_of_stage_.size();
    columns_ = std::max(columns_, box.column + 1);
    box_of_stage_.push_back(boxes_.size());
    boxes_.push_back(std::move(box));
    for (const std::size_t input : stage.of) add_line(box_of_stage_[input], box_of_stage_.back());
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::size_t stage = preview_.files[rows_[row].file].variables[rows_[row].variable].stage;
    boxes_[extend(box_of_stage_[stage], columns_)].to_variables.push_back(row);
  }
}

void PreviewLayout::add_line(std::size_t from, std::size_t to) {
  boxes_[extend(from, boxes_[to].column)].next.push_back(to);
}

std::size_t PreviewLayout::extend(std::size_t from, std::size_t column) {
  while (boxes_[from].column + 1 < column) {
    // Lines of one box share their crossings.
    const std::size_t next = boxes_[from].column + 1;
    const auto shared = std::ranges::find_if(boxes_[from].next, [&](std::size_t it) {
      return boxes_[it].is_crossing() && boxes_[it].column == next;
    });
    if (shared != boxes_[from].next.end()) {
      from = *shared;
      continue;
    }
    Box crossing;
    crossing.column = next;
    crossing.stage = boxes_[from].stage;
    boxes_[from].next.push_back(boxes_.size());
    from = boxes_.size();
    boxes_.push_back(std::move(crossing));
  }
  return from;
}

void PreviewLayout::collect_files() {
  for (std::size_t column = columns_; column-- > 0;)
    for (Box& box : boxes_) {
      if (box.column != column) continue;
      for (const std::size_t row : box.to_variables) box.files.insert(rows_[row].file);
      for (const std::size_t next : box.next)
        box.files.insert(boxes_[next].files.begin(), boxes_[next].files.end());
    }
}

double PreviewLayout::wanted_y(const Box& box) const {
  double sum = 0;
  for (const std::size_t next : box.next) sum += boxes_[next].y;
  for (const std::size_t row : box.to_variables) sum += rows_[row].y;
  const std::size_t lines = box.next.size() + box.to_variables.size();
  return lines == 0 ? top : sum / static_cast<double>(lines);
}

/// In the order of the wanted places, and as near to them as possible without overlaps: neighbours
/// that would overlap become one block (pool adjacent violators).
void PreviewLayout::place(std::size_t column) {
  std::vector<std::size_t> order;
  for (std::size_t b = 0; b < boxes_.size(); ++b)
    if (boxes_[b].column == column) {
      boxes_[b].y = wanted_y(boxes_[b]);
      order.push_back(b);
    }
  std::ranges::stable_sort(order, {}, [&](std::size_t b) { return boxes_[b].y; });
  std::vector<double> offsets;  // offsets of the middles, if all lie closely together
  double offset = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double half = boxes_[order[i]].height() / 2;
    offset += half;
    offsets.push_back(offset);
    offset += half + row_gap;
  }
  std::vector<Cluster> blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    blocks.push_back({boxes_[order[i]].y - offsets[i], 1, i});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].place() > blocks.back().place()) {
      const Cluster last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t end = b + 1 < blocks.size() ? blocks[b + 1].first : order.size();
    for (std::size_t i = blocks[b].first; i < end; ++i) boxes_[order[i]].y = blocks[b].place() + offsets[i];
  }
}

/// Columns that are longer than that of the files begin above it.
void PreviewLayout::shift_down() {
  double highest = top;
  for (const Box& box : boxes_) highest = std::min(highest, box.y - box.height() / 2);
  const double shift = top - highest;
  bottom_ = top;
  for (Box& box : boxes_) {
    box.y += shift;
    bottom_ = std::max(bottom_, box.y + box.height() / 2);
  }
  for (Row& row : rows_) row.y += shift;
  for (FileBox& file : files_) {
    file.y += shift;
    bottom_ = std::max(bottom_, file.y + file.height);
  }
}

}  // namespace afterbay::app
