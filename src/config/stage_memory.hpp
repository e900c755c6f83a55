// SPDX-License-Identifier: Apache-2.0
// The part of memory.server in which stages compute (pipeline/stage.hpp).
#pragma once

#include "config/config.hpp"

namespace afterbay::config {

/// For Memory::stage_buffers: how many buffers a server keeps for stages, of which the configuration sets
/// some for a variable of any collection, or none; one per thread that writes.
int stage_buffers(const Config& config);

}  // namespace afterbay::config
