// SPDX-License-Identifier: Apache-2.0
// VirtualSpaceClock: time in which calls wait for space. Only waits let it pass, so that tests
// depend on no machine's speed. Any thread.
#pragma once

#include <atomic>

#include "base/clock.hpp"
#include "server/space/space_guard.hpp"

namespace afterbay::server {

class VirtualSpaceClock : public SpaceClock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const override { return now_ns_; }
  void wait(std::condition_variable_any&, MutexLock&, std::chrono::nanoseconds time) override {
    now_ns_ += static_cast<std::uint64_t>(time.count());
  }

 private:
  std::atomic<std::uint64_t> now_ns_{afterbay::now_ns()};
};

}  // namespace afterbay::server
