// SPDX-License-Identifier: Apache-2.0
// Epochs on one server: what must be durable before each is complete. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/tickets.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

/// One epoch, from the first rank's word of it to the journal's.
struct ServedEpoch {
  enum class Stage {
    gathering,  ///< ranks are not there yet, or what they put before it is not written
    marking,    ///< open files are made to be brought back to it
    noting,     ///< a worker writes the journal
  };
  struct OpenFile {
    enum class State { waiting, submitted, done };
    std::uint64_t id = 0;
    std::uint64_t records = 0;  ///< that the model has put
    State state = State::waiting;
  };

  storage::Epoch epoch;  ///< its records are those of no file
  Stage stage = Stage::gathering;
  std::vector<Ticket> before;  ///< one a rank that has come to it: what it put before
  std::vector<OpenFile> files;
};

struct Epochs {
  std::map<std::uint64_t, ServedEpoch> open;  ///< by number; they complete in this order
  std::uint64_t completed = 0;                ///< number of the last that is complete here
  /// Leader: the parts of members that have come, by (epoch, file).
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<storage::MemberEpoch>> parts;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> arrived;  ///< also those without a part
  // First server, where a trigger waits for epochs: those that are complete here, and on how many others.
  std::map<std::uint64_t, std::string> complete_here;
  std::map<std::uint64_t, std::size_t> complete_elsewhere;
};

}  // namespace afterbay::server
