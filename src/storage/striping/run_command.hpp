// SPDX-License-Identifier: Apache-2.0
// A command of the system, run beside an MPI program: without fork, and never for longer than allowed.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay::storage {

/// Runs `words` (the first is looked for on the PATH) and waits for its end. Its input and output are
/// /dev/null. Fails with io when it cannot be started or does not end with 0, with what it wrote on stderr,
/// and with timed_out when it was still running after `deadline`: it is killed then. Blocks; any thread may
/// call it. Uses posix_spawn, which copies no page tables and runs no fork handlers of MPI libraries.
Result<> run_command(const std::vector<std::string>& words, std::chrono::milliseconds deadline);

}  // namespace afterbay::storage
