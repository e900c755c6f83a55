// SPDX-License-Identifier: Apache-2.0
// The part of memory.server in which stages compute (pipeline/stage.hpp).
#pragma once

#include "config/config.hpp"

namespace afterbay::config {

/// For Memory::stage_buffers: one per thread of a server that writes, if the configuration sets a stage for a
/// variable of any collection; else 0.
int stage_buffers(const Config& config);

}  // namespace afterbay::config
