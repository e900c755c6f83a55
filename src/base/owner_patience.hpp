// SPDX-License-Identifier: Apache-2.0
// How long owners of files are watched for signs of life, and by which clock.
#pragma once

#include <chrono>
#include <thread>

namespace afterbay {

/// The time in which owners are watched. This one is the system's.
class OwnerClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  OwnerClock() = default;
  OwnerClock(const OwnerClock&) = delete;
  OwnerClock& operator=(const OwnerClock&) = delete;
  virtual ~OwnerClock() = default;

  virtual TimePoint now() { return std::chrono::steady_clock::now(); }
  virtual void sleep(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

  static OwnerClock& real() {
    static OwnerClock clock;
    return clock;
  }
};

/// `clock` must outlive all uses.
struct OwnerPatience {
  template <class Rep, class Period>
  OwnerPatience(std::chrono::duration<Rep, Period> time, OwnerClock& by = OwnerClock::real())
      : limit(time), clock(&by) {}

  std::chrono::milliseconds limit;
  OwnerClock* clock;
};

}  // namespace afterbay
