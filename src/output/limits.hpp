// SPDX-License-Identifier: Apache-2.0
// Attributes that say which values a variable has. Readers take other values for missing ones, so
// that the attributes must hold for what the file has: its operation, units and type.
#pragma once

#include <vector>

#include "afterbay/schema.hpp"
#include "describe/description.hpp"
#include "expression/units.hpp"

namespace afterbay::output {

/// Converts limits of the model's values (valid_min, valid_max, valid_range, actual_range), and
/// removes them if the operation has other values: sums, differences. Source: CF Conventions 1.11,
/// section 2.5.1, and NUG, appendix A.
void convert_limits(std::vector<Attribute>& attributes, describe::Operation operation,
                    const expression::Linear& conversion);

/// Gives limits, flags and missing values the type of their variable, as CF wants it, as far as it
/// can hold them. Source: CF Conventions 1.11, sections 2.5.1 and 3.5.
void convert_types(std::vector<Attribute>& attributes, Type type);

/// Refuses the attributes scale_factor and add_offset of values that are not packed; integers that
/// the model has packed itself may have them. `own`: type of the field, `type`: in the file. Throws
/// Failure at the place of the variable, with the setting that packs.
void check_packing(const describe::Variable& variable, Type own, Type type);

/// For values that the model packs itself, with attributes by which readers unpack them: removes
/// add_offset from differences. Throws Failure, at the place of the variable, if readers would
/// unpack something else: sums of values with another zero, extremes of a reversed scale, converted
/// values. `units`: the conversion to those of the variable; `setting`: multiply and add.
void check_unpacking(std::vector<Attribute>& attributes, const describe::Variable& variable,
                     const expression::Linear& units, const expression::Linear& setting);

/// Whether the attributes, or those of the description, say that the model has packed the values.
bool has_packed_values(const std::vector<Attribute>& attributes, const describe::Variable& variable);

/// What settings of the variable do with values after a conversion of units: `multiply`, `add`.
expression::Linear linear_of(const pipeline::Settings& stages);

}  // namespace afterbay::output
