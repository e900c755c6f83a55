// SPDX-License-Identifier: Apache-2.0
#include "observe/html_page.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/rounding.hpp"
#include "observe/html_plot.hpp"
#include "observe/html_tables.hpp"
#include "observe/progress.hpp"
#include "observe/run_figures.hpp"

namespace afterbay::observe {
namespace {

constexpr std::size_t timeline_bins = 300;
constexpr std::size_t most_rows = 32;            ///< per role; if there are more processes, neighbours share
                                                 ///< a row
constexpr std::size_t most_lines = 8;            ///< servers with their own line
constexpr double headroom = 1.08;                ///< space on an axis above the data, as a factor
constexpr double memory_shown = 3;               ///< multiple of the largest backlog: more memory is stated,
                                                 ///< not drawn
constexpr double rate_window_share = 1.0 / 100;  ///< part of the run over which a bandwidth is
                                                 ///< averaged

constexpr const char* page_style =
#include "observe/html_style.inc"
    ;

std::string swatch(const std::string& style, bool is_line) {
  return is_line
             ? fmt::format("<svg viewBox='0 0 22 12'><path class='{} {}' d='M0,6h22{}'/></svg>",
                           style == "a-in" ? "area" : "line", style, style == "a-in" ? "v6h-22z" : "")
             : fmt::format("<svg viewBox='0 0 22 12'><rect class='{}' width='22' height='12'/></svg>", style);
}

std::string key_of(const std::vector<std::pair<std::string, std::string>>& entries, bool lines) {
  std::string out = "<div class=key>";
  for (const auto& [style, text] : entries)
    out += "<span>" + swatch(style, lines) + html_text(text) + "</span>";
  return out + "</div>\n";
}

std::string style_of(std::size_t number) { return fmt::format("s{}", number % most_lines); }

/// The times at which any rank waited for room in any of them.
std::vector<std::pair<double, double>> held_up(const std::vector<ServerHistory>& all,
                                               const RunFigures& figures) {
  std::vector<std::pair<double, double>> spans;
  for (const ServerHistory& it : all) {
    const double shift = it.started_at_s - figures.started_at_s;
    for (std::size_t i = 0; i < it.points.size(); ++i) {
      if (it.points[i].ranks_waiting == 0) continue;
      const double from = i == 0 ? 0 : it.points[i - 1].at_s;
      spans.emplace_back(shift + from, shift + it.points[i].at_s);
    }
  }
  std::ranges::sort(spans);
  std::vector<std::pair<double, double>> joined;
  for (const auto& span : spans) {
    if (!joined.empty() && span.first <= joined.back().second)
      joined.back().second = std::max(joined.back().second, span.second);
    else
      joined.push_back(span);
  }
  return joined;
}

/// How full the memory of servers, or frontends, was.
struct BacklogPlot {
  const char* one;   ///< "I/O server"
  const char* many;  ///< "servers"
  const char* head;
  const char* text;
  const char* full;  ///< the consequence of full memory
};

std::string backlog_section(const std::vector<ServerHistory>& all, const BacklogPlot& words,
                            const RunFigures& figures) {
  Plot plot;
  plot.label = fmt::format("backlog of the {} against time", words.many);
  plot.x_end = figures.elapsed_s;
  double most = 0, limit = 0;
  std::vector<std::pair<std::string, std::string>> key;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const ServerHistory& it = all[s];
    PlotLine line{fmt::format("{} {} on {}", words.one, it.server, it.host), style_of(s), {}};
    const double shift = it.started_at_s - figures.started_at_s;
    for (const SeriesPoint& point : it.points)
      line.points.emplace_back(shift + point.at_s, static_cast<double>(point.backlog_bytes));
    for (const auto& point : line.points) most = std::max(most, point.second);
    limit = std::max(limit, static_cast<double>(it.backlog_limit_bytes));
    if (s >= most_lines) continue;
    key.emplace_back(line.style, line.label);
    plot.lines.push_back(std::move(line));
  }
  if (limit == 0) return {};
  plot.y_end = headroom * std::max(most, 1.0);
  const bool limit_fits = limit <= memory_shown * most;
  if (limit_fits) {
    plot.marks.emplace_back(limit, words.full);
    plot.y_end = std::max(plot.y_end, headroom * limit);
  }
  plot.shaded = held_up(all, figures);
  std::string out = fmt::format("<section><h2>{}</h2><p class=dim>{}</p>\n", words.head, words.text);
  if (!limit_fits)
    out += fmt::format(
        "<p class=dim>The memory of one ({}) is beyond this axis: no more than {} was in use.</p>\n",
        text_of_bytes(limit), text_of_bytes(most));
  out += html_of(plot) + key_of(key, true);
  if (all.size() > most_lines)
    out += fmt::format("<p class=dim>and {} more {}</p>", all.size() - most_lines, words.many);
  return out + "</section>\n";
}

std::string backlog_sections(const RunPage& page, const RunFigures& figures) {
  return backlog_section(
             page.servers,
             {"I/O server", "servers", "Backlog",
              "What each server has taken in and not yet written. Shaded: a model rank waited for "
              "room.",
              "memory of a server: when it is full, the model waits"},
             figures) +
         backlog_section(
             page.frontends,
             {"frontend", "frontends", "Held by frontends",
              "What each frontend has taken in and not yet passed on to the servers. Shaded: some "
              "rank's part of it was full.",
              "memory of a frontend: when a rank's part is full, it waits"},
             figures);
}

using Total = std::uint64_t SeriesPoint::*;

/// The total over all servers at a time, interpolated between their points.
double total_at(const RunPage& page, const RunFigures& figures, Total total, double at_s) {
  double sum = 0;
  for (const ServerHistory& it : page.servers) {
    const double t = at_s - (it.started_at_s - figures.started_at_s);
    const auto next = std::ranges::lower_bound(it.points, t, {}, &SeriesPoint::at_s);
    if (next == it.points.end()) {
      sum += it.points.empty() ? 0 : static_cast<double>(it.points.back().*total);
      continue;
    }
    const SeriesPoint before = next == it.points.begin() ? SeriesPoint() : *std::prev(next);
    const double part =
        next->at_s > before.at_s ? std::clamp((t - before.at_s) / (next->at_s - before.at_s), 0.0, 1.0) : 1;
    sum += static_cast<double>(before.*total) + part * static_cast<double>((*next).*total - before.*total);
  }
  return sum;
}

std::string bandwidth_section(const RunPage& page, const RunFigures& figures) {
  Plot plot;
  plot.label = "bandwidth of all servers together against time";
  plot.x_end = figures.elapsed_s;
  plot.y_end = 0;
  plot.unit = "/s";
  const double window = std::max(figures.elapsed_s * rate_window_share, 0.1);
  struct Curve {
    const char* label;
    const char* style;
    Total total;
    bool area;
  };
  constexpr Curve lines[] = {{"taken in", "a-in", &SeriesPoint::bytes_in, true},
                             {"written, before compression", "a-out", &SeriesPoint::bytes_out, false},
                             {"to files", "a-files", &SeriesPoint::bytes_written, false}};
  std::vector<std::pair<std::string, std::string>> key;
  for (const Curve& curve : lines) {
    PlotLine line{curve.label, curve.style, {}, curve.area};
    for (double t = window; t <= figures.elapsed_s + window / 2; t += window) {
      const double passed =
          total_at(page, figures, curve.total, t) - total_at(page, figures, curve.total, t - window);
      line.points.emplace_back(t - window / 2, std::max(0.0, passed) / window);
      plot.y_end = std::max(plot.y_end, passed / window);
    }
    key.emplace_back(line.style, line.label);
    plot.lines.push_back(std::move(line));
  }
  if (plot.y_end <= 0) return {};
  plot.y_end *= headroom;
  return fmt::format("<section><h2>Bandwidth</h2><p class=dim>All servers together, means over {}.</p>\n",
                     text_of_seconds(window)) +
         html_of(plot) + key_of(key, true) + "</section>\n";
}

/// The number of the server on a rank.
std::int32_t server_at(const RunPage& page, std::int32_t rank) {
  const auto at = std::ranges::find(page.servers, rank, &ServerHistory::rank);
  return at == page.servers.end() ? rank : at->server;
}

/// One row per process of a role; if there are many, neighbours share a row.
void add_rows(std::vector<TimelineRow>& rows, const RunPage& page, const RunFigures& figures,
              const std::string& role) {
  std::vector<const TimelineRecord*> all;
  for (const TimelineRecord& it : page.timelines)
    if (it.role == role) all.push_back(&it);
  const std::size_t together = divided_up(all.size(), most_rows);
  const double bin_s = figures.elapsed_s / timeline_bins;
  for (std::size_t first = 0; first < all.size(); first += together) {
    const std::size_t end = std::min(first + together, all.size());
    const bool one = end - first == 1;
    TimelineRow row;
    const auto number = [&](std::size_t i) {
      return role == "model" ? all[i]->rank : server_at(page, all[i]->rank);
    };
    const char* const one_of = role == "model" ? "rank" : "server";
    row.label = one ? fmt::format("{} {}", one_of, number(first))
                    : fmt::format("{}s {}–{}", one_of, number(first), number(end - 1));
    row.title = role == "model" ? (one ? "model rank" : "model ranks, their mean")
                                : (one ? fmt::format("I/O server, rank {}", all[first]->rank)
                                       : std::string("I/O servers, their mean"));
    row.shares.resize(timeline_bins);
    const double parts = static_cast<double>(end - first) * bin_s;
    for (std::size_t i = first; i < end; ++i) {
      const auto busy = resampled(*all[i], figures.started_at_s, bin_s, timeline_bins);
      for (std::size_t b = 0; b < timeline_bins; ++b)
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
          const auto what = static_cast<Lane>(lane);
          const bool of_workers = role == "server" && what != Lane::ingest && what != Lane::open;
          row.shares[b][lane] += busy[b][lane] / parts / (of_workers ? std::max(1U, page.writers) : 1);
        }
    }
    rows.push_back(std::move(row));
  }
}

std::string timeline_section(const RunPage& page, const RunFigures& figures) {
  std::vector<TimelineRow> models, servers;
  add_rows(models, page, figures, "model");
  add_rows(servers, page, figures, "server");
  const auto lane = [](Lane it) { return class_of(it); };
  std::string out =
      "<section><h2>Timeline</h2><p class=dim>How each interval was spent: a full column is all of it. Grey "
      "is time "
      "outside Afterbay: the model computes, or a server sleeps. Ranks count as in the session's "
      "communicator.</p>\n<h3>Model ranks</h3>\n";
  out += key_of({{lane(Lane::open), "open_session"},
                 {lane(Lane::put), "put: copying"},
                 {lane(Lane::room), "waits for room in a server"},
                 {lane(Lane::files), "waits for files (wait, flush, end_step)"},
                 {lane(Lane::end), "finalize"},
                 {lane(Lane::read), "reads"},
                 {lane(Lane::define), "defines"}},
                false);
  if (!models.empty()) out += html_of(models, figures.elapsed_s);
  out += "<h3>I/O servers</h3>\n";
  out += key_of({{lane(Lane::open), "open_session"},
                 {lane(Lane::write), "workers write"},
                 {lane(Lane::publish), "make files complete"},
                 {lane(Lane::create), "create new files"},
                 {lane(Lane::read), "read"},
                 {lane(Lane::ingest), "takes in"}},
                false);
  return out + html_of(servers, figures.elapsed_s) + "</section>\n";
}

std::string card(const std::string& value, const char* what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>", value, what);
}

std::string cards(const RunPage& page, const RunFigures& it) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  std::string out = "<div class=cards>";
  out += card(text_of_seconds(it.elapsed_s), "run time");
  if (page.failure.empty()) {
    out += card(percent(it.share(it.inside_s())), "of it the model was in Afterbay");
    out += card(percent(it.share(it.room_s + it.files_s)), "of it the model waited");
  }
  out += card(text_of_bytes(static_cast<double>(it.bytes_in)), "handed over");
  out += card(text_of_rate(static_cast<double>(it.bytes_written), it.elapsed_s), "to files, mean");
  out += card(percent(it.peak_share), "peak of a server's memory");
  out += card(percent(it.busy_share), "servers' workers busy");
  return out + card(std::to_string(it.files), "files") + "</div>\n";
}

std::string failure_box(const RunPage& page) {
  std::string out = "<div class='verdict too_slow'><strong>✗ The run failed</strong>";
  for (std::size_t at = 0; at < page.failure.size();) {
    const auto end = std::min(page.failure.find('\n', at), page.failure.size());
    out += "<p>" + html_text(page.failure.substr(at, end - at)) + "</p>";
    at = end + 1;
  }
  return out +
         fmt::format(
             "<p>This page shows the data of I/O server {} only, without the model ranks. `afterbay status` "
             "says what is complete.</p></div>\n",
             page.servers.empty() ? 0 : page.servers.front().server);
}

std::string verdict_box(const RunVerdict& verdict, const std::vector<std::string>& hints) {
  constexpr const char* classes[] = {"kept_up", "nearly", "too_slow"};
  constexpr const char* signs[] = {"✓", "▲", "✗"};
  const auto grade = static_cast<std::size_t>(verdict.grade);
  std::string out = fmt::format("<div class='verdict {}'><strong>{} {}</strong>", classes[grade],
                                signs[grade], html_text(verdict.headline));
  for (const std::string& detail : verdict.details) out += "<p>" + html_text(detail) + "</p>";
  for (const std::string& hint : hints) out += "<p class=hint>" + html_text(hint) + "</p>";
  return out + "</div>\n";
}

std::string title_of(const RunPage& page, const RunFigures& figures) {
  const std::time_t began = static_cast<std::time_t>(figures.started_at_s);
  if (!page.failure.empty())
    return fmt::format("{} <small>{:%Y-%m-%d %H:%M:%S} UTC</small>", html_text(page.session),
                       fmt::gmtime(began));
  return fmt::format("{} <small>{:%Y-%m-%d %H:%M:%S} UTC · {} model ranks, {} I/O server{}</small>",
                     html_text(page.session), fmt::gmtime(began), figures.model_ranks, figures.servers,
                     figures.servers == 1 ? "" : "s");
}

}  // namespace

std::string run_page(const RunPage& page) {
  const RunFigures figures = figures_of(page);
  const std::string title = html_text(page.session);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content='width=device-width,initial-scale=1'>\n<title>{}: output by "
      "Afterbay</title><style>{}</style></head><body>\n",
      title, page_style);
  out += "<h1>" + title_of(page, figures) + "</h1>\n";
  out += page.failure.empty() ? verdict_box(verdict_of(figures), page.hints) : failure_box(page);
  out += cards(page, figures);
  out += backlog_sections(page, figures);
  out += timeline_section(page, figures);
  if (page.failure.empty())
    out += "<section><h2>Where the model's time went</h2>\n" + waits_table(page, figures) + "</section>\n";
  out += bandwidth_section(page, figures);
  out += "<section><h2>Files</h2>\n" + files_tables(page, figures) + "</section>\n";
  out += "<details><summary>All timers</summary><pre>" + [&] {
    std::string lines, text = table(page.report);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      lines += html_text(text.substr(at, end - at)) + "\n";
      at = end + 1;
    }
    return lines;
  }() + "</pre></details>\n";
  out += "<details><summary>Settings</summary>" + settings_table(page) + "</details>\n";
  return out + "</body></html>\n";
}

}  // namespace afterbay::observe
