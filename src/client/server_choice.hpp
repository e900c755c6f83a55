// SPDX-License-Identifier: Apache-2.0
// ServerChoice: chooses the server, and its pool, for each file. Every rank makes the same choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "client/file.hpp"
#include "client/session_core.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::client {

class ServerChoice {
 public:
  explicit ServerChoice(SessionCore& core) : core_(core) {}

  /// Sets the server of a new file, and sets its collection to the one in the server's pool.
  /// `earlier`: the server that wrote the path before; it gets the file again if the collection may
  /// use it, because it publishes the older file first, without a wait here. Returns true if the
  /// least loaded server was chosen. May wait for the servers.
  Result<bool> choose(File& file, std::optional<std::size_t> earlier);
  /// Stores the answer of the server that chooses.
  void answer(const wire::Assigned& message) {
    files_[message.collection].assigned[message.nth] = message.server;
  }

 private:
  struct Files {
    std::uint64_t dealt = 0;    ///< number of files with new names, in all pools
    std::uint64_t in_pool = 0;  ///< number of these files in this pool
    /// Server by number of the file, as answered by the choosing server.
    std::map<std::uint64_t, std::size_t> assigned;
  };

  Result<std::size_t> least_loaded(const Collection& collection, std::uint64_t nth);
  Result<> ask(const Collection& collection, std::uint64_t nth);
  [[nodiscard]] std::vector<wire::Candidate> candidates(const Collection& collection);

  SessionCore& core_;
  std::map<std::uint32_t, Files> files_;  ///< by id of the collection
};

}  // namespace afterbay::client
