// SPDX-License-Identifier: Apache-2.0
// PointRuns: a rank's points of a Map, in the order of the file, as runs. Repetition (the same columns on
// every level) is found and kept once, so that memory depends on the number of different runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"
#include "model/box.hpp"

namespace afterbay::model {

/// Consecutive points [offset, offset + length) of an index space (row-major, 0-based), which are the
/// elements [element, element + length) of the rank's array.
struct PointRun {
  std::uint64_t offset = 0;
  std::uint32_t element = 0;
  std::uint32_t length = 0;
  friend bool operator==(const PointRun&, const PointRun&) = default;
};

/// Consecutive points, of nobody in particular.
struct OffsetRun {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const OffsetRun&, const OffsetRun&) = default;
};

/// Runs without a point twice, in ascending order of their offsets or in the order of the rank's array: a
/// pattern of runs, repeated with a constant step in the index space and in the array.
class PointRuns {
 public:
  PointRuns() = default;
  /// `runs`: disjoint. `elements`: length of the rank's array, holes counted.
  PointRuns(std::vector<PointRun> runs, std::uint64_t elements);

  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
  [[nodiscard]] std::uint64_t elements() const noexcept { return elements_; }
  [[nodiscard]] bool empty() const noexcept { return points_ == 0; }
  [[nodiscard]] std::uint64_t runs() const noexcept { return pattern_.size() * repeats_; }
  [[nodiscard]] std::span<const PointRun> pattern() const noexcept { return pattern_; }
  [[nodiscard]] std::uint64_t repeats() const noexcept { return repeats_; }
  [[nodiscard]] std::uint64_t offset_step() const noexcept { return offset_step_; }
  [[nodiscard]] std::uint32_t element_step() const noexcept { return element_step_; }

  /// Calls `visit(PointRun)` for every run, in order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::uint64_t i = 0; i < repeats_; ++i)
      for (const PointRun& run : pattern_)
        visit(PointRun{run.offset + i * offset_step_,
                       static_cast<std::uint32_t>(run.element + i * element_step_), run.length});
  }

  /// Of ascending runs: without the points of `lost` (ascending, disjoint).
  [[nodiscard]] PointRuns without(std::span<const OffsetRun> lost) const;

 private:
  std::vector<PointRun> pattern_;
  std::uint64_t repeats_ = 1;
  std::uint64_t offset_step_ = 0;   ///< modulo 2^64: levels may run backwards
  std::uint32_t element_step_ = 0;  ///< modulo 2^32, likewise
  std::uint64_t points_ = 0;
  std::uint64_t elements_ = 0;
};

/// Checks a rank's map alone and brings it into the file's order: 1 to 7 lengths, none 0; indices within the
/// index space or the hole; indices or runs, not both; points listed twice as `repeats` says. Errors name the
/// decomposition, the element and the value. Time O(n log n), O(n) when the list is ascending already.
Result<PointRuns> make_point_runs(std::string_view name, const Map& map, Repeats repeats);

/// Two elements of a rank's array that are the same point, of which the first counts when it is written.
struct ElementTwin {
  std::uint32_t counts = 0;
  std::uint32_t other = 0;
};

/// A rank's points in the file's order, and in that of its array where it is another.
struct ListedRuns {
  PointRuns ascending;
  std::optional<PointRuns> list;
  std::vector<ElementTwin> twins;  ///< of points that the rank lists more than once
};
/// As make_point_runs. Of points listed twice the list has only those that count.
Result<ListedRuns> make_listed_runs(std::string_view name, const Map& map, Repeats repeats);

/// The same runs for the servers, which need no elements: about two bytes a run, one pattern for all levels.
std::vector<std::byte> encode_offsets(const PointRuns& runs);

/// Reads what encode_offsets wrote, run by run.
class OffsetReader {
 public:
  explicit OffsetReader(std::span<const std::byte> encoded);
  /// The next run; length 0 at the end. Runs that touch are not joined.
  OffsetRun next();
  /// False once the bytes made no sense.
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  std::uint64_t number();
  std::uint64_t difference();

  std::span<const std::byte> encoded_;
  std::size_t at_ = 0;
  std::size_t pattern_at_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t repeats_left_ = 0;  ///< of the pattern, after this one
  std::uint64_t shift_ = 0;
  std::uint64_t end_ = 0;   ///< of the last run, without shift
  std::uint64_t same_ = 0;  ///< more runs of `gap_` and `length_`
  std::uint64_t gap_ = 0;
  std::uint64_t length_ = 0;
  bool good_ = true;
};

}  // namespace afterbay::model
