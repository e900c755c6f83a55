// SPDX-License-Identifier: Apache-2.0
// afterbay decomp stats
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "decomp.hpp"
#include "decomp/statistics.hpp"

namespace afterbay::app {

namespace {

using decomp::DecompositionStatistics;

nlohmann::ordered_json json_of(const DecompositionStatistics& all) {
  return {{"name", all.name},
          {"global_lengths", all.global},
          {"ranks", all.ranks},
          {"empty_ranks", all.empty_ranks},
          {"points", all.points},
          {"listed", all.listed},
          {"holes", all.holes},
          {"runs", all.runs},
          {"runs_per_rank", {{"min", all.fewest_runs}, {"mean", all.mean_runs()}, {"max", all.most_runs}}},
          {"kept", {{"runs", all.kept_runs}, {"segments", all.kept_segments}}},
          {"held_points", all.held},
          {"never_held_points", all.never_held()},
          {"points_held_more_than_once", all.held_again},
          {"points_held_by_several_ranks", all.held_by_several},
          {"points_repeated_by_a_rank", all.repeated},
          {"coverage_percent", all.coverage_percent()},
          {"points_per_rank", {{"min", all.fewest_points}, {"max", all.most_points}}},
          {"balance", all.balance()}};
}

std::string text_of(const DecompositionStatistics& all) {
  const auto points = static_cast<double>(all.listed - all.holes) / static_cast<double>(all.ranks);
  std::string text = fmt::format("{}: {}, {} rank{}\n", printable(all.name),
                                 decomp::text_of_lengths(all.global), all.ranks, all.ranks == 1 ? "" : "s");
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("  {:<24} {}\n", what, value);
  };
  line("points", fmt::format("{}, {} held ({:.2f} %), {} never held", all.points, all.held,
                             all.coverage_percent(), all.never_held()));
  line("overlap", all.held_again == 0
                      ? std::string("none: no point is listed twice")
                      : fmt::format("{} held more than once: {} by several ranks, {} repeated by a rank",
                                    all.held_again, all.held_by_several, all.repeated));
  line("listed", fmt::format("{}, {} of them holes", all.listed, all.holes));
  line("runs", fmt::format("{} in all; {} to {} per rank, {:.1f} on average ({:.1f} points per run)",
                           all.runs, all.fewest_runs, all.most_runs, all.mean_runs(),
                           all.runs == 0 ? 0.0
                                         : static_cast<double>(all.listed - all.holes) /
                                               static_cast<double>(all.runs)));
  line("kept",
       fmt::format("as {} runs, including runs of holes, in {} segments", all.kept_runs, all.kept_segments));
  line("points per rank",
       fmt::format("{} to {}, {:.1f} on average: balance (most/mean) {:.3f}{}", all.fewest_points,
                   all.most_points, points, all.balance(),
                   all.empty_ranks == 0 ? "" : fmt::format("; {} hold nothing", all.empty_ranks)));
  return text;
}

struct StatsOptions {
  std::vector<std::string> paths;
  std::string map;
  bool as_json = false;
};

Result<> stats(const StatsOptions& options) {
  auto files = nlohmann::ordered_json::array();
  std::string text;
  for (const std::string& path : options.paths) {
    auto maps = nlohmann::ordered_json::array();
    if (options.paths.size() > 1) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", printable(path));
    AFTERBAY_TRY(
        for_each_chosen({path, options.map, false}, [&](const decomp::Decomposition& map) -> Result<> {
          auto all = decomp::statistics_of(map);
          if (!all) return fail(all.error().in_file(path));
          maps.push_back(json_of(*all));
          text += text_of(*all);
          return {};
        }));
    files.push_back({{"file", path}, {"maps", maps}});
  }
  if (options.as_json)
    text = nlohmann::ordered_json{{"files", files}}.dump(2, ' ', false,
                                                         nlohmann::json::error_handler_t::replace) +
           "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace

DecompAction prepare_decomp_stats(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  app.add_option("FILES", options->paths, "decomposition files of any format")->required()->expected(1, -1);
  app.add_option("--map", options->map, "take only this map of each file: its name or number; default: all")
      ->check(not_empty());
  app.add_flag("--json", options->as_json, "print JSON");
  app.footer("Takes 4 bits of memory per point of the index space.");
  return [options] { return stats(*options); };
}

}  // namespace afterbay::app
