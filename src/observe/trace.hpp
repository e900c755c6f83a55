// SPDX-License-Identifier: Apache-2.0
// Trace: the latest timings of a process, for the trace viewers of Chrome and Perfetto.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_safety.hpp"
#include "observe/records.hpp"

namespace afterbay::observe {

/// A bounded ring of the latest events. Thread-safe by a lock that is held for one store; tracing
/// is only on if it was requested.
class Trace {
 public:
  explicit Trace(std::size_t capacity);
  void add(std::uint32_t name, std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t bytes) noexcept;
  /// Fills `events` and `dropped`.
  void copy_to(RankTrace& out) const;

 private:
  std::uint32_t thread_number() AFTERBAY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<TraceEvent> ring_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t added_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread::id> threads_ AFTERBAY_GUARDED_BY(mutex_);
};

/// One JSON document ("traceEvents") with the traces of all ranks: pid is the rank, named by its
/// role.
std::string trace_json(std::span<const RankTrace> traces, const std::string& session = {});

}  // namespace afterbay::observe
