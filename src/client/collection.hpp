// SPDX-License-Identifier: Apache-2.0
// The state of a collection on a model rank: its layout, this rank's part of each variable, and the
// open records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/session.hpp"
#include "base/result.hpp"
#include "client/collection_records.hpp"
#include "client/decomposition.hpp"
#include "client/pool_membership.hpp"
#include "client/pools.hpp"
#include "client/processing.hpp"
#include "config/config.hpp"
#include "model/chunk_choice.hpp"
#include "model/frame_owners.hpp"
#include "model/layout.hpp"
#include "model/map_moves.hpp"
#include "model/packing.hpp"
#include "observe/records.hpp"
#include "pipeline/stage.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

struct VariableState {
  std::uint32_t index = 0;
  /// This rank's part, without the record dimension. On a map: its array, with one dimension for
  /// the map's points.
  model::Box mine;
  bool framed = false;
  bool holds = false;            ///< Whole: true on the lowest model rank; a block: it has points
  int decomposition = -1;        ///< index of the decomposition; -1: Whole
  std::shared_ptr<MapPart> map;  ///< null: not on a map
  model::MapDimensions mapped;   ///< the position of the map's dimensions

  /// Whether this rank has points to hand over; for maps only valid once the servers have answered.
  [[nodiscard]] bool contributes() const {
    return framed && !mine.empty() && (map ? !map->runs().empty() : holds);
  }
};

/// Which variables on maps each server wants packed, so that it puts their points in order.
class PackedVariables {
 public:
  /// A server's answer.
  void set(std::size_t server, const std::vector<std::uint8_t>& packed) {
    by_server_[server].assign(packed.begin(), packed.end());
    if (!answered_) answered_ = server;
  }
  [[nodiscard]] bool has(std::size_t server, std::uint32_t variable) const {
    const auto of_server = by_server_.find(server);
    return of_server != by_server_.end() && variable < of_server->second.size() &&
           of_server->second[variable];
  }
  /// The server that answered first.
  [[nodiscard]] std::optional<std::size_t> answered() const noexcept { return answered_; }

 private:
  std::map<std::size_t, std::vector<bool>> by_server_;
  std::optional<std::size_t> answered_;
};

/// A collection as this rank defined it, with settings applied, in one of its pools. `make` reports
/// everything that is wrong with the definition.
class Collection {
 public:
  struct Definition {
    std::uint32_t id = 0;
    std::string name;
    Schema schema;
    CollectionOptions options;
    std::vector<AskedReduction> reductions = {};
    /// Packings of a schema whose variables have the types of the file already.
    std::vector<std::optional<model::PackedValues>> packings = {};
    Compression compression = {};  ///< set by `make`
  };
  struct Sides {
    int model_rank = 0;
    int model_ranks = 1;
    std::size_t servers = 1;  ///< in the session
    Pools* pools = nullptr;
  };
  /// Makes one collection per pool, with consecutive ids that begin with the id of the definition.
  /// The first is the one that the model uses (see `by_pool`). All have the same schema, including
  /// the shapes of chunks.
  static Result<std::vector<std::unique_ptr<Collection>>> make(
      Definition definition, const config::Config& config, const std::vector<Decomposition>& decompositions,
      const Sides& sides);

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Format format() const noexcept { return format_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const model::HandoverLayout& layout() const noexcept { return *layout_; }
  /// Refuses changes that do not fit the schema, changes with which the schema cannot be written,
  /// and changes of missing values.
  [[nodiscard]] Result<> check(const SchemaChanges& changes) const;
  /// The collection's entry in the report.
  [[nodiscard]] observe::CollectionRecord record_for_report() const;
  /// Its servers, and which of them writes what.
  [[nodiscard]] const PoolMembership& pool() const noexcept { return pool_; }
  [[nodiscard]] const model::FrameOwners& owners() const noexcept { return owners_; }
  /// Whether each file goes to the least loaded pool; otherwise the collection's pools take turns.
  [[nodiscard]] bool takes_least_loaded_pool() const noexcept { return takes_least_loaded_pool_; }
  /// The collection in each of its pools, beginning with this one; empty for all but the one that
  /// the model uses.
  [[nodiscard]] const std::vector<Collection*>& by_pool() const noexcept { return by_pool_; }
  /// The member of `by_pool` whose files the server may write; null if there is none.
  [[nodiscard]] Collection* in_pool_of(std::size_t server) const noexcept;
  /// Expected size of one file, as far as it is known.
  [[nodiscard]] std::uint64_t expected_bytes() const noexcept { return expected_bytes_; }
  /// Calls `visit(server)` for each server that must learn of puts of a variable: the servers that
  /// write its frames, and the leader.
  template <class Visit>
  Result<> for_each_server_of(std::uint32_t variable, std::size_t leader, Visit&& visit) const {
    AFTERBAY_TRY(visit(leader));  // which knows what is missing
    if (!pool_.is_split()) return {};
    for (const auto& [first, last] : owners_.of_variable(variable))
      for (std::uint32_t owner = first; owner <= last; ++owner)
        if (const std::size_t server = pool_.server_of_owner(static_cast<std::uint16_t>(owner));
            server != leader)
          AFTERBAY_TRY(visit(server));
    return {};
  }
  /// For the servers. Only a message that is `whole` has the definition itself, the others its
  /// digest.
  [[nodiscard]] wire::DefineCollection message(bool whole) const;
  [[nodiscard]] Result<std::string> path(const FileName& file_name) const;
  /// Which variables are handed over packed. The answers of servers are added before the first
  /// plan.
  [[nodiscard]] PackedVariables& packed() noexcept { return packed_; }
  [[nodiscard]] const PackedVariables& packed() const noexcept { return packed_; }

  /// A variable's index by name.
  Result<std::uint32_t> index_of(std::string_view variable) const;
  [[nodiscard]] const VariableState& variable(std::uint32_t index) const { return variables_[index]; }
  /// What servers compute with values before they write them.
  [[nodiscard]] const Processing& processing() const noexcept { return processing_; }
  /// The open records. They change with every put.
  [[nodiscard]] CollectionRecords& records() noexcept { return records_; }
  [[nodiscard]] const CollectionRecords& records() const noexcept { return records_; }

 private:
  Result<> describe(const Definition& definition, const config::Config& session,
                    const config::CollectionSettings& settings);
  /// `pools`: in how many the collection is.
  Result<> lay_out(const Pools::Pool& pool, std::size_t pools, const config::CollectionSettings& settings,
                   const std::vector<Decomposition>& decompositions, const Sides& sides);
  [[nodiscard]] Result<> check_missing_values(std::uint32_t variable, const Variable& changed) const;
  std::vector<model::ChunkChoice> choose_chunks(const config::CollectionSettings& settings,
                                                const config::Config& config,
                                                const std::vector<Decomposition>& decompositions,
                                                const Sides& sides, const model::LayoutSizes& sizes);
  void note_chunks(const model::FileLayout& files, const std::vector<model::ChunkChoice>& choices);
  Result<> resolve(const std::vector<Decomposition>& decompositions, int model_rank);
  Result<> lie_on(VariableState& state, const Decomposition& decomposition) const;

  std::uint32_t id_ = 0;
  std::string name_;
  Schema schema_;
  Format format_ = Format::netcdf4;
  config::Existing existing_ = config::Existing::refuse;
  std::string template_;
  std::string directory_;
  std::shared_ptr<const model::HandoverLayout> layout_;
  PoolMembership pool_;
  bool takes_least_loaded_pool_ = false;
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t gather_bytes_ = 0;  ///< model::LayoutSizes::gather_bytes
  Processing processing_;
  std::vector<observe::ChunkRecord> chunks_;  ///< the chunks of its files, for the report
  model::FrameOwners owners_;                 ///< counted from pool_.first_owner()
  std::vector<VariableState> variables_;
  PackedVariables packed_;
  CollectionRecords records_{0};
  std::vector<Collection*> by_pool_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  ///< into schema_
};

}  // namespace afterbay::client
