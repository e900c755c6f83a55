// SPDX-License-Identifier: Apache-2.0
// OutputFile: an output file from the first rank's open to its end. Used by the ingest thread; the
// storage::File inside is used by workers while tasks of the file run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "server/catalog.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

/// How a file ends. A later enumerator replaces an earlier one.
enum class Ending : std::uint8_t {
  published,   ///< it gets its final name, unless one of the others comes first
  incomplete,  ///< it is never published, because data are missing or wrong; the session fails
  abandoned,   ///< the session has failed, and the remaining data would not complete the file
  no_space,    ///< it is given up because the disk is full; the session continues
};

struct OutputFile {
  /// announced -> creating -> open -> publishing -> removed from OutputFiles. A member's part:
  /// publishing -> handed_over -> removed. Any of them -> ended, if the file is not published.
  enum class State : std::uint8_t {
    /// Its changes are unknown, an older file of its name exists, or its leader is not ready.
    announced,
    creating,     ///< a worker creates the structure
    open,         ///< data are written
    publishing,   ///< a worker publishes it, or hands over a member's part
    handed_over,  ///< member: the part is complete; the leader publishes the file
    /// It is not published, and no task uses it; some ranks may not have closed it yet.
    ended,
  };
  /// The task of this server for the file.
  enum class Role : std::uint8_t {
    sole,    ///< writes it alone
    leader,  ///< makes and publishes a file that several servers write
    member,  ///< writes a part of a file that another server leads
  };
  /// State of a file that several servers write.
  struct Parts {
    std::size_t leader = 0;   ///< number of the leading server
    std::size_t missing = 0;  ///< leader: number of members that have not handed over their parts
    std::vector<storage::MemberEpoch> handed{};  ///< leader: complete parts of those that have
  };

  std::uint64_t id = 0;
  const ServedCollection* collection = nullptr;
  std::string path;
  FileName name{};  ///< the components of the path
  State state = State::announced;
  Role role = Role::sole;
  std::atomic<Ending> ending{Ending::published};  ///< read by any thread
  bool noted = false;                             ///< the journal has the line that it was opened
  /// From the lowest model rank; empty once the file is begun.
  std::optional<SchemaChanges> changes;
  bool assigned = false;  ///< assigned to this server as the least loaded one
  std::unique_ptr<storage::File> file;
  std::vector<std::function<void()>> waiting;  ///< tasks to submit once it is open
  std::size_t pending = 0;                     ///< number of tasks waiting or submitted
  /// Number of records that every rank has handed over.
  std::uint64_t records_taken = 0;
  std::uint64_t opened_ns = 0;
  std::uint64_t epochs = 0;  ///< number of the last epoch before the file was opened
  std::uint64_t published_bytes = 0;
  std::optional<std::uint64_t> published_checksum{};
  std::vector<bool> variables_put{};  ///< by number in the schema; not of members
  /// Number of records in the file, including those of which no rank holds a point.
  std::uint64_t records_put = 0;
  /// Number of records left out because the memory was full.
  std::uint64_t records_dropped = 0;
  std::vector<bool> closed;                ///< by model rank
  std::vector<std::size_t> asked_records;  ///< model ranks that wait for the number of records
  std::size_t closed_by = 0;               ///< number of model ranks
  std::vector<std::pair<std::size_t, std::uint64_t>> tickets;  ///< (model rank, ticket) of close
  Parts parts{};

  /// Whether the file is still to be published. Any thread.
  [[nodiscard]] bool wanted() const noexcept { return ending == Ending::published; }
  /// Fails if its tasks must no longer run. Any thread.
  [[nodiscard]] Result<> check_wanted() const;
  /// Every rank has closed it: all its data are here.
  [[nodiscard]] bool closed_by_all() const noexcept { return closed_by == closed.size(); }
  /// Whether workers have, or will have, tasks that use it.
  [[nodiscard]] bool in_use() const noexcept {
    return pending > 0 || state == State::creating || state == State::publishing;
  }
  /// Whether tasks of it run, or will run without further messages from the ranks.
  [[nodiscard]] bool being_written() const noexcept {
    return state == State::creating || state == State::publishing || state == State::handed_over ||
           (state == State::open && (pending > 0 || (closed_by_all() && parts.missing > 0)));
  }
  [[nodiscard]] std::vector<int> not_closed() const;
};

}  // namespace afterbay::server
