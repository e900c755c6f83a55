// SPDX-License-Identifier: Apache-2.0
// Executor: functions that other threads want run by the ingest thread. Whatever a worker, a trigger or a
// disk has to tell the server, it posts; the state of the server needs no locks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/thread_safety.hpp"

namespace afterbay::server {

class Executor {
 public:
  /// `wake`: makes the ingest thread call `run` soon; called from the posting thread.
  explicit Executor(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Any thread. `function` is moved, runs once, and may own what cannot be copied.
  template <class Function>
  void post(Function function) AFTERBAY_EXCLUDES(mutex_) {
    push(std::make_unique<Held<Function>>(std::move(function)));
  }

  /// Ingest thread: runs what was posted before this call, in order; returns how many functions ran. What
  /// these post runs in the next call.
  std::size_t run() AFTERBAY_EXCLUDES(mutex_);

 private:
  struct Posted {
    Posted() = default;
    Posted(const Posted&) = delete;
    Posted& operator=(const Posted&) = delete;
    virtual ~Posted() = default;
    virtual void call() = 0;
  };
  template <class Function>
  struct Held final : Posted {
    explicit Held(Function function) : function_(std::move(function)) {}
    void call() override { function_(); }
    Function function_;
  };

  void push(std::unique_ptr<Posted> posted) AFTERBAY_EXCLUDES(mutex_);

  std::function<void()> wake_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Posted>> posted_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::server
