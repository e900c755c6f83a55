// SPDX-License-Identifier: Apache-2.0
// Reads a journal: the runs and what they did, also while they are running.
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

/// Distinguishes a file from others that had its name.
struct FileIdentity {
  std::uint64_t inode = 0;    ///< 0: unknown
  std::uint64_t born_ns = 0;  ///< when the inode was created; 0: unknown
};

enum class SameFile {
  no,
  perhaps,  ///< equal inodes that may have been reused: a creation time is missing
  yes,
};
/// `no` if one of them is unknown.
SameFile compare(const FileIdentity& a, const FileIdentity& b) noexcept;

struct OpenedFile {
  FileFacts file;
  std::uint64_t inode = 0;  ///< see FileOpened
  std::uint64_t born_ns = 0;
  std::string given_up;  ///< reason; empty: not given up, according to the journal
  std::string at;
  std::int64_t server = 0;
  std::optional<FileReady> ready{};  ///< the last one: complete, and about to get its name
  std::string ready_at{};
  std::uint64_t ready_sequence = 0;

  /// Identity of the part file.
  [[nodiscard]] FileIdentity identity() const noexcept { return {inode, born_ns}; }
  /// False: it was given up before.
  [[nodiscard]] bool was_made() const noexcept { return inode != 0 || ready || given_up.empty(); }
};

struct PublishedFile {
  FilePublished file;
  std::string at;
  std::int64_t server = 0;
  std::optional<std::string> epoch{};  ///< the epoch to which `afterbay recover` restored it
  std::uint64_t sequence = 0;          ///< sequence of its run, or of the command that restored it
  FileIdentity identity{};             ///< identity of the file that got the name
};

struct CompletedEpoch {
  EpochCompleted epoch;
  std::string at;                  ///< time of the last server's report
  std::set<std::int64_t> servers;  ///< servers that have reported the epoch
};

struct Message {
  std::string at;
  std::int64_t server = 0;
  std::string text;
};

/// A trigger that is due.
struct DueTrigger {
  std::string trigger;
  std::string for_what;  ///< the file's path, or "epoch NAME"
  std::string at;        ///< the time since when it is due
  std::int64_t server = 0;
};

struct ServerOfRun {
  RunStarted started;
  std::string started_at;
  std::optional<RunEnded> ended;
  Holder holder = Holder::nobody;  ///< holder of the journal file, if this run is the last in it
  bool abandoned = false;          ///< a later run found that it had no end
  std::string found_by;            ///< that run's id
  std::uint64_t over = 0;          ///< position of its end in the order of runs; 0: unknown
};

struct Run {
  std::string id;
  std::uint64_t sequence = 0;  ///< sequence of its first server; see Line
  std::string started_at;
  std::string last_at;
  std::map<std::int64_t, ServerOfRun> servers;     ///< by number
  std::vector<PublishedFile> published;            ///< in order of time, like all lists here
  std::vector<OpenedFile> unpublished;             ///< opened but not published in this run
  std::map<std::uint64_t, CompletedEpoch> epochs;  ///< by number, including those that are not
                                                   ///< complete on all servers
  std::vector<Message> warnings;
  std::vector<Message> errors;
  std::vector<DueTrigger>
      untriggered;  ///< triggers without a result: not yet run, or the server was killed before

  [[nodiscard]] const std::string& session() const;
  /// Whether it has created a file with that path.
  [[nodiscard]] bool has_path(const std::string& path) const;
  /// The number of its servers, as far as their lines tell; 0: unknown.
  [[nodiscard]] std::uint64_t announced_servers() const;
  /// The servers of the run that have no line.
  [[nodiscard]] std::uint64_t servers_without_lines() const;
  /// Whether all servers have noted it.
  [[nodiscard]] bool is_complete(const CompletedEpoch& epoch) const;
  /// The last complete epoch; null: none.
  [[nodiscard]] const CompletedEpoch* last_epoch() const;
  /// Whether it had ended when `later`, which follows it in the journal, began.
  [[nodiscard]] bool was_over_before(const Run& later) const;
};

struct Journal {
  std::string directory;
  std::vector<Run> runs;               ///< in the order of their starts, by sequence number,
                                       ///< independent of clocks
  std::uint64_t unreadable_lines = 0;  ///< incomplete because a run was killed, or not from
                                       ///< Afterbay
  std::uint64_t torn_lines = 0;        ///< unreadable lines that a run was writing when it ended: it
                                       ///< had not announced or published anything with them
};

/// The directory of the journal's files: the given one, or the subdirectory that the default
/// setting creates. Fails with io if there is no journal.
Result<std::string> find_journal(const std::string& directory);

/// Reads the files of the journal that `find_journal` finds. Incomplete and foreign lines are
/// counted, other files ignored. `patience`: see `holders_of`.
Result<Journal> read_journal(const std::string& directory,
                             const OwnerPatience& patience = OwnerFile::usual_patience);

/// The result for a file that was about to get its name: nothing if it did not get it (or if it is
/// unknown, as on a host that does not see the file), otherwise the missing entry.
std::optional<PublishedFile> published_after_all(const OpenedFile& file);

struct NewestFile : PublishedFile {
  std::uint64_t replaced = 0;  ///< number of older entries of its path
};

/// The newest entry of each path, over all runs, including files that got their names without an
/// entry: the entry of the file that has the name now. If there is none (or inodes are unknown), it
/// is the last entry in the order of runs, which may differ from the order in which concurrent runs
/// published.
std::map<std::string, NewestFile> newest_files(const Journal& journal);

}  // namespace afterbay::journal
