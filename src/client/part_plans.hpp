// SPDX-License-Identifier: Apache-2.0
// PartPlans: how one endpoint puts its part of the variables of one collection, or sections of it:
// copy plans into the pieces of the servers' frames, and into the array of the rank's whole part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "client/collection.hpp"
#include "client/put_plans.hpp"
#include "model/box.hpp"
#include "model/map_moves.hpp"
#include "model/moves.hpp"

namespace afterbay::client {

/// An endpoint's part of a decomposition.
struct EndpointPart {
  int decomposition = -1;        ///< index; -1: the variables without a decomposition
  std::string name;              ///< name of the decomposition
  bool whole = false;            ///< all of the rank's part
  Block block;                   ///< in the decomposition's index space, unless it is whole or a map
  std::shared_ptr<MapPart> map;  ///< its points; null: no map, or whole
  std::uint64_t after = 0;       ///< puts up to this number belong to callers that had the points before
  bool taken_over = false;       ///< another endpoint has registered points of it

  /// Whether it has no points. Always false for a whole part, even if the rank has no points.
  [[nodiscard]] bool empty() const;
  /// Whether both have a point of the rank. Both are parts of the same decomposition.
  [[nodiscard]] bool overlaps(const EndpointPart& other, const std::shared_ptr<MapPart>& of_rank) const;
};

/// How a part of a rank's part of a variable is copied into one piece.
struct PartPiece {
  std::uint32_t number = 0;  ///< number of the piece among those of which the rank has a part
  PieceSite site;
  std::uint64_t values = 0;
  std::uint64_t at = 0;  ///< bytes from the start of the piece to that of the move's destination
  std::variant<model::Move, model::MapMove> move;
  std::vector<model::WrittenWindows> written;         ///< by a map's move, from the start of the piece
  mutable transport::AnnouncedBlocks announced = {};  ///< where it is known what the move writes

  /// As PiecePlan::visit_written_ranges.
  template <class Visit>
  void visit_written_ranges(std::uint64_t element_bytes, Visit visit) const {
    if (const auto* const box = std::get_if<model::Move>(&move))
      WrittenPages::visit(*box, element_bytes, visit);
    else
      WrittenPages::visit(written, visit);
  }
  /// Returns the number of values out of range.
  std::uint64_t copy(const void* data, std::byte* to, model::Kernel kernel) const {
    return std::visit([&](const auto& it) { return model::execute(it, data, to + at, kernel); }, move);
  }
};

/// The copies for one type, layout in memory and section.
struct PartPlan {
  OwnedKernel into_piece;
  OwnedKernel to_rank;  ///< into the rank's array, which has the file's type and this machine's order
  bool may_be_out_of_range = false;  ///< values may be out of the range of the file's type
  Type type = Type::float32;
  MemoryLayout memory;
  Section section;           ///< as given
  model::Box box;            ///< the section, in indices of the endpoint's array
  std::uint64_t values = 0;  ///< without holes and points that other ranks hold
  std::vector<PartPiece> pieces;
  std::variant<model::Move, model::MapMove> into_rank;
  std::variant<model::Move, model::MapMove> pack;  ///< into `values` consecutive values

  // Referred to by the moves.
  std::shared_ptr<MapPart> map;
  std::deque<model::CellPoints> points;

  std::uint64_t copy_to_rank(const void* data, std::byte* to) const {
    return std::visit([&](const auto& it) { return model::execute(it, data, to, to_rank.kernel); },
                      into_rank);
  }
  /// The number of values out of range of the file's type. `scratch` grows to the size of a map's
  /// points.
  std::uint64_t out_of_range(const void* data, std::size_t bytes, std::vector<std::byte>& scratch) const;
};

/// Used by one thread. Refers to the collection.
class PartPlans {
 public:
  /// `parts`: those of the endpoint, which may grow.
  PartPlans(const Collection& collection, const std::vector<EndpointPart>& parts, observe::Timer* timer);

  [[nodiscard]] observe::Timer* timer() const noexcept { return names_.timer(); }
  Result<std::uint32_t> framed_variable(std::string_view variable) {
    return names_.framed_variable(variable);
  }
  [[nodiscard]] Result<std::uint64_t> record_of(std::uint32_t variable, std::uint64_t record) const {
    return names_.record_of(variable, record);
  }
  [[nodiscard]] bool has_records(std::uint32_t variable) const { return names_.has_records(variable); }
  /// `whole`: the rank's plan for the variable, dense, of the file's type. Fails if the endpoint
  /// has no part of the variable's decomposition, and for invalid layouts and sections.
  /// A plan of a section is valid until the next call, those of the whole part for ever.
  Result<const PartPlan*> plan(std::uint32_t variable, const PutPlan& whole, Type type,
                               const MemoryLayout& memory, const Section& section);
  /// The lengths of the endpoint's array of a variable that was planned before.
  [[nodiscard]] const model::Box& array(std::uint32_t variable) const { return *arrays_[variable]; }

 private:
  [[nodiscard]] Result<const EndpointPart*> part_of(std::uint32_t variable) const;
  [[nodiscard]] Result<model::Box> array_of(std::uint32_t variable, const EndpointPart& part) const;
  [[nodiscard]] Result<std::unique_ptr<PartPlan>> make_plan(std::uint32_t variable, const PutPlan& whole,
                                                            Type type, const MemoryLayout& memory,
                                                            const Section& section);
  void add_box_pieces(std::uint32_t variable, const PutPlan& whole, PartPlan& plan) const;
  Result<> add_map_pieces(std::uint32_t variable, const PutPlan& whole, const EndpointPart& part,
                          PartPlan& plan) const;

  const Collection* collection_;
  const std::vector<EndpointPart>& parts_;
  PutPlans names_;
  /// By variable: the endpoint's array; for blocks in the variable's index space, for maps from 0.
  std::vector<std::optional<model::Box>> arrays_;
  struct Known {
    std::vector<std::unique_ptr<PartPlan>> plans;
    std::size_t next = 0;  ///< index of the plan that is probably needed next
    std::size_t last_replaced = 0;
  };
  /// Limit per variable, so that a caller whose sections differ from step to step does not fill the
  /// memory with plans.
  static constexpr std::size_t most_sections = 512;
  /// The place of a plan that was made: a new one, or that of a section's plan which nobody needs
  /// now.
  [[nodiscard]] static std::size_t keep(Known& known, std::unique_ptr<PartPlan> plan);
  std::vector<Known> known_;  ///< by variable
};

}  // namespace afterbay::client
