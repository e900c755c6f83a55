// SPDX-License-Identifier: Apache-2.0
// Stopwatch: measures the time of the steps of a write.
#pragma once

#include <chrono>
#include <cstdint>

namespace afterbay::storage {

/// Adds its lifetime to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(std::uint64_t& total_ns) : total_ns_(total_ns) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    total_ns_ += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
            .count());
  }

 private:
  std::uint64_t& total_ns_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace afterbay::storage
