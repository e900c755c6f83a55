// SPDX-License-Identifier: Apache-2.0
// VariableContext: the variable of a file for which a plan is made.
#pragma once

#include "describe/description.hpp"
#include "output/schedule.hpp"
#include "output/target.hpp"

namespace afterbay::output {

struct VariableContext {
  const describe::File& file;
  const describe::Variable& variable;
  Schedule* schedule;                  ///< null: the file has no records
  const describe::GridSubset* subset;  ///< null: all points
  const TargetSettings& settings;

  /// How missing values enter statistics over time.
  [[nodiscard]] describe::Missing missing() const;
  /// The schedule of the file, for a variable that is reduced over its periods. Throws, at the
  /// place of the variable, if the file has none.
  [[nodiscard]] Schedule& needed_schedule() const;
};

/// Throws conflict: a statistic over time cannot be written once.
[[noreturn]] void refuse_reduced_once(const describe::Variable& variable);

}  // namespace afterbay::output
