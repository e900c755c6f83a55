// SPDX-License-Identifier: Apache-2.0
// Recorder: writes the events of one I/O server to its journal during a run.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "journal/journal_file.hpp"
#include "journal/line.hpp"

namespace afterbay::journal {

struct Where {
  std::string directory;  ///< empty: no journal
  bool required = false;  ///< a line that cannot be written is an error; otherwise one warning is
                          ///< logged
};

/// The run and the server that write. In `started`, version, host, pid and directory are filled in
/// by the recorder.
struct RunIdentity {
  std::string run;  ///< equal on all servers of the run; see new_run_id
  std::int64_t server = 0;
  RunStarted started;
};

/// "20261122T071503.123Z-node17-4711": from the current time and process.
std::string new_run_id();

/// Opens the file when there is something to write, or soon will be, so that a run without output
/// leaves none. Any thread; a call that promises durability returns when the line is on the disk.
class Recorder {
 public:
  /// `patience`: how long opening the file waits for signs of life of owners elsewhere.
  Recorder(Where where, RunIdentity identity, Logger logger,
           const OwnerPatience& patience = OwnerFile::usual_patience);

  [[nodiscard]] bool keeps() const noexcept { return !where_.directory.empty(); }

  /// The run has output, possibly only on other servers: `ended` writes a line in any case. Never
  /// waits.
  void expect_output();

  // Each fails only if the journal is required.
  /// Files will follow: spends the time for the first line now. After `ended` it does nothing.
  Result<> begin();
  Result<> opened(FileFacts file, std::uint64_t inode = 0, std::uint64_t born_ns = 0);
  /// What was noted before is durable. A file can be recovered from now on: its opening must be
  /// known.
  Result<> settle();
  /// Durable. The files must be durable, and get their final names next.
  Result<> ready(std::vector<FileReady> files);
  Result<> ready(FileReady file) { return ready(std::vector<FileReady>{std::move(file)}); }
  /// Durable. The files must have their final names, durably.
  Result<> published(std::vector<FilePublished> files);
  Result<> published(FilePublished file) { return published(std::vector<FilePublished>{std::move(file)}); }
  // The following four never wait for another thread that opens the journal, which then writes
  // their lines.
  /// The file will not be published in this run.
  void given_up(FileFacts file, std::string why);
  void warned(std::string text);
  void failed(const Error& error);
  void triggered(TriggerRan ran);
  /// Durable. The subject of the line must be durable too.
  Result<> epoch_completed(EpochCompleted epoch);
  /// Durable. The last line.
  Result<> ended(bool ok);

 private:
  /// A line that is to be written soon.
  struct Waiting {
    std::string at;
    Event event;
  };

  Result<> note(Event event, bool durable);
  void note_soon(Event event);
  Result<> note_durably(std::vector<Event> events);
  Result<> fail_if_required(Result<> written);
  Result<> write(std::vector<Event> events, bool durable);
  Result<JournalFile*> file();
  Result<JournalFile*> file_at_hand() AFTERBAY_REQUIRES(mutex_) { return file_at_hand(patience_); }
  Result<JournalFile*> file_at_hand(const OwnerPatience& patience) AFTERBAY_REQUIRES(mutex_);
  Result<> write_waiting() AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] std::string line(std::string at, Event event, std::uint64_t sequence) const;

  Where where_;
  RunIdentity identity_;
  Logger logger_;
  OwnerPatience patience_;
  std::string started_at_;
  /// Not guarded: callers that announce output must not wait for the disk, as `begin` may.
  std::atomic<bool> output_expected_{false};
  Mutex mutex_;
  std::unique_ptr<JournalFile> file_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t files_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  bool over_ AFTERBAY_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_open_{false};  ///< from now on the mutex is held for moments only
  std::atomic<bool> warned_of_failure_{false};
  Mutex waiting_mutex_;
  std::vector<Waiting> waiting_ AFTERBAY_GUARDED_BY(waiting_mutex_);
};

}  // namespace afterbay::journal
