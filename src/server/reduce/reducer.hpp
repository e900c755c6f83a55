// SPDX-License-Identifier: Apache-2.0
// Reducer: statistics over time that this server computes of samples, which model ranks hand over as they do
// records. Workers take samples into the states of their frame; when the ranks put the record of a file to
// which an interval belongs, workers write the results. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/completions.hpp"
#include "server/files/output_file.hpp"
#include "server/memory/frame_memory.hpp"
#include "server/records.hpp"
#include "server/reduce/frame_order.hpp"
#include "server/reduce/frame_states.hpp"
#include "server/telemetry/server_profile.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class Reducer {
 public:
  struct Host {
    FrameMemory& memory;
    /// Gives a task to a worker.
    IngestFunction<void(WorkerTask)> run;
    /// Gives a task of the file to a worker once the file is open, and the epochs before `epochs` are marked;
    /// nothing if the file does not exist any more. Undoes `hold`.
    IngestFunction<bool(std::uint64_t file, std::uint64_t epochs, WorkerTask)> write;
    /// Called by workers: fails if the file will not be published.
    AnyThreadFunction<Result<>(const OutputFile&)> check_wanted;
    /// The file is neither published nor removed before a `write`.
    IngestFunction<void(OutputFile&)> hold;
    // Called by workers at the end of a task.
    AnyThreadFunction<void(SampleTaken)> taken;
    AnyThreadFunction<void(FrameWritten)> written;
    /// Called by workers: adds to profile and progress.
    AnyThreadFunction<void(const storage::WriteCost&, const ServerProfile::CollectionTimers&)> account;
  };
  /// `limit`: bytes of all states (memory.statistics).
  Reducer(std::uint64_t limit, Host host) : limit_(limit), host_(std::move(host)) {}

  /// Makes the states of a collection, once its frames are known; does nothing without reductions.
  Result<> add(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool has(std::uint32_t collection) const AFTERBAY_REQUIRES(ingest_thread) {
    return states_.contains(collection);
  }

  /// The samples of a frame are there. Counts one write of the record.
  void take(const ServedCollection& collection, std::uint64_t seq, Record& record, std::uint32_t number,
            Overflow::Handle frame, const ServerProfile::CollectionTimers& timers)
      AFTERBAY_REQUIRES(ingest_thread);
  /// All ranks have handed over a record of a file: results of the variables that were put are written.
  /// Counts writes of the record.
  void write_results(const ServedCollection& collection, std::uint64_t seq, Record& record, OutputFile& file,
                     const ServerProfile::CollectionTimers& timers) AFTERBAY_REQUIRES(ingest_thread);
  /// Records of the collection have begun or ended. `records`: all that have not been erased.
  void note(std::uint32_t collection, const std::map<std::uint64_t, Record>& records)
      AFTERBAY_REQUIRES(ingest_thread);
  /// A task of the frame has ended.
  void done(const FrameOrder::Frame& frame) AFTERBAY_REQUIRES(ingest_thread) { order_.done(frame); }

  /// Of all states.
  [[nodiscard]] std::uint64_t bytes() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return bytes_; }

 private:
  const std::uint64_t limit_;
  Host host_;
  std::uint64_t bytes_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  FrameOrder order_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// By collection; workers use those of frames whose turn it is.
  std::map<std::uint32_t, std::unique_ptr<FrameStates>> states_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
