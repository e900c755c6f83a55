// SPDX-License-Identifier: Apache-2.0
#include "output/plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "describe/checks.hpp"
#include "output/first_period.hpp"
#include "output/fitting_selection.hpp"
#include "output/plan_operands.hpp"
#include "output/plan_reductions.hpp"
#include "output/plan_sources.hpp"
#include "output/plan_variables.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

class Planner {
 public:
  Planner(const PlanInput& input, Spaces& spaces)
      : input_(input),
        spaces_(spaces),
        fields_(input),
        sources_(input, spaces, plan_),
        reductions_(input, spaces, plan_, identities_),
        operands_(input, plan_, fields_, sources_, reductions_, identities_),
        variables_(input, plan_, fields_, operands_, reductions_, identities_) {}
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  Plan run() {
    for (const describe::File& file : input_.description.files)
      if (file.active()) attempt(file.at, [&] { plan(file); });
    if (!problems_.empty()) throw Failure(Error(code_, fmt::format("{}", fmt::join(problems_, "\n"))));
    reductions_.share_sums();
    // Expressions that compute with others come after them.
    for (auto at = plan_.computed.rbegin(); at != plan_.computed.rend(); ++at) (*at)->find_ends();
    plan_.without_effect = fields_without_effect(input_);
    return std::move(plan_);
  }

 private:
  template <class Task>
  void attempt(const describe::Position& at, Task task) {
    if (spaces_.ranks_have_failed()) return;
    try {
      task();
    } catch (const Failure& failure) {
      operands_.forget_unfinished();
      if (problems_.empty()) code_ = failure.code();
      std::string text = failure.error().message;
      if (!text.starts_with(at.file)) text = at.text() + ": " + text;
      if (std::ranges::find(problems_, text) == problems_.end()) problems_.push_back(std::move(text));
    }
  }

  void plan(const describe::File& file) {
    Schedule* const schedule =
        file.timing.every && describe::has_records(file) ? &schedule_of(file) : nullptr;
    auto files = std::make_unique<FileSeries>(input_.description, file, input_.time, schedule, input_.member,
                                              *plan_.taken);
    const TargetSettings settings = input_.targets.settings(file.name);
    std::vector<Schedule*> parts;
    if (schedule != nullptr && file.timing.cycle) {
      Cycle cycle(input_.time, file.timing, file.name);
      if (const auto records = static_cast<std::uint64_t>(file.naming.split.records);
          records % cycle.parts() != 0)
        refuse(
            ErrorCode::invalid_argument,
            "split of the file \"{}\" ({} records) is not a multiple of the {} records that each period has "
            "with "
            "a cycle: write \"{} records\"",
            file.name, records, cycle.parts(), (records / cycle.parts() + 1) * cycle.parts());
      for (std::size_t part = 0; part < cycle.parts(); ++part)
        parts.push_back(
            reductions_.keep(std::make_unique<Schedule>(input_.time, file.timing, file.name, cycle, part)));
      files->fold(cycle);
    }
    for (const describe::Variable& variable : file.variables)
      if (file.active(variable))
        attempt(variable.at, [&] {
          variables_.add(*files, {file, variable, schedule, subset_for(file, variable), settings}, parts);
        });
    attempt(file.at, [&] { check_selections(input_, file); });
    if (file.timing.at_start)
      for (const FileVariable& variable : files->variables())
        if (variable.kind == TimeKind::period)
          refuse(ErrorCode::conflict,
                 "the file \"{}\" has at_start and the statistic \"{}\", which has no value at the start: "
                 "put instants "
                 "into a file of their own",
                 file.name, variable.name);
    if (files->variables().empty()) return;
    if (files->records().any())
      if (std::string note = note_on_first_period(file, *schedule, input_.time, files->records().of_periods);
          !note.empty())
        plan_.first_periods.push_back(std::move(note));
    plan_.files.push_back(std::move(files));
  }

  Schedule& schedule_of(const describe::File& file) {
    return *reductions_.keep(std::make_unique<Schedule>(input_.time, file.timing, file.name));
  }

  [[nodiscard]] const describe::GridSubset* subset_for(const describe::File& file,
                                                       const describe::Variable& variable) const {
    const std::string& name = variable.options.grid.value_or(file.grid);
    if (name == "own") return nullptr;
    const auto found = std::ranges::find(input_.description.grids, name, &describe::GridSubset::name);
    if (found == input_.description.grids.end())
      refuse_at(variable.at, ErrorCode::unknown_name, "there is no grid '{}' under grids", name);
    return &*found;
  }

  const PlanInput& input_;
  const Spaces& spaces_;
  Plan plan_;
  DerivedFields fields_;
  SeriesIdentities identities_;
  PlanSources sources_;
  PlanReductions reductions_;
  PlanOperands operands_;
  PlanVariables variables_;
  std::vector<std::string> problems_;
  ErrorCode code_ = ErrorCode::invalid_argument;
};

}  // namespace

void Plan::resume(std::int64_t number) {
  if (!schedules.empty()) {
    const ModelTime& time = schedules.front()->time();
    const Date now = time.at(number);
    const Date previous = number > 0 ? time.at(number - 1) : now;
    for (const auto& schedule : schedules) schedule->go_to(number, previous, now);
  }
  for (const auto& writer : writers) writer->set_step(number);
}

void Plan::begin_step(std::int64_t number) {
  resume(number);
  for (const auto& it : computed)
    if (!it->space().late) it->begin_step();
  for (const auto& it : statistics)
    if (!it->of().space().late) it->begin_step();
  for (const auto& it : computed) it->announce_samples();
  for (const auto& file : files) file->samples().begin_step();
}

void Plan::put_constants(const Value& covered) {
  for (const auto& it : constants) it->put(covered);
}

void Plan::end_step(const Date& now) {
  for (const auto& it : statistics)
    if (!it->of().space().late) it->end_step();
  for (const auto& file : files)
    if (!is_late(*file)) file->end_step(now);
}

void Plan::end_run(const Value& covered) {
  for (const auto& schedule : schedules) schedule->end_run();
  for (const auto& it : computed)
    if (!it->space().late) it->begin_step();
  // Expressions of statistics that end now may contain them.
  put_constants(covered);
  end_step(covered.end);
}

void Plan::begin_late_step(std::int64_t number) {
  resume(number);
  begin_late_end();
}

void Plan::begin_late_end() {
  for (const auto& it : computed)
    if (it->space().late) it->begin_step();
  for (const auto& it : statistics)
    if (it->of().space().late) it->begin_step();
}

void Plan::end_late_step(const Date& now) {
  for (const auto& it : statistics)
    if (it->of().space().late) it->end_step();
  for (const auto& file : files)
    if (is_late(*file)) file->end_step(now);
}

std::size_t Plan::state_bytes() const {
  std::size_t bytes = 0;
  for (const auto& it : statistics) bytes += it->state_bytes();
  for (const auto& it : computed) bytes += it->buffer_bytes();
  for (const auto& it : axis_reductions) bytes += it->buffer_bytes();
  for (const auto& it : grid_reductions) bytes += it->buffer_bytes(it->part(), 1);
  return bytes;
}

Value covered_by_step(const ModelTime& time, std::int64_t number) {
  Value covered;
  covered.end = time.at(number);
  covered.begin = number == 0 ? covered.end : time.at(number - 1);
  covered.seconds = time.seconds(covered.begin, covered.end);
  return covered;
}

Plan make_plan(const PlanInput& input, Spaces& spaces) { return Planner(input, spaces).run(); }

}  // namespace afterbay::output
