// SPDX-License-Identifier: Apache-2.0
// SideSum: a thread that computes checksums while other threads write the same bytes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <thread>

#include "base/thread_safety.hpp"

namespace afterbay::storage {

/// A write past the page cache leaves the processor idle for long enough to compute the checksum.
/// If the thread has not begun with a writer's bytes, the writer computes the checksum itself, so
/// that it is never slower than without the thread. The thread starts with the first job and sleeps
/// between jobs; if it cannot be started, writers compute all checksums. Any thread may call it.
class SideSum {
 public:
  class Job {
   public:
    explicit Job(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

   private:
    friend class SideSum;
    std::span<const std::byte> bytes_;
    std::optional<std::uint64_t> sum_;  ///< guarded by the SideSum's lock
  };

  SideSum() = default;
  SideSum(const SideSum&) = delete;
  SideSum& operator=(const SideSum&) = delete;
  ~SideSum();

  /// The job and its bytes must not change until `end`, which must follow.
  void begin(Job& job);
  /// The checksum of the job's bytes.
  std::uint64_t end(Job& job);

 private:
  void start() AFTERBAY_REQUIRES(mutex_);
  Job* take();
  void run();

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job*> waiting_ AFTERBAY_GUARDED_BY(mutex_);
  bool started_ AFTERBAY_GUARDED_BY(mutex_) = false;
  bool ending_ AFTERBAY_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace afterbay::storage
