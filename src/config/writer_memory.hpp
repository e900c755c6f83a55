// SPDX-License-Identifier: Apache-2.0
// The part of memory.server in which writers compute the results of stages (pipeline/stage.hpp) or
// read back frames that were spilled.
#pragma once

#include "config/config.hpp"

namespace afterbay::config {

/// The value of MemorySettings::writer_buffers: one per writer of a server if the configuration
/// sets a stage for a variable of any collection, or if frames may be spilled; otherwise 0. Frames
/// that were read back are computed in place.
int writer_buffers(const Config& config);

}  // namespace afterbay::config
