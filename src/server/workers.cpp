// SPDX-License-Identifier: Apache-2.0
#include "server/workers.hpp"

#include <algorithm>

#include "base/batch_thread.hpp"
#include "base/caller_terms.hpp"
#include "base/default_arithmetic.hpp"

namespace afterbay::server {

Workers::Workers(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
  ready_.notify_all();
  threads_.clear();  // joins
  while (run_one()) {
  }
}

void Workers::submit(Task task, int priority) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back({in_terms_of_caller(std::move(task)), priority});
  }
  ready_.notify_one();
}

void Workers::run_by_priority() {
  const MutexLock lock(mutex_);
  by_priority_ = true;
}

void Workers::submit_first(Task task) {
  {
    const MutexLock lock(mutex_);
    first_.push_back(in_terms_of_caller(std::move(task)));
  }
  ready_.notify_one();
}

void Workers::submit_last(Task task) {
  {
    const MutexLock lock(mutex_);
    last_.push_back(in_terms_of_caller(std::move(task)));
  }
  ready_.notify_one();
}

std::size_t Workers::queued() const {
  const MutexLock lock(mutex_);
  return tasks_.size() + first_.size();
}

bool Workers::await_idle(std::chrono::milliseconds limit) {
  MutexLock lock(mutex_);
  return idle_.wait_for(lock, limit, [this] {
    assert_held(mutex_);
    return threads_.empty() || (running_ == 0 && tasks_.empty() && first_.empty());
  });
}

bool Workers::take(Task& task) {
  if (!first_.empty()) {
    task = std::move(first_.front());
    first_.pop_front();
    return true;
  }
  if (tasks_.empty()) return false;
  const auto next = by_priority_ ? std::ranges::max_element(tasks_, {}, &Queued::priority)
                                 : tasks_.begin();  // the first task in the queue
  task = std::move(next->task);
  tasks_.erase(next);
  return true;
}

bool Workers::take_last(Task& task) {
  if (last_.empty()) return false;
  task = std::move(last_.front());
  last_.pop_front();
  return true;
}

bool Workers::run_one() {
  Task task;
  {
    const MutexLock lock(mutex_);
    if (!threads_.empty() || !take(task)) return false;
  }
  const DefaultArithmetic arithmetic;
  task();
  return true;
}

void Workers::run(const std::stop_token& stop) {
  const BatchThread beside_the_model;
  const DefaultArithmetic arithmetic;
  for (;;) {
    Task task;
    {
      MutexLock lock(mutex_);
      ready_.wait(lock, stop, [this] {
        assert_held(mutex_);
        return !tasks_.empty() || !first_.empty() || !last_.empty();
      });
      if (!take(task) && (stop.stop_requested() || !take_last(task)))
        return;  // stopped, and no tasks are left
      ++running_;
    }
    task();
    task = Task();  // with what it holds
    const MutexLock lock(mutex_);
    --running_;
    idle_.notify_all();
  }
}

}  // namespace afterbay::server
