// SPDX-License-Identifier: Apache-2.0
// JournalFile: the file to which one I/O server of a session appends its lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::journal {

/// "server-0.jsonl"; `turn` > 0: of another session that writes to the directory at the same time.
std::string file_name(std::int64_t server, int turn);
/// Whether a file of that name is a journal's.
bool is_journal_name(std::string_view name);

/// Appends to what earlier runs left. While it lives it holds a lock (of its open file, so that it ends with
/// the process, however that ends); a second session in the same directory gets a file of its own. Any
/// thread.
class JournalFile {
 public:
  /// Makes the directory where it is missing, and the file's name durable.
  static Result<std::unique_ptr<JournalFile>> open(const std::string& directory, std::int64_t server);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// One line, by one write. After a failure it may be there in part; what follows begins on a new line.
  Result<> append(std::string_view line);
  /// The same, and returns when it is on the disk. Threads that come together share one trip.
  Result<> append_durably(std::string_view line);

  [[nodiscard]] bool locked() const noexcept { return locked_; }
  /// Of the last run in the file, when that did not end: it was killed.
  [[nodiscard]] const std::optional<std::string>& run_without_end() const noexcept {
    return run_without_end_;
  }

 private:
  JournalFile(int descriptor, std::string path, bool locked)
      : descriptor_(descriptor), path_(std::move(path)), locked_(locked) {}

  Result<> look_at_end();
  Result<std::uint64_t> put(std::string_view line);
  [[nodiscard]] Error error(int number, const char* doing) const;

  int descriptor_;
  std::string path_;
  bool locked_;
  std::optional<std::string> run_without_end_;
  Mutex write_mutex_;
  bool torn_ AFTERBAY_GUARDED_BY(write_mutex_) = false;  ///< the last line has no newline
  std::uint64_t written_ AFTERBAY_GUARDED_BY(write_mutex_) = 0;
  Mutex sync_mutex_;
  std::uint64_t synced_ AFTERBAY_GUARDED_BY(sync_mutex_) = 0;
};

}  // namespace afterbay::journal
