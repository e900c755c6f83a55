// SPDX-License-Identifier: Apache-2.0
// Settings that are each right but cannot hold together.
#pragma once

#include "config/assignment.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// Adds each contradiction once, with both places and the arithmetic. Settings that `problems` already
/// concerns are left out.
void find_contradictions(const Config& config, Problems& problems);

}  // namespace afterbay::config
