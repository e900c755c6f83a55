// SPDX-License-Identifier: Apache-2.0
// Executor: runs functions of other threads in the ingest thread. Workers, triggers and disks post
// everything that they report to the server, so that the state of the server needs no locks.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/thread_safety.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class Executor {
 public:
  /// `wake`: makes the ingest thread call `run` soon; it is called from the posting thread.
  explicit Executor(AnyThreadFunction<void()> wake) : wake_(std::move(wake)) {}

  /// Any thread. `function` is moved and runs once, in the ingest thread; it may own non-copyable
  /// objects.
  template <class Function>
  void post(Function function) AFTERBAY_EXCLUDES(mutex_) {
    push(std::make_unique<Held<Function>>(std::move(function)));
  }

  /// Ingest thread: runs the functions that were posted before this call, in order, and returns
  /// their number. Functions that these post run in the next call.
  std::size_t run() AFTERBAY_REQUIRES(ingest_thread) AFTERBAY_EXCLUDES(mutex_);

 private:
  struct Posted {
    Posted() = default;
    Posted(const Posted&) = delete;
    Posted& operator=(const Posted&) = delete;
    virtual ~Posted() = default;
    virtual void call() AFTERBAY_REQUIRES(ingest_thread) = 0;
  };
  template <class Function>
  struct Held final : Posted {
    explicit Held(Function function) : function_(std::move(function)) {}
    void call() AFTERBAY_REQUIRES(ingest_thread) override { function_(); }
    Function function_;
  };

  void push(std::unique_ptr<Posted> posted) AFTERBAY_EXCLUDES(mutex_);

  AnyThreadFunction<void()> wake_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Posted>> posted_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::server
