// SPDX-License-Identifier: Apache-2.0
// Conversion of constant values and fill values to the type of their variable.
#pragma once

#include <optional>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::model {

/// The values as `type`, converted by the rules of put (convert/kernels.hpp). Nullopt if one of
/// them is out of range, or if text or strings would have to be converted to another type.
std::optional<Values> converted(const Values& values, Type type);

/// Converts constant values, fill values and `_FillValue` to the types of their variables. Values
/// that cannot be converted are not changed: `validate` refuses them.
void convert_values(Schema& schema);

/// Fails if the fill value, or the attribute `_FillValue`, is not a single value that the type of
/// the variable can hold, or if both are given and differ. The message is a sentence whose subject
/// is the variable ("is float32, but ...").
Result<> check_fill(const Variable& variable);

}  // namespace afterbay::model
