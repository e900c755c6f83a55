// SPDX-License-Identifier: Apache-2.0
// Constant values and fill values in the type of their variable.
#pragma once

#include <optional>

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// The values as `type`, converted by the rules of put (convert/kernels.hpp). None if one of them is out of
/// range, or if text or strings would have to become something else.
std::optional<Values> converted(const Values& values, Type type);

/// Gives constant values, fill values and `_FillValue` the types of their variables. Those that cannot be
/// converted stay as they are: `validate` refuses them.
void convert_values(Schema& schema);

}  // namespace afterbay::model
