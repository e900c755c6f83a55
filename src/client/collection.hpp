// SPDX-License-Identifier: Apache-2.0
// What a model rank keeps of a collection: its layout, this rank's part of each variable, and the records
// that are open.
#pragma once

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
#include "client/pools.hpp"
#include "config/config.hpp"
#include "model/chunk_choice.hpp"
#include "model/frame_owners.hpp"
#include "model/layout.hpp"
#include "model/map_moves.hpp"
#include "observe/records.hpp"
#include "pipeline/stage.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

struct VariableState {
  std::uint32_t index = 0;
  /// This rank's part, without the record dimension. On a map: its array, with one dimension for the list.
  model::Box mine;
  bool framed = false;
  bool holds = false;            ///< Whole: the lowest model rank; a block: has points
  int decomposition = -1;        ///< index of the decomposition; -1: Whole
  std::shared_ptr<MapPart> map;  ///< null: not on a map
  model::MapPlace place;         ///< of the map's dimensions
  bool packed = false;           ///< on a map: handed over packed, the server puts it in order

  /// Whether this rank has points to hand over; for maps not known before the servers have answered.
  [[nodiscard]] bool contributes() const {
    return framed && !mine.empty() && (map ? !map->runs().empty() : holds);
  }
};

/// A collection as this rank defined it, settings applied, in one of its pools. `make` finds all that is
/// wrong with it.
class Collection {
 public:
  struct Definition {
    std::uint32_t id = 0;
    std::string name;
    Schema schema;
    CollectionOptions options;
  };
  struct Sides {
    int model_rank = 0;
    int model_ranks = 1;
    std::size_t servers = 1;  ///< of the session
    Pools* pools = nullptr;
  };
  /// One per pool of the collection, with consecutive ids from that of the definition on. The first is the
  /// one that the model knows (see `by_pool`). All have the same schema, the shapes of chunks included.
  static Result<std::vector<std::unique_ptr<Collection>>> make(
      Definition definition, const config::Config& config, const std::vector<Decomposition>& decompositions,
      const Sides& sides);

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Format format() const noexcept { return format_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const model::HandoverLayout& layout() const noexcept { return *layout_; }
  /// Refuses changes that do not fit the schema, and those with which it cannot be written.
  [[nodiscard]] Result<> check(const SchemaChanges& changes) const;
  [[nodiscard]] bool serves(std::size_t server) const noexcept;
  /// What the report says about it.
  [[nodiscard]] observe::CollectionRecord record_for_report() const;
  /// Whether all servers of its pool write each file of this collection.
  [[nodiscard]] bool is_split() const noexcept { return split_ != model::Split::none; }
  /// The server that writes a frame of a file whose leader is `leader`.
  [[nodiscard]] std::size_t owner(std::uint32_t frame, std::size_t leader) const noexcept {
    return is_split() ? nth_after(leader, owners_[frame]) : leader;
  }
  /// The servers of its pool, which alone ever write its files.
  [[nodiscard]] const std::vector<std::size_t>& pool() const noexcept { return pool_; }
  /// Whether each file goes to the server of the pool that has the least to write.
  [[nodiscard]] bool takes_least_loaded() const noexcept {
    return placement_ == config::Placement::least && pool_.size() > 1;
  }
  /// Whether each file goes to the pool that has the least to write; else to the collection's pools in turn.
  [[nodiscard]] bool takes_least_loaded_pool() const noexcept { return takes_least_loaded_pool_; }
  /// Adds who may write the next file in this pool, for a choice by load. `files`: in this pool so far.
  void add_candidates(std::vector<wire::Candidate>& candidates, std::uint64_t files) const;
  /// The collection in each of its pools, itself first; empty for all but the one that the model knows.
  [[nodiscard]] const std::vector<Collection*>& by_pool() const noexcept { return by_pool_; }
  /// The one of `by_pool` whose files the server may write; null: there is none.
  [[nodiscard]] Collection* in_pool_of(std::size_t server) const noexcept;
  /// Of one file, as far as anybody can say.
  [[nodiscard]] std::uint64_t expected_bytes() const noexcept { return expected_bytes_; }
  /// Calls `visit(server)` for each server that is to know of puts of a variable: who writes frames of it,
  /// and the leader.
  template <class Visit>
  Result<> for_each_server_of(std::uint32_t variable, std::size_t leader, Visit&& visit) const {
    if (!is_split()) return visit(leader);
    for (const std::uint16_t owner : variable_owners_[variable])
      AFTERBAY_TRY(visit(nth_after(leader, owner)));
    return {};
  }
  /// The server of this collection's next file of a new name (turns with placement `file`): its leader where
  /// several write it.
  [[nodiscard]] std::size_t server_of(std::uint64_t nth_file) const noexcept;
  [[nodiscard]] wire::DefineCollection message(bool with_schema) const;
  [[nodiscard]] Result<std::string> path(const FileName& file_name) const;
  /// Which variables are handed over packed, as the servers say; before the first plan.
  void set_packed(const std::vector<std::uint8_t>& packed);

  /// A variable's index by name.
  Result<std::uint32_t> index_of(std::string_view variable) const;
  [[nodiscard]] const VariableState& variable(std::uint32_t index) const { return variables_[index]; }
  Result<std::uint32_t> string_variable(std::string_view variable) const;
  /// The records that are open. They change whenever a rank puts.
  [[nodiscard]] CollectionRecords& records() noexcept { return records_; }
  [[nodiscard]] const CollectionRecords& records() const noexcept { return records_; }

 private:
  /// The server of the pool that comes `offset` after `leader`.
  [[nodiscard]] std::size_t nth_after(std::size_t leader, std::size_t offset) const noexcept {
    return pool_[(in_pool_[leader] + offset) % pool_.size()];
  }
  Result<> describe(const Definition& definition, const config::Config& session,
                    const config::CollectionSettings& settings);
  Result<> lay_out(const Pools::Pool& pool, const config::CollectionSettings& settings,
                   const std::vector<Decomposition>& decompositions, const Sides& sides);
  void join(const Pools::Pool& pool, std::size_t session_servers);
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
  config::Placement placement_ = config::Placement::collection;
  std::string template_;
  std::string directory_;
  std::shared_ptr<const model::HandoverLayout> layout_;
  model::Split split_ = model::Split::none;
  std::vector<std::size_t> pool_;     ///< servers of its pool
  std::vector<std::size_t> in_pool_;  ///< one a server of the session: its place in the pool, or none
  std::size_t number_in_pool_ = 0;    ///< of the pool's collections
  bool takes_least_loaded_pool_ = false;
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t gather_bytes_ = 0;            ///< model::LayoutSizes::gather_bytes
  std::vector<pipeline::Settings> stages_;    ///< one a variable; none if no variable has any
  std::vector<observe::ChunkRecord> chunks_;  ///< of its files, for the report
  std::vector<std::uint16_t> owners_;         ///< by frame, counted from the leader
  std::vector<std::vector<std::uint16_t>> variable_owners_;
  std::vector<VariableState> variables_;
  CollectionRecords records_{0};
  std::vector<Collection*> by_pool_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  ///< into schema_
};

}  // namespace afterbay::client
