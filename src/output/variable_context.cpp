// SPDX-License-Identifier: Apache-2.0
#include "output/variable_context.hpp"

#include "output/refuse.hpp"

namespace afterbay::output {

void refuse_reduced_once(const describe::Variable& variable) {
  refuse_at(variable.at, ErrorCode::conflict, "'{}' is a statistic over time, which cannot be written once",
            variable.field);
}

describe::Missing VariableContext::missing() const { return variable.options.missing.value_or(file.missing); }

Schedule& VariableContext::needed_schedule() const {
  if (schedule == nullptr && variable.operation == describe::Operation::once) refuse_reduced_once(variable);
  if (schedule == nullptr)
    refuse_at(variable.at, ErrorCode::invalid_argument,
              "'{}' is reduced over the period of the file, but the file \"{}\" has no period: add every",
              variable.field, file.name);
  return *schedule;
}

}  // namespace afterbay::output
