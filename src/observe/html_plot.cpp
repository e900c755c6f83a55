// SPDX-License-Identifier: Apache-2.0
#include "observe/html_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/printable.hpp"
#include "observe/progress.hpp"

namespace afterbay::observe {
namespace {

// Sizes of the drawings in their own units; the page scales them.
constexpr double plot_width = 1000, plot_height = 200;
constexpr double row_height = 15, row_pitch = 18;  ///< also in pixels: rows are not scaled
                                                   ///< vertically

constexpr std::size_t plot_tips = 100;  ///< columns that show values when pointed at
constexpr std::size_t most_row_tips = 50, most_timeline_tips = 1200;

/// 1, 2 or 5 times a power of ten that divides `range` into at most `most` parts.
double nice_step(double range, int most) {
  const double rough = std::max(range, 1e-9) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

/// The same for seconds, in steps of time: 15 s, 30 s, minutes.
double nice_time_step(double range, int most) {
  for (const double step : {15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21600.0, 86400.0})
    if (range > 60 && range / step <= most) return step;
  return nice_step(range, most);
}

std::string time_text(double s, double step) {
  if (step < 1) return fmt::format("{:.{}f} s", s, step < 0.01 ? 3 : step < 0.1 ? 2 : 1);
  if (step < 15 || s < 60) return fmt::format("{:.0f} s", s);
  const auto whole = static_cast<long>(s);
  if (step < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

/// The same for bytes, in the unit of the largest value.
double nice_bytes_step(double range, int most) {
  double unit = 1;
  while (range / unit >= 1024) unit *= 1024;
  return std::max(1.0, nice_step(range / unit, most) * unit);
}

double x_of(double s, double x_end) { return plot_width * std::clamp(s / x_end, 0.0, 1.0); }

struct TimeAxis {
  std::string grid;    ///< SVG
  std::string labels;  ///< HTML
};

/// Every second label is left out on narrow screens.
TimeAxis time_axis(double x_end, double height) {
  TimeAxis axis;
  const double step = nice_time_step(x_end, 10);
  bool odd = false;
  for (int i = 0; i * step <= x_end * 1.0001; ++i, odd = !odd) {
    const double share = std::min(1.0, i * step / x_end);
    axis.grid += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="0" y2="{1:.1f}"/>)",
                             plot_width * share, height);
    axis.labels += fmt::format(R"(<span class="{}{}" style="left:{:.2f}%">{}</span>)", odd ? "odd" : "even",
                               share > 0.94 ? " last" : "", 100 * share, time_text(i * step, step));
  }
  return axis;
}

std::string line_path(const PlotLine& line, const Plot& plot) {
  std::string path;
  for (const auto& [s, value] : line.points)
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", x_of(s, plot.x_end),
                        plot_height * (1 - std::clamp(value / plot.y_end, 0.0, 1.0)));
  if (line.area && !path.empty())
    path += fmt::format("L{:.1f},{:.0f}L{:.1f},{:.0f}Z", x_of(line.points.back().first, plot.x_end),
                        plot_height, x_of(line.points.front().first, plot.x_end), plot_height);
  return path;
}

/// The largest value within a time span; if there is none, the value interpolated at its middle.
std::optional<double> value_in(const PlotLine& line, double from, double to) {
  using Point = std::pair<double, double>;
  const auto begin = std::ranges::lower_bound(line.points, from, {}, &Point::first);
  const auto end = std::ranges::upper_bound(line.points, to, {}, &Point::first);
  if (begin != end) return std::ranges::max_element(begin, end, {}, &Point::second)->second;
  if (begin == line.points.begin() || begin == line.points.end()) return std::nullopt;
  const Point before = *std::prev(begin), after = *begin;
  const double part = ((from + to) / 2 - before.first) / (after.first - before.first);
  return before.second + part * (after.second - before.second);
}

std::string tip(double x, double y, double tip_width, double height, const std::string& text) {
  return fmt::format(
      R"(<rect class="tip" x="{:.1f}" y="{:.1f}" width="{:.2f}" height="{:.1f}"><title>{}</title></rect>)", x,
      y, tip_width, height, html_text(text));
}

std::string plot_tips_of(const Plot& plot) {
  std::string out;
  const double column = plot.x_end / plot_tips;
  for (std::size_t i = 0; i < plot_tips; ++i) {
    const double from = static_cast<double>(i) * column;
    std::string text;
    for (const PlotLine& line : plot.lines)
      if (const auto value = value_in(line, from, from + column))
        text += fmt::format("; {}: {}{}", line.label, text_of_bytes(*value), plot.unit);
    if (text.empty()) continue;
    out += tip(x_of(from, plot.x_end), 0, plot_width / plot_tips, plot_height,
               fmt::format("after {}{}", text_of_seconds(from + column / 2), text));
  }
  return out;
}

constexpr const char* lane_words[lane_count] = {"put",
                                                "waits for room",
                                                "waits for files",
                                                "finalize",
                                                "reads",
                                                "defines",
                                                "open_session",
                                                "takes in",
                                                "writes",
                                                "makes files complete",
                                                "creates new files"};
constexpr const char* lane_classes[lane_count] = {"put",  "room",   "files", "end",     "read",  "define",
                                                  "open", "ingest", "write", "publish", "create"};

/// The columns of a timeline row, each with a text of the shares of its time.
std::string row_tips(const TimelineRow& row, double y, double x_end, std::size_t columns) {
  std::string out;
  const std::size_t bins = row.shares.size();
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t first = c * bins / columns, last = (c + 1) * bins / columns;
    if (first == last) continue;
    std::string text;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      double share = 0;
      for (std::size_t b = first; b < last; ++b) share += row.shares[b][lane];
      share = std::min(1.0, share / static_cast<double>(last - first));
      if (share >= 0.005) text += fmt::format(", {} {:.0f} %", lane_words[lane], 100 * share);
    }
    if (text.empty()) continue;
    const double per_bin = 1.0 / static_cast<double>(bins);
    const double from = static_cast<double>(first) * per_bin, to = static_cast<double>(last) * per_bin;
    out += tip(plot_width * from, y, plot_width * (to - from), row_height,
               fmt::format("{}, {} to {}{}", row.title, text_of_seconds(x_end * from),
                           text_of_seconds(x_end * to), text));
  }
  return out;
}

std::string row_drawing(const TimelineRow& row, double y) {
  std::string out = fmt::format(R"(<rect class="row" x="0" y="{:.1f}" width="{}" height="{}"/>)", y,
                                plot_width, row_height);
  std::array<std::string, lane_count> paths;
  const double column = plot_width / static_cast<double>(std::max<std::size_t>(row.shares.size(), 1));
  for (std::size_t b = 0; b < row.shares.size(); ++b) {
    double filled = 0;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      const double share = std::min(row.shares[b][lane], 1 - filled);
      if (share < 0.005) continue;
      paths[lane] +=
          fmt::format("M{:.1f},{:.1f}h{:.2f}v-{:.1f}h-{:.2f}z", column * static_cast<double>(b),
                      y + row_height * (1 - filled), column + 0.1, row_height * share, column + 0.1);
      filled += share;
    }
  }
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    if (!paths[lane].empty())
      out += fmt::format(R"(<path class="{}" d="{}"/>)", class_of(static_cast<Lane>(lane)), paths[lane]);
  return out;
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_of(const Plot& plot) {
  std::string labels, marks;
  std::string svg =
      fmt::format(R"(<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">)",
                  plot_width, plot_height, html_text(plot.label));
  for (const auto& [from, to] : plot.shaded)
    svg += fmt::format(R"(<rect class="held" x="{:.1f}" y="0" width="{:.1f}" height="{}"/>)",
                       x_of(from, plot.x_end), std::max(0.8, x_of(to, plot.x_end) - x_of(from, plot.x_end)),
                       plot_height);
  const double step = nice_bytes_step(plot.y_end, 5);
  for (double y = 0; y <= plot.y_end * 1.0001; y += step) {
    const double share = y / plot.y_end;
    svg += fmt::format(R"(<line class="grid" x1="0" x2="{0}" y1="{1:.1f}" y2="{1:.1f}"/>)", plot_width,
                       plot_height * (1 - share));
    labels += fmt::format(R"(<span style="bottom:{:.2f}%">{}{}</span>)", 100 * share,
                          y == 0 ? "0" : text_of_bytes(y), y == 0 ? "" : plot.unit);
  }
  const TimeAxis axis = time_axis(plot.x_end, plot_height);
  svg += axis.grid;
  for (const auto& [value, what] : plot.marks) {
    const double share = std::min(1.0, value / plot.y_end);
    svg += fmt::format(R"(<line class="mark" x1="0" x2="{0}" y1="{1:.1f}" y2="{1:.1f}"/>)", plot_width,
                       plot_height * (1 - share));
    marks += fmt::format(R"(<span class="mark" style="top:{:.2f}%">{}</span>)", 100 * (1 - share),
                         html_text(what));
  }
  for (const PlotLine& line : plot.lines)
    svg += fmt::format(R"(<path class="{} {}" d="{}"/>)", line.area ? "area" : "line", line.style,
                       line_path(line, plot));
  svg += plot_tips_of(plot) + "</svg>";
  return fmt::format(
      "<div class=plot><div class=y>{}</div><div class=drawing>{}{}</div><div class=x>{}</div></div>\n",
      labels, svg, marks, axis.labels);
}

std::string class_of(Lane lane) { return std::string("l-") + lane_classes[static_cast<std::size_t>(lane)]; }

std::string html_of(const std::vector<TimelineRow>& rows, double x_end) {
  const double height = static_cast<double>(rows.size()) * row_pitch;
  const TimeAxis axis = time_axis(x_end, height);
  const std::size_t tips =
      std::min(most_row_tips, most_timeline_tips / std::max<std::size_t>(rows.size(), 1));
  std::string labels, drawings, tip_texts;
  double y = 0;
  for (const TimelineRow& row : rows) {
    labels += "<span>" + html_text(row.label) + "</span>";
    drawings += row_drawing(row, y);
    tip_texts += row_tips(row, y, x_end, tips);
    y += row_pitch;
  }
  return fmt::format(
      "<div class=\"plot rows\"><div class=names>{}</div><div class=drawing><svg viewBox=\"0 0 {} {:.0f}\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"timeline\" "
      "style=\"height:{:.0f}px\">{}{}{}</svg></div>"
      "<div class=x>{}</div></div>\n",
      labels, plot_width, height, height, drawings, axis.grid, tip_texts, axis.labels);
}

}  // namespace afterbay::observe
