// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "preview.hpp"

namespace afterbay::app {

namespace {

constexpr std::size_t text_columns = 100;

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string about(double bytes) { return print_about(static_cast<std::uint64_t>(std::llround(bytes))); }

/// Rows with columns of equal width; those from `right_from` on are aligned to the right.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t right_from) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c)
      line += c < right_from ? fmt::format(" {:<{}} ", row[c], widths[c])
                             : fmt::format(" {:>{}} ", row[c], widths[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string source_of(const output::PreviewVariable& variable) {
  const std::string field = variable.expression.empty()
                                ? variable.field
                                : fmt::format("{} = {}", variable.field, variable.expression);
  return variable.grid == "own" ? field : fmt::format("{} on {}", field, variable.grid);
}

/// "365 records in 1 file, day.nc"
std::string what_is_written(const output::PreviewFile& file) {
  if (file.parts.empty()) return "nothing in this run";
  std::string text = file.every.empty() ? "" : counted(file.records(), "record") + " in ";
  text += counted(file.parts.size(), "file") + ", " + file.parts.front().path;
  if (file.parts.size() > 1) text += " to " + file.parts.back().path;
  return text;
}

std::string section_of(const output::PreviewFile& file) {
  std::string text = fmt::format("\n{}: ", file.name);
  if (!file.every.empty()) text += fmt::format("every {}, ", file.every);
  if (!file.cycle.empty()) text += fmt::format("cycle {}, ", file.cycle);
  text += what_is_written(file) + "\n";
  std::vector<std::vector<std::string>> rows{{"variable", "operation", "of", "points", "type", "bytes"}};
  for (const output::PreviewVariable& it : file.variables)
    rows.push_back({it.name, it.operation, source_of(it), it.points, std::string(name_of(it.type)),
                    print_about(it.bytes)});
  text += table(rows, 5);
  if (!file.known_in_run_only.empty())
    text += fmt::format("  its points are known in a run only (grid {}){}\n",
                        fmt::join(file.known_in_run_only, ", "),
                        file.is_upper_bound ? ": figures are those of all points, at most" : "");
  if (const output::PreviewPart* const largest = file.largest()) {
    text += fmt::format("  size: {} per record and {} once per file; ", print_about(file.bytes_per_record),
                        print_about(file.bytes_per_file));
    if (file.parts.size() > 1)
      text += fmt::format("at most {} in a file with {}; ", print_about(largest->bytes),
                          counted(largest->records, "record"));
    text += fmt::format("{} in the run\n", print_about(file.bytes()));
  }
  return text + fmt::format(
                    "  per step: {:.3g} puts on average and at most {}; {} to servers on average and "
                    "at most {}\n",
                    file.puts.average, file.puts.most, about(file.traffic.average),
                    print_about(file.traffic.most));
}

std::string memory_of(const output::Preview& preview) {
  std::vector<std::vector<std::string>> rows{{"state or buffer", "", "all ranks", "per rank"}};
  for (const output::PreviewStage& stage : preview.stages)
    if (stage.bytes_on_all_ranks > 0)
      rows.push_back({stage.name, stage.timing, print_about(stage.bytes_on_all_ranks),
                      print_about(stage.bytes_per_rank)});
  std::string text;
  if (rows.size() == 1) {
    text = "\nmemory in the model ranks: none, they compute nothing\n";
  } else {
    rows.push_back(
        {"sum", "", print_about(preview.state_bytes()), print_about(preview.state_bytes_per_rank())});
    text = "\nmemory in the model ranks, if they hold equal parts of the grids\n" + table(rows, 2);
  }
  std::vector<std::vector<std::string>> of_servers{{"state", "", "all servers"}};
  for (const output::PreviewStage& stage : preview.stages)
    if (stage.in_servers)
      of_servers.push_back({stage.name, stage.timing, print_about(stage.bytes_on_servers)});
  if (!preview.undecided.empty())
    text += wrapped(
        fmt::format(
            "If all model ranks share memory with the servers, these compute instead: {} (statistics: "
            "auto, expressions: auto).",
            fmt::join(preview.undecided, ", ")),
        text_columns, "", "");
  if (of_servers.size() == 1) return text;
  of_servers.push_back({"sum", "", print_about(preview.server_bytes())});
  return text + "\nmemory in the servers\n" + table(of_servers, 2);
}

std::string totals_of(const output::Preview& preview) {
  const auto servers = static_cast<double>(preview.processes.servers);
  std::size_t files = 0;
  for (const output::PreviewFile& file : preview.files) files += file.parts.size();
  const bool is_upper_bound = std::ranges::any_of(preview.files, &output::PreviewFile::is_upper_bound);
  std::string text = fmt::format("\nfiles: {}, {}{}, before compression\n", counted(files, "file"),
                                 is_upper_bound ? "at most " : "", print_about(preview.bytes()));
  text += fmt::format("to servers: {} per step on average and at most {}; {} per simulated day",
                      about(preview.traffic.average), print_about(preview.traffic.most),
                      about(static_cast<double>(preview.traffic_of_run) / preview.days));
  if (preview.processes.servers > 1)
    text += fmt::format("; {} per step and server", about(preview.traffic.average / servers));
  if (preview.lag > 0)
    text += fmt::format(
        "\nbetween model ranks: about {} per step on average and at most {}, of reductions over grids, whose "
        "results follow {} later",
        about(preview.between_ranks.average), print_about(preview.between_ranks.most),
        counted(preview.lag, "step"));
  text += fmt::format("\nfields: {} of {} are used, {:.3g} puts per step on average and at most {}\n",
                      preview.fields - preview.unused.size(), preview.fields, preview.puts.average,
                      preview.puts.most);
  if (!preview.unused.empty())
    text += wrapped(fmt::format("not used: {}", fmt::join(preview.unused, ", ")), text_columns, "", "  ");
  for (const std::string& it : preview.without_effect) text += it + "\n";
  for (const std::string& it : preview.first_periods) text += wrapped(it, text_columns, "", "  ");
  return text;
}

}  // namespace

std::string preview_text(const ShownPreview& shown) {
  const output::Preview& preview = shown.preview;
  std::string text =
      fmt::format("{} with the definitions in {}\n", fmt::join(shown.descriptions, ", "), shown.definitions);
  text += fmt::format("run: {} to {}, calendar {}, {} of {}{}\n", preview.start, preview.end,
                      preview.calendar, counted(static_cast<std::uint64_t>(preview.steps), "step"),
                      preview.step, preview.has_step_0 ? ", and step 0" : "");
  text += fmt::format("processes: {}, {}\n",
                      counted(static_cast<std::uint64_t>(preview.processes.model_ranks), "model rank"),
                      counted(static_cast<std::uint64_t>(preview.processes.servers), "server"));
  for (const output::PreviewFile& file : preview.files) text += section_of(file);
  return text + memory_of(preview) + totals_of(preview);
}

}  // namespace afterbay::app
