// SPDX-License-Identifier: Apache-2.0
// CodecTrials: measures codecs for collections with `compress: auto`. Workers copy chunks of the
// first records as they write them. When they have nothing else to do, one worker at a time encodes
// one copy with one chain of filters. Frames wait for no more than that, and the end of the session
// for nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/thread_safety.hpp"
#include "observe/records.hpp"
#include "server/codecs/collection_trial.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

struct ServedCollection;

class CodecTrials {
 public:
  /// Memory of a server for copies, in addition to that of its settings.
  static constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;

  /// `workers`: their number; without workers nothing is tried. `submit`: gives workers a task for
  /// the time when they have nothing else to do.
  CodecTrials(std::size_t workers, AnyThreadFunction<void(WorkerTask)> submit);

  /// A collection is defined: it is measured if its ranks asked for that.
  void add(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);
  /// Takes the chunks of a collection as they are written; null: it needs none. Valid as long as
  /// this.
  [[nodiscard]] ChunkSampler* sampler_of(std::uint32_t collection) const AFTERBAY_REQUIRES(ingest_thread);
  /// All ranks have handed over a record of a file.
  void record_taken(std::uint32_t collection, std::uint64_t file, std::uint64_t record)
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool has_any() const AFTERBAY_REQUIRES(ingest_thread) { return !by_id_.empty(); }
  /// Ends the trials. Any thread.
  void stop() noexcept { stopped_ = true; }

  /// What was measured so far, per collection.
  [[nodiscard]] std::vector<observe::CodecTrialRecord> records() const AFTERBAY_REQUIRES(ingest_thread);

 private:
  /// Called by workers: there is something to try.
  void wake();
  void try_one();

  const std::uint32_t encoders_;  ///< number of workers that can encode at the same time
  const AnyThreadFunction<void(WorkerTask)> submit_;
  SampleRoom room_{most_bytes};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> trying_{false};  ///< a task is submitted or runs
  std::map<std::uint32_t, std::unique_ptr<CollectionTrial>> by_id_ AFTERBAY_GUARDED_BY(ingest_thread);
  Mutex mutex_;
  std::vector<CollectionTrial*> all_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::server
