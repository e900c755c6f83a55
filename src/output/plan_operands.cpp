// SPDX-License-Identifier: Apache-2.0
#include "output/plan_operands.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/crc64.hpp"
#include "base/suggest.hpp"
#include "output/plan_text.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

PlanOperands::PlanOperands(const PlanInput& input, Plan& plan, DerivedFields& fields, PlanSources& sources,
                           PlanReductions& reductions, SeriesIdentities& identities)
    : input_(input),
      plan_(plan),
      fields_(fields),
      sources_(sources),
      reductions_(reductions),
      identities_(identities) {}

Series& PlanOperands::series(const std::string& name, const VariableContext& context) {
  if (const Field* const field = input_.definitions.find_field(name)) {
    if (const describe::Field* const described = fields_.find(name))
      refuse_at(
          described->expression_at, ErrorCode::conflict,
          "the field '{}' has an expression, but the model defines a field of this name: give the derived "
          "field another name",
          name);
    return sources_.field(*field, context.subset);
  }
  const describe::Field* const described = fields_.find(name);
  if (described == nullptr) unknown_field(name, context);
  const expression::Expression& expression = fields_.parsed(*described);
  fields_.check_names(*described);
  // Reductions over the period of the file are those of this schedule, others have the file's
  // alignment.
  const auto over_file = [](const expression::Reduction& it) { return it.is_over_time() && !it.period; };
  const auto over_own = [&](const expression::Reduction& it) {
    if (it.period) check_multiple(it, context);
    return it.period.has_value();
  };
  std::string key = fmt::format("{}|{}|{}", name, context.subset == nullptr ? "own" : context.subset->name,
                                missing_text(context.missing()));
  if (fields_.has_reduction(*described, over_file)) key += "|" + context.needed_schedule().text();
  if (fields_.has_reduction(*described, over_own)) key += "|" + output::text_of(context.file.timing.align);
  if (Series* const known = derived_[key]) return *known;
  if (std::ranges::find(being_made_, name) != being_made_.end())
    refuse_at(described->expression_at, ErrorCode::conflict, "the field '{}' depends on itself", name);
  being_made_.push_back(name);
  std::vector<Series*> reduced;
  for (const expression::Reduction& reduction : expression.reductions) {
    Series& of = formula(reduction.argument, reduced, context, name, reduction.text);
    reduced.push_back(&reductions_.reduce(of, reduction, context, *described));
  }
  Series& made = formula(expression.result, reduced, context, name, name);
  being_made_.pop_back();
  return *(derived_[key] = &made);
}

void PlanOperands::check_multiple(const expression::Reduction& reduction,
                                  const VariableContext& context) const {
  if (context.schedule == nullptr) return;
  const Period every = context.file.timing.every->resolved(input_.time.step);
  if (input_.time.calendar.multiple(every, reduction.period->resolved(input_.time.step)) == Multiple::no)
    refuse_at(context.variable.at, ErrorCode::invalid_argument,
              "every ({}) of the file \"{}\" is not a multiple of the period of \"{}\"",
              context.file.timing.every->text(), context.file.name, reduction.text);
}

void PlanOperands::unknown_field(const std::string& name, const VariableContext& context) const {
  const bool is_operand = !being_made_.empty();
  std::vector<std::string> names = is_operand ? fields_.operand_names() : input_.definitions.field_names();
  for (const describe::Field& field : input_.description.fields)
    if (!field.expression.empty()) names.push_back(field.name);
  refuse_at(is_operand ? fields_.find(being_made_.back())->expression_at : context.variable.at,
            ErrorCode::unknown_name,
            "{}there is no field '{}': the model has not defined it, and it has no expression under fields{}",
            is_operand ? fmt::format("field '{}': ", being_made_.back()) : "", name,
            did_you_mean(name, names));
}

void PlanOperands::check_spaces(const std::vector<Series*>& operands, const std::string& field) const {
  for (const Series* const other : operands) {
    if (other->space().late != operands.front()->space().late)
      refuse_at(fields_.find(field)->expression_at, ErrorCode::conflict,
                "field '{}': '{}' is the result of a reduction over a grid, which is known some steps later, "
                "and '{}' is not: an expression can combine results of such reductions with each other only",
                field, (other->space().late ? other : operands.front())->name(),
                (other->space().late ? operands.front() : other)->name());
    if (&other->space() != &operands.front()->space())
      refuse_at(
          fields_.find(field)->expression_at, ErrorCode::conflict,
          "field '{}': '{}' has the points {} and '{}' has {}; all fields of an expression must lie on one "
          "grid",
          field, operands.front()->name(), operands.front()->space().text(), other->name(),
          other->space().text());
  }
}

Series& PlanOperands::formula(const expression::Formula& formula, const std::vector<Series*>& reduced,
                              const VariableContext& context, const std::string& field,
                              const std::string& text) {
  std::vector<Series*> operands(formula.operands.size(), nullptr);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const expression::Operand& operand = formula.operands[i];
    if (operand.kind == expression::Operand::Kind::reduction)
      operands[i] = reduced[operand.reduction];
    else if (fields_.find_constant(operand) == nullptr)
      operands[i] = &series(operand.field, context);
  }
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i] == nullptr)
      operands[i] = &sources_.constant(*fields_.find_constant(formula.operands[i]), operands, context.subset);
  if (operands.empty())
    refuse_at(fields_.find(field)->expression_at, ErrorCode::invalid_argument,
              "field '{}': \"{}\" contains no field, so that it has no points", field, text);
  if (formula.text == "x0") return *operands.front();
  check_spaces(operands, field);
  auto evaluator = expression::Evaluator::create(formula);
  if (!evaluator)
    refuse_at(fields_.find(field)->expression_at, evaluator.error().code, "field '{}': {}", field,
              evaluator.error().message);
  plan_.computed.push_back(std::make_unique<FormulaSeries>(text, operands, formula, *std::move(evaluator)));
  std::vector<std::string> of;
  for (const Series* const operand : operands) of.push_back(identities_.of(*operand));
  std::string identity = fmt::format("{} = {} of ({})", text, formula.text, fmt::join(of, ", "));
  // Fields of fields of fields: their texts would grow without bound.
  constexpr std::size_t longest = 300;
  if (identity.size() > longest)
    identity = fmt::format("{} #{:016x}", text, crc64(std::as_bytes(std::span(identity))));
  identities_.set(*plan_.computed.back(), std::move(identity));
  return *plan_.computed.back();
}

}  // namespace afterbay::output
