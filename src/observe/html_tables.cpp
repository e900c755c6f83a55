// SPDX-License-Identifier: Apache-2.0
#include "observe/html_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "observe/html_plot.hpp"
#include "observe/progress.hpp"

namespace afterbay::observe {
namespace {

constexpr std::size_t most_files_shown = 500;

struct Reason {
  Lane lane;
  const char* what;
  const char* why;
};

constexpr Reason reasons[] = {
    {Lane::open, "open_session", "until all ranks had arrived, links were made and memory was ready"},
    {Lane::put, "copying", "put: the one pass over the data that is always there"},
    {Lane::room, "room in the servers",
     "put found their memory full: they had not yet written what came before"},
    {Lane::files, "files", "wait, flush or end_step: until what was put is written"},
    {Lane::end, "finalize", "until all files were complete"},
    {Lane::read, "reading", "get and prefetch, open for input"},
    {Lane::define, "definitions", "until all servers know them"}};

std::string seconds_text(double s) { return fmt::format("{:.3f} s", s); }

std::string size_text(std::uint64_t bytes) { return text_of_bytes(static_cast<double>(bytes)); }

struct CollectionSum {
  std::string name;
  std::uint64_t files = 0, records = 0, bytes = 0;
  double longest_s = 0;
};

std::vector<FileRecord> files_of(const RunPage& page) {
  std::vector<FileRecord> files;
  for (const ServerHistory& server : page.servers) {
    const double shift = server.started_at_s;
    for (FileRecord file : server.files) {
      file.opened_s += shift;
      file.published_s += shift;
      files.push_back(std::move(file));
    }
  }
  std::ranges::sort(files, {}, &FileRecord::published_s);
  return files;
}

std::string collections_of(const std::vector<FileRecord>& files) {
  std::vector<CollectionSum> sums;
  for (const FileRecord& file : files) {
    auto at = std::ranges::find(sums, file.collection, &CollectionSum::name);
    if (at == sums.end()) at = sums.insert(at, {file.collection, 0, 0, 0, 0});
    ++at->files;
    at->records += file.records;
    at->bytes += file.bytes;
    at->longest_s = std::max(at->longest_s, file.published_s - file.opened_s);
  }
  std::string out =
      "<h3>By collection</h3>\n<div "
      "class=scroll><table><tr><th>collection<th>files<th>records<th>size<th>longest in "
      "the making</tr>\n";
  for (const CollectionSum& it : sums)
    out += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}</tr>\n", html_text(it.name), it.files, it.records,
                       size_text(it.bytes), seconds_text(it.longest_s));
  return out + "</table></div>\n";
}

/// Empty if nothing was packed or rounded.
std::string errors_of(const RunPage& page) {
  std::vector<ErrorRecord> errors;
  for (const ServerHistory& server : page.servers) merge(errors, server.errors);
  if (errors.empty()) return {};
  std::ranges::sort(errors, {}, [](const ErrorRecord& it) { return std::tie(it.collection, it.variable); });
  std::string out =
      "<h3>Largest errors of packed and rounded values</h3>\n<div class=scroll><table><tr><th>collection<th "
      "class=name>variable<th>largest error, in the units of the file</tr>\n";
  for (const ErrorRecord& it : errors)
    out += fmt::format("<tr><td>{}<td class=name>{}<td>{:.3g}</tr>\n", html_text(it.collection),
                       html_text(it.variable), it.value);
  return out + "</table></div>\n";
}

/// Empty without `compress`.
std::string codecs_of(const Report& report) {
  std::string rows;
  for (const CollectionRecord& it : report.collections) {
    const CompressRecord& codecs = it.compress;
    if (codecs.path.empty()) continue;
    rows += fmt::format("<tr><td>{}<td class=name>{}<td class=name>{}<td class=name>{}</tr>\n",
                        html_text(it.name), html_text(codecs.filters),
                        codecs.chosen.empty() ? "nothing" : html_text(codecs.chosen), html_text(codecs.why));
  }
  if (rows.empty()) return {};
  return "<h3>Codecs</h3>\n<div class=scroll><table><tr><th>collection<th class=name>files have<th "
         "class=name>chosen for later sessions<th class=name>why</tr>\n" +
         rows + "</table></div>\n";
}

}  // namespace

std::string waits_table(const RunPage& page, const RunFigures& figures) {
  std::string out =
      "<div class=scroll><table><tr><th>time of the model for<th>mean of the ranks<th>of the "
      "run<th>longest<th>on "
      "rank</tr>\n";
  for (const Reason& reason : reasons) {
    double sum = 0, longest = 0;
    std::int32_t rank = 0;
    for (const TimelineRecord& it : page.timelines) {
      if (it.role != "model") continue;
      const double here = it.total_s(reason.lane);
      sum += here;
      if (here > longest) longest = here, rank = it.rank;
    }
    if (sum <= 0) continue;
    const double mean = sum / static_cast<double>(std::max<std::size_t>(figures.model_ranks, 1));
    out += fmt::format(
        "<tr><td><span class=reason><svg class='swatch' viewBox='0 0 11 8'><rect class='{}' width='11' "
        "height='8'/></svg>{}</span>"
        "<small>{}</small><td>{}<td>{:.2f} %<td>{}<td>{}</tr>\n",
        class_of(reason.lane), reason.what, reason.why, seconds_text(mean), 100 * figures.share(mean),
        seconds_text(longest), rank);
  }
  return out + fmt::format("<tr><td>together<td>{}<td>{:.2f} %<td><td></tr>\n</table></div>\n",
                           seconds_text(figures.inside_s()), 100 * figures.share(figures.inside_s()));
}

std::string files_tables(const RunPage& page, const RunFigures& figures) {
  std::vector<FileRecord> files = files_of(page);
  if (files.empty()) return "<p class=dim>No file was published.</p>\n";
  std::string out = collections_of(files) + errors_of(page) + codecs_of(page.report);
  const std::size_t hidden =
      figures.files - std::min<std::size_t>(figures.files, std::min(files.size(), most_files_shown));
  if (files.size() > most_files_shown)
    files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(most_files_shown));
  if (hidden > 0)
    out +=
        fmt::format("<p class=dim>{} older files are not listed; the journal has all of them.</p>\n", hidden);
  out +=
      "<h3>By file</h3>\n<div class=scroll><table><tr><th>file<th "
      "class=name>collection<th>server<th>records<th>size<th>complete "
      "after<th class=name>from open to complete</tr>\n";
  for (const FileRecord& it : files) {
    const double from = it.opened_s - figures.started_at_s, to = it.published_s - figures.started_at_s;
    out += fmt::format(
        "<tr><td title=\"{}\">{}<td class=name>{}<td>{}<td>{}<td>{}<td>{:.1f} s<td class=span title=\"{:.3f} "
        "s\"><i "
        "style=\"left:{:.1f}%;width:{:.1f}%\"></i></tr>\n",
        html_text(it.path), html_text(std::filesystem::path(it.path).filename().string()),
        html_text(it.collection), it.server, it.records, size_text(it.bytes), to, to - from,
        100 * figures.share(from), 100 * figures.share(to - from));
  }
  return out + "</table></div>\n";
}

std::string settings_table(const RunPage& page) {
  if (page.settings.empty()) return "<p class=dim>Nothing was set: all defaults.</p>\n";
  std::string out = "<div class=scroll><table><tr><th>setting<th class=name>value</tr>\n";
  for (const auto& [name, value] : page.settings)
    out += fmt::format("<tr><td>{}<td class=name>{}</tr>\n", html_text(name), html_text(value));
  return out + "</table></div>\n";
}

}  // namespace afterbay::observe
