// SPDX-License-Identifier: Apache-2.0
// PlanReductions: statistics over time, axes and grids of a plan; what is the same is computed
// once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "output/plan.hpp"
#include "output/variable_context.hpp"

namespace afterbay::output {

/// What series are, in full: a run that resumes compares it.
class SeriesIdentities {
 public:
  /// For a series that is computed; others need none.
  void set(const Series& series, std::string identity) { known_[&series] = std::move(identity); }
  [[nodiscard]] std::string of(const Series& series) const;

 private:
  std::map<const Series*, std::string> known_;
};

class PlanReductions {
 public:
  /// Adds to `plan`. All arguments outlive this object.
  PlanReductions(const PlanInput& input, Spaces& spaces, Plan& plan, SeriesIdentities& identities);

  /// The schedule of the plan that says the same as this one.
  Schedule* keep(std::unique_ptr<Schedule> schedule);
  /// A statistic over the periods of a schedule. `file`: for which servers are to compute it; null:
  /// all files share it.
  ReducedSeries& over_periods(Series& of, const Schedule& schedule, const statistics::Statistic& statistic,
                              const describe::File* file = nullptr);
  /// A reduction in the expression of `field`: over time, axes or a grid. Throws, at the place of
  /// the expression.
  Series& reduce(Series& of, const expression::Reduction& reduction, const VariableContext& context,
                 const describe::Field& field);
  /// Makes sums over long periods of those over shorter ones. The plan is complete.
  void share_sums();

 private:
  SeriesStatistics& statistics_of(Series& of, const Schedule& schedule, const describe::File* file);
  ReducedSeries& reduce_time(Series& of, const expression::Reduction& reduction,
                             const VariableContext& context, const describe::Field& field);
  Series& collapse(Series& of, const expression::Reduction& reduction, const VariableContext& context,
                   const describe::Field& field);
  [[nodiscard]] Regions regions_of(const Series& of, const expression::Reduction& reduction,
                                   const describe::Field& field) const;
  Series& reduce_grid(Series& of, const std::vector<std::string>& over,
                      const statistics::Statistic& statistic, const Regions& regions,
                      const describe::Field& field);

  const PlanInput& input_;
  Spaces& spaces_;
  Plan& plan_;
  SeriesIdentities& identities_;
  std::map<std::string, Schedule*> schedules_;
  std::map<std::tuple<const Series*, const Schedule*, const describe::File*>, SeriesStatistics*> statistics_;
  std::set<const SeriesStatistics*> of_files_;  ///< statistics that are not shared
  std::map<std::tuple<const Series*, std::string, std::string>, AxisReduction*> axis_reductions_;
  std::map<std::tuple<const Series*, std::string, std::string>, GridReduction*> grid_reductions_;
};

/// With the rule for missing values, if the series can have some.
[[nodiscard]] statistics::Statistic statistic_with(statistics::StatisticKind kind, const Series& of,
                                                   const describe::Missing& missing);

}  // namespace afterbay::output
