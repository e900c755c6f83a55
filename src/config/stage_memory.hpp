// SPDX-License-Identifier: Apache-2.0
// The part of memory.server that stages need for their results (pipeline/stage.hpp).
#pragma once

#include "config/config.hpp"

namespace afterbay::config {

/// The value of Memory::stage_buffers: one per writer of a server if the configuration sets a stage for a
/// variable of any collection, otherwise 0.
int stage_buffers(const Config& config);

}  // namespace afterbay::config
