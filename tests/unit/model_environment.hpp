// SPDX-License-Identifier: Apache-2.0
// Floating-point environments of models that were linked with -Ofast, or changed theirs.
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

/// While it lives, invalid operations, divisions by zero and overflows end the program in the
/// calling thread and in threads that it starts, as with options of compilers for debugging.
class TrappingEnvironment {
 public:
  TrappingEnvironment() {
    std::fegetenv(&before_);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  }
  ~TrappingEnvironment() { std::fesetenv(&before_); }
  TrappingEnvironment(const TrappingEnvironment&) = delete;
  TrappingEnvironment& operator=(const TrappingEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace afterbay::test
