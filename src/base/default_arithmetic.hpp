// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of computations whose results must not depend on the program that
// calls.
#pragma once

#include <cfenv>

namespace afterbay {

/// While it lives, the calling thread rounds to nearest, keeps denormal numbers and does not trap.
/// Models change all three: programs linked with -Ofast flush denormal numbers to zero, and options
/// for debugging make invalid operations end the program.
class DefaultArithmetic {
 public:
  DefaultArithmetic() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&before_); }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace afterbay
