// SPDX-License-Identifier: Apache-2.0
// Profile: what one process did and how long it took. Timers form a tree (a collection is a child
// of the operation: "put" > "history"); counters are sums or peaks. Looking up a timer takes a lock
// and is done once, at set-up; timing costs two clock reads and three relaxed additions, from any
// thread. If the profile is off, every timer and counter is null and costs a branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/thread_safety.hpp"
#include "observe/records.hpp"
#include "observe/timeline.hpp"
#include "observe/trace.hpp"

namespace afterbay::observe {

/// One node of the tree. Owned by its Profile; its address never changes.
class Timer {
 public:
  void add(std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t bytes = 0) noexcept {
    inclusive_ns_.fetch_add(end_ns - start_ns, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    if (bytes != 0) bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (trace_ != nullptr) trace_->add(index_, start_ns, end_ns, bytes);
    if (timeline_ != nullptr) timeline_->add(lane_, start_ns, end_ns);
  }
  [[nodiscard]] std::uint64_t inclusive_ns() const noexcept {
    return inclusive_ns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  friend class Profile;
  std::string name_;
  std::int32_t parent_ = -1;
  std::uint32_t index_ = 0;
  bool of_workers_ = false;
  Trace* trace_ = nullptr;
  Timeline* timeline_ = nullptr;  ///< null also for timers without a lane
  Lane lane_ = no_lane;
  std::atomic<std::uint64_t> inclusive_ns_{0};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

/// Adds the time from its construction to its destruction to a timer; does nothing for a null
/// timer.
class Timed {
 public:
  explicit Timed(Timer* timer) noexcept : timer_(timer), start_ns_(timer != nullptr ? now_ns() : 0) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { stop(); }
  void bytes(std::uint64_t count) noexcept { bytes_ += count; }
  void stop() noexcept {
    if (timer_ != nullptr) timer_->add(start_ns_, now_ns(), bytes_);
    timer_ = nullptr;
  }

 private:
  Timer* timer_;
  std::uint64_t start_ns_;
  std::uint64_t bytes_ = 0;
};

/// Times a call of the model. Nested calls count as part of the outer call, so the times of calls
/// can be added up. One thread.
class TimedCall {
 public:
  /// `inside`: whether a call is being timed; false initially.
  TimedCall(bool& inside, Timer* timer) noexcept
      : inside_(inside), outer_(!std::exchange(inside, true)), timed_(outer_ ? timer : nullptr) {}
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;
  ~TimedCall() {
    if (outer_) inside_ = false;
  }

 private:
  bool& inside_;
  bool outer_;
  Timed timed_;
};

class Counter {
 public:
  void add(std::uint64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
  /// Keeps the largest value.
  void peak(std::uint64_t value) noexcept {
    std::uint64_t seen = value_.load(std::memory_order_relaxed);
    while (seen < value && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  friend class Profile;
  std::string name_;
  CounterKind kind_ = CounterKind::sum;
  std::atomic<std::uint64_t> value_{0};
};

/// For a counter that may be null (profile off).
inline void add(Counter* counter, std::uint64_t amount) noexcept {
  if (counter != nullptr) counter->add(amount);
}
inline void peak(Counter* counter, std::uint64_t value) noexcept {
  if (counter != nullptr) counter->peak(value);
}

/// Names of counters that have their own place in the report; others are listed by name.
namespace counters {
inline constexpr std::string_view bytes = "bytes";  ///< sum: payload put or taken in
inline constexpr std::string_view message_bytes =
    "bytes in messages";  ///< sum: those of `bytes` that went over MPI or through frontends
inline constexpr std::string_view written_bytes = "written bytes";  ///< sum: written to files
inline constexpr std::string_view direct_bytes = "direct bytes";    ///< sum: the part of them written
                                                                    ///< with O_DIRECT
inline constexpr std::string_view messages = "messages";            ///< sum: sent
inline constexpr std::string_view backlog = "peak backlog";         ///< peak, bytes
inline constexpr std::string_view receive_memory =
    "peak receive memory";  ///< peak, bytes: of a server's `memory.receive`
inline constexpr std::string_view output_memory =
    "memory of output";  ///< peak, bytes: of described output on a model rank
inline constexpr std::string_view statistics_memory =
    "memory of statistics";  ///< peak, bytes: of those over time that a server computes
}  // namespace counters

class Profile {
 public:
  /// `trace_events` > 0: also keeps that many of the latest timings for a trace. `timeline`: also
  /// records what the time was spent on during the run; null: no timeline. `start_ns`: the
  /// beginning of the run, now or earlier.
  explicit Profile(bool on = true, std::size_t trace_events = 0, std::unique_ptr<Timeline> timeline = nullptr,
                   std::uint64_t start_ns = now_ns());

  [[nodiscard]] bool on() const noexcept { return on_; }
  /// The timer `name` below `parent` (null: a root); the same one for each call. Null if the
  /// profile is off. A timer that is never run itself but has children shows their sum.
  Timer* timer(std::string_view name, const Timer* parent = nullptr);
  /// A root timer for worker threads, several at once: percentages refer to the time of all
  /// workers.
  Timer* worker_timer(std::string_view name);
  /// The number of workers; 0 or 1: the process has only one working thread.
  void set_workers(std::size_t count) noexcept { workers_.store(count, std::memory_order_relaxed); }
  /// For a wait: a timer below `parent` named "wait: REASON".
  Timer* wait(std::string_view reason, const Timer* parent = nullptr);
  Counter* counter(std::string_view name, CounterKind kind = CounterKind::sum);

  /// The data collected so far; `role` ("model", "server") groups ranks in the report.
  [[nodiscard]] RankProfile snapshot(int rank, std::string role) const;
  /// The trace; empty if there is none.
  [[nodiscard]] RankTrace trace(int rank, std::string role) const;
  [[nodiscard]] const Timeline* timeline() const noexcept { return timeline_.get(); }

 private:
  void give_lane(Timer& timer) AFTERBAY_REQUIRES(mutex_);

  bool on_;
  std::uint64_t start_ns_;
  std::atomic<std::size_t> workers_{1};
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Timeline> timeline_;
  mutable Mutex mutex_;  ///< guards the two lists; timers and counters are atomic
  std::deque<Timer> timers_ AFTERBAY_GUARDED_BY(mutex_);
  std::deque<Counter> counters_ AFTERBAY_GUARDED_BY(mutex_);
};

/// The peak memory of this process (VmHWM), bytes; 0 if /proc does not provide it.
std::uint64_t memory_high_water_bytes();

}  // namespace afterbay::observe
