// SPDX-License-Identifier: Apache-2.0
// What of a subset concerns a field: selections along axes that a field does not have leave it as
// it is.
#pragma once

#include "describe/description.hpp"
#include "output/field_definitions.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

/// The subset without selections that leave the field as it is: along axes that it does not have,
/// such as levels of a surface field, and all but stations of a field without a horizontal grid and
/// without these axes. Names that no field of the model has remain, and so do selections along the
/// horizontal grid of fields that have one: they are refused where they are applied.
describe::GridSubset fitting_selection(const FieldDefinitions& definitions, const Field& field,
                                       const describe::GridSubset& grid);

/// Whether the subset selects nothing.
bool selects_all(const describe::GridSubset& grid);

/// Refuses selections that leave all fields of a file as they are, at the place in the description.
void check_selections(const PlanInput& input, const describe::File& file);

}  // namespace afterbay::output
