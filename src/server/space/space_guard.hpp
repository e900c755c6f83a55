// SPDX-License-Identifier: Apache-2.0
// SpaceGuard: decides how long writes of a server wait for space on a full disk, and who is
// notified.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/thread_safety.hpp"
#include "server/thread_functions.hpp"
#include "storage/block_writer/patient_disk.hpp"

namespace afterbay::server {

/// A notice for the ingest thread.
struct SpaceNotice {
  enum class What {
    short_of_space,  ///< the first call begins to wait
    over,            ///< no call waits any longer; the last one succeeded
    given_up,        ///< no call waits any longer; the last one failed
    sacrifice,       ///< the time has expired: optional files are to be given up
  };
  What what = What::short_of_space;
  storage::SpaceWait call;
};

/// The time in which calls wait. This one is the system's. Any thread.
class SpaceClock {
 public:
  SpaceClock() = default;
  SpaceClock(const SpaceClock&) = delete;
  SpaceClock& operator=(const SpaceClock&) = delete;
  virtual ~SpaceClock() = default;

  [[nodiscard]] virtual std::uint64_t now_ns() const;
  /// Waits until `changed` is notified, or for `time`.
  virtual void wait(std::condition_variable_any& changed, MutexLock& lock, std::chrono::nanoseconds time);

  static SpaceClock& real();
};

/// A call waits for up to `retry`, and once more for as long if something was given up for it. Any
/// thread.
class SpaceGuard : public storage::SpacePatience {
 public:
  struct Hooks {
    /// Called often while a call waits; any thread.
    AnyThreadFunction<void()> alive;
    /// Called often if the ingest thread itself waits.
    AnyThreadFunction<void()> work;
    AnyThreadFunction<void(const SpaceNotice&)> notify;  ///< any thread
  };
  /// `clock` must outlive the guard.
  SpaceGuard(std::chrono::milliseconds retry, Hooks hooks, SpaceClock& clock = SpaceClock::real());

  [[nodiscard]] std::uint64_t now_ns() const override { return clock_.now_ns(); }
  bool wait_for_space(const storage::SpaceWait& call) override;
  void waited_for_space(const storage::SpaceWait& call, bool succeeded) override;

  [[nodiscard]] bool is_cut_off() const noexcept override { return cut_off_; }

  /// Whether something can be given up; if so, a notice will request it.
  void offer(bool something);
  /// From now on, calls for this file, or for files in this directory, do not wait.
  void give_up(const std::string& path);
  /// From now on, no call waits.
  void stop();
  /// From now on, no call waits, and writes that have not begun fail: the disk may hang.
  void cut_off();
  /// Whether a call is waiting.
  [[nodiscard]] bool waiting() const;

 private:
  [[nodiscard]] bool is_given_up(const std::string& path) const AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] bool may_wait(const storage::SpaceWait& call, std::uint64_t waited_ns)
      AFTERBAY_REQUIRES(mutex_);
  void sleep(std::uint64_t waited_ns);

  std::uint64_t retry_ns_;
  Hooks hooks_;
  SpaceClock& clock_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<bool> cut_off_{false};
  /// Calls that are waiting.
  std::set<std::pair<std::uint64_t, std::string>> calls_ AFTERBAY_GUARDED_BY(mutex_);
  std::set<std::string> given_up_ AFTERBAY_GUARDED_BY(mutex_);
  bool offered_ AFTERBAY_GUARDED_BY(mutex_) = false;
  /// The time at which something was given up; 0: never.
  std::uint64_t sacrificed_ns_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  bool asks_ AFTERBAY_GUARDED_BY(mutex_) = false;
  bool stopped_ AFTERBAY_GUARDED_BY(mutex_) = false;
};

}  // namespace afterbay::server
