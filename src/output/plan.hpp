// SPDX-License-Identifier: Apache-2.0
// Plan: what is computed from which field, when, and into which file it goes. It follows from the
// definitions of the model and the description alone, so that all ranks have the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/description.hpp"
#include "expression/expression.hpp"
#include "output/axis_reduction.hpp"
#include "output/field_definitions.hpp"
#include "output/file_series.hpp"
#include "output/formula.hpp"
#include "output/grid_reduction.hpp"
#include "output/schedule.hpp"
#include "output/series.hpp"
#include "output/spaces.hpp"
#include "output/target.hpp"

namespace afterbay::output {

/// The parts of a plan, in the order in which they were made: what is computed from something comes
/// after it.
struct Plan {
  std::unique_ptr<TakenPaths> taken = std::make_unique<TakenPaths>();  ///< by files and states
  std::vector<std::unique_ptr<Schedule>> schedules;
  std::vector<std::unique_ptr<FieldSeries>> sources;  ///< by number of the field; null: nothing uses it
  std::vector<std::unique_ptr<ConstantSeries>> constants;
  std::vector<std::unique_ptr<SubsetSeries>> subsets;
  std::vector<std::unique_ptr<FormulaSeries>> computed;
  std::vector<std::unique_ptr<AxisReduction>> axis_reductions;
  std::vector<std::unique_ptr<GridReduction>> grid_reductions;
  std::vector<std::unique_ptr<SeriesStatistics>> statistics;
  std::vector<std::unique_ptr<FileSeries>> files;
  std::vector<std::unique_ptr<VariableWriter>> writers;
  /// The entries under `fields` that have no effect, with their places and the reasons.
  std::vector<std::string> without_effect;
  /// Files whose first period begins before the run, where users may not expect it, with their
  /// places.
  std::vector<std::string> first_periods;

  /// Goes to the step after which the state was saved that the run resumes from: it may end
  /// without a further one.
  void resume(std::int64_t number);
  /// Begins step `number`, and says what is needed in it: Series::needed.
  void begin_step(std::int64_t number);
  /// Gives away what the model does not put. `covered`: by the step.
  void put_constants(const Value& covered);
  /// Ends the step, which ends at `now`, after all that is needed was put.
  void end_step(const Date& now);
  /// Periods that have begun end with what they have. `covered`: by the last step.
  void end_run(const Value& covered);

  // What follows from reductions over grids is executed later (late_steps.hpp), and left out above.

  /// Goes back to a step, or to the end of the run.
  void begin_late_step(std::int64_t number);
  void begin_late_end();
  /// Ends what follows, after the results were given away.
  void end_late_step(const Date& now);

  /// Bytes of the states of statistics and of buffers for computations, on this rank.
  [[nodiscard]] std::size_t state_bytes() const;
};

/// What a plan is made from; outlives it.
struct PlanInput {
  PlanInput(const describe::Description& of, const FieldDefinitions& model, const ModelTime& steps,
            std::optional<std::int64_t> number, const Targets& places);

  const describe::Description& description;
  const FieldDefinitions& definitions;
  const ModelTime& time;
  std::optional<std::int64_t> member;
  const Targets& targets;

  /// The entry under `fields`; null: there is none.
  [[nodiscard]] const describe::Field* find_described(std::string_view name) const noexcept;

 private:
  std::map<std::string_view, const describe::Field*> described_;
};

/// What values of step `number` cover, without the values, their form and layout.
Value covered_by_step(const ModelTime& time, std::int64_t number);

/// Entries under `fields` that concern no field of the model: mistyped names, unless several models
/// share the description. Patterns are switched off.
std::vector<std::string> fields_without_effect(const PlanInput& input);

/// Throws one Failure with all problems, each with its place in the description.
Plan make_plan(const PlanInput& input, Spaces& spaces);

}  // namespace afterbay::output
