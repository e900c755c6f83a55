// SPDX-License-Identifier: Apache-2.0
// A journal as it is read: what runs there were, and what they did. Also while they last.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/holder.hpp"
#include "journal/line.hpp"

namespace afterbay::journal {

/// What tells a file from others that had its name.
struct FileIdentity {
  std::uint64_t inode = 0;    ///< 0: not known
  std::uint64_t born_ns = 0;  ///< when the inode was created; 0: not known
};

enum class SameFile {
  no,
  perhaps,  ///< one inode, which may have been used again: a time of creation is not known
  yes,
};
/// `no` if one is not known.
SameFile compare(const FileIdentity& a, const FileIdentity& b) noexcept;

struct OpenedFile {
  FileFacts file;
  std::uint64_t inode = 0;  ///< see FileOpened
  std::uint64_t born_ns = 0;
  std::string given_up;  ///< why; empty: it was not, as far as the journal says
  std::string at;
  std::int64_t server = 0;
  std::optional<FileReady> ready{};  ///< the last: whole, and about to get its name
  std::string ready_at{};
  std::uint64_t ready_sequence = 0;

  /// Of the file in the making.
  [[nodiscard]] FileIdentity identity() const noexcept { return {inode, born_ns}; }
  /// False: it was given up before.
  [[nodiscard]] bool was_made() const noexcept { return inode != 0 || ready || given_up.empty(); }
};

struct PublishedFile {
  FilePublished file;
  std::string at;
  std::int64_t server = 0;
  std::optional<std::string> epoch{};  ///< `afterbay recover` brought it back to that one
  std::uint64_t sequence = 0;          ///< of its run, or of the command that brought it back
  FileIdentity identity{};             ///< of the file that got the name
};

struct CompletedEpoch {
  EpochCompleted epoch;
  std::string at;                  ///< of the last server
  std::set<std::int64_t> servers;  ///< that have said so
};

struct Message {
  std::string at;
  std::int64_t server = 0;
  std::string text;
};

/// A trigger that is to run for what is complete.
struct DueTrigger {
  std::string trigger;
  std::string for_what;  ///< the file's path, or "epoch NAME"
  std::string at;        ///< since when
  std::int64_t server = 0;
};

struct ServerOfRun {
  RunStarted started;
  std::string started_at;
  std::optional<RunEnded> ended;
  Holder holder = Holder::nobody;  ///< of the journal file, if this run is the last in it
  bool abandoned = false;          ///< a later run found that it had not ended
  std::string found_by;            ///< that run's id
  std::uint64_t over = 0;          ///< its end in the order of runs; 0: not known
};

struct Run {
  std::string id;
  std::uint64_t sequence = 0;  ///< of its first server; see Line
  std::string started_at;
  std::string last_at;
  std::map<std::int64_t, ServerOfRun> servers;     ///< by number
  std::vector<PublishedFile> published;            ///< in the order of time, as all lists here
  std::vector<OpenedFile> unpublished;             ///< opened, and not published in this run
  std::map<std::uint64_t, CompletedEpoch> epochs;  ///< by number, also those that not all servers completed
  std::vector<Message> warnings;
  std::vector<Message> errors;
  std::vector<DueTrigger>
      untriggered;  ///< of which nothing is said: not yet, or its server was killed before

  [[nodiscard]] const std::string& session() const;
  /// Whether it has written, or was about to write, a file of that path.
  [[nodiscard]] bool has_path(const std::string& path) const;
  /// Of the run's servers, those of which there is no line.
  [[nodiscard]] std::uint64_t servers_without_lines() const;
  /// On all servers.
  [[nodiscard]] bool is_complete(const CompletedEpoch& epoch) const;
  /// The last epoch that is complete; null: none.
  [[nodiscard]] const CompletedEpoch* last_epoch() const;
  /// Whether it was over when `later`, which comes after it in the journal, began.
  [[nodiscard]] bool was_over_before(const Run& later) const;
};

struct Journal {
  std::string directory;
  std::vector<Run> runs;               ///< in the order of their starts, by sequence, not by their clocks
  std::uint64_t unreadable_lines = 0;  ///< torn when a run was killed, or something else's
};

/// Reads the files of a journal in the directory, or in the one that the default setting makes inside it.
/// Lines that are torn or foreign are counted, other files left alone. Fails with io when there is no
/// journal.
Result<Journal> read_journal(const std::string& directory);

/// What became of a file that was about to get its name: nothing if it did not get it (or nobody can tell,
/// as on a host that does not see the file), else the entry that is missing.
std::optional<PublishedFile> published_after_all(const OpenedFile& file);

struct NewestFile : PublishedFile {
  std::uint64_t replaced = 0;  ///< entries of its path that are older
};

/// The newest entry of each path, over all runs; also of files that got their names unsaid. That is the entry
/// of the file which has the name now. If there is none of it (or inodes do not tell), it is the last one in
/// the order of runs, which need not be the order in which runs that overlapped published.
std::map<std::string, NewestFile> newest_files(const Journal& journal);

}  // namespace afterbay::journal
