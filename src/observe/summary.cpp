// SPDX-License-Identifier: Apache-2.0
#include "observe/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/rank_names.hpp"
#include "observe/profile.hpp"
#include "observe/progress.hpp"

namespace afterbay::observe {
namespace {

constexpr double shown_percent = 0.05;  ///< smaller shares of the model's time are not listed

std::uint64_t total_of(const RoleReport* role, std::string_view counter) {
  if (role == nullptr) return 0;
  const auto at = std::ranges::find(role->counters, counter, &CounterRow::name);
  return at == role->counters.end() ? 0 : at->total;
}

const RoleReport* find_role(const Report& report, std::string_view name) {
  const auto at = std::ranges::find(report.roles, name, &RoleReport::role);
  return at == report.roles.end() ? nullptr : &*at;
}

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string files_line(const Report& report) {
  const RoleReport* const servers = find_role(report, "server");
  const auto written = static_cast<double>(total_of(servers, counters::written_bytes));
  const auto put = static_cast<double>(total_of(find_role(report, "model"), counters::bytes));
  return fmt::format("{}, {} written by {} ({} handed over)",
                     counted(total_of(servers, "files published"), "file"), text_of_bytes(written),
                     counted(servers == nullptr ? 0 : servers->ranks, "I/O server"), text_of_bytes(put));
}

/// "7.2 % of the model's time (1.9 s) was spent in Afterbay: open_session 4.1 %, put 0.2 %".
std::string time_line(const RoleReport& model) {
  std::vector<std::string> parts;
  double waits = 0;
  for (const Row& row : model.rows) {
    if (row.depth == 1 && row.inclusive_percent >= shown_percent)
      parts.push_back(fmt::format("{} {:.1f} %", row.name, row.inclusive_percent));
    if (row.depth == 2 && row.name.starts_with("wait: ")) waits += row.inclusive_percent;
  }
  if (waits >= shown_percent) parts.push_back(fmt::format("{:.1f} % of it waiting for room", waits));
  const double percent = model.elapsed > 0 ? 100 * model.inside / model.elapsed : 0;
  return fmt::format("{:.1f} % of the model's time ({}) was spent in Afterbay{}{}", percent,
                     text_of_seconds(model.elapsed), parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

std::string report_line(const std::vector<std::string>& files) {
  if (files.empty())
    return "report: none; report.html=report.html writes a page about the run, report.table=on prints all "
           "timers";
  return fmt::format("report: {}", fmt::join(files, ", "));
}

}  // namespace

std::vector<int> idle_servers(std::span<const RankProfile> profiles) {
  std::map<std::int32_t, bool> worked;  // by rank
  for (const RankProfile& it : profiles) {
    if (it.role != "server") continue;
    bool& any = worked[it.rank];
    for (const CounterRecord& counter : it.counters)
      any = any || (counter.value > 0 && (counter.name == counters::bytes || counter.name == "pieces read" ||
                                          counter.name == "files published"));
  }
  std::vector<int> idle;
  int number = 0;
  for (const auto& [rank, any] : worked) {
    if (!any) idle.push_back(number);
    ++number;
  }
  if (idle.size() == worked.size()) idle.clear();
  return idle;
}

std::string hint_on_idle(const std::vector<int>& idle, std::size_t servers, const std::string& placement,
                         bool pools) {
  if (idle.empty()) return {};
  std::string text =
      fmt::format("I/O server{} {} had nothing to do: ", idle.size() == 1 ? "" : "s", name_numbers(idle));
  if (pools)
    return text + "name a pool for more collections (collections.NAME.pool), or make its pool smaller";
  const std::string fewer = fmt::format("servers={}", servers - idle.size());
  if (placement == "collection")
    return text + fmt::format(
                      "with placement=collection one server writes all files of a collection. Set "
                      "placement=file (files in turn) or placement=slab (all servers write each file), or {}",
                      fewer);
  if (placement == "file" || placement == "least")
    return text + fmt::format(
                      "there were fewer files than servers. Set placement=slab, with which all servers write "
                      "each file, or {}",
                      fewer);
  return text + fmt::format("the records have too few pieces for all servers. Set {}", fewer);
}

std::string summary(const Report& report, const SummaryLines& lines) {
  const RoleReport* const model = find_role(report, "model");
  std::string text = fmt::format("{}: {}\n", lines.session, files_line(report));
  if (model != nullptr) text += fmt::format("{}: {}\n", lines.session, time_line(*model));
  text += fmt::format("{}: {}\n", lines.session, report_line(lines.report_files));
  for (const std::string& hint : lines.hints) text += fmt::format("{}: hint: {}\n", lines.session, hint);
  return text;
}

}  // namespace afterbay::observe
