// SPDX-License-Identifier: Apache-2.0
// Ensures that a command fails if its output is lost.
#pragma once

#include "command.hpp"

namespace afterbay::app {

/// Replaces closed standard streams by unusable ones, so that no file that is opened later gets
/// their numbers and the printed text. Call it before anything is opened.
void occupy_closed_streams();

/// Flushes standard output. Returns `exit`, or io with an error message if some output was lost.
Exit finish_output(Exit exit);

}  // namespace afterbay::app
