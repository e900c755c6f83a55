// SPDX-License-Identifier: Apache-2.0
#include "output/preview.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "output/late_steps.hpp"
#include "output/plan.hpp"
#include "output/preview_stages.hpp"
#include "output/preview_target.hpp"
#include "output/refuse.hpp"
#include "output/server_reductions.hpp"

namespace afterbay::output {

namespace {

constexpr std::int64_t most_steps = 50'000'000;

template <class Items, class Count>
std::uint64_t sum_of(const Items& items, Count count) noexcept {
  std::uint64_t all = 0;
  for (const auto& item : items) all += count(item);
  return all;
}

/// Steps that end within a run of this length.
std::int64_t steps_of(const ModelTime& time, const Period& length) {
  const Date end = time.calendar.add(time.start, length.resolved(time.step));
  std::int64_t steps = 0;
  std::int64_t beyond = 1;
  while (beyond <= most_steps && time.at(beyond) <= end) steps = std::exchange(beyond, 2 * beyond);
  while (beyond - steps > 1) {
    const std::int64_t middle = std::midpoint(steps, beyond);
    (time.at(middle) <= end ? steps : beyond) = middle;
  }
  if (steps == 0)
    refuse(ErrorCode::invalid_argument, "a run of {} has no step of {}: give a longer one", length.text(),
           time.step.text());
  if (steps > most_steps)
    refuse(ErrorCode::invalid_argument,
           "a run of {} has more than {} steps of {}: give a shorter one; the figures per step do not change",
           length.text(), most_steps, time.step.text());
  return steps;
}

/// Executes a plan without values.
class ValuelessRun {
 public:
  ValuelessRun(Plan& plan, const ModelTime& time, PreviewTargets& targets, std::uint64_t ranks)
      : plan_(plan), time_(time), late_(nullptr, plan, time) {
    for (const auto& file : plan.files) counts_.push_back(&targets.count(file->file().name));
    for (const auto& it : plan.grid_reductions) between_ranks_.push_back(bytes_between_ranks(*it, ranks));
  }

  void step(std::int64_t number) {
    plan_.begin_step(number);
    std::vector<FieldSeries*> wanted;
    for (const auto& source : plan_.sources)
      if (source != nullptr && source->needed()) wanted.push_back(source.get());
    Value value = covered_by_step(time_, number);
    plan_.put_constants(value);
    constexpr std::byte nothing{};
    for (FieldSeries* const source : wanted) {
      value.data = &nothing;
      value.form = &source->form();
      source->put(value);
    }
    plan_.end_step(time_.at(number));
    count_contributions();
    late_.end_step(number);
    puts_.now += wanted.size();
    count_step();
  }

  void end(std::int64_t last) {
    plan_.end_run(covered_by_step(time_, last));
    count_contributions();
    late_.end_run(last);
    for (const auto& file : plan_.files) file->close();
    count_step();
  }

  [[nodiscard]] const WriteCount::Sum& puts() const noexcept { return puts_; }
  [[nodiscard]] const WriteCount::Sum& traffic() const noexcept { return traffic_; }
  [[nodiscard]] const WriteCount::Sum& between_ranks() const noexcept { return exchanged_; }

 private:
  void count_contributions() {
    for (std::size_t i = 0; i < between_ranks_.size(); ++i)
      if (plan_.grid_reductions[i]->has_contribution()) exchanged_.now += between_ranks_[i];
  }
  void count_step() {
    exchanged_.end_step();
    for (WriteCount* const count : counts_) {
      traffic_.now += count->traffic_of_step();
      count->end_step();
    }
    puts_.end_step();
    traffic_.end_step();
  }

  Plan& plan_;
  const ModelTime& time_;
  LateSteps late_;  ///< late steps of one rank: each step is executed at once
  std::vector<WriteCount*> counts_;
  std::vector<std::uint64_t> between_ranks_;  ///< bytes for one value of a reduction over a grid
  WriteCount::Sum exchanged_;
  WriteCount::Sum puts_;
  WriteCount::Sum traffic_;
};

PreviewVariable preview_of(const PlanInput& input, const describe::Variable& given,
                           const FileVariable& variable, const WriteCount& count, std::size_t stage) {
  PreviewVariable made;
  made.name = variable.name;
  made.operation = std::string(describe::name_of(given.operation));
  made.field = given.field;
  if (input.definitions.find_field(given.field) == nullptr)
    made.expression = input.find_described(given.field)->expression;
  made.kind = variable.kind;
  made.grid = variable.space->name;
  made.points = variable.space->text();
  made.type = variable.type;
  made.bytes = count.bytes_of(variable.name);
  made.stage = stage;
  return made;
}

PreviewFile preview_of(const PlanInput& input, const FileSeries& files, const WriteCount& count,
                       std::span<const std::size_t> stages, std::int64_t steps) {
  const describe::File& file = files.file();
  PreviewFile made;
  made.name = file.name;
  if (files.records().any()) made.every = file.timing.every->text();
  if (file.timing.cycle)
    made.cycle = fmt::format("{} by {}", file.timing.cycle->text(), file.timing.cycle_step->text());
  std::map<std::string_view, const describe::Variable*> given;
  for (const describe::Variable& variable : file.variables) given.emplace(variable.name, &variable);
  for (std::size_t v = 0; v < files.variables().size(); ++v) {
    const FileVariable& variable = files.variables()[v];
    made.variables.push_back(preview_of(input, *given.at(variable.name), variable, count, stages[v]));
    const Space& space = *variable.space;
    if (!space.known_in_run_only) continue;
    made.is_upper_bound = made.is_upper_bound || space.stations == nullptr;
    if (std::ranges::find(made.known_in_run_only, space.name) == made.known_in_run_only.end())
      made.known_in_run_only.push_back(space.name);
  }
  made.parts = count.parts;
  made.bytes_per_record = count.bytes_per_record();
  made.bytes_per_file = count.bytes_per_file();
  made.puts = count.puts(steps);
  made.traffic = count.traffic(steps);
  return made;
}

void describe_time(Preview& made, const ModelTime& time) {
  constexpr double day = 86400;
  const Date end = time.at(made.steps);
  made.calendar = time.calendar.name();
  made.start = time.calendar.text(time.start);
  made.end = time.calendar.text(end);
  made.step = time.step.text();
  made.days = time.seconds(time.start, end) / day;
}

}  // namespace

Preview preview(const describe::Description& description, const ModelDefinitions& model,
                const PreviewOptions& options) {
  const ModelTime time = model_time(model.options);
  const FieldDefinitions& definitions = model.definitions;
  PreviewTargets targets(description);
  const PlanInput input{description, definitions, time, model.options.member, targets};
  Spaces spaces(nullptr, definitions);
  Plan plan = make_plan(input, spaces);
  // With `statistics: auto`, ranks decide when they know their servers.
  const ServerReductions reductions(plan, nullptr);
  TakenPaths known;
  for (const auto& file : plan.files) {
    file->define(targets, definitions, spaces, false, reductions.of(*file));
    file->check_paths(known);
    static_cast<void>(file->epochs());
  }
  reductions.apply();
  Preview made;
  made.undecided = reductions.undecided();
  made.processes = options.processes;
  made.steps = steps_of(time, options.length);
  made.has_step_0 = std::ranges::any_of(plan.files, [](const auto& file) { return file->needs_start(); });
  describe_time(made, time);
  const auto ranks = static_cast<std::uint64_t>(options.processes.model_ranks);
  ValuelessRun run(plan, time, targets, ranks);
  for (std::int64_t n = made.has_step_0 ? 0 : 1; n <= made.steps; ++n) run.step(n);
  run.end(made.steps);

  PreviewStages stages(plan, input, options.processes);
  for (const auto& file : plan.files)
    made.files.push_back(
        preview_of(input, *file, targets.count(file->file().name), stages.of(*file), made.steps));
  made.stages = stages.take();
  made.fields = definitions.fields().size();
  for (std::size_t f = 0; f < made.fields; ++f)
    if (plan.sources[f] == nullptr) made.unused.push_back(definitions.fields()[f].name);
  made.without_effect = plan.without_effect;
  made.first_periods = plan.first_periods;
  made.puts = run.puts().per_step(made.steps);
  made.traffic = run.traffic().per_step(made.steps);
  made.traffic_of_run = run.traffic().all;
  made.between_ranks = run.between_ranks().per_step(made.steps);
  if (!plan.grid_reductions.empty()) made.lag = LateSteps::lag_of(ranks);
  return made;
}

std::uint64_t PreviewFile::records() const noexcept {
  return sum_of(parts, [](const PreviewPart& it) { return it.records; });
}

std::uint64_t PreviewFile::bytes() const noexcept {
  return sum_of(parts, [](const PreviewPart& it) { return it.bytes; });
}

const PreviewPart* PreviewFile::largest() const noexcept {
  const auto found = std::ranges::max_element(parts, {}, &PreviewPart::bytes);
  return found == parts.end() ? nullptr : &*found;
}

std::uint64_t Preview::bytes() const noexcept {
  return sum_of(files, [](const PreviewFile& it) { return it.bytes(); });
}

std::uint64_t Preview::state_bytes_per_rank() const noexcept {
  return sum_of(stages, [](const PreviewStage& it) { return it.bytes_per_rank; });
}

std::uint64_t Preview::state_bytes() const noexcept {
  return sum_of(stages, [](const PreviewStage& it) { return it.bytes_on_all_ranks; });
}

std::uint64_t Preview::server_bytes() const noexcept {
  return sum_of(stages, [](const PreviewStage& it) { return it.bytes_on_servers; });
}

std::string_view name_of(PreviewStage::Kind kind) noexcept {
  switch (kind) {
    case PreviewStage::Kind::field: return "field";
    case PreviewStage::Kind::subset: return "subset";
    case PreviewStage::Kind::expression: return "expression";
    case PreviewStage::Kind::reduction: return "reduction";
    case PreviewStage::Kind::statistic: return "statistic";
  }
  return "unknown";
}

}  // namespace afterbay::output
