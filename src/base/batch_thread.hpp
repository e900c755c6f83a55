// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace afterbay {

/// While it lives, the calling thread does not push another off its core when it wakes (SCHED_BATCH);
/// its share of the cores stays the same. Where the system refuses it, nothing changes. Destroy it in
/// the same thread.
class BatchThread {
 public:
  BatchThread() noexcept;
  ~BatchThread();
  BatchThread(const BatchThread&) = delete;
  BatchThread& operator=(const BatchThread&) = delete;

 private:
  int before_;  ///< the policy to go back to; -1: none was changed
};

}  // namespace afterbay
