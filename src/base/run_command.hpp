// SPDX-License-Identifier: Apache-2.0
// Runs a system command beside an MPI program: without fork, and with a deadline.
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
  std::vector<std::string> words;  ///< the first is searched for on the PATH
  /// "NAME=VALUE"; unset: inherited from this process
  std::optional<std::vector<std::string>> environment{};
  bool keeps_output = false;  ///< errors also include its stdout
  /// Time between SIGTERM and SIGKILL when a command is killed.
  std::chrono::milliseconds grace{0};
  const std::atomic<bool>* stop = nullptr;  ///< set by another thread: kills the command shortly afterwards
                                            ///< if it is still running
};

/// Runs `command` and waits for its end. Its input, and its output unless it is kept, are
/// /dev/null. Fails with io, including its stderr, if it cannot be started or its status is not 0;
/// with timed_out if it was still running after `deadline`: it is killed then. Blocks. Thread-safe.
/// Uses posix_spawn, which copies no page tables and runs no fork handlers of MPI libraries.
Result<> run_command(const Command& command, std::chrono::milliseconds deadline);

/// The same; returns its stdout (and stderr, interleaved), up to `most_bytes`.
Result<std::string> output_of(std::vector<std::string> words, std::chrono::milliseconds deadline,
                              std::size_t most_bytes = std::size_t{1} << 20);

inline Result<> run_command(std::vector<std::string> words, std::chrono::milliseconds deadline) {
  return run_command(Command{std::move(words)}, deadline);
}

}  // namespace afterbay
