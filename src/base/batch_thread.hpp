// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace afterbay {

/// While it exists, the calling thread does not preempt other threads when it wakes (SCHED_BATCH);
/// its share of the cores stays the same. No effect if the system refuses it. Destroy it in the
/// same thread.
class BatchThread {
 public:
  BatchThread() noexcept;
  ~BatchThread();
  BatchThread(const BatchThread&) = delete;
  BatchThread& operator=(const BatchThread&) = delete;

 private:
  int before_;  ///< the previous policy; -1: not changed
};

}  // namespace afterbay
