// SPDX-License-Identifier: Apache-2.0
// OutputFile: a file from the first rank's open to its publication. Used by the ingest thread; the
// storage::File inside is used by workers while writes are pending.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/catalog.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

struct OutputFile {
  enum class State {
    announced,  ///< not begun: its changes are not known yet, or an older file of its name is in the making
    creating,   ///< a worker makes the structure
    open,
    publishing,
    handed_over,  ///< a member's part is complete; the leader publishes the file
  };

  std::uint64_t id = 0;
  const ServedCollection* collection = nullptr;
  std::string path;
  FileName name{};  ///< what the path was made of
  State state = State::announced;
  bool noted = false;                    ///< the journal has heard that it was begun
  std::optional<SchemaChanges> changes;  ///< from the lowest model rank; until it is begun
  bool assigned = false;                 ///< given to this server because it had the least to write
  bool failed = false;                   ///< never to be published
  std::atomic<bool> dropped{false};      ///< given up, while the session goes on; workers look
  std::atomic<bool> unwanted{false};     ///< the session has failed, and it is not worth writing; likewise
  std::unique_ptr<storage::File> file;
  std::vector<std::function<void()>> waiting;  ///< tasks to submit once it is open
  std::size_t pending = 0;                     ///< tasks waiting or submitted
  std::uint64_t records_taken = 0;             ///< that every rank has handed over
  std::uint64_t opened_ns = 0;
  std::uint64_t published_bytes = 0;
  std::optional<std::uint64_t> published_checksum{};
  std::vector<bool> variables_put{};       ///< by number in the schema; leader
  std::uint64_t records_put = 0;           ///< it has so many, though nobody may hold a point of them
  std::uint64_t records_dropped = 0;       ///< left out because the memory was full
  std::vector<bool> closed;                ///< by model rank
  std::vector<std::size_t> asked_records;  ///< model ranks that want to know how many there were
  std::size_t closed_by = 0;
  std::vector<std::pair<std::size_t, std::uint64_t>> tickets;  ///< (model rank, ticket) of close

  // Of a file that several servers write:
  std::size_t leader = 0;
  std::size_t parts_missing = 0;                  ///< leader: members that have not handed over
  std::vector<storage::MemberEpoch> handed{};     ///< leader: whole accounts of those that have
  std::optional<std::vector<std::byte>> share{};  ///< member: what the leader sent, until it has joined

  /// Every rank has closed it: all its data are here.
  [[nodiscard]] bool closed_by_all() const noexcept { return closed_by == closed.size(); }
  /// Tasks of it run, or will without anything more from the ranks.
  [[nodiscard]] bool being_written() const noexcept {
    return state == State::creating || state == State::publishing || state == State::handed_over ||
           (state == State::open && (pending > 0 || (closed_by_all() && parts_missing > 0)));
  }
  [[nodiscard]] std::vector<int> not_closed() const {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < closed.size(); ++r)
      if (!closed[r]) ranks.push_back(static_cast<int>(r));
    return ranks;
  }
};

}  // namespace afterbay::server
