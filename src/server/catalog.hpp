// SPDX-License-Identifier: Apache-2.0
// Catalog: the definitions of the model ranks, joined and checked, in batches: the decompositions,
// and the collections with their layout and this server's frames. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/served_collection.hpp"
#include "server/served_decompositions.hpp"
#include "transport/link.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

class Catalog {
 public:
  /// This server among those that check maps together: all servers if they exchange messages,
  /// otherwise only this one.
  struct ThisServer {
    std::size_t server = 0;  ///< its number in the session
    std::size_t checkers = 1;
    std::vector<std::uint64_t> slab_shares = {};  ///< by server of the session: see config::slab_shares
  };
  /// `session_ranks`: the session ranks of the model ranks, in model-rank order, for messages.
  Catalog(std::vector<int> session_ranks, const config::Config& config, const ThisServer& this_server);
  Catalog(std::vector<int> session_ranks, const config::Config& config)
      : Catalog(std::move(session_ranks), config, ThisServer()) {}
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // Definitions from model rank `peer`. Each call fails if ranks disagree, and names them.
  Result<> add(std::size_t peer, const wire::DefineDecomposition& message) AFTERBAY_REQUIRES(ingest_thread) {
    return decompositions_.add(peer, message);
  }
  Result<> add(std::size_t peer, wire::DefineMap message) AFTERBAY_REQUIRES(ingest_thread) {
    return decompositions_.add(peer, std::move(message));
  }
  /// Returns the collection if this message brought its schema, and so its layout. One rank sends
  /// the schema.
  Result<const ServedCollection*> add(std::size_t peer, const wire::DefineCollection& message)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Returns true if this was the last rank of the batch: then `check` and `complete` must be
  /// called.
  Result<bool> end(std::size_t peer, const wire::DefineEnd& message) AFTERBAY_REQUIRES(ingest_thread);
  /// Model ranks whose definitions other ranks wait for.
  [[nodiscard]] std::vector<int> still_to_come() const AFTERBAY_REQUIRES(ingest_thread);
  /// Checks the batch, maps as far as this server knows them.
  Result<wire::MapVerdicts> check() AFTERBAY_REQUIRES(ingest_thread);
  /// Joins what the servers found, which the first of them does. `by_server`: in the order of the
  /// servers.
  [[nodiscard]] wire::MapsChecked judge(std::span<const std::vector<wire::MapVerdict>> by_server) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Declares the frames of the batch and returns the answer to the ranks. Fails with the error of
  /// `maps`.
  Result<wire::Defined> complete(const wire::MapsChecked& maps, transport::FramePool& frames)
      AFTERBAY_REQUIRES(ingest_thread);
  /// The same after `check`, for a server that checks alone.
  Result<wire::Defined> complete(transport::FramePool& frames) AFTERBAY_REQUIRES(ingest_thread);
  /// The points of maps in the last `complete`d batch that model rank `peer` lost to other ranks.
  [[nodiscard]] std::vector<wire::MapLosses> losses(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread) {
    return decompositions_.losses(peer);
  }
  /// The positions of model rank `peer`'s points in cuts that are handed over packed and are new in
  /// that batch.
  [[nodiscard]] std::vector<wire::MapPacking> packings(std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] const ServedCollection* find(std::uint32_t id) const AFTERBAY_REQUIRES(ingest_thread);
  /// The collection that owns a frame of the pool.
  [[nodiscard]] const ServedCollection* owner(std::uint32_t pool_frame) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool contributes(const ServedCollection& collection, std::uint32_t variable,
                                 std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint32_t contributors(const ServedCollection& collection, std::uint32_t variable) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Puts a packed contribution in its place; returns false if it does not match the definitions.
  [[nodiscard]] bool scatter(std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece,
                             std::span<const std::byte> packed, std::byte* frame) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// A checked map decomposition; nullopt if there is none with that number.
  struct FoundMap {
    const std::string& name;
    ServedMap& map;
  };
  [[nodiscard]] std::optional<FoundMap> map(std::uint32_t id) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] int session_rank(std::size_t peer) const { return session_ranks_[peer]; }
  [[nodiscard]] std::size_t ranks() const noexcept { return session_ranks_.size(); }

 private:
  Result<> declare(ServedCollection& collection, transport::FramePool& frames)
      AFTERBAY_REQUIRES(ingest_thread);
  /// This server's part in the files of a collection, counted from the server of the first file.
  [[nodiscard]] std::uint16_t part_in(const ServedCollection& collection) const;

  std::vector<int> session_ranks_;
  const config::Config& config_;
  ThisServer this_server_;
  ServedDecompositions decompositions_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::map<std::uint32_t, ServedCollection> collections_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::uint32_t> new_collections_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// The collection of each frame of the pool.
  std::vector<const ServedCollection*> owners_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Packings of each cut that is new in the last batch.
  std::vector<ServedMap::Packings> new_packings_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t serial_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::size_t ended_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::vector<bool> has_ended_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank, while ended_ > 0
};

}  // namespace afterbay::server
