// SPDX-License-Identifier: Apache-2.0
// Monotonic time, and a deadline clock for waits that end if there is no progress for too long.
#pragma once

#include <chrono>
#include <cstdint>

namespace afterbay {

/// Nanoseconds of the monotonic clock.
inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// Measures how long a progress counter has not changed.
class StallClock {
 public:
  StallClock(std::chrono::milliseconds limit, std::uint64_t progress) noexcept
      : limit_ns_(static_cast<std::uint64_t>(limit.count()) * 1'000'000),
        progress_(progress),
        since_ns_(now_ns()) {}

  /// Nanoseconds since the number last changed.
  std::uint64_t stalled_ns(std::uint64_t progress) noexcept { return stalled_ns_at(progress, now_ns()); }
  bool expired(std::uint64_t progress) noexcept { return expired_at(progress, now_ns()); }
  /// The same for callers that know the time, `now`.
  std::uint64_t stalled_ns_at(std::uint64_t progress, std::uint64_t now) noexcept {
    if (progress != progress_) {
      progress_ = progress;
      since_ns_ = now;
    }
    return now - since_ns_;
  }
  bool expired_at(std::uint64_t progress, std::uint64_t now) noexcept {
    return stalled_ns_at(progress, now) >= limit_ns_;
  }
  [[nodiscard]] std::uint64_t limit_ns() const noexcept { return limit_ns_; }

 private:
  std::uint64_t limit_ns_;
  std::uint64_t progress_;
  std::uint64_t since_ns_;
};

}  // namespace afterbay
