// SPDX-License-Identifier: Apache-2.0
// Sleeping on a word of (shared) memory, and an event count built on it. Both work between
// threads and between processes that map the same memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace afterbay {

/// Sleeps while `word` holds `expected`, for at most `most`; may return early.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::chrono::nanoseconds most);
/// Wakes all sleepers on `word`.
void futex_wake_all(std::atomic<std::uint32_t>& word);

/// An event for any number of waiters. A waiter does
/// const auto seen = event.prepare();
/// if (condition()) event.cancel(); else event.wait(seen, most);
/// and the thread that makes the condition true calls `notify` afterwards, so no wake-up is lost.
/// Works in zeroed memory; a process that dies while waiting only causes unnecessary wake-ups.
class EventCount {
 public:
  std::uint32_t prepare() noexcept {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    return count_.load(std::memory_order_seq_cst);
  }
  void cancel() noexcept { sleepers_.fetch_sub(1, std::memory_order_relaxed); }
  void wait(std::uint32_t seen, std::chrono::nanoseconds most) noexcept {
    futex_wait(count_, seen, most);
    cancel();
  }

  /// Wakes waiters; costs one atomic load if nobody waits. The condition must have been changed by
  /// a sequentially consistent store or by a read-modify-write.
  void notify() noexcept {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) ring();
  }
  /// Counts the event even if there are no waiters, and wakes waiters.
  void ring() noexcept {
    count_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake_all(count_);
  }
  /// Changes with every `ring`.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace afterbay
