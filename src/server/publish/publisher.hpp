// SPDX-License-Identifier: Apache-2.0
// Publisher: gives complete files their final names. Workers publish several files together, so
// that small files share the waits for the disk, and record them in the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "observe/profile.hpp"
#include "server/completions.hpp"
#include "server/files/output_file.hpp"
#include "server/journal/run_journal.hpp"
#include "server/publish/publication_queue.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class Publisher {
 public:
  struct Host {
    /// Gives a task to a worker.
    IngestFunction<void(WorkerTask, int priority)> submit;
    /// Fails if the file must not be published any more; any thread.
    AnyThreadFunction<Result<>(const OutputFile&)> check_wanted;
    /// Names of the triggers that will run for the file; any thread.
    AnyThreadFunction<std::vector<std::string>(const OutputFile&)> triggers;
    /// Bytes were written when a file was completed; any thread.
    AnyThreadFunction<void(std::uint64_t bytes)> wrote;
    /// The file is published, or never will be; any thread. The file exists until this is called.
    AnyThreadFunction<void(PublicationEnded)> done;
  };

  /// `journal` outlives the publisher. `workers`: number of workers that may publish at the same
  /// time; 0: the ingest thread does it, and no other thread takes part, as a wait for space does
  /// its work.
  Publisher(const RunJournal& journal, std::size_t workers, Host host);

  /// Publishes a complete file. `timer`: for the duration; may be null.
  void publish(OutputFile& file, observe::Timer* timer, int priority) AFTERBAY_REQUIRES(ingest_thread);

 private:
  void publish_together(const std::vector<PublicationQueue::Waiting>& batch);
  Result<> complete(OutputFile& file);
  journal::FilePublished line_of(const OutputFile& file, const storage::Published& published) const;

  const RunJournal& journal_;
  Host host_;
  PublicationQueue queue_;
  std::size_t syncs_;  ///< the most files that a worker makes durable at the same time
};

}  // namespace afterbay::server
