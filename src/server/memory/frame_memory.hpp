// SPDX-License-Identifier: Apache-2.0
// FrameMemory: frames that wait for a worker or are being written, the buffers in which workers put
// them in order, and what happens if the server's memory is full or the system refuses it. Used by
// the ingest thread and, as stated per function, by workers.
#pragma once

#include <cstdint>
#include <utility>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/overflow.hpp"
#include "server/scratch_buffers.hpp"
#include "server/thread_functions.hpp"
#include "storage/store.hpp"
#include "transport/link.hpp"

namespace afterbay::server {

class FrameMemory {
 public:
  struct Host {
    std::int64_t server = 0;  ///< number of this server
    /// A frame was spilled: there is room. Any thread.
    AnyThreadFunction<void()> moved;
    /// Logs a warning and records it in the journal. Any thread.
    AnyThreadFunction<void(const std::string&)> warn;
    /// A record was dropped.
    IngestFunction<void(const Overflow::RecordKey&)> dropped;
  };

  FrameMemory(const config::Config& config, transport::FramePool& frames, Host host);

  /// Adds a frame that will be given to a worker; see Overflow::add.
  Overflow::Handle add(FrameTask task, const Overflow::RecordKey& record, bool droppable)
      AFTERBAY_REQUIRES(ingest_thread) {
    return overflow_.add(std::move(task), record, droppable);
  }
  /// All frames of the record have been written or dropped.
  void record_ended(const Overflow::RecordKey& record) AFTERBAY_REQUIRES(ingest_thread) {
    overflow_.ended(record);
  }
  /// If ranks may be waiting for room: spills frames or drops records, as configured.
  void relieve() AFTERBAY_REQUIRES(ingest_thread);
  /// Called periodically: warns once if the system refuses configured memory, and once if it
  /// provides it again.
  void watch() AFTERBAY_REQUIRES(ingest_thread);

  /// Worker: takes a frame whose turn has come, calls `write(task, scratch)`, and releases the
  /// frame's memory. Writes nothing if the frame was dropped.
  template <class Write>
  Result<storage::WriteCost> take(Overflow::Frame& frame, const Write& write) {
    Overflow::Taken taken;
    AFTERBAY_TRY(overflow_.take(frame, scratch_, taken));
    if (taken.dropped) return storage::WriteCost{};
    Result<storage::WriteCost> cost = write(taken.task, scratch_);
    if (!taken.buffer) frames_.release(taken.task.view);
    return cost;
  }
  /// Worker: calls `use(scratch)`, whose buffers are those of `take`.
  template <class Use>
  auto with_scratch(const Use& use) {
    return use(scratch_);
  }
  /// Worker: makes a buffer for a task in advance, and faults in its first bytes.
  void prepare_buffer(std::uint64_t bytes) { scratch_.fault_in(bytes); }

 private:
  transport::FramePool& frames_;
  const std::uint64_t configured_bytes_;
  Host host_;
  /// The system has refused memory, and this was reported.
  bool refused_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  ScratchBuffers scratch_;
  Overflow overflow_;
};

}  // namespace afterbay::server
