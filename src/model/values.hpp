// SPDX-License-Identifier: Apache-2.0
// Text of values, for messages.
#pragma once

#include <string>

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// "float32 273.15", "int32 1, 2, 3, ... (12 values)", "text \"K\"", "none". Different numbers are
/// printed differently.
std::string text_of(const Values& values);

}  // namespace afterbay::model
