// SPDX-License-Identifier: Apache-2.0
// JournalFile: the file to which one I/O server of a session appends its lines.
#pragma once

#include <atomic>
#include <chrono>
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

/// "server-0.jsonl"; `turn` > 0: of another session that writes to the directory at the same time.
std::string file_name(std::int64_t server, int turn);
/// Whether a file of that name is a journal's.
bool is_journal_name(std::string_view name);
/// Name of the OwnerFile of a journal file, which says who writes it if the file system has no locks.
std::string owner_path(const std::string& path);
/// Whether the last run in the open file may still go on.
bool is_unfinished(int descriptor);

/// Appends to what earlier runs left. While it lives it holds a lock (of its open file, so that it ends with
/// the process, however that ends), or where there are none an OwnerFile; a second session in the same
/// directory gets a file of its own. Any thread.
class JournalFile {
 public:
  /// Makes the directory where it is missing, and the file's name durable. `run` is the one that begins: its
  /// other servers live. Where there are no locks this waits, once for all files, for signs of life of owners
  /// elsewhere; with `patience` 0 it does not, takes them for alive, and they are left to the next run.
  static Result<std::unique_ptr<JournalFile>> open(
      const std::string& directory, std::int64_t server, const std::string& run = {},
      std::chrono::milliseconds patience = OwnerFile::usual_patience);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// One line, by one write. After a failure it may be there in part; what follows begins on a new line.
  Result<> append(std::string_view line);
  /// The same, and returns when it is on the disk. Threads that come together share one trip. Fails also
  /// if somebody has removed the file; and for every line that waited for a trip which failed, since a
  /// later one does not tell whether the first line's bytes are on the disk.
  Result<> append_durably(std::string_view line);
  Result<> append_durably(std::span<const std::string> lines);

  /// Runs in this file that did not end, and whose processes live no more; of server 0 also those in all
  /// other files of the directory.
  [[nodiscard]] const std::vector<std::string>& runs_without_end() const noexcept {
    return runs_without_end_;
  }
  /// Larger than that of all who opened files in the directory before.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// Another number of the same order: what others do from now on is later.
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
  std::optional<OwnerFile> owner_;  ///< where there are no locks
  std::vector<std::string> runs_without_end_;
  std::atomic<std::uint64_t> sequence_ = 0;
  Mutex write_mutex_;
  bool torn_ AFTERBAY_GUARDED_BY(write_mutex_) = false;  ///< the last line has no newline
  std::uint64_t written_ AFTERBAY_GUARDED_BY(write_mutex_) = 0;
  Mutex sync_mutex_;
  std::uint64_t synced_ AFTERBAY_GUARDED_BY(sync_mutex_) = 0;
  struct Lost {
    std::uint64_t first = 0, last = 0;  ///< lines that waited for a trip that failed
    int number = 0;
  };
  std::vector<Lost> lost_ AFTERBAY_GUARDED_BY(sync_mutex_);
};

}  // namespace afterbay::journal
