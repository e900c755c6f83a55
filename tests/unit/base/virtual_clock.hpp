// SPDX-License-Identifier: Apache-2.0
// VirtualClock: time in which owners are watched. Only sleep and jumps let it pass, so that tests
// depend on no machine's speed. One thread.
#pragma once

#include <functional>

#include "base/owner_patience.hpp"

namespace afterbay::test {

class VirtualClock : public OwnerClock {
 public:
  using Milliseconds = std::chrono::milliseconds;
  TimePoint now() override { return start_ + elapsed_; }
  void sleep(Milliseconds time) override {
    elapsed_ += time;
    if (meanwhile) meanwhile(elapsed_);
  }
  void jump(Milliseconds time) { elapsed_ += time; }
  [[nodiscard]] Milliseconds elapsed() const { return elapsed_; }

  /// Called by each sleep, with the time elapsed.
  std::function<void(Milliseconds)> meanwhile;

 private:
  TimePoint start_ = std::chrono::steady_clock::now();
  Milliseconds elapsed_{0};
};

}  // namespace afterbay::test
