// SPDX-License-Identifier: Apache-2.0
// What a command prints either arrives or the command fails.
#pragma once

#include "command.hpp"

namespace afterbay::app {

/// Puts something that cannot be used in place of standard streams that are closed, so that no file that is
/// opened later takes their numbers and gets what is printed. To be called before anything is opened.
void occupy_closed_streams();

/// Flushes standard output. `exit`, or io with a complaint when something of what was printed is lost.
Exit finish_output(Exit exit);

}  // namespace afterbay::app
