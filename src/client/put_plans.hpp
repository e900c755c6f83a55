// SPDX-License-Identifier: Apache-2.0
// PutPlans: how one endpoint puts the variables of one collection: the order in which it puts them,
// and the copy plans for the layouts of its data in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "client/collection.hpp"
#include "model/map_moves.hpp"
#include "model/moves.hpp"
#include "model/packing.hpp"
#include "observe/profile.hpp"
#include "transport/link.hpp"

namespace afterbay::client {

/// Where a piece lies: what a put needs of the layout.
struct PieceSite {
  std::uint32_t frame = 0;     ///< index in the layout
  std::uint32_t number = 0;    ///< number of the frame among those of its server
  std::size_t server = 0;      ///< server that has the frame, if files are shared
  std::uint32_t in_frame = 0;  ///< index of the piece in the frame
  std::uint64_t frame_offset = 0;
  model::Frame of;
};

/// The pages of the servers' memory that a copy writes to.
struct WrittenPages {
  static constexpr std::uint64_t memory_page = 4096;
  static constexpr std::uint64_t window_pages = 16;  ///< pages that one page fault maps when it reads
  /// Number of written pages from which a range is worth mapping in `put`.
  static constexpr std::uint64_t dense_pages = 8;
  static constexpr std::uint64_t dense_bytes = dense_pages * memory_page;

  static constexpr transport::Writes of(bool dense) {
    return dense ? transport::Writes::most_pages : transport::Writes::some_pages;
  }
  /// Calls `visit_range(at, bytes, pages)` for the ranges of the destination that the move writes
  /// to.
  template <class Visit>
  static void visit(const model::Move& move, std::uint64_t element_bytes, Visit&& visit_range) {
    bool dense = false;
    model::visit_dense_ranges(move, element_bytes, memory_page, dense_bytes,
                              [&](std::uint64_t at, std::uint64_t bytes) {
                                dense = true;
                                visit_range(at, bytes, of(true));
                              });
    if (!dense)
      model::visit_dense_ranges(
          move, element_bytes, window_pages * memory_page, 0,
          [&](std::uint64_t at, std::uint64_t bytes) { visit_range(at, bytes, of(false)); });
  }
  template <class Visit>
  static void visit(const std::vector<model::WrittenWindows>& windows, Visit&& visit_range) {
    for (const auto& [range, dense] : windows) visit_range(range.at, range.bytes, of(dense));
  }
  static std::vector<model::WrittenWindows> windows_of(const model::MapMove& move) {
    return model::written_windows(move, memory_page, window_pages, dense_pages);
  }
};

/// How this rank's part of one variable is copied into one piece.
struct PiecePlan {
  struct BoxMoves {
    model::Move gather;  ///< into the piece in its frame
    model::Move pack;    ///< into a packed buffer
  };
  struct MapMoves {
    model::MapMove gather;
    model::MapMove pack;
    std::vector<model::WrittenWindows> written;  ///< windows of the piece that `gather` writes to
  };
  std::uint32_t piece = 0;  ///< index in HandoverLayout::pieces
  PieceSite site;
  std::uint64_t packed_bytes = 0;
  std::variant<BoxMoves, MapMoves> moves;
  /// Handed over packed, beginning at this byte of the piece.
  std::optional<std::uint64_t> packed_at;
  mutable transport::AnnouncedBlocks announced = {};  ///< where it is known what `gather` writes

  /// Copies into the piece, which begins at `to`. Returns the number of values out of range.
  std::uint64_t gather(const void* data, std::byte* to, model::Kernel kernel) const {
    if (packed_at) return pack(data, to + *packed_at, kernel);
    return std::visit([&](const auto& it) { return model::execute(it.gather, data, to, kernel); }, moves);
  }
  /// Visits the ranges of the piece that `gather` writes to: begin and length in bytes, and how
  /// many pages of the range are written.
  template <class Visit>
  void visit_written_ranges(std::uint64_t element_bytes, Visit visit) const {
    if (packed_at) {
      visit(*packed_at, packed_bytes, WrittenPages::of(packed_bytes >= WrittenPages::dense_bytes));
    } else if (const auto* const box = std::get_if<BoxMoves>(&moves)) {
      WrittenPages::visit(box->gather, element_bytes, visit);
    } else {
      WrittenPages::visit(std::get<MapMoves>(moves).written, visit);
    }
  }
  /// The number of values out of range. `scratch` grows to the piece's size if the rank's points
  /// are not contiguous.
  std::uint64_t out_of_range(const void* data, model::Kernel kernel, std::vector<std::byte>& scratch) const {
    if (const auto* const box = std::get_if<BoxMoves>(&moves))
      return model::out_of_range(box->pack, data, kernel);
    if (scratch.size() < packed_bytes) scratch.resize(packed_bytes);
    return pack(data, scratch.data(), kernel);
  }
  /// Packs into `packed_bytes` at `to`.
  std::uint64_t pack(const void* data, std::byte* to, model::Kernel kernel) const {
    return std::visit([&](const auto& it) { return model::execute(it.pack, data, to, kernel); }, moves);
  }
};

/// The plans for all pieces of which this rank has a part, for one type and layout in memory.
struct PutPlan {
  model::Kernel kernel{};
  /// Packs the values: the kernel's conversion. Null: they are not packed.
  std::unique_ptr<const model::PackingRows> packing;
  std::vector<PiecePlan> pieces;
  std::uint64_t packed_bytes = 0;
  Type type = Type::float32;
  Type file_type = Type::float32;
  bool may_be_out_of_range = false;  ///< values may be out of the range of the file's type
  MemoryLayout memory;
};

/// The part of a variable's state that a put needs first. The entries of all variables are
/// contiguous: copying a field evicts most other data from the caches, and each cache line that
/// must be fetched again costs as much as copying 500 bytes.
struct PutEntry {
  std::string_view name;
  /// The plan for dense data of `type` that was used last; null: none.
  const PutPlan* dense = nullptr;
  std::uint32_t next = 0;  ///< the variable that followed this one in the last step
  Type type = Type::float32;
  bool framed = false;
  bool record = false;
};

/// A conversion, and what it refers to.
struct OwnedKernel {
  model::Kernel kernel{};
  std::unique_ptr<const model::PackingRows> packing;
};

/// The conversion of values of `type` to the variable's type, packed if the variable is, and to a
/// byte order. Text and numbers are not converted into each other.
Result<OwnedKernel> kernel_for(const Collection& collection, std::uint32_t variable, Type type,
                               bool swap_bytes);

/// What values out of range do not fit into, for messages: "the file's type int16".
std::string limits_of(const Collection& collection, std::uint32_t variable);

/// Refers to the collection. Reads only members that are constant once the servers have answered
/// its definition.
class PutPlans {
 public:
  /// `timer`: of puts to the collection; may be null.
  PutPlans(const Collection& collection, observe::Timer* timer);

  [[nodiscard]] observe::Timer* timer() const noexcept { return timer_; }
  /// Finds a framed (numeric or text, not constant) variable by name and returns its index. Fast if
  /// variables come in the same order as in the previous step.
  Result<std::uint32_t> framed_variable(std::string_view variable);
  [[nodiscard]] bool has_records(std::uint32_t variable) const { return entries_[variable].record; }
  /// The record to put `variable` to; 0 for a variable without the unlimited dimension. Refuses
  /// records that the variable cannot have.
  [[nodiscard]] Result<std::uint64_t> record_of(std::uint32_t variable, std::uint64_t record) const;
  /// The plan for data of that type and layout, made at first use and kept.
  Result<const PutPlan*> plan(std::uint32_t variable, Type type, const MemoryLayout& memory);
  /// The plan for dense data that have the file's type, and are packed already if the variable is.
  Result<const PutPlan*> stored_plan(std::uint32_t variable);
  /// Makes the plans for dense data of the file's type before the first put. Call it once the
  /// servers have answered.
  void make_likely_plans();

 private:
  [[nodiscard]] const std::string& variable_name(std::uint32_t variable) const {
    return collection_->schema().variables[variable].name;
  }
  [[nodiscard]] Result<std::unique_ptr<PutPlan>> make_plan(const VariableState& variable, Type type,
                                                           const MemoryLayout& memory,
                                                           OwnedKernel kernel) const;
  [[nodiscard]] PieceSite site_of(std::uint32_t index, const model::Piece& piece) const;
  [[nodiscard]] std::vector<PiecePlan> box_pieces(const VariableState& variable, const MemoryLayout& memory,
                                                  model::ElementBytes bytes) const;
  [[nodiscard]] Result<std::vector<PiecePlan>> map_pieces(const VariableState& variable,
                                                          const MemoryLayout& memory,
                                                          model::ElementBytes bytes) const;

  const Collection* collection_;
  observe::Timer* timer_;
  std::uint32_t last_put_ = 0;
  std::vector<PutEntry> entries_;  ///< one per variable
  /// The names of all variables; the entries refer to it.
  std::vector<char> names_;
  std::vector<std::vector<std::unique_ptr<PutPlan>>> plans_;  ///< by variable
  std::vector<std::unique_ptr<PutPlan>> stored_plans_;        ///< plans of packed variables, by variable
};

}  // namespace afterbay::client
