// SPDX-License-Identifier: Apache-2.0
// What a journal says about its runs, and whether the files are what it says.
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
  complete,  ///< every server ended in order
  running,   ///< a server has not ended, and lives
  unclear,   ///< a server has not ended, and whether it lives cannot be seen from here
  failed,    ///< ended with an error
  killed,    ///< a server did not end, and lives no more
};
const char* name_of(RunState state) noexcept;

/// Where the question is asked from.
struct Asker {
  std::string host;   ///< this one
  bool over = false;  ///< the asker knows that nothing runs any more
};
Asker this_host();

/// A run's state. A server that has not ended lives if it holds its journal file; it is dead if the file
/// system says, on the server's host, that it does not.
RunState state_of(const Run& run, const Asker& asker);

/// What becomes of a run once later ones of its session have begun after its end.
struct Standing {
  bool followed = false;             ///< there are such runs
  bool replaced = false;             ///< they take its place: it does not count any more
  std::vector<std::string> awaited;  ///< files that it left incomplete, and that none of them wrote
};
/// The rules are in docs/reference/journal.md, "Which runs count".
Standing standing_of(const Journal& journal, const Run& run);

/// Runs that no later one has taken the place of.
std::vector<const Run*> last_runs(const Journal& journal);

/// The worst state of the last runs, in the order killed, failed, unclear, running, complete.
RunState state_of(const Journal& journal, const Asker& asker);

/// Whose the last complete file is. Empty and zero where there is nothing to tell apart.
struct SeriesName {
  std::string session;
  std::string run;  ///< id, if another one of the session ran at the same time
  std::optional<std::int64_t> member;
  std::string collection;

  auto operator<=>(const SeriesName&) const = default;
};

/// Of each session, member and collection, from the last run that published any: the file that was opened
/// last. Several may be published at a time, in any order.
std::map<SeriesName, PublishedFile> last_files(const Journal& journal);

enum class Finding { right, missing, shorter, longer, changed, unreadable };
const char* name_of(Finding finding) noexcept;

struct CheckedFile {
  PublishedFile entry;
  Finding finding = Finding::right;
  std::string detail;  ///< "12 of 4096 bytes"
};

struct Verification {
  std::vector<CheckedFile> wrong;
  std::uint64_t right = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t without_checksum = 0;  ///< of the right ones: only their size could be compared
  std::uint64_t replaced = 0;          ///< entries of files whose names other files have now
};

/// Compares size and (unless `quick`) checksum of one file with its entry. Reads the file, at its own pace.
CheckedFile check_file(const PublishedFile& entry, bool quick);

/// All files of the journal, the newest entry of each path (newest_files). A file that is wrong is looked at
/// once more with the journal as it then is: a run that goes on may have replaced it meanwhile.
Result<Verification> verify(const Journal& journal, bool quick);

}  // namespace afterbay::journal
