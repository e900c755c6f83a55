// SPDX-License-Identifier: Apache-2.0
// What the variables of files say about themselves: units, cell_methods, attributes.
#pragma once

#include <string>
#include <vector>

#include "expression/units.hpp"
#include "output/file_schema.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

struct VariableText {
  std::vector<Attribute> attributes;
  expression::Linear conversion;  ///< conversion of the values that are written
};

/// Source: CF Conventions 1.11, section 7.3 and appendix E. `setting`: multiply and add of the
/// variable. Throws, at the place in the description, if the values cannot be converted to the
/// units, or would be in other units than the file says.
VariableText describe_variable(const PlanInput& input, const describe::File& file,
                               const describe::Variable& variable, TimeKind kind,
                               const expression::Linear& setting);

/// For messages and keys: "ignore", "poison", "0.5".
std::string missing_text(const describe::Missing& missing);

}  // namespace afterbay::output
