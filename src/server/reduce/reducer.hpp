// SPDX-License-Identifier: Apache-2.0
// Reducer: expressions and statistics over time that this server computes of samples, which model
// ranks hand over as they do records. Workers take samples into the states of their frame; when the
// ranks put the record of a file to which an interval belongs, workers write the results. Used by
// the ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/files/file_tasks.hpp"
#include "server/files/output_file.hpp"
#include "server/records.hpp"
#include "server/reduce/frame_order.hpp"
#include "server/reduce/frame_states.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class Reducer {
 public:
  struct Host {
    FileTasks& tasks;
    IngestFunction<const transport::FramePool&()> frames;
    /// Gives a task to a worker.
    IngestFunction<void(WorkerTask)> submit;
    /// The file is neither published nor removed before `submit_of_file`.
    IngestFunction<void(OutputFile&)> hold;
    /// Gives a task of a file that is held to a worker once the file is open, and the epochs before
    /// `epochs` are marked.
    IngestFunction<void(std::uint64_t file, std::uint64_t epochs, WorkerTask)> submit_of_file;
  };
  /// `limit`: bytes of all states (memory.statistics).
  Reducer(std::uint64_t limit, Host host) : limit_(limit), host_(std::move(host)) {}

  /// Makes the states of a collection, once its frames are known; does nothing without reductions.
  /// Fails (resources) if there is too little memory.
  Result<> add(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool has(std::uint32_t collection) const AFTERBAY_REQUIRES(ingest_thread) {
    return states_.contains(collection);
  }
  /// Bytes of all states.
  [[nodiscard]] std::uint64_t bytes() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return bytes_; }

  /// The samples of frame `number` of this server are there. Counts one write of the record.
  void take(FrameTask samples, std::uint64_t seq, Record& record, std::uint32_t number)
      AFTERBAY_REQUIRES(ingest_thread);
  /// All ranks have handed over a record of a file: results of the variables that were put are
  /// written, or states into a file of states. Counts writes of the record.
  void write_results(OutputFile& file, std::uint64_t seq, Record& record) AFTERBAY_REQUIRES(ingest_thread);
  /// Records of the collection have begun or ended. `records`: all that have not been erased. The
  /// samples of a record begin when the ranks have put all of it, so that workers take neither
  /// cores nor memory bandwidth from their puts.
  void note(std::uint32_t collection, const std::map<std::uint64_t, Record>& records)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Begins samples of records that are still being put if ranks may otherwise wait for room.
  void relieve() AFTERBAY_REQUIRES(ingest_thread);
  /// A task of the frame has ended.
  void done(const FrameOrder::Frame& frame) AFTERBAY_REQUIRES(ingest_thread) { order_.done(frame); }

 private:
  /// Whether ranks wait, or soon will: a quarter of the memory is used.
  [[nodiscard]] bool room_is_needed() AFTERBAY_REQUIRES(ingest_thread);

  const std::uint64_t limit_;
  Host host_;
  std::uint64_t bytes_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  FrameOrder order_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// By collection: the last record of the oldest step that ranks still put.
  std::map<std::uint32_t, std::uint64_t> begun_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t refusals_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;  ///< seen so far; see FramePool
  /// By collection; workers use those of frames whose turn it is.
  std::map<std::uint32_t, std::unique_ptr<FrameStates>> states_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
