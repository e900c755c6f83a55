// SPDX-License-Identifier: Apache-2.0
// A command of the system, run beside an MPI program: without fork, and never for longer than allowed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay {

struct Command {
  std::vector<std::string> words;  ///< the first is looked for on the PATH
  /// "NAME=VALUE"; unset: as this process has it.
  std::optional<std::vector<std::string>> environment{};
  bool keeps_output = false;  ///< errors also tell what it wrote on stdout
  /// A command that is killed is told so first (SIGTERM) and has so long to end.
  std::chrono::milliseconds grace{0};
  const std::atomic<bool>* stop =
      nullptr;  ///< set by another thread: killed within a moment, if still running
};

/// Runs `command` and waits for its end. Its input and (unless it is kept) output are
/// /dev/null. Fails with io when it cannot be started or does not end with 0, with what it wrote on stderr,
/// and with timed_out when it was still running after `deadline`: it is killed then. Blocks; any thread may
/// call it. Uses posix_spawn, which copies no page tables and runs no fork handlers of MPI libraries.
Result<> run_command(const Command& command, std::chrono::milliseconds deadline);

/// The same, and gives what it wrote on stdout (and stderr, as it came), up to `most_bytes`.
Result<std::string> output_of(std::vector<std::string> words, std::chrono::milliseconds deadline,
                              std::size_t most_bytes = std::size_t{1} << 20);

inline Result<> run_command(std::vector<std::string> words, std::chrono::milliseconds deadline) {
  return run_command(Command{std::move(words)}, deadline);
}

}  // namespace afterbay
