// SPDX-License-Identifier: Apache-2.0
// SignalCatcher: notes signals that ask the process to end, for those who can end in order.
#pragma once

#include <cstdint>
#include <vector>

namespace afterbay {

/// While any catcher of a signal lives, the process does not end by it; handlers that others had installed
/// are called too, and are put back in the end. Signals are the process's: every catcher sees each that came
/// since it was made. A thread that sleeps is not woken by it for certain: look from time to time. Any
/// thread.
class SignalCatcher {
 public:
  explicit SignalCatcher(std::vector<int> signals);
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;
  ~SignalCatcher();

  /// The first of its signals that has come; 0: none.
  [[nodiscard]] int caught() const noexcept;

 private:
  std::vector<int> signals_;
  std::vector<std::uint32_t> before_;  ///< how often each had come when this began
};

/// "SIGTERM".
const char* name_of_signal(int number) noexcept;

}  // namespace afterbay
