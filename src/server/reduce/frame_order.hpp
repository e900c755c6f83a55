// SPDX-License-Identifier: Apache-2.0
// FrameOrder: tasks that change the state of a frame one after the other, in the order of the
// records to which they belong. Tasks of different frames run at the same time. Used by the ingest
// thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/ingest_thread.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class FrameOrder {
 public:
  struct Frame {
    std::uint32_t collection = 0;
    std::uint32_t number = 0;  ///< among those of this server
    auto operator<=>(const Frame&) const = default;
  };
  /// Gives the task to a worker, which finally has `done` called.
  using Begin = IngestFunction<void()>;

  /// Adds a task of record `seq`. Tasks of one record run in the order in which they are added.
  void add(const Frame& frame, std::uint64_t seq, Begin begin) AFTERBAY_REQUIRES(ingest_thread);
  /// All tasks of the collection's records before `seq` have been added: those of `seq` itself may
  /// run, too. `seq` never falls.
  void allow(std::uint32_t collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  /// The task of the frame that was begun last has ended.
  void done(const Frame& frame) AFTERBAY_REQUIRES(ingest_thread);
  /// Whether no task of the collection waits or runs.
  [[nodiscard]] bool is_idle(std::uint32_t collection) const AFTERBAY_REQUIRES(ingest_thread);

 private:
  struct Queue {
    std::multimap<std::uint64_t, Begin> tasks;  ///< by record
    bool runs = false;                          ///< one of its tasks
  };
  void begin_next(const Frame& frame, Queue& queue) AFTERBAY_REQUIRES(ingest_thread);

  std::map<Frame, Queue> queues_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::map<std::uint32_t, std::uint64_t> allowed_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by collection
};

}  // namespace afterbay::server
