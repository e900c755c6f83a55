// SPDX-License-Identifier: Apache-2.0
// EpochKeeper: takes an epoch on this server from the first rank that reaches it to its line in the
// journal. An epoch has three stages:
//   gathering  until all ranks have reached it and everything that they put before is written,
//   marking    until the state of every open file at the epoch can be recovered,
//   noting     until the journal has recorded it; then the ranks are answered.
// Epochs complete in the order of their numbers. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "journal/line.hpp"
#include "server/files/output_file.hpp"
#include "server/tickets.hpp"
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
    std::function<OutputFile*(std::uint64_t file)> file;
    std::function<bool(const Ticket&)> is_written;
    /// Whether the file must be, and is not yet, recorded in the journal.
    std::function<bool(const OutputFile&)> awaits_journal;
    /// Submits a task that marks the file for the epoch and finally calls `marked`. `parts`: on the
    /// leader, the members' parts.
    std::function<void(OutputFile&, storage::Epoch, Parts)> mark;
    /// Sends a member's part to the leader of the file.
    std::function<void(const OutputFile&, wire::EpochPart)> send_part;
    /// Submits a task that writes the line and finally calls `noted`.
    std::function<void(std::uint64_t number, journal::EpochCompleted)> note;
    /// Gives a task of a file to a worker.
    std::function<void(OutputFile&, std::function<void()> task)> submit;
    std::function<void(std::size_t peer, std::uint64_t ticket)> answer;
    std::function<void(std::uint64_t number, const std::string& name)> complete;
  };

  explicit EpochKeeper(Host host) : host_(std::move(host)) {}

  /// A rank has reached an epoch. `before`: everything that it put before. Fails if the rank gives
  /// the epoch another name than other ranks.
  Result<> reach(const wire::Epoch& message, Ticket before);
  /// Advances epochs as far as possible.
  void advance();

  /// The state of the file at the epoch can be recovered. `part`: a member's part, for the leader.
  void marked(const OutputFile& file, std::uint64_t number, std::optional<storage::MemberEpoch> part);
  /// Leader: a member's part has arrived.
  void take_part(wire::EpochPart message);
  /// The journal has recorded the epoch.
  void noted(std::uint64_t number);

  /// All ranks have ended: removes epochs that some of them never reached. Returns warnings.
  std::vector<std::string> forget_unreachable();
  /// The session has failed: no further epoch completes.
  void stop();

  /// Number of the last epoch that the rank has reached; 0: none.
  [[nodiscard]] std::uint64_t reached(std::size_t peer) const;
  /// Submits a task on data that were put after epoch `number`: at once, or when that epoch is
  /// complete or can no longer complete. Used if the file could not distinguish these data from
  /// data that were put before.
  void submit_after(std::uint64_t number, OutputFile& file, std::function<void()> task);
  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }
  /// Whether an epoch is being recorded in the journal.
  [[nodiscard]] bool noting() const;
  [[nodiscard]] bool has_ticket(std::size_t peer, std::uint64_t ticket) const;
  /// The ranks for which others wait at an epoch, in words; empty: none.
  [[nodiscard]] std::string missing() const;

 private:
  enum class Stage { gathering, marking, noting };
  struct OpenFile {
    enum class State { waiting, submitted, done };
    std::uint64_t id = 0;
    std::uint64_t records = 0;  ///< number of records that the model has put
    State state = State::waiting;
  };
  struct Open {
    storage::Epoch epoch;  ///< its `records` are not set; they differ per file
    Stage stage = Stage::gathering;
    std::vector<Ticket> before;  ///< one per rank that has reached the epoch
    std::vector<OpenFile> files;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< (epoch, file)

  /// A task that waits for an epoch. It counts as pending for its file.
  struct Held {
    std::uint64_t after = 0;
    std::uint64_t file = 0;
    std::function<void()> task;
  };

  [[nodiscard]] bool awaits(std::uint64_t number) const noexcept {
    return !stopped_ && !unreachable_ && number > completed_;
  }
  void submit_held();
  void mark(Open& it, OpenFile& entry);
  [[nodiscard]] Parts take_parts(const Key& key, const OutputFile& file);
  void note(Open& it);
  [[nodiscard]] std::string missing_at(const Open& it) const;

  Host host_;
  std::map<std::uint64_t, Open> open_;  ///< open epochs by number
  std::uint64_t completed_ = 0;         ///< number of the last epoch that is complete here
  std::map<Key, Parts> parts_;          ///< leader: the members' parts
  /// Leader: number of members that have reported, with or without a part.
  std::map<Key, std::size_t> arrived_;
  std::vector<std::uint64_t> reached_;  ///< by model rank
  std::vector<Held> held_;
  bool stopped_ = false;
  bool unreachable_ = false;  ///< an open epoch can never complete
};

}  // namespace afterbay::server
