// SPDX-License-Identifier: Apache-2.0
// PutPlans: how one endpoint puts the variables of one collection: the order in which it puts them, and the
// copy plans for the layouts of its data in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "client/collection.hpp"
#include "model/map_moves.hpp"
#include "model/moves.hpp"
#include "observe/profile.hpp"

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
  std::uint32_t piece = 0;  ///< index in HandoverLayout::pieces
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

/// Refers to the collection. Reads only what of it is constant once the servers have answered its definition.
class PutPlans {
 public:
  /// `timer`: of puts to the collection; may be null.
  PutPlans(const Collection& collection, observe::Timer* timer);

  [[nodiscard]] observe::Timer* timer() const noexcept { return timer_; }
  /// A framed (numeric or text, not constant) variable by name: its index. Fast where variables come in the
  /// order of the step before.
  Result<std::uint32_t> framed_variable(std::string_view variable);
  [[nodiscard]] bool has_records(std::uint32_t variable) const { return entries_[variable].record; }
  /// The record to put `variable` to, 0 for one without the unlimited dimension; refuses what makes no sense.
  [[nodiscard]] Result<std::uint64_t> record_of(std::uint32_t variable, std::uint64_t record) const;
  /// The plan for data of that type and layout; made and kept at first use.
  Result<const PutPlan*> plan(std::uint32_t variable, Type type, const MemoryLayout& memory);
  /// Those of dense data of the file's type, ahead of the first put; once the servers have answered.
  void make_likely_plans();

 private:
  [[nodiscard]] const std::string& variable_name(std::uint32_t variable) const {
    return collection_->schema().variables[variable].name;
  }
  [[nodiscard]] Result<std::unique_ptr<PutPlan>> make_plan(const VariableState& variable, Type type,
                                                           const MemoryLayout& memory) const;
  [[nodiscard]] std::vector<PiecePlan> box_pieces(const VariableState& variable, const MemoryLayout& memory,
                                                  model::ElementBytes bytes) const;
  [[nodiscard]] std::vector<PiecePlan> map_pieces(const VariableState& variable, const MemoryLayout& memory,
                                                  model::ElementBytes bytes) const;

  const Collection* collection_;
  observe::Timer* timer_;
  std::uint32_t last_put_ = 0;
  std::vector<PutEntry> entries_;                             ///< one per variable
  std::vector<char> names_;                                   ///< of all variables; the entries refer to it
  std::vector<std::vector<std::unique_ptr<PutPlan>>> plans_;  ///< by variable
};

}  // namespace afterbay::client
