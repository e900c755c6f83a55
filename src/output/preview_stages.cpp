// SPDX-License-Identifier: Apache-2.0
#include "output/preview_stages.hpp"

#include <algorithm>

#include "base/rounding.hpp"
#include "output/late_steps.hpp"

namespace afterbay::output {

namespace {

/// "mean, maximum": of one pass.
std::string operations_text(const SeriesStatistics& statistics) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < statistics.results().size(); ++i) {
    const std::string_view name = statistics::name_of(statistics.statistic(i).kind);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string timing_text(const Schedule& schedule) {
  std::string text = "every " + schedule.every().text();
  if (schedule.sample()) text += ", sampled every " + schedule.sample()->text();
  if (schedule.cycle()) text += fmt::format(", in {} parts of a cycle", schedule.cycle()->parts());
  return text;
}

std::uint64_t grid_points(const Space& space) {
  std::uint64_t points = 1;
  for (std::size_t d = space.axes; d < space.dimensions.size(); ++d) points *= space.dimensions[d].length;
  return points;
}

}  // namespace

PreviewStages::PreviewStages(const Plan& plan, const PlanInput& input, const Processes& processes)
    : input_(input), processes_(processes) {
  for (const auto& statistics : plan.statistics)
    for (const auto& result : statistics->results()) statistics_of_.emplace(result.get(), statistics.get());
  for (const auto& source : plan.sources)
    if (source != nullptr) static_cast<void>(stage_of(*source));
  for (const auto& writer : plan.writers) {
    std::vector<std::size_t>& stages = by_file_[&writer->files()];
    stages.resize(writer->files().variables().size());
    stages[writer->number()] = stage_of(writer->of());
  }
}

std::size_t PreviewStages::add(PreviewStage stage) {
  made_.push_back(std::move(stage));
  return made_.size() - 1;
}

template <class BytesOf>
void PreviewStages::add_memory(PreviewStage& stage, const Space& space, BytesOf bytes_of) const {
  const auto ranks = static_cast<std::uint64_t>(processes_.model_ranks);
  const std::uint64_t points = space.global_points();
  if (space.late) {
    stage.bytes_per_rank += bytes_of(points);
    stage.bytes_on_all_ranks += bytes_of(points);
    return;
  }
  if (space.decomposition.empty()) {
    stage.bytes_per_rank += bytes_of(points);
    stage.bytes_on_all_ranks += ranks * bytes_of(points);
    return;
  }
  const std::uint64_t least = points / ranks;
  const std::uint64_t more = points % ranks;  // ranks with a point more
  stage.bytes_per_rank += bytes_of(more > 0 ? least + 1 : least);
  stage.bytes_on_all_ranks += more * bytes_of(least + 1) + (ranks - more) * bytes_of(least);
}

/// The first rank has the results, and keeps contributions longest.
void PreviewStages::add_memory(PreviewStage& stage, const GridReduction& reduction) const {
  const auto ranks = static_cast<std::uint64_t>(processes_.model_ranks);
  const std::uint64_t all = grid_points(reduction.of().space());
  const bool is_whole = reduction.of().space().decomposition.empty();
  const std::uint64_t share = is_whole ? all : divided_up(all, ranks);
  const auto waiting = static_cast<std::size_t>(LateSteps::lag_of(ranks)) + 1;
  stage.bytes_per_rank = reduction.buffer_bytes(reduction.part(share, true), waiting);
  stage.bytes_on_all_ranks =
      stage.bytes_per_rank + (ranks - 1) * reduction.buffer_bytes(reduction.part(share, false), 1);
}

std::uint64_t bytes_between_ranks(const GridReduction& reduction, std::uint64_t ranks) {
  const Space& space = reduction.of().space();
  if (space.decomposition.empty()) return 0;
  const std::uint64_t share = (grid_points(space) + ranks - 1) / ranks;
  std::uint64_t points = 0;
  for (std::uint64_t rank = 1; rank < ranks; ++rank) {
    const std::uint64_t below = std::min(rank & (~rank + 1), ranks - rank);
    points += reduction.part(below * share, false).contributed;
  }
  return points * reduction.bytes_per_point();
}

std::size_t PreviewStages::add_statistics(const SeriesStatistics& statistics) {
  PreviewStage stage;
  stage.kind = PreviewStage::Kind::statistic;
  stage.text = operations_text(statistics);
  stage.timing = timing_text(statistics.schedule());
  stage.points = statistics.of().space().text();
  stage.of = {stage_of(statistics.of())};
  // A stage may have several statistics: the series is one of them.
  const bool is_of_statistic = statistics_of_.contains(&statistics.of());
  stage.name =
      stage.text + " of " + (is_of_statistic ? statistics.of().name() : made_[stage.of.front()].name);
  if (const SeriesStatistics* const finer = statistics.finer()) {
    stage.of = {stage_of(*finer->results().front())};
    stage.timing += ", from periods of " + finer->schedule().every().text();
  }
  const auto bytes_of = [&](std::uint64_t points) { return statistics.state_bytes(points); };
  if (statistics.is_left_to_servers()) {
    stage.in_servers = true;
    stage.bytes_on_servers = bytes_of(statistics.of().space().global_points());
    return add(std::move(stage));
  }
  if (!statistics.schedule().cycle()) {
    add_memory(stage, statistics.of().space(), bytes_of);
    return add(std::move(stage));
  }
  const std::string key = fmt::format("{}|{}|{}", stage.of.front(), stage.text, stage.timing);
  const auto known = cycles_.find(key);
  const std::size_t number = known == cycles_.end() ? add(std::move(stage)) : known->second;
  cycles_.emplace(key, number);
  add_memory(made_[number], statistics.of().space(), bytes_of);
  return number;
}

std::size_t PreviewStages::stage_of(const Series& series) {
  if (const auto known = known_.find(&series); known != known_.end()) return known->second;
  PreviewStage stage;
  stage.name = stage.text = series.name();
  stage.points = series.space().text();
  if (const auto found = statistics_of_.find(&series); found != statistics_of_.end()) {
    const std::size_t number = add_statistics(*found->second);
    for (const auto& result : found->second->results()) known_.emplace(result.get(), number);
    return number;
  }
  if (const auto* const subset = dynamic_cast<const SubsetSeries*>(&series)) {
    stage.kind = PreviewStage::Kind::subset;
    stage.text = series.space().name;
    stage.of = {stage_of(subset->of())};
    stage.name += " on " + stage.text;
  } else if (const auto* const computed = dynamic_cast<const FormulaSeries*>(&series)) {
    stage.kind = PreviewStage::Kind::expression;
    // Arguments of reductions have no name of their own.
    if (const describe::Field* const field = input_.find_described(series.name()))
      stage.formula = field->expression;
    else
      stage.name = stage.text = "argument of " + series.name();
    for (const Series* const operand : computed->operands()) stage.of.push_back(stage_of(*operand));
    for (const FormulaSeries::InFile& file : computed->in_files())
      stage.bytes_on_servers += file.variables.size() * series.space().global_points() *
                                computed->leaves().size() * size_of(computed->leaves().front()->form().type);
    stage.in_servers = computed->is_left_to_servers();
    if (!stage.in_servers)
      add_memory(stage, series.space(), [&](std::uint64_t points) { return computed->buffer_bytes(points); });
  } else if (const auto* const by_axes = dynamic_cast<const AxisReduction*>(&series)) {
    stage.kind = PreviewStage::Kind::reduction;
    stage.text = by_axes->text();
    stage.of = {stage_of(by_axes->of())};
    stage.name = stage.text + " of " + made_[stage.of.front()].name;
    add_memory(stage, series.space(), [&](std::uint64_t points) { return by_axes->buffer_bytes(points); });
  } else if (const auto* const by_grid = dynamic_cast<const GridReduction*>(&series)) {
    stage.kind = PreviewStage::Kind::reduction;
    stage.text = by_grid->text();
    stage.of = {stage_of(by_grid->of())};
    stage.name = stage.text + " of " + made_[stage.of.front()].name;
    add_memory(stage, *by_grid);
  }
  return known_[&series] = add(std::move(stage));
}

}  // namespace afterbay::output
