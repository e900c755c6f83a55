// SPDX-License-Identifier: Apache-2.0
// ServedDecompositions: the decompositions of all model ranks, joined and checked. Used by the
// ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/served_blocks.hpp"
#include "server/served_map.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::server {

struct ServedDecomposition {
  std::string name;
  Coverage coverage;
  model::Index global;
  std::unique_ptr<ServedMap> map;        ///< or
  std::unique_ptr<ServedBlocks> blocks;  ///< the other one is null
  std::vector<bool> described;           ///< by model rank
  std::uint32_t holders = 0;             ///< number of ranks that hold points
  bool checks = false;                   ///< blocks: this server checks those of all ranks
  bool used = false;                     ///< blocks: this server writes collections on it
  bool checked = false;
  bool covered = false;  ///< a map that all servers have checked, perhaps with fewer points here
};

class ServedDecompositions {
 public:
  /// This server among those that check maps together: see Catalog::ThisServer.
  struct ThisServer {
    std::size_t server = 0;
    std::size_t checkers = 1;
  };
  /// `session_ranks`: the session ranks of the model ranks; must outlive this object.
  ServedDecompositions(std::span<const int> session_ranks, const ThisServer& this_server)
      : session_ranks_(session_ranks), this_server_(this_server) {}

  // From model rank `peer`. Each call fails if ranks disagree, and names them.
  Result<> add(std::size_t peer, const wire::DefineDecomposition& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> add(std::size_t peer, wire::DefineMap message) AFTERBAY_REQUIRES(ingest_thread);

  // What is new when all ranks have ended a batch of definitions: first the blocks, then the maps,
  // as far as this server knows them. Blocks that no collection of this server uses are forgotten
  // when they are checked.
  Result<> check_blocks() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::vector<wire::MapVerdict> check_maps() AFTERBAY_REQUIRES(ingest_thread);
  /// Joins what the servers found.
  [[nodiscard]] wire::MapsChecked judge(std::span<const std::vector<wire::MapVerdict>> by_server) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// From now on the maps of the batch are checked.
  void accept(const wire::MapsChecked& maps) AFTERBAY_REQUIRES(ingest_thread);
  /// The points of these maps that model rank `peer` lost to other ranks.
  [[nodiscard]] std::vector<wire::MapLosses> losses(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);

  /// Null if there is none with that number, or it is none of this server.
  [[nodiscard]] const ServedDecomposition* find(std::uint32_t id) const AFTERBAY_REQUIRES(ingest_thread);
  /// The decomposition of a variable; null if `id` is negative (Whole).
  [[nodiscard]] const ServedDecomposition* of(std::int32_t id) const AFTERBAY_REQUIRES(ingest_thread) {
    return id < 0 ? nullptr : &decompositions_.at(static_cast<std::uint32_t>(id));
  }

 private:
  Result<ServedDecomposition*> join(std::size_t peer, std::uint32_t id, const std::string& name,
                                    const model::Index& global, const Coverage& coverage, bool is_map)
      AFTERBAY_REQUIRES(ingest_thread);
  Result<> check_described(const ServedDecomposition& decomposition) const AFTERBAY_REQUIRES(ingest_thread);
  Result<> check(ServedDecomposition& decomposition) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] wire::MapVerdict check_map(std::uint32_t id, ServedDecomposition& decomposition) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::optional<Error> fault_of(const ServedDecomposition& map,
                                              std::span<const wire::MapVerdict* const> verdicts) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] int session_rank(std::size_t peer) const { return session_ranks_[peer]; }
  [[nodiscard]] std::size_t ranks() const noexcept { return session_ranks_.size(); }

  std::span<const int> session_ranks_;
  ThisServer this_server_;
  std::map<std::uint32_t, ServedDecomposition> decompositions_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::vector<std::uint32_t> checked_maps_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< in the last batch
};

}  // namespace afterbay::server
