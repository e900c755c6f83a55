// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "preview.hpp"
#include "preview_layout.hpp"

namespace afterbay::app {

namespace {

using Box = PreviewLayout::Box;
using output::PreviewStage;

constexpr double margin = 20;
constexpr double column_gap = 84;
constexpr double letter_width = 7.3;
constexpr double title_letter_width = 8.6;
constexpr double padding = 8;
constexpr double line_height = 16;
/// Told apart also by readers who do not see all colours (Okabe and Ito, 2008).
constexpr std::array<const char*, 7> file_colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#b8860b", "#56b4e9", "#6a3d9a"};
constexpr const char* shared_colour = "#8a8f98";

constexpr const char* style = R"(<style>
text { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12px; fill: #1d2129; }
.title { font-size: 14px; font-weight: bold; }
.head { fill: #5b6270; }
.small { font-size: 10.5px; fill: #5b6270; }
.field { fill: #e4eefa; stroke: #7a9cc6; }
.subset { fill: #f1e6fa; stroke: #a17fc4; }
.expression { fill: #fdf0d5; stroke: #cda349; }
.reduction { fill: #e0f4f5; stroke: #62a9ae; }
.statistic { fill: #e2f3e5; stroke: #74ad80; }
.file { fill: #ffffff; stroke-width: 1.5; }
.line { fill: none; stroke-width: 1.3; stroke-opacity: 0.75; }
</style>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable_message(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

double width_of(const std::string& text) {
  return letter_width * static_cast<double>(text.size()) + 2 * padding;
}

class Drawing {
 public:
  explicit Drawing(const output::Preview& preview) : preview_(preview), layout_(preview) { set_columns(); }

  std::string draw() {
    heads();
    for (const Box& box : layout_.boxes()) lines_of(box);
    for (const Box& box : layout_.boxes()) draw_stage(box);
    for (std::size_t f = 0; f < preview_.files.size(); ++f) draw_file(f);
    const double height = notes(layout_.bottom() + margin + line_height) + margin;
    const double width = std::max(files_at_ + files_width_, margin + title_width_) + margin;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
               "{0:.0f} {1:.0f}\">\n{2}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               width, height, style) +
           out_ + "</svg>\n";
  }

 private:
  void set_columns() {
    std::vector<double> widths(layout_.columns(), 0);
    for (const Box& box : layout_.boxes())
      widths[box.column] = std::max(widths[box.column], box.is_crossing() ? 0 : width_of(box.label));
    double x = margin;
    for (const double width : widths) {
      columns_at_.push_back(x);
      widths_.push_back(width);
      x += width + column_gap;
    }
    files_at_ = x;
    files_width_ = least_file_width;
    for (const output::PreviewFile& file : preview_.files) {
      files_width_ = std::max({files_width_, width_of(file.name), width_of(summary_of(file))});
      for (const output::PreviewVariable& variable : file.variables)
        files_width_ = std::max(files_width_, width_of(row_text(variable)));
    }
  }

  static std::string row_text(const output::PreviewVariable& variable) {
    return shortened(variable.name, 40) + "  " + print_about(variable.bytes);
  }

  static std::string summary_of(const output::PreviewFile& file) {
    std::string text = file.every.empty() ? "once" : "every " + file.every;
    if (!file.every.empty()) text += fmt::format(", {} records", file.records());
    return text + fmt::format(", {} file{}, {}", file.parts.size(), file.parts.size() == 1 ? "" : "s",
                              print_about(file.bytes()));
  }

  void text(double x, double y, const std::string& what, const char* css, const char* anchor = "start") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                        css, anchor, escaped(what));
  }

  void heads() {
    constexpr double title_y = 28;
    constexpr double head_y = 58;
    const std::string title = fmt::format(
        "{} steps of {} from {}: {} in files, {} of memory per model rank, {} to servers per step",
        preview_.steps, preview_.step, preview_.start, print_about(preview_.bytes()),
        print_about(preview_.state_bytes_per_rank()),
        print_about(static_cast<std::uint64_t>(preview_.traffic.average)));
    text(margin, title_y, title, "title");
    title_width_ = title_letter_width * static_cast<double>(title.size());
    text(columns_at_.front(), head_y, "fields", "head");
    if (layout_.columns() > 1) text(columns_at_[1], head_y, "computed in the model ranks", "head");
    text(files_at_, head_y, "files", "head");
  }

  [[nodiscard]] static const char* colour_of(const std::set<std::size_t>& files) {
    return files.size() == 1 ? file_colours[*files.begin() % file_colours.size()] : shared_colour;
  }

  void curve(double x1, double y1, double x2, double y2, const char* colour) {
    const double middle = (x1 + x2) / 2;
    out_ += fmt::format(
        "<path class=\"line\" stroke=\"{0}\" d=\"M{1:.1f} {2:.1f}C{3:.1f} {2:.1f} {3:.1f} {4:.1f} {5:.1f} "
        "{4:.1f}\"/>\n",
        colour, x1, y1, middle, y2, x2);
  }

  /// Where lines leave a box: at the edge of its column, so that they do not run through other
  /// boxes.
  void lines_of(const Box& box) {
    const double left = columns_at_[box.column];
    const double right = left + widths_[box.column];
    const char* const colour = colour_of(box.files);
    const double from = box.is_crossing() ? left : left + width_of(box.label);
    const bool leads_on = !box.next.empty() || !box.to_variables.empty();
    if (leads_on && from < right)
      out_ += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", colour, from,
                          box.y, right);
    for (const std::size_t next : box.next)
      curve(right, box.y, columns_at_[box.column + 1], layout_.boxes()[next].y,
            colour_of(layout_.boxes()[next].files));
    for (const std::size_t row : box.to_variables)
      curve(right, box.y, files_at_, layout_.rows()[row].y, colour_of({layout_.rows()[row].file}));
  }

  void draw_stage(const Box& box) {
    if (box.is_crossing()) return;
    const PreviewStage& stage = preview_.stages[box.stage];
    const double x = columns_at_[box.column];
    std::string tip = stage.name;
    if (!stage.formula.empty()) tip += " = " + stage.formula;
    if (!stage.timing.empty()) tip += " " + stage.timing;
    tip += ": " + stage.points;
    if (stage.bytes_on_all_ranks > 0)
      tip += fmt::format(", {} per rank, {} on all ranks", print_about(stage.bytes_per_rank),
                         print_about(stage.bytes_on_all_ranks));
    out_ += fmt::format(
        "<g><title>{}</title><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"4\"/>",
        escaped(tip), name_of(stage.kind), x, box.y - box.height() / 2, width_of(box.label), box.height());
    text(x + padding, box.y + baseline, box.label, "stage");
    out_ += "</g>\n";
  }

  void draw_file(std::size_t number) {
    const output::PreviewFile& file = preview_.files[number];
    const PreviewLayout::FileBox& box = layout_.files()[number];
    const char* const colour = file_colours[number % file_colours.size()];
    out_ += fmt::format(
        "<rect class=\"file\" stroke=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"5\"/>\n",
        colour, files_at_, box.y, files_width_, box.height);
    text(files_at_ + padding, box.y + line_height, file.name, "title");
    text(files_at_ + padding, box.y + 2 * line_height, summary_of(file), "small");
    for (const PreviewLayout::Row& row : layout_.rows()) {
      if (row.file != number) continue;
      const output::PreviewVariable& variable = file.variables[row.variable];
      text(files_at_ + padding, row.y + baseline, shortened(variable.name, 40), "variable");
      text(files_at_ + files_width_ - padding, row.y + baseline, print_about(variable.bytes), "small", "end");
    }
  }

  /// Fields without a box. Returns where they end.
  double notes(double y) {
    if (preview_.unused.empty()) return y - line_height;
    const auto letters = static_cast<std::size_t>((files_at_ + files_width_ - margin) / letter_width);
    const std::string all =
        wrapped(fmt::format("not used: {}", fmt::join(preview_.unused, ", ")), letters, "", "  ");
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      text(margin, y, all.substr(at, end - at), "head");
      y += line_height;
      at = end + 1;
    }
    return y - line_height;
  }

  static constexpr double least_file_width = 160;
  static constexpr double baseline = 4;  ///< below the middle of a row

  const output::Preview& preview_;
  PreviewLayout layout_;
  std::vector<double> columns_at_;
  std::vector<double> widths_;
  double files_at_ = 0;
  double files_width_ = 0;
  double title_width_ = 0;
  std::string out_;
};

}  // namespace

std::string preview_drawing(const output::Preview& preview) { return Drawing(preview).draw(); }

}  // namespace afterbay::app
