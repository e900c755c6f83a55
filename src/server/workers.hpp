// SPDX-License-Identifier: Apache-2.0
// Workers: a few threads that run tasks in the order of submission, reading tasks before others.
// With 0 threads, tasks run when the owner calls `run_one` (inline topology). The queue is bounded
// by the resources of its tasks: every write task owns a frame of the pool. A task runs in the
// terms of its submitter, so that its messages count in the same way as the session's caller.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/thread_safety.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class Workers {
 public:
  using Task = WorkerTask;

  explicit Workers(std::size_t threads);
  /// Runs the queued tasks, then ends.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// `priority` applies once run_by_priority was called: then tasks with higher priority run first;
  /// otherwise all run in their order.
  void submit(Task task, int priority = 0);
  void run_by_priority();
  /// Runs before all queued tasks that were submitted otherwise.
  void submit_first(Task task);
  /// Runs when a thread has nothing else to do. Not at all if there are no threads, or they end
  /// before.
  void submit_last(Task task);
  /// Waits until no task is running, and none is queued except those of `submit_last`; false: some
  /// still are after `limit`.
  bool await_idle(std::chrono::milliseconds limit) AFTERBAY_EXCLUDES(mutex_);
  /// Number of tasks that have not begun.
  [[nodiscard]] std::size_t queued() const AFTERBAY_EXCLUDES(mutex_);
  /// 0: tasks run in the owner's thread.
  [[nodiscard]] std::size_t threads() const noexcept { return threads_.size(); }
  /// Runs one task in the calling thread, if there are no threads and a task is queued.
  bool run_one();

 private:
  void run(const std::stop_token& stop);

  mutable Mutex mutex_;
  std::condition_variable_any ready_;
  std::condition_variable_any idle_;
  std::size_t running_ AFTERBAY_GUARDED_BY(mutex_) = 0;  ///< number of threads that are in a task
  bool take(Task& task) AFTERBAY_REQUIRES(mutex_);
  bool take_last(Task& task) AFTERBAY_REQUIRES(mutex_);

  struct Queued {
    Task task;
    int priority = 0;
  };
  std::deque<Queued> tasks_ AFTERBAY_GUARDED_BY(mutex_);
  bool by_priority_ AFTERBAY_GUARDED_BY(mutex_) = false;
  std::deque<Task> first_ AFTERBAY_GUARDED_BY(mutex_);
  std::deque<Task> last_ AFTERBAY_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

}  // namespace afterbay::server
