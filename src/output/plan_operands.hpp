// SPDX-License-Identifier: Apache-2.0
// PlanOperands: the series of a field: of the model, or computed by an expression, with all that it
// is computed from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "output/derived_fields.hpp"
#include "output/plan_reductions.hpp"
#include "output/plan_sources.hpp"

namespace afterbay::output {

class PlanOperands {
 public:
  /// Adds to `plan`. All arguments outlive this object.
  PlanOperands(const PlanInput& input, Plan& plan, DerivedFields& fields, PlanSources& sources,
               PlanReductions& reductions, SeriesIdentities& identities);

  /// The same for all variables that need the same values. Throws, at the place in the description,
  /// if there is no such field or its expression cannot be computed.
  Series& series(const std::string& name, const VariableContext& context);
  /// After `series` has thrown.
  void forget_unfinished() noexcept { being_made_.clear(); }

 private:
  Series& formula(const expression::Formula& formula, const std::vector<Series*>& reduced,
                  const VariableContext& context, const std::string& field, const std::string& text);
  /// Whether they can be computed with each other.
  void check_spaces(const std::vector<Series*>& operands, const std::string& field) const;
  void check_multiple(const expression::Reduction& reduction, const VariableContext& context) const;
  [[noreturn]] void unknown_field(const std::string& name, const VariableContext& context) const;

  const PlanInput& input_;
  Plan& plan_;
  DerivedFields& fields_;
  PlanSources& sources_;
  PlanReductions& reductions_;
  SeriesIdentities& identities_;
  std::map<std::string, Series*> derived_;
  std::vector<std::string> being_made_;
};

}  // namespace afterbay::output
