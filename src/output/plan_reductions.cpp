// SPDX-License-Identifier: Apache-2.0
#include "output/plan_reductions.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/caller_terms.hpp"
#include "base/suggest.hpp"
#include "output/refuse.hpp"
#include "output/shared_sums.hpp"
#include "output/value_times.hpp"

namespace afterbay::output {

std::string SeriesIdentities::of(const Series& series) const {
  const auto known = known_.find(&series);
  if (known != known_.end()) return known->second;
  return fmt::format("{} ({})", series.name(), afterbay::name_of(series.form().type));
}

statistics::Statistic statistic_with(statistics::StatisticKind kind, const Series& of,
                                     const describe::Missing& missing) {
  statistics::Statistic statistic;
  statistic.kind = kind;
  if (of.form().missing.empty()) return statistic;
  switch (missing.rule) {
    case describe::Missing::Rule::ignore: statistic.missing = statistics::Missing::ignore; break;
    case describe::Missing::Rule::poison: statistic.missing = statistics::Missing::poison; break;
    case describe::Missing::Rule::threshold:
      statistic.missing = statistics::Missing::threshold;
      statistic.threshold = missing.valid_share;
      break;
  }
  return statistic;
}

PlanReductions::PlanReductions(const PlanInput& input, Spaces& spaces, Plan& plan,
                               SeriesIdentities& identities)
    : input_(input), spaces_(spaces), plan_(plan), identities_(identities) {}

Schedule* PlanReductions::keep(std::unique_ptr<Schedule> schedule) {
  auto& known = schedules_[schedule->text()];
  if (known == nullptr) {
    known = schedule.get();
    plan_.schedules.push_back(std::move(schedule));
  }
  return known;
}

ReducedSeries& PlanReductions::over_periods(Series& of, const Schedule& schedule,
                                            const statistics::Statistic& statistic,
                                            const describe::File* file) {
  return statistics_of(of, schedule, file).add(statistic);
}

Series& PlanReductions::reduce(Series& of, const expression::Reduction& reduction,
                               const VariableContext& context, const describe::Field& field) {
  if (reduction.is_over_time()) return reduce_time(of, reduction, context, field);
  return collapse(of, reduction, context, field);
}

void PlanReductions::share_sums() { output::share_sums(plan_.statistics, of_files_); }

SeriesStatistics& PlanReductions::statistics_of(Series& of, const Schedule& schedule,
                                                const describe::File* file) {
  auto& known = statistics_[{&of, &schedule, file}];
  if (known == nullptr) {
    std::string text = fmt::format("{} on {} of {}{} every {}", identities_.of(of), of.space().name,
                                   of.space().text(), of.space().places_text(), schedule.text());
    plan_.statistics.push_back(std::make_unique<SeriesStatistics>(of, schedule, std::move(text)));
    known = plan_.statistics.back().get();
    if (file != nullptr) of_files_.insert(known);
  }
  return *known;
}

ReducedSeries& PlanReductions::reduce_time(Series& of, const expression::Reduction& reduction,
                                           const VariableContext& context, const describe::Field& field) {
  Schedule* schedule = nullptr;
  if (reduction.period) {
    schedule = keep(std::make_unique<Schedule>(input_.time, *reduction.period, context.file.timing.align,
                                               fmt::format("the period of \"{}\"", reduction.text)));
  } else {
    schedule = &context.needed_schedule();
  }
  check_times(of, *schedule, field.expression_at,
              fmt::format("field '{}': what \"{}\" reduces", field.name, reduction.text), input_.time);
  SeriesStatistics& all = statistics_of(of, *schedule, nullptr);
  ReducedSeries& made = all.add(statistic_with(reduction.kind, of, context.missing()));
  identities_.set(made, fmt::format("{} [{}]", made.name(), all.text()));
  return made;
}

Series& PlanReductions::collapse(Series& of, const expression::Reduction& reduction,
                                 const VariableContext& context, const describe::Field& field) {
  const Space& from = of.space();
  bool of_grid = false;
  for (const std::string& name : reduction.over) {
    const auto found = std::ranges::find(from.dimensions, name, &Space::Dimension::name);
    if (found == from.dimensions.end()) {
      std::vector<std::string> names;
      for (const Space::Dimension& dimension : from.dimensions) names.push_back(dimension.name);
      refuse_at(field.expression_at, ErrorCode::unknown_name,
                "field '{}': \"{}\" reduces over '{}', but its values have the dimensions {}{}", field.name,
                reduction.text, name, said_list(names), did_you_mean(name, names));
    }
    of_grid = of_grid || static_cast<std::size_t>(found - from.dimensions.begin()) >= from.axes;
  }
  std::vector<std::string> over = reduction.over;
  std::ranges::sort(over);
  const statistics::Statistic statistic = statistic_with(reduction.kind, of, context.missing());
  if (of_grid) return reduce_grid(of, over, statistic, regions_of(of, reduction, field), field);
  if (!reduction.by.empty())
    refuse_at(field.expression_at, ErrorCode::invalid_argument,
              "field '{}': \"{}\" has regions, but reduces over no dimension of a grid", field.name,
              reduction.text);
  AxisReduction*& known =
      axis_reductions_[{&of, fmt::format("{}", fmt::join(over, ",")), text_of(statistic)}];
  if (known == nullptr) {
    plan_.axis_reductions.push_back(
        std::make_unique<AxisReduction>(of, spaces_.without(from, over), over, statistic));
    known = plan_.axis_reductions.back().get();
    identities_.set(*known, fmt::format("{} over {} of ({})", text_of(statistic), fmt::join(over, ", "),
                                        identities_.of(of)));
  }
  return *known;
}

Regions PlanReductions::regions_of(const Series& of, const expression::Reduction& reduction,
                                   const describe::Field& field) const {
  if (reduction.by.empty()) return {};
  const auto refuse_regions = [&](ErrorCode code, const std::string& why) {
    refuse_at(field.expression_at, code, "field '{}': \"{}\": {}", field.name, reduction.text, why);
  };
  const auto& all = input_.definitions.coordinates();
  const auto found = std::ranges::find(all, reduction.by, &Coordinate::name);
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const Coordinate& it : all)
      if (it.grid == of.space().grid) names.push_back(it.name);
    refuse_regions(ErrorCode::unknown_name,
                   fmt::format("there is no coordinate '{}', by which regions are numbered{}", reduction.by,
                               did_you_mean(reduction.by, names)));
  }
  if (found->grid != of.space().grid || !found->options.vertices.empty() ||
      found->values.type == Type::text || found->values.type == Type::string)
    refuse_regions(ErrorCode::invalid_argument,
                   fmt::format("'{}' does not number points of the grid '{}': expected a coordinate of this "
                               "grid with a number per point",
                               reduction.by, of.space().grid));
  const auto& dimensions = input_.definitions.dimensions();
  const auto dimension = std::ranges::find(dimensions, reduction.along, &Dimension::name);
  if (dimension == dimensions.end())
    refuse_regions(ErrorCode::unknown_name,
                   fmt::format("the model has no dimension '{}'; define one as long as there are regions",
                               reduction.along));
  if (std::ranges::find(of.space().dimensions, reduction.along, &Space::Dimension::name) !=
      of.space().dimensions.end())
    refuse_regions(ErrorCode::conflict,
                   fmt::format("the values have the dimension '{}' already", reduction.along));
  return {&*found, reduction.along, dimension->length};
}

Series& PlanReductions::reduce_grid(Series& of, const std::vector<std::string>& over,
                                    const statistics::Statistic& statistic, const Regions& regions,
                                    const describe::Field& field) {
  std::string vanishing = fmt::format("{}", fmt::join(over, ", "));
  if (regions.numbers != nullptr)
    vanishing += fmt::format(" by {} along {}", regions.numbers->name, regions.dimension);
  GridReduction*& known = grid_reductions_[{&of, vanishing, text_of(statistic)}];
  if (known != nullptr) return *known;
  try {
    plan_.grid_reductions.push_back(std::make_unique<GridReduction>(
        of, spaces_.late(of.space(), over, regions), spaces_.groups(of.space(), over, regions), over,
        vanishing, statistic));
  } catch (const Failure& failure) {
    refuse_at(field.expression_at, failure.code(), "field '{}': {}", field.name, failure.error().message);
  }
  known = plan_.grid_reductions.back().get();
  identities_.set(*known,
                  fmt::format("{} over {} of ({})", text_of(statistic), vanishing, identities_.of(of)));
  return *known;
}

}  // namespace afterbay::output
