// SPDX-License-Identifier: Apache-2.0
// Definitions: the decompositions and collections that the model has defined, which are the same on
// every rank, and the servers' answers. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "client/collection.hpp"
#include "client/decomposition.hpp"
#include "client/pools.hpp"
#include "client/session_core.hpp"
#include "config/config.hpp"
#include "model/map_division.hpp"
#include "observe/profile.hpp"
#include "observe/records.hpp"

namespace afterbay::client {

class Definitions {
 public:
  using Collections = std::span<const std::unique_ptr<Collection>>;

  Definitions(SessionCore& core, const config::Config& config, observe::Profile& profile, Logger logger);

  Result<> add_decomposition(const std::string& name, const Block& block, const Coverage& coverage);
  Result<> add_decomposition(const std::string& name, const Map& map, const Coverage& coverage);
  /// Returns one collection per pool; the first is the one that the model uses.
  Result<Collections> add_collection(const std::string& name, const Schema& schema,
                                     const CollectionOptions& options,
                                     std::vector<AskedReduction> reductions = {});

  [[nodiscard]] bool are_sent() const noexcept {
    return decompositions_sent_ == decompositions_.size() && collections_sent_ == collections_.size();
  }
  /// Sends new definitions to the servers and waits for their answers. Returns the new collections.
  Result<Collections> send();
  /// Whether any server of the collection's pool may get a whole file, so that each needs all
  /// points of its maps, and these would together take more than `memory.maps`: then `send` leaves
  /// the collection out, and a server is told of it with the first file that it writes.
  [[nodiscard]] bool gives_maps_later(const Collection& collection) const;
  /// Whether a server that is to get a file of the collection must be told of it before.
  [[nodiscard]] bool lacks(std::size_t server, const Collection& collection) const {
    return !collection.pool().is_split() && sent_[collection.id()][server] == Sent::no;
  }
  /// Tells the server, and waits for its answer, and so for all ranks. All ranks call it alike.
  Result<> define_at(const Collection& collection, std::size_t server);

  /// All collections, by id.
  [[nodiscard]] Collections collections() const noexcept { return collections_; }
  [[nodiscard]] Result<const Decomposition*> decomposition(const std::string& name) const;
  /// A decomposition that the servers know, for an endpoint. Any thread.
  [[nodiscard]] Result<Decomposition> started_decomposition(const std::string& name) const;
  /// The servers that read files.
  [[nodiscard]] const std::vector<std::size_t>& readers() const noexcept { return pools_.readers(); }
  [[nodiscard]] std::vector<observe::CollectionRecord> records_for_report() const;

  // Answers of servers.
  void answer(std::size_t server, const wire::Defined& message);
  void answer(const wire::MapLosses& message);
  Result<> answer(std::size_t server, wire::MapPacking message);

 private:
  /// Whether a server has been told of a collection.
  enum class Sent : std::uint8_t { no, in_this_batch, before };
  /// What a server knows of this rank's block of a decomposition; each includes the one before.
  enum class Told : std::uint8_t { nothing, that_it_exists, block };

  [[nodiscard]] Result<> check_new_decomposition(const std::string& name) const;
  /// Sends the points of a map, each server those that it needs, to servers that need some that
  /// they do not have. Returns whether there are any, which is the same on all ranks.
  Result<bool> send_map(const Decomposition& decomposition, bool is_new);
  /// Sends this rank's block to the servers that need it and do not have it.
  Result<> send_block(const Decomposition& decomposition, bool is_new);
  /// Sends the parts of all decompositions that the collections of this batch need. Returns whether
  /// points of maps were sent.
  Result<bool> send_decompositions();
  [[nodiscard]] wire::DefineEnd end_of_batch(bool has_maps) const;
  /// Whether this batch tells a server of the collection.
  [[nodiscard]] bool is_in_batch(const Collection& collection) const;
  /// Adds what the servers of a collection need. `more`: by server; set if it did not need this
  /// before.
  void add_needs(const Collection& collection, const Decomposition& decomposition,
                 model::MapDivision& division, std::vector<bool>& more) const;
  /// Adds what the servers of a collection of this batch need to know of this rank's block of a
  /// decomposition.
  void add_needs(const Collection& collection, const Decomposition& decomposition,
                 std::vector<Told>& needs) const;
  void lose_points();
  void warn_of_unknown_collections() const;

  SessionCore& core_;
  const config::Config& config_;
  observe::Timer* timer_;
  Logger logger_;
  Pools pools_;
  mutable Mutex endpoints_mutex_;  ///< held by the session's thread while it changes what endpoints read
  std::vector<Decomposition> decompositions_;
  std::size_t decompositions_started_ AFTERBAY_GUARDED_BY(endpoints_mutex_) = 0;
  std::size_t decompositions_sent_ = 0;
  std::vector<std::unique_ptr<Collection>> collections_;
  std::size_t collections_sent_ = 0;
  std::vector<std::vector<Sent>> sent_;  ///< by collection, then by server
  std::uint64_t serial_ = 0;             ///< the serial of the last batch
  std::vector<std::uint64_t> answered_;  ///< one per server: the serial of its last answer
  /// By map: servers that have all of this rank's points.
  std::map<std::uint32_t, std::vector<bool>> has_all_;
  /// By decomposition in blocks, then by server.
  std::map<std::uint32_t, std::vector<Told>> told_;
  /// By map: points that other ranks hold, as the servers answer.
  std::map<std::uint32_t, std::vector<model::OffsetRun>> lost_;
};

}  // namespace afterbay::client
