// SPDX-License-Identifier: Apache-2.0
// OutputFile: an output file from the first rank's open to its end. Belongs to the ingest thread,
// except what workers read while tasks of the file run; the storage::File inside is used by
// workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/catalog.hpp"
#include "server/files/close_tickets.hpp"
#include "server/thread_functions.hpp"
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
    std::size_t leader = 0;  ///< number of the leading server
    /// Leader: number of members that have not handed over their parts.
    std::size_t missing AFTERBAY_GUARDED_BY(ingest_thread) = 0;
    std::vector<storage::MemberEpoch> handed{};  ///< leader: complete parts of those that have
  };

  // Read by workers too. Constant once the file is open:
  std::uint64_t id = 0;
  const ServedCollection* collection = nullptr;
  std::string path;
  FileName name{};  ///< the components of the path; set before the file is begun
  Role role = Role::sole;
  bool holds_states = false;  ///< see wire::OpenFile
  std::uint64_t opened_ns = 0;
  std::uint64_t epochs = 0;  ///< number of the last epoch before the file was opened
  /// Read by tasks that began while the file was wanted; the pointer does not change meanwhile.
  std::unique_ptr<storage::File> file;
  // The ingest thread changes these only before the file is published, workers read them only while
  // they publish it:
  Parts parts{};
  /// Number of records in the file, including those of which no rank holds a point.
  std::uint64_t records_put = 0;
  /// Number of records left out because the memory was full.
  std::uint64_t records_dropped = 0;
  /// The largest errors of packed and rounded variables, as far as this server knows them.
  model::LargestErrors errors{};
  /// Written by the ingest thread.
  std::atomic<Ending> ending{Ending::published};

  State state AFTERBAY_GUARDED_BY(ingest_thread) = State::announced;
  /// The journal has the line that it was opened.
  bool noted AFTERBAY_GUARDED_BY(ingest_thread) = false;
  /// Changes from the lowest model rank; empty once the file is begun.
  std::optional<SchemaChanges> changes AFTERBAY_GUARDED_BY(ingest_thread);
  /// Assigned to this server as the least loaded one.
  bool assigned AFTERBAY_GUARDED_BY(ingest_thread) = false;
  /// Tasks to submit once it is open.
  std::vector<WorkerTask> waiting AFTERBAY_GUARDED_BY(ingest_thread);
  /// Number of tasks waiting or submitted.
  std::size_t pending AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  /// Number of records that every rank has handed over.
  std::uint64_t records_taken AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  struct AsPublished {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> checksum{};
  };
  AsPublished as_published AFTERBAY_GUARDED_BY(ingest_thread){};
  /// By number in the schema; not of members.
  std::vector<bool> variables_put AFTERBAY_GUARDED_BY(ingest_thread){};
  /// Model ranks that wait for the number of records.
  std::vector<std::size_t> asked_records AFTERBAY_GUARDED_BY(ingest_thread);
  /// Which ranks have closed it.
  CloseTickets closes AFTERBAY_GUARDED_BY(ingest_thread){};

  /// Whether the file is still to be published. Any thread.
  [[nodiscard]] bool wanted() const noexcept { return ending == Ending::published; }
  /// Fails if its tasks must no longer run. Any thread.
  [[nodiscard]] Result<> check_wanted() const;
  /// Every rank has closed it: all its data are here.
  [[nodiscard]] bool closed_by_all() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return closes.by_all();
  }
  /// Whether workers have, or will have, tasks that use it.
  [[nodiscard]] bool in_use() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return pending > 0 || state == State::creating || state == State::publishing;
  }
  /// Whether tasks of it run, or will run without further messages from the ranks.
  [[nodiscard]] bool being_written() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return state == State::creating || state == State::publishing || state == State::handed_over ||
           (state == State::open && (pending > 0 || (closed_by_all() && parts.missing > 0)));
  }
  [[nodiscard]] std::vector<int> not_closed() const AFTERBAY_REQUIRES(ingest_thread) {
    return closes.not_closed();
  }
};

}  // namespace afterbay::server
