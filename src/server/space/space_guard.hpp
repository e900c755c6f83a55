// SPDX-License-Identifier: Apache-2.0
// SpaceGuard: how long a server's writes wait for space on a full disk, and who is told.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/thread_safety.hpp"
#include "storage/block_writer/patient_disk.hpp"

namespace afterbay::server {

/// Something that the ingest thread is to know.
struct SpaceNotice {
  enum class What {
    short_of_space,  ///< the first call waits
    over,            ///< none does any more, the last one succeeded
    given_up,        ///< none does any more, the last one failed
    sacrifice,       ///< the time is over: what can be done without is to be given up
  };
  What what = What::short_of_space;
  storage::SpaceWait call;
};

/// A call waits up to `retry`, and once more as long when something was sacrificed for it. Any thread.
class SpaceGuard : public storage::SpacePatience {
 public:
  struct Hooks {
    std::function<void()> alive;                     ///< often while a call waits; any thread
    std::function<void()> work;                      ///< likewise, where the ingest thread itself waits
    std::function<void(const SpaceNotice&)> notify;  ///< any thread
  };
  SpaceGuard(std::chrono::milliseconds retry, Hooks hooks);

  bool wait_for_space(const storage::SpaceWait& call) override;
  void waited_for_space(const storage::SpaceWait& call, bool succeeded) override;

  [[nodiscard]] bool is_cut_off() const noexcept override { return cut_off_; }

  /// There is something that can be given up: a notice will ask for it.
  void offer(bool something);
  /// Calls about this file wait no more.
  void give_up(const std::string& path);
  /// No call waits any more.
  void stop();
  /// Nor writes: what a disk that hangs has not begun, it need not.
  void cut_off();
  /// Whether a call waits now.
  [[nodiscard]] bool waiting() const;

 private:
  [[nodiscard]] bool may_wait(const storage::SpaceWait& call, std::uint64_t waited_ns)
      AFTERBAY_REQUIRES(mutex_);
  void sleep(std::uint64_t waited_ns);

  std::uint64_t retry_ns_;
  Hooks hooks_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<bool> cut_off_{false};
  std::set<std::pair<std::uint64_t, std::string>> calls_ AFTERBAY_GUARDED_BY(mutex_);  ///< that wait
  std::set<std::string> given_up_ AFTERBAY_GUARDED_BY(mutex_);
  bool offered_ AFTERBAY_GUARDED_BY(mutex_) = false;
  std::uint64_t sacrificed_ns_ AFTERBAY_GUARDED_BY(mutex_) = 0;  ///< when; 0: never
  bool asks_ AFTERBAY_GUARDED_BY(mutex_) = false;
  bool stopped_ AFTERBAY_GUARDED_BY(mutex_) = false;
};

}  // namespace afterbay::server
