// SPDX-License-Identifier: Apache-2.0
// FrameStates: what a server keeps of the samples of a collection, by frame: the operands of
// formulas, and the states of statistics over time. All values of a point come to the server that
// writes them, so that servers need nothing of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "server/reduce/served_formula.hpp"
#include "server/sink.hpp"
#include "statistics/bundle.hpp"
#include "statistics/huge_pages.hpp"
#include "statistics/state_memory.hpp"

namespace afterbay::server {

struct RecordHead;
struct ServedCollection;

/// Threads: those of different frames may be used at the same time.
class FrameStates {
 public:
  /// The states of the collection's reductions in this server's frames. Fails (resources) if they
  /// need more than `limit` bytes together with the `used` ones of other collections
  /// (memory.statistics), and if a statistic does not exist for the type of its variable or a
  /// formula cannot be evaluated.
  static Result<std::unique_ptr<FrameStates>> make(const ServedCollection& collection, std::uint64_t used,
                                                   std::uint64_t limit);

  /// Takes in samples of one step, or planes of states that are restored, as `record` says. All
  /// pieces are of reduced variables. Statistics of a formula take its value as soon as all samples
  /// of its operands are there.
  Result<> take(const CompleteFrame& samples, const RecordHead& record);
  /// Writes the results of the interval, or of formulas, to `frame`, a buffer for this frame in the
  /// layout's order: those of `pieces`. Points that no rank holds get unspecified values.
  Result<> results(std::span<const std::uint32_t> pieces, std::byte* frame);

  /// Writes the plane of the states of these pieces that `record` says to `frame`. Begins the next
  /// interval first, if the model has begun it.
  void plane(std::span<const std::uint32_t> pieces, const RecordHead& record, std::byte* frame);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct OverTime {
    statistics::Bundle bundle;
    statistics::StateMemory memory;
  };
  struct PieceState {
    const ServedFormula* formula = nullptr;  ///< null: there is none
    std::optional<PieceOperands> operands;   ///< operands of the formula
    std::optional<OverTime> over_time;       ///< nullopt: the values of the formula are the results
    std::size_t element = 0;                 ///< bytes of a sample
    [[nodiscard]] statistics::Bundle& bundle() { return over_time->bundle; }
  };

  explicit FrameStates(const ServedCollection& collection) : collection_(collection) {}
  /// Adds the piece, unless that needs too much memory. Counts its memory in any case.
  Result<> add_piece(std::uint32_t number, const model::Piece& piece,
                     const wire::ReductionDefinition& reduction, std::uint64_t room);
  Result<> set_state(PieceState& state, const std::byte* plane, const RecordHead& record);
  static Result<> take_sample(PieceState& state, const std::byte* sample, const RecordHead& record);
  [[nodiscard]] const Variable& variable_of(const model::Piece& piece) const;

  const ServedCollection& collection_;
  statistics::HugePages pages_;
  std::pmr::monotonic_buffer_resource memory_{&pages_};                     ///< memory of all states
  std::map<std::uint32_t, std::unique_ptr<const ServedFormula>> formulas_;  ///< by variable
  std::map<std::uint32_t, PieceState> pieces_;                              ///< by index in the layout
  std::uint64_t bytes_ = 0;
};

}  // namespace afterbay::server
