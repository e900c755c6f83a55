// SPDX-License-Identifier: Apache-2.0
// The lines of a journal. The format is described for users in docs/reference/journal.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/artifact_files.hpp"

namespace afterbay::journal {

/// The first line of a server in a run.
struct RunStarted {
  std::string session;
  std::string version;
  std::string host;
  std::int64_t pid = 0;
  std::string directory;  ///< the server's working directory, absolute
  std::int64_t model_ranks = 0;
  std::int64_t servers = 0;
  std::map<std::string, std::string> settings;  ///< those that were set
};

/// The information about a file from its opening on.
struct FileFacts {
  std::string path;          ///< final name, absolute
  std::uint64_t number = 0;  ///< number of its opening in the session, in order
  std::string collection;
  std::string format;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> member;
  std::optional<std::string> date;
};

struct FileOpened {
  FileFacts file;
  std::uint64_t inode = 0;    ///< inode of the part file, which keeps it when it is renamed; 0: unknown
  std::uint64_t born_ns = 0;  ///< when the inode was created; 0: the file system does not provide
                              ///< it
};

/// Written only when the file or directory and its name are durable.
struct FilePublished {
  FileFacts file;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::optional<std::uint64_t> checksum;   ///< CRC-64/XZ of all its bytes; of a directory: checksum_of
  std::optional<std::uint64_t> dropped{};  ///< records that were left out because the server's memory
                                           ///< was full
  std::vector<std::string> triggers{};     ///< names of the triggers that are to run for it
  /// By variable: the largest error of packed values, and of rounded ones whose accuracy was
  /// stated.
  std::map<std::string, double> largest_errors{};
  std::optional<std::uint64_t> file_count{};  ///< number of files in a directory; unset: it is a file
  std::vector<ArtifactFile> files{};  ///< files of a directory, in the order of their names; a server writes
                                      ///< them once, in FileReady, unless they are too many
};

/// The whole file is durable, and it is about to get its final name. If the next line is missing,
/// inode and size show whether it got the name.
struct FileReady {
  FilePublished file;
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;          ///< when the inode was created; 0: the file system does not
                                      ///< provide it
  std::optional<std::string> name{};  ///< name of the epoch to which `afterbay recover` has
                                      ///< restored it
};

/// `afterbay recover` has restored the file to an epoch after its run was killed: the file and its
/// name are durable.
struct FileRecovered {
  FilePublished file;
  std::uint64_t epoch = 0;
  std::string name;  ///< name of the epoch
};

/// Everything that the model put before the epoch on this server is durable.
struct EpochCompleted {
  std::uint64_t epoch = 0;  ///< number: 1, 2, ... in a session
  std::string name;
  std::vector<std::string> unpublished;  ///< part files that contain a part of it: `afterbay
                                         ///< recover`
  std::vector<std::string> lost{};       ///< files of optional collections that were given up
                                         ///< before
  std::vector<std::string> triggers{};   ///< to run when it is complete on all servers; from server
                                         ///< 0 only
};

/// The file will not be published: the run was stopped, failed, or continues without it.
struct FileGivenUp {
  FileFacts file;
  std::string why;
};

struct Warned {
  std::string text;
};

struct Failed {
  std::string code;
  std::string text;
  std::optional<std::string> file;
  std::optional<std::string> variable;
};

/// A trigger has run, or failed to run.
struct TriggerRan {
  std::string trigger;
  std::string on;  ///< "published", "epoch"
  std::optional<std::string> path;
  std::optional<std::string> epoch;
  bool ok = false;
  double seconds = 0;
  std::optional<std::string> text;  ///< the reason if it failed
};

/// The last line of a server in a run.
struct RunEnded {
  bool ok = false;
  std::uint64_t files = 0;  ///< number of files that it has published
};

/// Written by the next run that found no end of an older run in its file: the older run was killed.
struct RunAbandoned {
  std::string abandoned;  ///< its id
};

/// std::monostate: an event that this version does not know.
using Event = std::variant<std::monostate, RunStarted, FileOpened, FileReady, FilePublished, FileRecovered,
                           FileGivenUp, EpochCompleted, Warned, Failed, TriggerRan, RunEnded, RunAbandoned>;

struct Line {
  std::string at;  ///< UTC, "2026-11-22T07:15:03.123Z": sorts as text
  std::string run;
  std::int64_t server = 0;
  /// Grows from run to run in a directory, independent of the clock; 0: written by an older
  /// version.
  std::uint64_t sequence = 0;
  Event event;
};

/// Whether `afterbay recover` wrote it, under the id of the file's run, after the end of that run.
bool is_of_command(const Line& line) noexcept;

/// One line of JSON without its newline.
std::string text_of(const Line& line);
/// Nothing if the text is not a journal line, or only a part of one.
std::optional<Line> parse_line(std::string_view text);
/// Whether the text is the beginning of a line, whose end is missing.
bool is_cut_off(std::string_view text);

/// The current time, in the form of Line::at.
std::string utc_now();

/// "crc64-xz:995dc9bbdf1939fa".
std::string print_checksum(std::uint64_t checksum);
std::optional<std::uint64_t> parse_checksum(std::string_view text);

}  // namespace afterbay::journal
