// SPDX-License-Identifier: Apache-2.0
// SessionLock: one thread at a time uses the session's core and its links. Calls of the session
// take it and do not wait for one another: two at once are a mistake of the model, which is
// reported. Endpoints take it if it is free, to send what they have handed over.
#pragma once

#include <atomic>
#include <thread>

#include "base/result.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::client {

/// What MPI allows the threads of this process. Names are literals.
struct ThreadRule {
  std::thread::id only{};      ///< the thread that may call the session; none: any, one at a time
  const char* mpi_level = "";  ///< level from MPI_Init_thread, for errors; "" without MPI
};

class AFTERBAY_CAPABILITY("session") SessionLock {
 public:
  /// Before other threads use it.
  void set_rule(const ThreadRule& rule) noexcept { rule_ = rule; }
  [[nodiscard]] const ThreadRule& rule() const noexcept { return rule_; }
  /// Whether this thread may make calls of the session.
  [[nodiscard]] bool is_allowed_here() const noexcept {
    return rule_.only == std::thread::id{} || rule_.only == std::this_thread::get_id();
  }

  /// For a call of the session, whose name is a literal. False: another thread is in `other`. Waits
  /// while an endpoint sends. `other`: null before.
  [[nodiscard]] bool enter(const char* call, const char*& other) AFTERBAY_TRY_ACQUIRE(true) {
    if (!call_.compare_exchange_strong(other, call, std::memory_order_acq_rel)) return false;
    mutex_.lock();
    caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    inside_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  void leave() AFTERBAY_RELEASE() {
    inside_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
    call_.store(nullptr, std::memory_order_release);
  }
  /// The name of the session's call in which a thread is; null: none.
  [[nodiscard]] const char* call() const noexcept { return call_.load(std::memory_order_acquire); }
  /// For opening the first endpoint: waits for calls of the session.
  void take() AFTERBAY_ACQUIRE() { mutex_.lock(); }
  /// For an endpoint that sends.
  [[nodiscard]] bool try_lock() AFTERBAY_TRY_ACQUIRE(true) {
    if (is_in_call_here()) return false;
    return mutex_.try_lock();
  }
  void unlock() AFTERBAY_RELEASE() { mutex_.unlock(); }
  /// Whether this thread is in a call of the session, and has the lock: not while it waits for it.
  [[nodiscard]] bool is_in_call_here() const noexcept {
    return inside_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  /// Whether this thread made the last call of the session: it may do the session's work, and use
  /// MPI. Nobody else will while it waits for an endpoint.
  [[nodiscard]] bool is_callers_thread() const noexcept {
    return caller_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  Mutex mutex_;
  std::atomic<const char*> call_{nullptr};  ///< call that a thread is in
  std::atomic<std::thread::id> caller_{};   ///< the last one
  std::atomic<std::thread::id> inside_{};   ///< in a call, with the lock; none: nobody
  ThreadRule rule_;
};

}  // namespace afterbay::client
