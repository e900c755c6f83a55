// SPDX-License-Identifier: Apache-2.0
#include "output/plan_text.hpp"

#include <algorithm>
#include <optional>

#include "describe/operation_traits.hpp"
#include "expression/expression.hpp"
#include "output/limits.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

/// "6 hours", "1 day": as CF writes intervals, with a single unit of UDUNITS.
std::string interval_text(const Period& period, std::int64_t day_seconds) {
  const auto counted = [](std::int64_t count, std::string_view unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  constexpr std::int64_t hour = 3600;
  constexpr std::int64_t minute = 60;
  if (period.years != 0 && period == Period{.years = period.years}) return counted(period.years, "year");
  if (period.months != 0 && period == Period{.months = period.months}) return counted(period.months, "month");
  if (period.days != 0 && period == Period{.days = period.days}) return counted(period.days, "day");
  if (period == Period{.days = period.days, .seconds = period.seconds}) {
    const std::int64_t seconds = period.days * day_seconds + period.seconds;
    if (seconds % hour == 0) return counted(seconds / hour, "hour");
    if (seconds % minute == 0) return counted(seconds / minute, "minute");
    return counted(seconds, "second");
  }
  return period.text();
}

/// How far apart the values are that statistics over time take, as cell_methods say it:
/// " (interval: 6 hours)". CF Conventions 1.11, section 7.3.2: of values with a finer spacing than
/// the results.
class Intervals {
 public:
  Intervals(const PlanInput& input, const describe::File& file)
      : time_(&input.time), every_(file.timing.every), names_all_(file.time.all_intervals) {
    if (file.timing.sample) sample_ = text_of(resolved(*file.timing.sample));
  }
  /// For values of steps, reduced over the periods of the file.
  [[nodiscard]] std::string of_file() const { return sample_.empty() ? finer(time_->step, every_) : sample_; }
  [[nodiscard]] bool has_samples() const noexcept { return !sample_.empty(); }
  /// For values of all steps, reduced over other periods.
  [[nodiscard]] std::string of_steps(const Period& over) const { return finer(time_->step, over); }
  /// For results of periods, reduced over those of the file.
  [[nodiscard]] std::string of_periods(const Period& period) const { return finer(period, every_); }

 private:
  [[nodiscard]] Period resolved(const Period& period) const {
    return in_largest_units(*time_, period.resolved(time_->step));
  }
  [[nodiscard]] std::string text_of(const Period& period) const {
    return fmt::format(" (interval: {})", interval_text(period, time_->calendar.day_seconds()));
  }
  [[nodiscard]] std::string finer(const Period& spacing, const std::optional<Period>& over) const {
    if (!names_all_ || !over || resolved(spacing) == resolved(*over)) return {};
    return text_of(resolved(spacing));
  }
  const ModelTime* time_;
  std::optional<Period> every_;
  bool names_all_;
  std::string sample_;  ///< empty: there are no samples
};

/// A chain of reductions, as cell_methods name it.
struct Chain {
  std::string text;              ///< empty: it is none
  bool is_over_time = false;     ///< one of them is
  std::optional<Period> period;  ///< that of the last one over time, if it is not that of the file
};

/// The dimensions of a reduction, as CF names those that a file does not have: by standard names
/// (CF Conventions 1.11, section 7.3). Empty if one has none.
std::string dimensions_text(const PlanInput& input, const expression::Reduction& reduction) {
  if (reduction.is_over_time()) return "time: ";
  std::string text;
  for (const std::string& name : reduction.over) {
    const std::string& standard = input.definitions.dimension(name).options.standard_name;
    if (standard.empty()) return {};
    text += standard + ": ";
  }
  return text;
}

/// "time: maximum time: mean" for mean(max(tas, 1d)), also if the maximum is a field of its own,
/// "depth: mean" for mean(toce over lev), without those over dimensions for which CF has no name;
/// empty if the field is more than a chain of reductions.
/// `over_time`: whether there may be such over time.
Chain chain_of(const PlanInput& input, const std::string& name, bool over_time, const Intervals& intervals) {
  const describe::Field* const field = input.find_described(name);
  if (field == nullptr || field->expression.empty()) return {};
  const auto expression = expression::parse(field->expression);
  if (!expression || expression->reductions.empty() || expression->result.text != "x0") return {};
  Chain chain;
  for (std::size_t i = 0; i < expression->reductions.size(); ++i) {
    const expression::Reduction& reduction = expression->reductions[i];
    const std::string_view method = traits_of(reduction.kind).cell_method;
    const bool chained =
        i == 0 || (reduction.argument.text == "x0" &&
                   reduction.argument.operands.front().kind == expression::Operand::Kind::reduction &&
                   reduction.argument.operands.front().reduction == i - 1);
    const std::string dimensions = dimensions_text(input, reduction);
    if (method.empty() || !chained || (reduction.is_over_time() && !over_time)) return {};
    if (i == 0 && reduction.argument.text == "x0" &&
        reduction.argument.operands.front().kind == expression::Operand::Kind::field)
      chain = chain_of(input, reduction.argument.operands.front().field, over_time, intervals);
    if (dimensions.empty()) continue;  // CF has no name for it
    std::string interval;
    if (reduction.is_over_time()) {
      if (!chain.is_over_time)
        interval = reduction.period ? intervals.of_steps(*reduction.period) : intervals.of_file();
      else if (chain.period && !reduction.period)
        interval = intervals.of_periods(*chain.period);
      chain.is_over_time = true;
      chain.period = reduction.period;
    }
    chain.text += fmt::format("{}{}{}{}", chain.text.empty() ? "" : " ", dimensions, method, interval);
  }
  return chain;
}

/// The units of the values of a field, before an operation over the period of a file.
struct OwnUnits {
  std::string text;  ///< empty: nothing says them
  /// The description says them of the results of the expression.
  bool are_described = false;
  /// Values are differences, for which the zero of the units does not count.
  bool of_differences = false;
};

OwnUnits own_units(const PlanInput& input, const std::string& name);

/// What the description says of a derived field.
OwnUnits described_units(const describe::Field& field) {
  if (field.options.units) return {*field.options.units, true};
  const auto& attributes = field.options.attributes;
  const auto found = std::ranges::find(attributes, "units", &describe::Attributes::value_type::first);
  const auto* const text = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? OwnUnits() : OwnUnits{*text, true};
}

/// The units of the field of which the expression returns the values, or means, extremes or
/// differences: `tas`, `mean(max(tas, 1d))` and `range(tas)` have the units of `tas`. Empty for
/// other expressions.
OwnUnits kept_units(const PlanInput& input, const expression::Expression& expression) {
  const expression::Formula* formula = &expression.result;
  bool of_differences = false;
  while (formula->text == "x0") {
    const expression::Operand& of = formula->operands.front();
    if (of.kind == expression::Operand::Kind::field) {
      OwnUnits units = own_units(input, of.field);
      units.are_described = false;
      units.of_differences = units.of_differences || of_differences;
      return units;
    }
    const expression::Reduction& reduction = expression.reductions[of.reduction];
    const statistics::StatisticTraits traits = traits_of(reduction.kind);
    if (traits.is_sum) return {};
    of_differences = of_differences || traits.is_difference;
    formula = &reduction.argument;
  }
  return {{}, false, of_differences};
}

OwnUnits own_units(const PlanInput& input, const std::string& name) {
  if (const Field* const field = input.definitions.find_field(name)) return {field->options.units};
  const describe::Field* const described = input.find_described(name);
  if (described == nullptr || described->expression.empty()) return {};
  const auto expression = expression::parse(described->expression);
  if (!expression) return {};
  OwnUnits units = kept_units(input, *expression);
  if (!units.text.empty()) return units;
  const bool of_differences = units.of_differences;
  units = described_units(*described);
  units.of_differences = of_differences;
  return units;
}

std::string cell_methods(const PlanInput& input, const describe::File& file,
                         const describe::Variable& variable, TimeKind kind) {
  const Intervals intervals(input, file);
  const Chain chain = chain_of(input, variable.field, kind == TimeKind::period, intervals);
  const std::string& reductions = chain.text;
  if (kind == TimeKind::once) return reductions;
  const std::string before = reductions.empty() ? "" : reductions + " ";
  if (traits_of(variable.operation).copies_a_step)
    return kind == TimeKind::instant ? before + "time: point" : reductions;
  const std::string method(traits_of(variable.operation).cell_method);
  if (method.empty()) return {};
  std::string interval;
  if (!chain.is_over_time || intervals.has_samples())
    interval = intervals.of_file();
  else if (chain.period)
    interval = intervals.of_periods(*chain.period);
  if (file.timing.cycle)
    for (const auto& [cycle, unit] :
         {std::pair(Period{.days = 1}, "days"), std::pair(Period{.years = 1}, "years")})
      if (in_largest_units(input.time, *file.timing.cycle) == cycle)
        // CF Conventions 1.11, section 7.4: each entry may have it.
        return fmt::format("{}time: {} within {}{} time: {} over {}", before, method, unit, interval, method,
                           unit);
  return before + "time: " + method + interval;
}

/// Units of what is written, before they are converted.
std::string units_before(const std::string& units, describe::Operation operation) {
  if (!traits_of(operation).is_per_second || units.empty()) return units;
  return units == "1" ? "s-1" : units + " s-1";
}

/// Marks the units of differences of temperatures: a degC of them is a K. Source: CF Conventions
/// 1.11, section 3.1.2.
void mark_difference(std::vector<Attribute>& attributes, const std::string& units) {
  const auto scale = std::ranges::find(attributes, "units_metadata", &Attribute::name);
  const Values difference("temperature: difference");
  if (scale == attributes.end() && !units.empty() && expression::conversion(units, "K"))
    set_attribute(attributes, "units_metadata", difference);
  else if (scale != attributes.end() && scale->values == Values("temperature: on_scale"))
    scale->values = difference;
}

/// `given`: units of the results of the operation.
expression::Linear conversion_for(const OwnUnits& own, const std::string& given, const std::string& to,
                                  const describe::Variable& variable) {
  auto linear = expression::conversion(given, to);
  if (!linear)
    refuse_at(variable.at, linear.error().code, "units of '{}': {}", variable.field, linear.error().message);
  const statistics::StatisticTraits traits = traits_of(variable.operation);
  if (own.of_differences || traits.is_difference)
    linear->add = 0;
  else if (traits.is_sum && linear->add != 0)
    refuse_at(variable.at, ErrorCode::conflict,
              "units of '{}': a sum in {} cannot be converted to {}, which have another zero", variable.field,
              given, to);
  return *linear;
}

std::string text_of(const expression::Linear& setting) {
  std::string text;
  if (setting.multiply != 1) text = fmt::format("multiply: {}", setting.multiply);
  if (setting.add != 0) text += fmt::format("{}add: {}", text.empty() ? "" : ", ", setting.add);
  return text;
}

/// Values must not be converted twice.
void check_settings(const describe::Variable& variable, const std::string& given,
                    const expression::Linear& conversion, const expression::Linear& setting) {
  if (conversion == expression::Linear{} || setting == expression::Linear{}) return;
  refuse_at(variable.at, ErrorCode::conflict,
            "'{0}' has \"units: {1}\", which converts its values from {2}, and \"{3}\", which would convert "
            "the results once more: remove one of the two. If multiply and add are to convert, write "
            "\"attributes: {{units: {1}}}\" instead of units",
            variable.field, *variable.options.units, given, text_of(setting));
}

/// The attribute must not say other units than those that the values have.
void check_attribute(const describe::Variable& variable, const OwnUnits& own, const std::string& units) {
  const auto& attributes = variable.options.attributes;
  const auto found = std::ranges::find(attributes, "units", &describe::Attributes::value_type::first);
  if (found == attributes.end() || units.empty()) return;
  const auto* const text = std::get_if<std::string>(&found->second);
  if (text == nullptr)
    refuse_at(variable.at, ErrorCode::wrong_type,
              "the attribute units of '{}' is a number, but units are text: put it in quotes",
              variable.field);
  const auto linear = expression::conversion(units, *text);
  const bool shifts =
      linear && linear->add != 0 && !own.of_differences && !traits_of(variable.operation).is_difference;
  if (linear && linear->multiply == 1 && !shifts) return;
  // Units that nobody knows cannot be compared.
  if (!expression::check_units(units)) return;
  refuse_at(
      variable.at, ErrorCode::conflict,
      "the attribute units of '{0}' says \"{1}\", but the values that are written are in \"{2}\": remove "
      "the attribute{3}",
      variable.field, *text, units,
      linear ? fmt::format(", and write \"units: {}\", which converts the values, and sets it", *text)
             : "; only values that multiply and add change may have it");
}

}  // namespace

VariableText describe_variable(const PlanInput& input, const describe::File& file,
                               const describe::Variable& variable, TimeKind kind,
                               const expression::Linear& setting) {
  VariableText text;
  std::string methods;
  std::string units;  // those that the file says
  const OwnUnits own = own_units(input, variable.field);
  const std::string given = units_before(own.text, variable.operation);
  const Field* const field = input.definitions.find_field(variable.field);
  if (field != nullptr) {
    const FieldOptions& options = field->options;
    set_attributes(text.attributes,
                   CoordinateOptions{{}, options.standard_name, options.long_name, options.attributes, {}});
    const auto method = std::ranges::find(text.attributes, "cell_methods", &Attribute::name);
    if (method != text.attributes.end()) methods = method->values.text();
    units = given;
    if (traits_of(variable.operation).is_difference) mark_difference(text.attributes, units);
    if (const std::string quantity(traits_of(variable.operation).new_quantity); !quantity.empty()) {
      set_attribute(text.attributes, "standard_name", {});
      const std::string& name = options.long_name.empty() ? options.standard_name : options.long_name;
      if (!name.empty()) set_attribute(text.attributes, "long_name", quantity + name);
    }
  } else {
    set_attribute(text.attributes, "long_name", input.find_described(variable.field)->expression);
  }
  if (const auto& wanted = variable.options.units) {
    if (field != nullptr && given.empty())
      refuse_at(variable.at, ErrorCode::conflict,
                "units of '{}': the model gives it no units, so that it cannot be converted to {}",
                variable.field, *wanted);
    // What `fields` says of an expression is taken over by its variables.
    const bool is_taken_over = own.are_described && *wanted == own.text;
    units = is_taken_over ? given : *wanted;
    if (!given.empty() && !is_taken_over) text.conversion = conversion_for(own, given, *wanted, variable);
  }
  check_settings(variable, given, text.conversion, setting);
  if (setting == expression::Linear{}) check_attribute(variable, own, variable.options.units ? units : given);
  convert_limits(
      text.attributes, variable.operation,
      {setting.multiply * text.conversion.multiply, setting.multiply * text.conversion.add + setting.add});
  if (!units.empty()) set_attribute(text.attributes, "units", units);
  if (file.time.cell_methods) {
    const std::string more = cell_methods(input, file, variable, kind);
    if (!more.empty()) methods += (methods.empty() ? "" : " ") + more;
    set_attribute(text.attributes, "cell_methods", methods);
  }
  set_attributes(text.attributes, variable.options.attributes);
  check_unpacking(text.attributes, variable, text.conversion, setting);
  return text;
}

std::string missing_text(const describe::Missing& missing) {
  switch (missing.rule) {
    case describe::Missing::Rule::ignore: return "ignore";
    case describe::Missing::Rule::poison: return "poison";
    case describe::Missing::Rule::threshold: return fmt::format("{}", missing.valid_share);
  }
  return {};
}

}  // namespace afterbay::output
