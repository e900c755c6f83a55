// SPDX-License-Identifier: Apache-2.0
// DerivedFields: the fields of a description that have expressions, and what these may contain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

class DerivedFields {
 public:
  explicit DerivedFields(const PlanInput& input);

  /// Null: the description has no field of this name with an expression.
  [[nodiscard]] const describe::Field* find(const std::string& name) const noexcept;
  /// Throws, at the place of the expression, if it cannot be read.
  [[nodiscard]] const expression::Expression& parsed(const describe::Field& field);
  /// Throws conflict if the expression contains the name of a field or coordinate that it does not
  /// mean.
  void check_names(const describe::Field& field) const;
  /// What the model offers to expressions.
  [[nodiscard]] std::vector<std::string> operand_names() const;
  /// Expressions can also contain coordinates of grids, such as areas. Null: the name is that of a
  /// field.
  [[nodiscard]] const Coordinate* find_constant(const expression::Operand& operand) const;
  /// Whether `visit` is true for a reduction of the field, or of those from which it is computed.
  template <class Visit>
  bool has_reduction(const describe::Field& field, const Visit& visit) {
    bool has = false;
    for (const describe::Field* const inner : with_inner(field))
      for (const expression::Reduction& reduction : parsed(*inner).reductions) has = visit(reduction) || has;
    return has;
  }
  /// The type of a field of the model, a coordinate, or a derived field: float32 if all that it is
  /// computed from are.
  [[nodiscard]] Type own_type(const std::string& name) const;

 private:
  /// The field and all derived ones from which it is computed, each once.
  [[nodiscard]] std::vector<const describe::Field*> with_inner(const describe::Field& field) const;
  [[nodiscard]] Type type_of_coordinate(const std::string& name) const;

  const PlanInput& input_;
  std::map<const describe::Field*, expression::Expression> parsed_;
  std::vector<std::string> misreadable_;  ///< what the model offers, but expressions cannot name
};

}  // namespace afterbay::output
