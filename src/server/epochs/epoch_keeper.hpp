// SPDX-License-Identifier: Apache-2.0
// EpochKeeper: takes an epoch on this server from the first rank that reaches it to its line in the
// journal. An epoch has three stages:
//   gathering  until all ranks have reached it and everything that they put before is written,
//   marking    until the state of every open file at the epoch can be recovered,
//   noting     until the journal has recorded it; then the ranks are answered.
// Epochs complete in the order of their numbers. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "journal/line.hpp"
#include "server/files/output_file.hpp"
#include "server/thread_functions.hpp"
#include "server/ticket_groups.hpp"
#include "storage/store.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class EpochKeeper {
 public:
  using Parts = std::vector<storage::MemberEpoch>;
  struct Host {
    std::size_t ranks = 0;
    /// Null if this server does not have the file, or no longer has it.
    IngestFunction<OutputFile*(std::uint64_t file)> file;
    IngestFunction<bool(const OpenTicket&)> is_written;
    /// Whether the file must be, and is not yet, recorded in the journal.
    IngestFunction<bool(const OutputFile&)> awaits_journal;
    /// Submits a task that marks the file for the epoch and finally calls `marked`. `parts`: on the
    /// leader, the members' parts.
    IngestFunction<void(OutputFile&, storage::Epoch, Parts)> mark;
    /// Sends a member's part to the leader of the file.
    IngestFunction<void(const OutputFile&, wire::EpochPart)> send_part;
    /// Submits a task that writes the line and finally calls `noted`.
    IngestFunction<void(std::uint64_t number, journal::EpochCompleted)> note;
    /// Gives a task of a file to a worker.
    IngestFunction<void(OutputFile&, WorkerTask task)> submit;
    IngestFunction<void(std::size_t peer, std::uint64_t ticket)> answer;
    IngestFunction<void(std::uint64_t number, const std::string& name)> complete;
  };

  explicit EpochKeeper(Host host) : host_(std::move(host)) {}

  /// A rank has reached an epoch. `before`: everything that it put before. Fails if the rank gives
  /// the epoch another name than other ranks.
  Result<> reach(const wire::EndEpoch& message, OpenTicket before) AFTERBAY_REQUIRES(ingest_thread);
  /// Advances epochs as far as possible.
  void advance() AFTERBAY_REQUIRES(ingest_thread);

  /// The state of the file at the epoch can be recovered. `part`: a member's part, for the leader.
  void marked(const OutputFile& file, std::uint64_t number, std::optional<storage::MemberEpoch> part)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Leader: a member's part has arrived.
  void take_part(wire::EpochPart message) AFTERBAY_REQUIRES(ingest_thread);
  /// The journal has recorded the epoch.
  void noted(std::uint64_t number) AFTERBAY_REQUIRES(ingest_thread);

  /// The file was given up for want of space: what was put into it is in no later epoch.
  void lost(const std::string& path) AFTERBAY_REQUIRES(ingest_thread) { lost_.insert(path); }
  /// A file of that name was published, after all.
  void published(const std::string& path) AFTERBAY_REQUIRES(ingest_thread) { lost_.erase(path); }

  /// All ranks have ended: removes epochs that some of them never reached. Returns warnings.
  std::vector<std::string> forget_unreachable() AFTERBAY_REQUIRES(ingest_thread);
  /// The session has failed: no further epoch completes.
  void stop() AFTERBAY_REQUIRES(ingest_thread);

  /// Number of the last epoch that the rank has reached; 0: none.
  [[nodiscard]] std::uint64_t reached(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);
  /// Submits a task on data that were put after epoch `number`: at once, or when that epoch is
  /// complete or can no longer complete. Used if the file could not distinguish these data from
  /// data that were put before.
  void submit_after(std::uint64_t number, OutputFile& file, WorkerTask task) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool empty() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return open_.empty(); }
  /// Whether an epoch is being recorded in the journal.
  [[nodiscard]] bool noting() const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool has_ticket(std::size_t peer, std::uint64_t ticket) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// The ranks for which others wait at an epoch, in words; empty: none.
  [[nodiscard]] std::string missing() const AFTERBAY_REQUIRES(ingest_thread);

 private:
  enum class Stage { gathering, marking, noting };
  struct OpenFile {
    enum class State { waiting, submitted, done };
    std::uint64_t records = 0;  ///< number of records that the model has put
    State state = State::waiting;
  };
  struct Open {
    storage::Epoch epoch;  ///< its `records` are not set; they differ per file
    Stage stage = Stage::gathering;
    TicketGroups<> before;                    ///< one per rank that has reached the epoch
    std::map<std::uint64_t, OpenFile> files;  ///< by number
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< (epoch, file)

  /// A task that waits for an epoch. It counts as pending for its file.
  struct Held {
    std::uint64_t after = 0;
    std::uint64_t file = 0;
    WorkerTask task;
  };

  [[nodiscard]] bool awaits(std::uint64_t number) const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return !stopped_ && !unreachable_ && number > completed_;
  }
  void submit_held() AFTERBAY_REQUIRES(ingest_thread);
  void mark(Open& it, std::uint64_t id, OpenFile& entry) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Parts take_parts(const Key& key, const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);
  void note(Open& it) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::string missing_at(const Open& it) const AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  std::map<std::uint64_t, Open> open_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< open epochs by number
  /// Number of the last epoch that is complete here.
  std::uint64_t completed_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::map<Key, Parts> parts_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< leader: the members' parts
  /// Leader: number of members that have reported, with or without a part.
  std::map<Key, std::size_t> arrived_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::uint64_t> reached_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank
  std::vector<Held> held_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::set<std::string> lost_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< paths, see `lost`
  bool stopped_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  bool unreachable_ AFTERBAY_GUARDED_BY(ingest_thread) = false;  ///< an open epoch can never complete
};

}  // namespace afterbay::server
