// SPDX-License-Identifier: Apache-2.0
// JournalFile: the file to which one I/O server of a session appends its lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/owner_file.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::journal {

/// "server-0.jsonl"; `turn` > 0: for another session that writes to the directory at the same time.
std::string file_name(std::int64_t server, int turn);
/// Whether a file of that name belongs to a journal.
bool is_journal_name(std::string_view name);
/// Name of the OwnerFile of a journal file, which shows who writes it if the file system has no
/// locks.
std::string owner_path(const std::string& path);
/// Whether the last run in the open file may still be running.
bool is_unfinished(int descriptor);

/// Appends to the lines of earlier runs. While it exists it holds a lock (on its open file, so that
/// it ends with the process, however that ends) or, without locks, an OwnerFile; a second session
/// in the same directory gets its own file. Any thread.
class JournalFile {
 public:
  /// Creates the directory if it is missing, and makes the file's name durable. `run` is the one
  /// that begins: its other servers are alive. Without locks this waits, once for all files, for
  /// signs of life of owners elsewhere. With `patience` 0 it does not wait but considers them
  /// alive, and leaves them to the next run.
  static Result<std::unique_ptr<JournalFile>> open(const std::string& directory, std::int64_t server,
                                                   const std::string& run = {},
                                                   const OwnerPatience& patience = OwnerFile::usual_patience);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// Writes one line with one write. After a failure, part of it may be in the file; the next line
  /// begins on a new line.
  Result<> append(std::string_view line);
  /// The same; returns when the line is on the disk. Concurrent threads share one sync. Also fails
  /// if the file was removed, and for every line that waited for a failed sync, since a later sync
  /// does not show whether the bytes of the first line are on the disk.
  Result<> append_durably(std::string_view line);
  Result<> append_durably(std::span<const std::string> lines);
  /// Returns when all lines that have been appended are on the disk.
  Result<> settle();

  /// Runs in this file that have no end and whose processes are dead; for server 0 also those in
  /// all other files of the directory.
  [[nodiscard]] const std::vector<std::string>& runs_without_end() const noexcept {
    return runs_without_end_;
  }
  /// Larger than the sequence number of all sessions that opened files in the directory before.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// Takes a new sequence number: everything that others do from now on is later.
  std::uint64_t next_sequence();

 private:
  JournalFile(int descriptor, std::string path, std::optional<OwnerFile> owner)
      : descriptor_(descriptor), path_(std::move(path)), owner_(std::move(owner)) {}

  Result<> look_at_end();
  void look_at_others(const std::string& directory, const std::string& run);
  Result<> sync(std::uint64_t number);
  Result<std::uint64_t> put(std::string_view line);
  [[nodiscard]] Error error(int number, const char* doing) const;

  int descriptor_;
  std::string path_;
  std::optional<OwnerFile> owner_;  ///< used without locks
  std::vector<std::string> runs_without_end_;
  std::atomic<std::uint64_t> sequence_ = 0;
  Mutex write_mutex_;
  bool torn_ AFTERBAY_GUARDED_BY(write_mutex_) = false;  ///< the last line has no newline
  std::uint64_t written_ AFTERBAY_GUARDED_BY(write_mutex_) = 0;
  Mutex sync_mutex_;
  std::uint64_t synced_ AFTERBAY_GUARDED_BY(sync_mutex_) = 0;
  struct Lost {
    std::uint64_t first = 0, last = 0;  ///< lines that waited for a failed sync
    int number = 0;
  };
  std::vector<Lost> lost_ AFTERBAY_GUARDED_BY(sync_mutex_);
};

}  // namespace afterbay::journal
