// SPDX-License-Identifier: Apache-2.0
// Conversion of constant values and fill values to the type of their variable.
#pragma once

#include <optional>

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// The values as `type`, converted by the rules of put (convert/kernels.hpp). Nullopt if one of
/// them is out of range, or if text or strings would have to be converted to another type.
std::optional<Values> converted(const Values& values, Type type);

/// Converts constant values, fill values and `_FillValue` to the types of their variables. Values
/// that cannot be converted are not changed: `validate` refuses them.
void convert_values(Schema& schema);

}  // namespace afterbay::model
