// SPDX-License-Identifier: Apache-2.0
// Whether another process on this machine is still running.
#pragma once

#include <cstdint>

namespace afterbay {

/// A process as other processes on the machine identify it: its number and the namespace of the
/// number.
struct ProcessId {
  std::uint32_t pid = 0;
  std::uint64_t space = 0;  ///< inode of the process-number namespace; 0: unknown
};

/// The calling process.
ProcessId own_process() noexcept;

/// Watches one process from now on; a reused process number is detected. A process in another
/// number namespace (a container) cannot be watched and counts as running.
class ProcessWatch {
 public:
  ProcessWatch() = default;
  explicit ProcessWatch(ProcessId process) noexcept;
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  [[nodiscard]] bool running() const noexcept;
  [[nodiscard]] std::uint32_t pid() const noexcept { return pid_; }

 private:
  std::uint32_t pid_ = 0;
  int fd_ = -1;
  bool watched_ = false;
  bool gone_ = false;
};

}  // namespace afterbay
