// SPDX-License-Identifier: Apache-2.0
// LocalRun: a whole session in one process: model ranks and servers are threads over the thread
// transport. For tests only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/session.hpp"
#include "base/caller_terms.hpp"
#include "model/format.hpp"
#include "observe/records.hpp"

namespace afterbay::storage {
class Store;
}

namespace afterbay::test {

class LocalRun {
 public:
  using Settings = std::vector<std::pair<std::string, std::string>>;
  using Model = std::function<void(Session& session, int rank)>;

  LocalRun(int models, int servers, Settings settings = {})
      : models_(models), servers_(servers), settings_(std::move(settings)) {}

  /// Runs `model` on every rank (which need not finalize). Returns the exception of each rank, then
  /// the result of each server.
  std::vector<std::optional<Error>> run(const Model& model);

  /// The servers' store, instead of the built-in ones.
  std::function<storage::Store&(Format)> stores;
  /// Asked by the servers: see Server::stop_at.
  std::function<int()> stop_signal;
  /// of the model ranks
  Terms terms = Terms::c;
  /// As if the servers were on several nodes: see config::slab_shares.
  std::vector<std::uint64_t> slab_shares;
  /// Threads of a model rank share nothing of the links to the first servers, as over MPI and
  /// inline: what endpoints put travels through the session's thread.
  std::size_t servers_of_one_thread = 0;
  /// Gets the history of each server that has ended in order, in its thread.
  std::function<void(observe::ServerHistory)> at_end;
  /// Settings that a model rank has in addition.
  std::function<Settings(int rank)> settings_of_rank;

 private:
  class Threads;

  int models_;
  int servers_;
  Settings settings_;
};

}  // namespace afterbay::test
