// SPDX-License-Identifier: Apache-2.0
// PlanVariables: the variables of files: what is written into them, and what they say about it.
#pragma once

#include <vector>

#include "output/derived_fields.hpp"
#include "output/plan_operands.hpp"
#include "output/plan_reductions.hpp"

namespace afterbay::output {

class PlanVariables {
 public:
  /// Adds to `plan`. All arguments outlive this object.
  PlanVariables(const PlanInput& input, Plan& plan, const DerivedFields& fields, PlanOperands& operands,
                PlanReductions& reductions, const SeriesIdentities& identities);

  /// Adds the variable to the file. `parts`: of the cycle, if the periods of the file are folded.
  /// Throws, at the place of the variable, if it cannot be written.
  void add(FileSeries& files, const VariableContext& context, const std::vector<Schedule*>& parts);

 private:
  /// Sets type, fill value and attributes of a variable with the values of `of`. Returns the
  /// conversion to its units.
  expression::Linear describe_values(FileVariable& made, const VariableContext& context,
                                     const Series& of) const;
  /// `is_packed`: by the model; `converted`: to other units.
  [[nodiscard]] Type type_of_variable(const VariableContext& context, bool is_packed, bool converted) const;
  [[nodiscard]] Values fill_of_variable(const describe::Variable& variable, Type type) const;
  [[nodiscard]] Values fill_of_field(const std::string& name) const;

  const PlanInput& input_;
  Plan& plan_;
  const DerivedFields& fields_;
  PlanOperands& operands_;
  PlanReductions& reductions_;
  const SeriesIdentities& identities_;
};

}  // namespace afterbay::output
