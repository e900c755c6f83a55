// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/caller_terms.hpp"
#include "base/printable.hpp"
#include "observe/profile.hpp"
#include "observe/progress.hpp"
#include "observe/report.hpp"

namespace afterbay::observe {
namespace {

std::string indented(const Row& row) { return std::string(2 * row.depth, '-') + row.name; }

std::string row_line(const Row& row, std::size_t width) {
  return fmt::format(
      "{:<{}} {:>11.6f} {:>6.2f} {:>11.6f} {:>6.2f} {:>11.6f} {:>11.6f} {:>6} {:>6} {:>9} {:>10}\n",
      indented(row), width, row.inclusive, row.inclusive_percent, row.exclusive, row.exclusive_percent,
      row.max_exclusive, row.min_exclusive, row.max_rank, row.min_rank, row.count,
      row.bytes == 0 ? "-" : text_of_bytes(static_cast<double>(row.bytes)));
}

std::string timers_table(const RoleReport& role) {
  std::size_t width = 20;
  for (const Row& row : role.rows) width = std::max(width, indented(row).size());
  std::string text = fmt::format("{:<{}} {:>11} {:>6} {:>11} {:>6} {:>11} {:>11} {:>6} {:>6} {:>9} {:>10}\n",
                                 "Name", width, "Inclusive", "% Incl", "Exclusive", "% Excl", "Max Excl",
                                 "Min Excl", "Max PE", "Min PE", "Count", "Bytes");
  for (const Row& row : role.rows) text += row_line(row, width);
  return text;
}

std::string value_text(const RoleReport& role, const CounterRow& counter) {
  const auto total = static_cast<double>(counter.total);
  if (counter.name == counters::bytes || counter.name == counters::written_bytes)
    return fmt::format("{} ({} over the elapsed time)", text_of_bytes(total),
                       text_of_rate(total, role.elapsed));
  const bool is_bytes = counter.name == counters::direct_bytes || counter.name == counters::backlog ||
                        counter.name == counters::output_memory ||
                        counter.name == counters::statistics_memory;
  const std::string value = is_bytes ? text_of_bytes(total) : fmt::to_string(counter.total);
  return counter.kind == CounterKind::peak ? fmt::format("{} (rank {})", value, counter.largest_rank) : value;
}

std::string summary(const RoleReport& role) {
  std::string text;
  for (const CounterRow& counter : role.counters)
    text += fmt::format("  {:<20} {}\n", counter.name, value_text(role, counter));
  text += fmt::format("  {:<20} {} (rank {})\n", "memory high water",
                      text_of_bytes(static_cast<double>(role.memory_high_water_bytes)),
                      role.memory_high_water_rank);
  return text;
}

std::string heading(const RoleReport& role) {
  const double percent = role.elapsed > 0 ? 100 * role.inside / role.elapsed : 0;
  const std::string ranks = fmt::format("{}: {} rank{}, {:.3f} s elapsed", role.role, role.ranks,
                                        role.ranks == 1 ? "" : "s", role.elapsed);
  const std::uint32_t workers = workers_of(role);
  if (workers > 1)
    return ranks + fmt::format(
                       " (seconds are means over the ranks; for what {} workers do, the sum over them, and "
                       "percentages of their time)\n",
                       workers);
  if (role.role != "model") return ranks + " (seconds are means over the ranks)\n";
  return ranks + fmt::format(", {:.3f} s of it in Afterbay ({:.2f} %; seconds are means over the ranks)\n",
                             role.inside, percent);
}

/// Variables with equal chunks.
struct AlikeChunks {
  const ChunkRecord* first = nullptr;
  std::vector<std::string_view> variables;
};

std::vector<AlikeChunks> alike(const CollectionRecord& collection) {
  std::vector<AlikeChunks> groups;
  for (const ChunkRecord& it : collection.chunks) {
    if (it.lengths.empty()) continue;
    auto group = std::ranges::find_if(groups, [&](const AlikeChunks& known) {
      return known.first->lengths == it.lengths && known.first->bytes == it.bytes &&
             known.first->why == it.why;
    });
    if (group == groups.end()) group = groups.insert(group, {&it, {}});
    group->variables.push_back(it.variable);
  }
  return groups;
}

/// "  1 x 181 x 360   0.25 MiB  access map    u, v, w and 9 more".
std::string chunks_text(const CollectionRecord& collection) {
  constexpr std::size_t most_groups = 8, most_names = 3;
  const std::vector<AlikeChunks> groups = alike(collection);
  if (groups.empty()) return {};
  std::string text = fmt::format("chunks of {}\n", collection.name);
  for (std::size_t g = 0; g < std::min(groups.size(), most_groups); ++g) {
    const auto& names = groups[g].variables;
    const std::size_t shown = std::min(names.size(), most_names);
    text += fmt::format("  {:<24} {:>10}  {:<16} {}", said_lengths(groups[g].first->lengths),
                        text_of_bytes(static_cast<double>(groups[g].first->bytes)), groups[g].first->why,
                        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    text += names.size() > shown ? fmt::format(" and {} more\n", names.size() - shown) : "\n";
  }
  if (groups.size() > most_groups)
    text += fmt::format("  and {} more shapes: see report.json\n", groups.size() - most_groups);
  return text + "\n";
}

/// "  tas                      0.00498".
std::string errors_text(const CollectionRecord& collection) {
  if (collection.errors.empty()) return {};
  std::string text = fmt::format("largest errors of {}, in the units of its files\n", collection.name);
  for (const ErrorRecord& it : collection.errors)
    text += fmt::format("  {:<24} {:.3g}\n", it.variable, it.value);
  return text + "\n";
}

/// "codecs of history: files have shuffle, zstd 1; chosen for later sessions: shuffle, zstd 5".
std::string codecs_text(const CollectionRecord& collection) {
  const CompressRecord& it = collection.compress;
  if (it.path.empty()) return {};
  std::string text = fmt::format("codecs of {}: files have {}", collection.name, it.filters);
  text += it.chosen.empty() ? "\n" : fmt::format("; chosen for later sessions: {}\n", it.chosen);
  return text + fmt::format("  {}\n{}\n", it.why, it.table);
}

}  // namespace

std::string table(const Report& report) {
  std::string text;
  if (!report.session.empty()) text += fmt::format("session {}\n\n", printable(report.session));
  for (const RoleReport& role : report.roles) {
    const std::string first = heading(role);
    text += first + std::string(first.size() - 1, '=') + "\n" + timers_table(role) + summary(role) + "\n";
  }
  for (const CollectionRecord& collection : report.collections)
    text += chunks_text(collection) + errors_text(collection) + codecs_text(collection);
  return text;
}

}  // namespace afterbay::observe
