// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "afterbay/schema.hpp"
#include "model/box.hpp"

namespace afterbay::model {

/// Lengths of a variable's dimensions without the record dimension. For any schema: dimensions that
/// it lacks, and those beyond max_dimensions, are left out.
Index shape_of(const Schema& schema, const Variable& variable);

}  // namespace afterbay::model
