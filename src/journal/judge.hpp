// SPDX-License-Identifier: Apache-2.0
// Evaluates a journal: the state of its runs, and whether the files match their entries.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/read.hpp"

namespace afterbay::journal {

enum class RunState {
  complete,  ///< every server ended cleanly
  running,   ///< a server has not ended, and is alive
  unclear,   ///< a server has not ended, and this host cannot see whether it is alive
  failed,    ///< ended with an error
  killed,    ///< a server did not end, and is dead
};
const char* name_of(RunState state) noexcept;

/// The process that asks.
struct Asker {
  std::string host;   ///< its host
  bool over = false;  ///< the caller knows that nothing is running any more
};
Asker this_host();

/// The state of a run. A server that has not ended is alive if it holds its journal file; it is
/// dead if the file system, on the server's host, shows that it does not.
RunState state_of(const Run& run, const Asker& asker);

/// The standing of a run after later runs of its session have begun.
struct Standing {
  bool followed = false;             ///< there are such runs
  bool replaced = false;             ///< they replace it: it no longer counts
  std::vector<std::string> awaited;  ///< files that it left incomplete and that none of them wrote
};
/// The rules are in docs/reference/journal.md, "Which runs count".
Standing standing_of(const Journal& journal, const Run& run);

/// Runs that no later run has replaced.
std::vector<const Run*> last_runs(const Journal& journal);

/// The worst state of the latest runs, in the order killed, failed, unclear, running, complete.
RunState state_of(const Journal& journal, const Asker& asker);

/// What the last complete file belongs to. Fields are empty or zero if there is nothing to
/// distinguish.
struct SeriesName {
  std::string session;
  std::string run;  ///< id, if another run of the session ran at the same time
  std::optional<std::int64_t> member;
  std::string collection;

  auto operator<=>(const SeriesName&) const = default;
};

/// Per session, member and collection, from the last run that published any: the file that was
/// opened last. Several may be published at the same time, in any order.
std::map<SeriesName, PublishedFile> last_files(const Journal& journal);

enum class Finding { right, missing, shorter, longer, changed, unreadable };
const char* name_of(Finding finding) noexcept;

struct CheckedFile {
  PublishedFile entry;
  Finding finding = Finding::right;
  std::string detail;  ///< "12 bytes, published with 4096"; of a directory: the files that differ
};

struct Verification {
  std::vector<CheckedFile> wrong;
  std::uint64_t right = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t without_checksum = 0;  ///< number of matching files of which only the size could be
                                       ///< compared
  std::uint64_t replaced = 0;          ///< entries whose file names belong to other files now
  std::uint64_t removed = 0;           ///< states at epochs that a run has removed itself
  std::uint64_t unreadable_lines = 0;  ///< unreadable lines of the journal, except torn ones: files may have
                                       ///< been published that the journal does not show
  std::uint64_t torn_lines = 0;        ///< see Journal

  [[nodiscard]] bool ok() const noexcept { return wrong.empty() && unreadable_lines == 0; }
};

/// Compares size and (unless `quick`) checksum of one file with its entry; of a directory, those of
/// each of its files, and whether it contains others. Reads everything unless `quick`.
CheckedFile check_file(const PublishedFile& entry, bool quick);

/// Verifies all files of the journal, by the newest entry of each path (newest_files). Files that
/// do not match are checked once more with the current journal, which is read once for all of them:
/// a running session may have replaced them meanwhile.
Result<Verification> verify(const Journal& journal, bool quick);

}  // namespace afterbay::journal
