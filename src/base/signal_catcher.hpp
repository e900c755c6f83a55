// SPDX-License-Identifier: Apache-2.0
// SignalCatcher: records signals that ask the process to end, for code that can shut down cleanly.
#pragma once

#include <cstdint>
#include <vector>

namespace afterbay {

/// While any catcher of a signal exists, the signal does not end the process. Previously installed
/// handlers are still called, and are restored at the end. Signals belong to the process: every
/// catcher sees each signal that arrived since it was created. A sleeping thread is not reliably
/// woken: check from time to time. Any thread.
class SignalCatcher {
 public:
  explicit SignalCatcher(std::vector<int> signals);
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;
  ~SignalCatcher();

  /// The first of its signals that arrived; 0: none.
  [[nodiscard]] int caught() const noexcept;

 private:
  std::vector<int> signals_;
  std::vector<std::uint32_t> before_;  ///< how often each had arrived when this object was created
};

/// "SIGTERM".
const char* name_of_signal(int number) noexcept;

}  // namespace afterbay
