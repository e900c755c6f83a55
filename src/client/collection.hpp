// SPDX-License-Identifier: Apache-2.0
// What a model rank keeps of a collection: its layout, this rank's part of each variable, and the
// copy plans of the memory layouts seen so far.
#pragma once

#include <cstdint>
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
#include "config/config.hpp"
#include "model/layout.hpp"
#include "model/moves.hpp"
#include "observe/profile.hpp"
#include "wire/session_messages.hpp"

namespace afterbay::client {

struct Decomposition {
  std::uint32_t id = 0;
  std::string name;
  Block block;
  Coverage coverage;
};

/// How this rank's part of one variable gets into one piece.
struct PiecePlan {
  std::uint32_t piece = 0;  ///< index in FileLayout::pieces
  model::Move gather;       ///< into the frame
  model::Move pack;         ///< into a packed buffer
  std::uint64_t packed_bytes = 0;
};

/// The same for all pieces that this rank has a part of, for one type and layout in memory.
struct PutPlan {
  Type type = Type::float32;
  MemoryLayout memory;
  model::Kernel kernel{};
  std::vector<PiecePlan> pieces;
  std::uint64_t packed_bytes = 0;
};

struct VariableState {
  std::uint32_t index = 0;
  model::Box mine;           ///< this rank's part, without the record dimension
  bool contributes = false;  ///< has points to hand over (Whole: the lowest model rank only)
  int decomposition = -1;    ///< index of the decomposition; -1: Whole
  std::vector<std::unique_ptr<PutPlan>> plans;
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

/// A collection as this rank defined it, settings applied. `make` finds all that is wrong with it.
class Collection {
 public:
  struct Definition {
    std::uint32_t id = 0;
    std::string name;
    Schema schema;
    CollectionOptions options;
  };
  static Result<std::unique_ptr<Collection>> make(Definition definition, const config::Config& config,
                                                  const std::vector<Decomposition>& decompositions,
                                                  int model_rank, std::size_t servers);

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const model::FileLayout& layout() const noexcept { return *layout_; }
  [[nodiscard]] bool serves(std::size_t server) const noexcept;
  /// The server of this collection's next file of a new name (turns with placement `file`).
  [[nodiscard]] std::size_t server_of(std::uint64_t nth_file) const noexcept;
  [[nodiscard]] wire::DefineCollection message(bool with_schema) const;
  [[nodiscard]] Result<std::string> path(const FileName& file_name) const;

  /// A framed (numeric or text, not constant) variable by name.
  Result<VariableState*> framed_variable(std::string_view variable);
  Result<std::uint32_t> string_variable(std::string_view variable) const;
  /// The record to put `variable` to, 0 for one without the unlimited dimension; refuses what makes no sense.
  Result<std::uint64_t> record_of(std::uint32_t variable, std::uint64_t record) const;
  /// The plan for data of that type and layout; made and kept at first use.
  Result<const PutPlan*> plan(VariableState& variable, Type type, const MemoryLayout& memory);

  std::vector<ServerState> servers;  ///< one a server of the session
  std::uint64_t files_opened = 0;
  observe::Timer* put_timer = nullptr;

 private:
  Result<> resolve(const std::vector<Decomposition>& decompositions, int model_rank);
  Result<std::uint32_t> index_of(std::string_view variable) const;
  Result<std::unique_ptr<PutPlan>> make_plan(const VariableState& variable, Type type,
                                             const MemoryLayout& memory) const;

  std::uint32_t id_ = 0;
  std::string name_;
  Schema schema_;
  Format format_ = Format::netcdf4;
  config::Existing existing_ = config::Existing::refuse;
  config::Placement placement_ = config::Placement::collection;
  std::string template_;
  std::string directory_;
  std::shared_ptr<const model::FileLayout> layout_;
  std::vector<VariableState> variables_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  ///< into schema_
};

}  // namespace afterbay::client
