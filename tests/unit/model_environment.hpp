// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of a model that was linked with -Ofast, or has changed it.
#pragma once

#include <cfenv>

namespace afterbay::test {

/// While it lives, the calling thread rounds upwards and flushes denormal numbers to zero.
class ModelEnvironment {
 public:
  ModelEnvironment() {
    std::fegetenv(&before_);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    // Denormal numbers are zero, for operands and results.
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
  }
  ~ModelEnvironment() { std::fesetenv(&before_); }
  ModelEnvironment(const ModelEnvironment&) = delete;
  ModelEnvironment& operator=(const ModelEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace afterbay::test
