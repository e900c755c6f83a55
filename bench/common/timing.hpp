// SPDX-License-Identifier: Apache-2.0
// Clocks, and compute that keeps a core busy without touching memory.
#pragma once

namespace bench {

/// Seconds on the monotonic clock.
double now_s();

/// User and system time of this process and all its threads, in seconds.
double process_cpu_s();

/// The same for another process of this node, including its ended threads. Throws if there is none.
double process_cpu_s(int pid);

/// How often the calling thread left its core voluntarily (waiting) and involuntarily (preempted),
/// and how long it ran. Distinguishes a call that waits from one that is not scheduled.
struct ThreadUse {
  long waits = 0;
  long preemptions = 0;
  double cpu_s = 0;
  ThreadUse& operator+=(const ThreadUse& other);
  friend ThreadUse operator-(const ThreadUse& later, const ThreadUse& earlier);
};
ThreadUse thread_use();

/// Keeps the calling thread computing for `ms` of wall time.
void compute_for(double ms);

/// A fixed amount of arithmetic, which takes longer if the core is shared.
class FixedWork {
 public:
  /// The amount that an otherwise unused core does in `ms`: measured now, the fastest of several
  /// trials.
  explicit FixedWork(double ms);
  /// The given number of rounds, as measured by another process.
  static FixedWork of_rounds(long rounds) { return FixedWork(Rounds{rounds}); }
  [[nodiscard]] long rounds() const { return rounds_; }
  void run() const;

 private:
  struct Rounds {
    long count = 0;
  };
  explicit FixedWork(Rounds rounds) : rounds_(rounds.count) {}
  long rounds_ = 0;
};

}  // namespace bench
