// SPDX-License-Identifier: Apache-2.0
#include "output/plan_variables.hpp"

#include <algorithm>

#include "describe/operation_traits.hpp"
#include "expression/units.hpp"
#include "model/converted_values.hpp"
#include "model/fill_value.hpp"
#include "model/format.hpp"
#include "output/limits.hpp"
#include "output/plan_text.hpp"
#include "output/refuse.hpp"
#include "output/result_type.hpp"
#include "output/value_times.hpp"

namespace afterbay::output {

namespace {

void check_folded(const describe::Variable& variable, const Series& of) {
  if (!traits_of(variable.operation).may_be_folded || of.is_reduced())
    refuse_at(variable.at, ErrorCode::conflict,
              "'{}' cannot be folded: files with a cycle have statistics of fields, such as means, and "
              "fields that "
              "are written once",
              variable.field);
}

}  // namespace

PlanVariables::PlanVariables(const PlanInput& input, Plan& plan, const DerivedFields& fields,
                             PlanOperands& operands, PlanReductions& reductions,
                             const SeriesIdentities& identities)
    : input_(input),
      plan_(plan),
      fields_(fields),
      operands_(operands),
      reductions_(reductions),
      identities_(identities) {}

void PlanVariables::add(FileSeries& files, const VariableContext& context,
                        const std::vector<Schedule*>& parts) {
  const describe::File& file = context.file;
  const describe::Variable& variable = context.variable;
  Schedule* const schedule = context.schedule;
  Series* of = &operands_.series(variable.field, context);
  if (!parts.empty()) check_folded(variable, *of);
  std::vector<Series*> folded;
  FileVariable made;
  made.name = variable.name;
  made.kind = TimeKind::period;
  made.identity = fmt::format("{} of {}", describe::name_of(variable.operation), identities_.of(*of));
  if (variable.operation == describe::Operation::once) {
    made.kind = TimeKind::once;
    if (of->is_reduced()) refuse_reduced_once(variable);
  } else if (traits_of(variable.operation).copies_a_step) {
    if (!of->is_reduced() || has_values_of_steps(*of)) made.kind = TimeKind::instant;
    if (schedule != nullptr) check_periods(*of, *schedule, file, variable, input_.time);
  } else {
    check_times(*of, context.needed_schedule(), variable.at, fmt::format("'{}'", variable.field),
                input_.time);
    const auto statistic = statistic_with(describe::statistic_of(variable.operation), *of, context.missing());
    made.identity += ", " + text_of(statistic);
    for (Schedule* const part : parts) folded.push_back(&reductions_.over_periods(*of, *part, statistic));
    const bool servers = file.statistics == describe::ComputedBy::servers ||
                         (file.expressions == describe::ComputedBy::servers &&
                          dynamic_cast<const FormulaSeries*>(of) != nullptr);
    of = folded.empty()
             ? &reductions_.over_periods(*of, context.needed_schedule(), statistic, servers ? &file : nullptr)
             : folded.front();
  }
  if (made.kind != TimeKind::once) static_cast<void>(context.needed_schedule());
  made.space = &of->space();
  if (!files.variables().empty() && is_late(files) != made.space->late)
    refuse_at(variable.at, ErrorCode::conflict,
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

expression::Linear PlanVariables::describe_values(FileVariable& made, const VariableContext& context,
                                                  const Series& of) const {
  const describe::Variable& variable = context.variable;
  const expression::Linear setting = linear_of(context.settings.all.settings_for(variable.name).stages);
  const VariableText text = describe_variable(input_, context.file, variable, made.kind, setting);
  made.attributes = text.attributes;
  const Type own = fields_.own_type(variable.field);
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

Type PlanVariables::type_of_variable(const VariableContext& context, bool is_packed, bool converted) const {
  const describe::OutputType asked = context.variable.options.type.value_or(context.file.type);
  if (asked.given) return *asked.given;
  const Type own = fields_.own_type(context.variable.field);
  if (asked.own || is_packed) return own;
  return type_of_results(own, context.variable.operation, converted,
                         traits_of(context.settings.store.value_or(default_format)));
}

Values PlanVariables::fill_of_variable(const describe::Variable& variable, Type type) const {
  if (const Values own = fill_of_field(variable.field); !own.empty())
    if (auto fill = model::converted(own, type)) return *fill;
  return model::default_fill(type);
}

Values PlanVariables::fill_of_field(const std::string& name) const {
  const Field* const field = input_.definitions.find_field(name);
  return field == nullptr ? Values() : field->options.fill;
}

}  // namespace afterbay::output
