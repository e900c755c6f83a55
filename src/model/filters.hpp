// SPDX-License-Identifier: Apache-2.0
// The filters that a variable asks for.
#pragma once

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// Whether chunks of the variable are encoded before they are written.
inline bool is_filtered(const Variable& variable) { return variable.deflate != 0 || variable.shuffle; }

}  // namespace afterbay::model
