// SPDX-License-Identifier: Apache-2.0
#include "observe/html_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"
#include "observe/progress.hpp"

namespace afterbay::observe {
namespace {

// Of the drawing, in its own units.
constexpr double left = 84, right = 16, top = 10, bottom = 26, width = 960, plot_height = 200;
constexpr double inner_width = width - left - right;
constexpr double row_height = 15, row_gap = 3;

/// 1, 2 or 5 times a power of ten: `range` in at most `most` parts.
double nice_step(double range, int most) {
  const double rough = std::max(range, 1e-9) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

/// Seconds by people's clock: 15 s, 30 s, minutes.
double nice_time_step(double range, int most) {
  for (const double step : {15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21600.0, 86400.0})
    if (range > 60 && range / step <= most) return step;
  return nice_step(range, most);
}

std::string time_text(double s, double step) {
  if (step < 1) return fmt::format("{:.{}f} s", s, step < 0.1 ? 2 : 1);
  if (step < 15 || s < 60) return fmt::format("{:.0f} s", s);
  const auto whole = static_cast<long>(s);
  if (step < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

/// Bytes in the unit of the largest: step and unit fit it.
double nice_bytes_step(double range, int most) {
  double unit = 1;
  while (range / unit >= 1024) unit *= 1024;
  return std::max(1.0, nice_step(range / unit, most) * unit);
}

double x_of(double s, double x_end) { return left + inner_width * std::clamp(s / x_end, 0.0, 1.0); }

std::string time_axis(double x_end, double y_from, double y_to) {
  std::string out;
  const double step = nice_time_step(x_end, 10);
  for (double s = 0; s <= x_end * 1.0001; s += step) {
    const double x = x_of(s, x_end);
    out += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)", x,
                       y_from, y_to);
    out += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x, y_to + 16,
                       x > width - 60 ? "end" : "middle", time_text(s, step));
  }
  return out;
}

std::string line_path(const PlotLine& line, const Plot& plot, double base) {
  std::string path;
  for (const auto& [s, value] : line.points)
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", x_of(s, plot.x_end),
                        base - (plot_height)*std::clamp(value / plot.y_end, 0.0, 1.0));
  return path;
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

std::string svg_of(const Plot& plot) {
  const double base = top + plot_height;
  std::string out = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", width,
                                base + bottom, html_text(plot.label));
  for (const auto& [from, to] : plot.shaded)
    out += fmt::format(R"(<rect class="held" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>)",
                       x_of(from, plot.x_end), top,
                       std::max(0.8, x_of(to, plot.x_end) - x_of(from, plot.x_end)), plot_height);
  const double step = nice_bytes_step(plot.y_end, 5);
  for (double y = 0; y <= plot.y_end * 1.0001; y += step) {
    const double at = base - plot_height * y / plot.y_end;
    out += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", left,
                       width - right, at);
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}{}</text>)", left - 6,
                       at + 4, y == 0 ? "0" : text_of_bytes(y), y == 0 ? "" : plot.unit);
  }
  out += time_axis(plot.x_end, top, base);
  for (const auto& [value, what] : plot.marks) {
    const double at = base - plot_height * value / plot.y_end;
    out += fmt::format(R"(<line class="mark" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", left,
                       width - right, at);
    out += fmt::format(R"(<text class="mark" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
                       width - right - 4, at + 13, html_text(what));
  }
  for (const PlotLine& line : plot.lines)
    out += fmt::format(R"(<path class="line {}" d="{}"><title>{}</title></path>)", line.style,
                       line_path(line, plot, base), html_text(line.label));
  return out + "</svg>\n";
}

std::string class_of(Lane lane) {
  constexpr const char* names[lane_count] = {"put",    "room",   "files", "end",     "read",
                                             "define", "ingest", "write", "publish", "create"};
  return std::string("l-") + names[static_cast<std::size_t>(lane)];
}

std::string svg_of(const std::vector<TimelineRow>& rows, double x_end) {
  const double base = top + static_cast<double>(rows.size()) * (row_height + row_gap);
  std::string out =
      fmt::format(R"(<svg viewBox="0 0 {} {:.0f}" role="img" aria-label="timeline">)", width, base + bottom);
  double y = top;
  for (const TimelineRow& row : rows) {
    out += fmt::format(R"(<g><title>{}</title><rect class="row" x="{}" y="{:.1f}" width="{}" height="{}"/>)",
                       html_text(row.title), left, y, inner_width, row_height);
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left - 6,
                       y + row_height - 4, html_text(row.label));
    std::array<std::string, lane_count> paths;
    const double column = inner_width / static_cast<double>(std::max<std::size_t>(row.shares.size(), 1));
    for (std::size_t b = 0; b < row.shares.size(); ++b) {
      double filled = 0;
      for (std::size_t lane = 0; lane < lane_count; ++lane) {
        const double share = std::min(row.shares[b][lane], 1 - filled);
        if (share < 0.005) continue;
        paths[lane] +=
            fmt::format("M{:.1f},{:.1f}h{:.2f}v-{:.1f}h-{:.2f}z", left + column * static_cast<double>(b),
                        y + row_height * (1 - filled), column + 0.1, row_height * share, column + 0.1);
        filled += share;
      }
    }
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (!paths[lane].empty())
        out += fmt::format(R"(<path class="{}" d="{}"/>)", class_of(static_cast<Lane>(lane)), paths[lane]);
    out += "</g>\n";
    y += row_height + row_gap;
  }
  return out + time_axis(x_end, top, base) + "</svg>\n";
}

}  // namespace afterbay::observe
