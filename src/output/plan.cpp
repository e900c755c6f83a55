// SPDX-License-Identifier: Apache-2.0
#include "output/plan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/caller_terms.hpp"
#include "base/crc64.hpp"
#include "base/suggest.hpp"
#include "describe/checks.hpp"
#include "expression/names.hpp"
#include "expression/units.hpp"
#include "model/converted_values.hpp"
#include "model/fill_value.hpp"
#include "model/format.hpp"
#include "output/first_period.hpp"
#include "output/fitting_selection.hpp"
#include "output/limits.hpp"
#include "output/plan_text.hpp"
#include "output/refuse.hpp"
#include "output/result_type.hpp"
#include "output/shared_sums.hpp"
#include "output/value_times.hpp"

namespace afterbay::output {

namespace {

/// The file for which something is planned.
struct Context {
  const describe::File& file;
  const describe::Variable& variable;
  Schedule* schedule;                  ///< null: the file has no records
  const describe::GridSubset* subset;  ///< null: all points
  const TargetSettings& settings;
};

statistics::StatisticKind statistic_kind_of(describe::Operation operation) {
  using From = describe::Operation;
  using To = statistics::StatisticKind;
  switch (operation) {
    case From::mean: return To::mean;
    case From::sum: return To::sum;
    case From::min: return To::minimum;
    case From::max: return To::maximum;
    case From::range: return To::range;
    case From::stddev: return To::standard_deviation;
    case From::rate: return To::rate;
    case From::difference: return To::difference;
    case From::once: return To::once;
    case From::instant:
    case From::write: return To::instant;
  }
  return To::instant;
}

class Planner {
 public:
  Planner(const PlanInput& input, Spaces& spaces) : input_(input), spaces_(spaces) {
    plan_.sources.resize(input.definitions.fields().size());
    misreadable_ = expression::misreadable_names(operand_names());
  }

  Plan run() {
    for (const describe::File& file : input_.description.files)
      if (file.active()) attempt(file.at, [&] { plan(file); });
    if (!problems_.empty()) throw Failure(Error(code_, fmt::format("{}", fmt::join(problems_, "\n"))));
    share_sums(plan_.statistics, of_files_);
    // Expressions that compute with others come after them.
    for (auto at = plan_.computed.rbegin(); at != plan_.computed.rend(); ++at) (*at)->find_ends();
    plan_.without_effect = fields_without_effect(input_);
    return std::move(plan_);
  }

 private:
  template <class Task>
  void attempt(const describe::Position& at, Task task) {
    try {
      task();
    } catch (const Failure& failure) {
      being_made_.clear();
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
        parts.push_back(keep(std::make_unique<Schedule>(input_.time, file.timing, file.name, cycle, part)));
      files->fold(cycle);
    }
    for (const describe::Variable& variable : file.variables)
      if (file.active(variable))
        attempt(variable.at, [&] {
          add(*files, {file, variable, schedule, subset_for(file, variable), settings}, parts);
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
    return *keep(std::make_unique<Schedule>(input_.time, file.timing, file.name));
  }

  Schedule* keep(std::unique_ptr<Schedule> schedule) {
    auto& known = schedules_[schedule->text()];
    if (known == nullptr) {
      known = schedule.get();
      plan_.schedules.push_back(std::move(schedule));
    }
    return known;
  }

  [[nodiscard]] const describe::Field* find_described(const std::string& name) const noexcept {
    return input_.find_described(name);
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

  // ---- series

  Series& series(const std::string& name, const Context& context) {
    if (const Field* const field = input_.definitions.find_field(name)) {
      if (const describe::Field* const described = find_described(name);
          described && !described->expression.empty())
        refuse_at(
            described->expression_at, ErrorCode::conflict,
            "the field '{}' has an expression, but the model defines a field of this name: give the derived "
            "field another name",
            name);
      return model_series(*field, context);
    }
    const describe::Field* const described = find_described(name);
    if (described == nullptr || described->expression.empty()) unknown_field(name, context);
    const expression::Expression& expression = parsed(*described);
    check_names(*described);
    // Reductions over the period of the file are those of this schedule, others have the file's
    // alignment.
    const auto over_file = [](const expression::Reduction& it) { return it.is_over_time() && !it.period; };
    const auto over_own = [&](const expression::Reduction& it) {
      if (it.period) check_multiple(it, context);
      return it.period.has_value();
    };
    std::string key = fmt::format("{}|{}|{}", name, context.subset == nullptr ? "own" : context.subset->name,
                                  missing_text(missing_of(context)));
    if (has_reduction(*described, over_file)) key += "|" + schedule_for(context).text();
    if (has_reduction(*described, over_own)) key += "|" + output::text_of(context.file.timing.align);
    if (Series* const known = derived_[key]) return *known;
    if (std::ranges::find(being_made_, name) != being_made_.end())
      refuse_at(described->expression_at, ErrorCode::conflict, "the field '{}' depends on itself", name);
    being_made_.push_back(name);
    std::vector<Series*> reduced;
    for (const expression::Reduction& reduction : expression.reductions) {
      Series& of = formula(reduction.argument, reduced, context, name, reduction.text);
      reduced.push_back(reduction.is_over_time() ? &reduce(of, reduction, context, *described)
                                                 : &collapse(of, reduction, context, *described));
    }
    Series& made = formula(expression.result, reduced, context, name, name);
    being_made_.pop_back();
    return *(derived_[key] = &made);
  }

  [[nodiscard]] const expression::Expression& parsed(const describe::Field& field) {
    const auto known = parsed_.find(&field);
    if (known != parsed_.end()) return known->second;
    auto expression = expression::parse(field.expression);
    if (!expression)
      refuse_at(field.expression_at, expression.error().code, "field '{}': {}", field.name,
                expression.error().message);
    return parsed_.emplace(&field, *std::move(expression)).first->second;
  }

  /// Names of fields and coordinates that the expression does not mean, although it contains them.
  void check_names(const describe::Field& field) const {
    if (const auto misread = expression::misread_name(field.expression, misreadable_))
      refuse_at(field.expression_at, ErrorCode::conflict, "field '{}': {}", field.name,
                expression::misread_text(*misread));
  }

  /// What the model offers to expressions.
  [[nodiscard]] std::vector<std::string> operand_names() const {
    std::vector<std::string> names = input_.definitions.field_names();
    for (const Coordinate& coordinate : input_.definitions.coordinates())
      if (!coordinate.grid.empty()) names.push_back(coordinate.name);
    return names;
  }

  /// The field and all derived ones from which it is computed, each once.
  [[nodiscard]] std::vector<const describe::Field*> with_inner(const describe::Field& field) const {
    std::vector<const describe::Field*> all{&field};
    std::set<const describe::Field*> known{&field};
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const std::string& operand : all[i]->operands)
        if (const describe::Field* const inner = find_described(operand);
            inner != nullptr && !inner->expression.empty() && known.insert(inner).second)
          all.push_back(inner);
    return all;
  }

  /// Whether `visit` is true for a reduction of the field, or of those from which it is computed.
  template <class Visit>
  bool has_reduction(const describe::Field& field, const Visit& visit) {
    bool has = false;
    for (const describe::Field* const inner : with_inner(field))
      for (const expression::Reduction& reduction : parsed(*inner).reductions) has = visit(reduction) || has;
    return has;
  }

  void check_multiple(const expression::Reduction& reduction, const Context& context) const {
    if (context.schedule == nullptr) return;
    const Period every = context.file.timing.every->resolved(input_.time.step);
    if (input_.time.calendar.multiple(every, reduction.period->resolved(input_.time.step)) == Multiple::no)
      refuse_at(context.variable.at, ErrorCode::invalid_argument,
                "every ({}) of the file \"{}\" is not a multiple of the period of \"{}\"",
                context.file.timing.every->text(), context.file.name, reduction.text);
  }

  [[noreturn]] void unknown_field(const std::string& name, const Context& context) {
    const bool is_operand = !being_made_.empty();
    std::vector<std::string> names = is_operand ? operand_names() : input_.definitions.field_names();
    for (const describe::Field& field : input_.description.fields)
      if (!field.expression.empty()) names.push_back(field.name);
    refuse_at(
        is_operand ? find_described(being_made_.back())->expression_at : context.variable.at,
        ErrorCode::unknown_name,
        "{}there is no field '{}': the model has not defined it, and it has no expression under fields{}",
        is_operand ? fmt::format("field '{}': ", being_made_.back()) : "", name, did_you_mean(name, names));
  }

  Series& model_series(const Field& field, const Context& context) {
    const auto number = static_cast<std::size_t>(&field - input_.definitions.fields().data());
    auto& source = plan_.sources[number];
    if (source == nullptr)
      source = std::make_unique<FieldSeries>(field.name, spaces_.own(field),
                                             Form{field.options.type, field.options.fill});
    if (context.subset == nullptr) return *source;
    const Space& space = spaces_.subset(field, *context.subset);
    if (space.is_subset()) check_fill(*source, *context.subset);
    return subset_of(*source, space);
  }

  /// Expressions can also contain coordinates of grids, such as areas. Null: the name is that of a
  /// field.
  [[nodiscard]] const Coordinate* find_constant(const expression::Operand& operand) const {
    if (operand.kind != expression::Operand::Kind::field) return nullptr;
    const auto& all = input_.definitions.coordinates();
    const auto found = std::ranges::find(all, operand.field, &Coordinate::name);
    const describe::Field* const described = find_described(operand.field);
    const bool is_field = input_.definitions.find_field(operand.field) != nullptr ||
                          (described != nullptr && !described->expression.empty());
    if (is_field || found == all.end() || found->grid.empty() || !found->options.vertices.empty() ||
        found->values.type == Type::text || found->values.type == Type::string)
      return nullptr;
    return &*found;
  }

  /// `others`: of the formula, as far as they are known.
  Series& constant_series(const Coordinate& of, const std::vector<Series*>& others, const Context& context) {
    Field like;
    like.name = of.name;
    like.options.grid = of.grid;
    like.options.type = of.values.type;
    if (like.options.type == Type::float32)
      like.options.fill = Values(std::numeric_limits<float>::quiet_NaN());
    if (like.options.type == Type::float64)
      like.options.fill = Values(std::numeric_limits<double>::quiet_NaN());
    auto& known = constants_[of.name];
    if (known == nullptr) {
      plan_.constants.push_back(std::make_unique<ConstantSeries>(of, spaces_.own(like),
                                                                 Form{like.options.type, like.options.fill}));
      known = plan_.constants.back().get();
    }
    if (context.subset == nullptr) return *known;
    // It names no longitudes and latitudes, as fields do: it has the points of the other operands.
    check_fill(*known, *context.subset);
    for (const Series* const other : others)
      if (other != nullptr && other->space().is_subset() && other->space().axes == 0 &&
          other->space().grid == of.grid)
        return subset_of(*known, other->space());
    return subset_of(*known, spaces_.subset(like, *context.subset));
  }

  /// Points outside are marked by the fill value.
  static void check_fill(const Series& of, const describe::GridSubset& grid) {
    if (grid.outside != describe::Outside::missing || !of.form().missing.empty()) return;
    if (dynamic_cast<const ConstantSeries*>(&of) != nullptr)
      refuse_at(grid.at, ErrorCode::conflict,
                "grid '{}': with outside: missing, coordinates in expressions must hold floating-point "
                "numbers, but '{}' holds {}",
                grid.name, of.name(), afterbay::name_of(of.form().type));
    refuse_at(grid.at, ErrorCode::conflict,
              "grid '{}': with outside: missing, fields need a fill value, which field '{}' does not have",
              grid.name, of.name());
  }

  Series& subset_of(Series& of, const Space& space) {
    if (&space == &of.space()) return of;
    auto& subset = subsets_[{&of, &space}];
    if (subset == nullptr) {
      plan_.subsets.push_back(std::make_unique<SubsetSeries>(of, space));
      subset = plan_.subsets.back().get();
    }
    return *subset;
  }

  Series& formula(const expression::Formula& formula, const std::vector<Series*>& reduced,
                  const Context& context, const std::string& field, const std::string& text) {
    std::vector<Series*> operands(formula.operands.size(), nullptr);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const expression::Operand& operand = formula.operands[i];
      if (operand.kind == expression::Operand::Kind::reduction)
        operands[i] = reduced[operand.reduction];
      else if (find_constant(operand) == nullptr)
        operands[i] = &series(operand.field, context);
    }
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i] == nullptr)
        operands[i] = &constant_series(*find_constant(formula.operands[i]), operands, context);
    if (operands.empty())
      refuse_at(find_described(field)->expression_at, ErrorCode::invalid_argument,
                "field '{}': \"{}\" contains no field, so that it has no points", field, text);
    if (formula.text == "x0") return *operands.front();
    for (const Series* const other : operands) {
      if (other->space().late != operands.front()->space().late)
        refuse_at(
            find_described(field)->expression_at, ErrorCode::conflict,
            "field '{}': '{}' is the result of a reduction over a grid, which is known some steps later, "
            "and '{}' is not: an expression can combine results of such reductions with each other only",
            field, (other->space().late ? other : operands.front())->name(),
            (other->space().late ? operands.front() : other)->name());
      if (&other->space() != &operands.front()->space())
        refuse_at(
            find_described(field)->expression_at, ErrorCode::conflict,
            "field '{}': '{}' has the points {} and '{}' has {}; all fields of an expression must lie on one "
            "grid",
            field, operands.front()->name(), operands.front()->space().text(), other->name(),
            other->space().text());
    }
    auto evaluator = expression::Evaluator::create(formula);
    if (!evaluator)
      refuse_at(find_described(field)->expression_at, evaluator.error().code, "field '{}': {}", field,
                evaluator.error().message);
    plan_.computed.push_back(std::make_unique<FormulaSeries>(text, operands, formula, *std::move(evaluator)));
    std::vector<std::string> of;
    for (const Series* const operand : operands) of.push_back(identity_of(*operand));
    std::string& identity = identities_[plan_.computed.back().get()];
    identity = fmt::format("{} = {} of ({})", text, formula.text, fmt::join(of, ", "));
    // Fields of fields of fields: their texts would grow without bound.
    constexpr std::size_t longest = 300;
    if (identity.size() > longest)
      identity = fmt::format("{} #{:016x}", text, crc64(std::as_bytes(std::span(identity))));
    return *plan_.computed.back();
  }

  /// What a series is, in full: a run that resumes compares it.
  [[nodiscard]] std::string identity_of(const Series& series) const {
    const auto known = identities_.find(&series);
    if (known != identities_.end()) return known->second;
    return fmt::format("{} ({})", series.name(), afterbay::name_of(series.form().type));
  }

  // ---- statistics

  [[nodiscard]] static describe::Missing missing_of(const Context& context) {
    return context.variable.options.missing.value_or(context.file.missing);
  }

  [[noreturn]] static void refuse_reduced_once(const describe::Variable& variable) {
    refuse_at(variable.at, ErrorCode::conflict, "'{}' is a statistic over time, which cannot be written once",
              variable.field);
  }

  static Schedule& schedule_for(const Context& context) {
    if (context.schedule == nullptr && context.variable.operation == describe::Operation::once)
      refuse_reduced_once(context.variable);
    if (context.schedule == nullptr)
      refuse_at(context.variable.at, ErrorCode::invalid_argument,
                "'{}' is reduced over the period of the file, but the file \"{}\" has no period: add every",
                context.variable.field, context.file.name);
    return *context.schedule;
  }

  [[nodiscard]] static statistics::Statistic statistic_of(statistics::StatisticKind kind, const Series& of,
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

  /// `file`: for which servers are to compute them; null: all files share them.
  SeriesStatistics& statistics_of(Series& of, const Schedule& schedule,
                                  const describe::File* file = nullptr) {
    auto& known = statistics_[{&of, &schedule, file}];
    if (known == nullptr) {
      std::string text = fmt::format("{} on {} of {}{} every {}", identity_of(of), of.space().name,
                                     of.space().text(), of.space().places_text(), schedule.text());
      plan_.statistics.push_back(std::make_unique<SeriesStatistics>(of, schedule, std::move(text)));
      known = plan_.statistics.back().get();
      if (file != nullptr) of_files_.insert(known);
    }
    return *known;
  }

  ReducedSeries& reduce(Series& of, const expression::Reduction& reduction, const Context& context,
                        const describe::Field& field) {
    Schedule* schedule = nullptr;
    if (reduction.period) {
      schedule = keep(std::make_unique<Schedule>(input_.time, *reduction.period, context.file.timing.align,
                                                 fmt::format("the period of \"{}\"", reduction.text)));
    } else {
      schedule = &schedule_for(context);
    }
    check_times(of, *schedule, field.expression_at,
                fmt::format("field '{}': what \"{}\" reduces", field.name, reduction.text), input_.time);
    SeriesStatistics& all = statistics_of(of, *schedule);
    ReducedSeries& made = all.add(statistic_of(reduction.kind, of, missing_of(context)));
    identities_[&made] = fmt::format("{} [{}]", made.name(), all.text());
    return made;
  }

  Series& collapse(Series& of, const expression::Reduction& reduction, const Context& context,
                   const describe::Field& field) {
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
    const statistics::Statistic statistic = statistic_of(reduction.kind, of, missing_of(context));
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
      identities_[known] =
          fmt::format("{} over {} of ({})", text_of(statistic), fmt::join(over, ", "), identity_of(of));
    }
    return *known;
  }

  Regions regions_of(const Series& of, const expression::Reduction& reduction,
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
      refuse_regions(
          ErrorCode::invalid_argument,
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

  Series& reduce_grid(Series& of, const std::vector<std::string>& over,
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
    identities_[known] = fmt::format("{} over {} of ({})", text_of(statistic), vanishing, identity_of(of));
    return *known;
  }

  // ---- variables

  /// `parts`: of the cycle, if the periods of the file are folded.
  void add(FileSeries& files, const Context& context, const std::vector<Schedule*>& parts) {
    const describe::File& file = context.file;
    const describe::Variable& variable = context.variable;
    Schedule* const schedule = context.schedule;
    Series* of = &series(variable.field, context);
    if (!parts.empty()) check_folded(variable, *of);
    std::vector<Series*> folded;
    FileVariable made;
    made.name = variable.name;
    made.kind = TimeKind::period;
    made.identity = fmt::format("{} of {}", describe::name_of(variable.operation), identity_of(*of));
    switch (variable.operation) {
      case describe::Operation::once:
        made.kind = TimeKind::once;
        if (of->is_reduced()) refuse_reduced_once(variable);
        break;
      case describe::Operation::instant:
      case describe::Operation::write:
        if (!of->is_reduced() || has_values_of_steps(*of)) made.kind = TimeKind::instant;
        if (schedule != nullptr) check_periods(*of, *schedule, file, variable, input_.time);
        break;
      default: {
        check_times(*of, schedule_for(context), variable.at, fmt::format("'{}'", variable.field),
                    input_.time);
        const auto statistic = statistic_of(statistic_kind_of(variable.operation), *of, missing_of(context));
        made.identity += ", " + text_of(statistic);
        for (Schedule* const part : parts) folded.push_back(&statistics_of(*of, *part).add(statistic));
        const bool servers = file.statistics == describe::ComputedBy::servers ||
                             (file.expressions == describe::ComputedBy::servers &&
                              dynamic_cast<const FormulaSeries*>(of) != nullptr);
        of = folded.empty()
                 ? &statistics_of(*of, schedule_for(context), servers ? &file : nullptr).add(statistic)
                 : folded.front();
      }
    }
    if (made.kind != TimeKind::once) static_cast<void>(schedule_for(context));
    made.space = &of->space();
    if (!files.variables().empty() && is_late(files) != made.space->late)
      refuse_at(
          variable.at, ErrorCode::conflict,
          "'{}' {} the result of a reduction over a grid, which is known some steps later, and '{}' {}: "
          "write them into different files",
          variable.name, made.space->late ? "is" : "is not", files.variables().front().name,
          made.space->late ? "is not" : "is");
    const expression::Linear units = describe_values(made, context, *of);
    const std::size_t number = files.add(std::move(made));
    if (folded.empty()) folded.push_back(of);
    for (std::size_t part = 0; part < folded.size(); ++part)
      plan_.writers.push_back(
          std::make_unique<VariableWriter>(*folded[part], files, number, schedule, units, part));
  }

  /// Sets type, fill value and attributes of a variable with the values of `of`. Returns the
  /// conversion to its units.
  expression::Linear describe_values(FileVariable& made, const Context& context, const Series& of) const {
    const describe::Variable& variable = context.variable;
    const expression::Linear setting = linear_of(context.settings.all.settings_for(variable.name).stages);
    const VariableText text = describe_variable(input_, context.file, variable, made.kind, setting);
    made.attributes = text.attributes;
    const Type own = own_type(variable.field);
    const bool is_packed = has_packed_values(made.attributes, variable);
    const bool converted = !(text.conversion == expression::Linear{} && setting == expression::Linear{});
    made.type = type_of_variable(context, is_packed, converted);
    const bool keeps_fill =
        is_packed || !may_equal_fill(own, fill_of_field(variable.field), variable.operation, converted);
    // Results may equal the model's value.
    const auto& given = variable.options.attributes;
    if (!keeps_fill &&
        std::ranges::find(given, "missing_value", &describe::Attributes::value_type::first) == given.end())
      set_attribute(made.attributes, "missing_value", {});
    if (!of.form().missing.empty())
      made.fill = keeps_fill ? fill_of_variable(variable, made.type) : model::default_fill(made.type);
    check_packing(variable, own, made.type);
    convert_types(made.attributes, made.type);
    made.identity += fmt::format(", times {} plus {}", text.conversion.multiply, text.conversion.add);
    return text.conversion;
  }

  static void check_folded(const describe::Variable& variable, const Series& of) {
    const bool fits = variable.operation != describe::Operation::instant &&
                      variable.operation != describe::Operation::write &&
                      variable.operation != describe::Operation::difference;
    if (!fits || of.is_reduced())
      refuse_at(variable.at, ErrorCode::conflict,
                "'{}' cannot be folded: files with a cycle have statistics of fields, such as means, and "
                "fields that "
                "are written once",
                variable.field);
  }

  /// `is_packed`: by the model; `converted`: to other units.
  [[nodiscard]] Type type_of_variable(const Context& context, bool is_packed, bool converted) const {
    const describe::OutputType asked = context.variable.options.type.value_or(context.file.type);
    if (asked.given) return *asked.given;
    const Type own = own_type(context.variable.field);
    if (asked.own || is_packed) return own;
    return type_of_results(own, context.variable.operation, converted,
                           traits_of(context.settings.store.value_or(default_format)));
  }

  /// The type of a field. Derived fields are float32 if all that they are computed from are.
  [[nodiscard]] Type own_type(const std::string& name) const {
    if (const Field* const field = input_.definitions.find_field(name)) return field->options.type;
    const describe::Field* const described = find_described(name);
    if (described == nullptr || described->expression.empty()) return type_of_coordinate(name);
    for (const describe::Field* const inner : with_inner(*described))
      for (const std::string& operand : inner->operands) {
        const describe::Field* const of = find_described(operand);
        const Field* const field = input_.definitions.find_field(operand);
        const bool is_derived = field == nullptr && of != nullptr && !of->expression.empty();
        if (is_derived) continue;
        const Type type = field != nullptr ? field->options.type : type_of_coordinate(operand);
        if (type != Type::float32) return Type::float64;
      }
    return Type::float32;
  }

  [[nodiscard]] Type type_of_coordinate(const std::string& name) const {
    const auto& all = input_.definitions.coordinates();
    const auto found = std::ranges::find(all, name, &Coordinate::name);
    return found == all.end() ? Type::float64 : found->values.type;
  }

  [[nodiscard]] Values fill_of_variable(const describe::Variable& variable, Type type) const {
    if (const Values own = fill_of_field(variable.field); !own.empty())
      if (auto fill = model::converted(own, type)) return *fill;
    return model::default_fill(type);
  }

  [[nodiscard]] Values fill_of_field(const std::string& name) const {
    const Field* const field = input_.definitions.find_field(name);
    return field == nullptr ? Values() : field->options.fill;
  }

  const PlanInput& input_;
  Spaces& spaces_;
  Plan plan_;
  std::map<const describe::Field*, expression::Expression> parsed_;
  std::map<std::string, Schedule*> schedules_;
  std::map<std::string, ConstantSeries*> constants_;
  std::map<std::pair<const Series*, const Space*>, SubsetSeries*> subsets_;
  std::map<std::string, Series*> derived_;
  std::map<std::tuple<const Series*, const Schedule*, const describe::File*>, SeriesStatistics*> statistics_;
  std::set<const SeriesStatistics*> of_files_;  ///< statistics that are not shared
  std::map<std::tuple<const Series*, std::string, std::string>, AxisReduction*> axis_reductions_;
  std::map<std::tuple<const Series*, std::string, std::string>, GridReduction*> grid_reductions_;
  std::map<const Series*, std::string> identities_;  ///< identities of what is computed
  std::vector<std::string> misreadable_;             ///< what the model offers, but expressions cannot name
  std::vector<std::string> being_made_;
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
