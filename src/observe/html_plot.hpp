// SPDX-License-Identifier: Apache-2.0
// Parts of the HTML report: plots over time and timeline rows. Curves and areas are SVG that is
// scaled to the width of the window; labels are HTML, so that they have the same size on every
// screen. Colours are classes of the page's style sheet, so that they follow light mode, dark mode
// and print.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "observe/timeline.hpp"

namespace afterbay::observe {

/// `text` escaped for HTML and attributes; control characters become visible.
std::string html_text(const std::string& text);

struct PlotLine {
  std::string label;
  std::string style;                              ///< CSS class: "s0" ...
  std::vector<std::pair<double, double>> points;  ///< (time, value)
  bool area = false;                              ///< filled down to the axis
};

struct Plot {
  std::string label;  ///< for screen readers
  double x_end = 1;   ///< seconds
  double y_end = 1;
  std::vector<PlotLine> lines;
  std::vector<std::pair<double, double>> shaded{};      ///< time spans
  std::vector<std::pair<double, std::string>> marks{};  ///< horizontal lines: position and label
  std::string unit{};                                   ///< appended to bytes: "/s"
};

/// The plot with its axes. Pointing at it shows the values at that time.
std::string html_of(const Plot& plot);

struct TimelineRow {
  std::string label;
  std::string title;                                   ///< shown when pointed at, before the shares
  std::vector<std::array<double, lane_count>> shares;  ///< shares of each interval's time, by lane
};

/// Rows below each other over `x_end` seconds.
std::string html_of(const std::vector<TimelineRow>& rows, double x_end);

/// CSS class of a lane: "l-put".
std::string class_of(Lane lane);

}  // namespace afterbay::observe
