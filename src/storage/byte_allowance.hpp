// SPDX-License-Identifier: Apache-2.0
// ByteAllowance: a memory limit that several owners share.
#pragma once

#include <atomic>
#include <cstdint>

namespace afterbay::storage {

/// Counts bytes up to the limit. Any thread; no call waits.
class ByteAllowance {
 public:
  explicit ByteAllowance(std::uint64_t limit_bytes) noexcept : limit_(limit_bytes) {}
  ByteAllowance(const ByteAllowance&) = delete;
  ByteAllowance& operator=(const ByteAllowance&) = delete;

  /// Takes all of `bytes`, or none and returns false.
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < used + bytes &&
           !peak_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
    }
    return true;
  }
  void give_back(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
};

}  // namespace afterbay::storage
