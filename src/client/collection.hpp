// SPDX-License-Identifier: Apache-2.0
// What a model rank keeps of a collection: its layout, this rank's part of each variable, and the
// copy plans of the memory layouts seen so far.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/session.hpp"
#include "base/result.hpp"
#include "client/decomposition.hpp"
#include "client/pools.hpp"
#include "config/config.hpp"
#include "model/chunk_choice.hpp"
#include "model/frame_owners.hpp"
#include "model/layout.hpp"
#include "model/map_moves.hpp"
#include "model/moves.hpp"
#include "observe/profile.hpp"
#include "observe/records.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

/// How this rank's part of one variable gets into one piece.
struct PiecePlan {
  struct BoxMoves {
    model::Move gather;  ///< into the piece in its frame
    model::Move pack;    ///< into a packed buffer
  };
  struct MapMoves {
    model::MapMove gather;
    model::MapMove pack;
  };
  std::uint32_t piece = 0;  ///< index in FileLayout::pieces
  std::uint64_t packed_bytes = 0;
  std::variant<BoxMoves, MapMoves> moves;
  std::optional<std::uint64_t> packed_at;  ///< handed over packed, from this byte of the piece on

  /// Into the piece, which begins at `to`. Returns the number of values out of range.
  std::uint64_t gather(const void* data, std::byte* to, model::Kernel kernel) const {
    if (packed_at) return pack(data, to + *packed_at, kernel);
    return std::visit([&](const auto& it) { return model::execute(it.gather, data, to, kernel); }, moves);
  }
  /// The number of values out of range. `scratch` grows to the piece's size if the rank's points lie apart.
  std::uint64_t out_of_range(const void* data, model::Kernel kernel, std::vector<std::byte>& scratch) const {
    if (const auto* const box = std::get_if<BoxMoves>(&moves))
      return model::out_of_range(box->pack, data, kernel);
    if (scratch.size() < packed_bytes) scratch.resize(packed_bytes);
    return pack(data, scratch.data(), kernel);
  }
  /// Into `packed_bytes` at `to`.
  std::uint64_t pack(const void* data, std::byte* to, model::Kernel kernel) const {
    return std::visit([&](const auto& it) { return model::execute(it.pack, data, to, kernel); }, moves);
  }
};

/// The same for all pieces that this rank has a part of, for one type and layout in memory.
struct PutPlan {
  model::Kernel kernel{};
  std::vector<PiecePlan> pieces;
  std::uint64_t packed_bytes = 0;
  Type type = Type::float32;
  MemoryLayout memory;
};

/// What a put asks of a variable first. The entries of all variables lie side by side: copying a field leaves
/// little else in the caches, and each line that must be fetched again costs as much as 500 bytes copied.
struct PutEntry {
  std::string_view name;
  const PutPlan* dense = nullptr;  ///< the plan for dense data of `type`, the last one used; null: none was
  std::uint32_t next = 0;          ///< the variable that was put after this one last time
  Type type = Type::float32;
  bool framed = false;
  bool record = false;
};

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
  std::vector<std::unique_ptr<PutPlan>> plans;

  /// Whether this rank has points to hand over; for maps not known before the servers have answered.
  [[nodiscard]] bool contributes() const {
    return framed && !mine.empty() && (map ? !map->runs().empty() : holds);
  }
};

/// Open (file, record) pairs of one collection on one server, and their running numbers.
struct ServerState {
  std::uint32_t first_frame = 0;
  std::uint64_t next_seq = 0;
  std::uint64_t ended_seq = 0;  ///< all below were told to the server as ended
  struct OpenRecord {
    std::uint64_t file = 0;
    std::uint64_t record = 0;
    bool fixed = false;
    std::uint64_t seq = 0;
  };
  std::vector<OpenRecord> open;  ///< in order of seq
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
  /// one that the model knows (`by_pool`). All have the same schema, the shapes of chunks included.
  static Result<std::vector<std::unique_ptr<Collection>>> make(
      Definition definition, const config::Config& config, const std::vector<Decomposition>& decompositions,
      const Sides& sides);

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Format format() const noexcept { return format_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const model::FileLayout& layout() const noexcept { return *layout_; }
  /// Refuses changes that do not fit the schema, and those with which it cannot be written.
  [[nodiscard]] Result<> check(const SchemaChanges& changes) const;
  [[nodiscard]] bool serves(std::size_t server) const noexcept;
  /// What the report says about it.
  [[nodiscard]] observe::CollectionRecord account() const;
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
  /// Who may write the next file, for a choice by load; sorted by their first servers.
  [[nodiscard]] std::vector<wire::Candidate> candidates() const;
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

  /// A framed (numeric or text, not constant) variable by name: its index. Fast where variables come in the
  /// order of the step before.
  Result<std::uint32_t> framed_variable(std::string_view variable);
  [[nodiscard]] const VariableState& variable(std::uint32_t index) const { return variables_[index]; }
  [[nodiscard]] bool has_records(std::uint32_t variable) const { return entries_[variable].record; }
  Result<std::uint32_t> string_variable(std::string_view variable) const;
  /// The record to put `variable` to, 0 for one without the unlimited dimension; refuses what makes no sense.
  Result<std::uint64_t> record_of(std::uint32_t variable, std::uint64_t record) const;
  /// The plan for data of that type and layout; made and kept at first use.
  Result<const PutPlan*> plan(std::uint32_t variable, Type type, const MemoryLayout& memory);
  /// Those of dense data of the file's type, ahead of the first put; once the servers have answered.
  void make_likely_plans();

  std::vector<ServerState> servers;  ///< one a server of the session
  /// The collection in each of its pools, itself first; empty for all but the one that the model knows.
  std::vector<Collection*> by_pool;
  std::uint64_t files_dealt = 0;                  ///< to all pools, of new names
  std::uint64_t files_opened = 0;                 ///< of them in this pool
  std::map<std::uint64_t, std::size_t> assigned;  ///< server by number of the file, as the servers said
  observe::Timer* put_timer = nullptr;

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
  void add_candidates(std::vector<wire::Candidate>& candidates) const;
  void choose_chunks(const config::CollectionSettings& settings, const config::Config& config,
                     const std::vector<Decomposition>& decompositions, const Sides& sides,
                     const model::LayoutSizes& sizes);
  Result<> resolve(const std::vector<Decomposition>& decompositions, int model_rank);
  Result<> lie_on(VariableState& state, const Decomposition& decomposition) const;
  void list_variables();
  Result<std::uint32_t> index_of(std::string_view variable) const;
  Result<std::unique_ptr<PutPlan>> make_plan(const VariableState& variable, Type type,
                                             const MemoryLayout& memory) const;
  [[nodiscard]] std::vector<PiecePlan> box_pieces(const VariableState& variable, const MemoryLayout& memory,
                                                  model::ElementBytes bytes) const;
  [[nodiscard]] std::vector<PiecePlan> map_pieces(const VariableState& variable, const MemoryLayout& memory,
                                                  model::ElementBytes bytes) const;

  std::uint32_t id_ = 0;
  std::string name_;
  Schema schema_;
  Format format_ = Format::netcdf4;
  config::Existing existing_ = config::Existing::refuse;
  config::Placement placement_ = config::Placement::collection;
  std::string template_;
  std::string directory_;
  std::shared_ptr<const model::FileLayout> layout_;
  model::Split split_ = model::Split::none;
  std::vector<std::size_t> pool_;     ///< servers of its pool
  std::vector<std::size_t> in_pool_;  ///< one a server of the session: its place in the pool, or none
  std::size_t number_in_pool_ = 0;    ///< of the pool's collections
  bool takes_least_loaded_pool_ = false;
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t gather_bytes_ = 0;                 ///< model::LayoutSizes::gather_bytes
  std::vector<model::ChunkChoice> chunk_choices_;  ///< one a variable; none for stores without chunks
  std::vector<std::uint16_t> owners_;              ///< by frame, counted from the leader
  std::vector<std::vector<std::uint16_t>> variable_owners_;
  std::vector<VariableState> variables_;
  std::vector<PutEntry> entries_;  ///< one a variable
  std::string names_;              ///< of all variables, to which the entries point
  std::uint32_t last_put_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  ///< into schema_
};

}  // namespace afterbay::client
