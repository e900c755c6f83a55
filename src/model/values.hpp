// SPDX-License-Identifier: Apache-2.0
// Values in words, for messages.
#pragma once

#include <string>

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// "float32 273.15", "int32 1, 2, 3, ... (12 values)", "text \"K\"", "none". Numbers are printed so
/// that different ones look different.
std::string text_of(const Values& values);

}  // namespace afterbay::model
