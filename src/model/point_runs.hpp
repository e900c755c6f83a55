// SPDX-License-Identifier: Apache-2.0
// PointRuns: a rank's points of a Map as runs, in the order of the file. Repetition (the same
// columns on every level) is detected and stored once, so that memory depends on the number of
// different runs.
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

/// Consecutive points [offset, offset + length) of an index space (row-major, 0-based), which are
/// the elements [element, element + length) of the rank's array.
struct PointRun {
  std::uint64_t offset = 0;
  std::uint32_t element = 0;
  std::uint32_t length = 0;
  friend bool operator==(const PointRun&, const PointRun&) = default;
};

/// Consecutive points without elements of a rank's array.
struct OffsetRun {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const OffsetRun&, const OffsetRun&) = default;
};

/// Runs without duplicate points, in ascending order of their offsets or in the order of the rank's
/// array: a pattern of runs, repeated with a constant step in the index space and in the array.
class PointRuns {
 public:
  PointRuns() = default;
  /// `runs` must be disjoint. `elements`: length of the rank's array, including holes.
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

  /// For ascending runs: the runs without the points of `lost` (ascending, disjoint).
  [[nodiscard]] PointRuns without(std::span<const OffsetRun> lost) const;
  /// The points whose elements lie in [first, first + count), which become the elements from 0.
  [[nodiscard]] PointRuns of_elements(std::uint64_t first, std::uint64_t count) const;

 private:
  std::vector<PointRun> pattern_;
  std::uint64_t repeats_ = 1;
  std::uint64_t offset_step_ = 0;   ///< modulo 2^64: levels may be in descending order
  std::uint32_t element_step_ = 0;  ///< modulo 2^32, likewise
  std::uint64_t points_ = 0;
  std::uint64_t elements_ = 0;
};

/// The points of `runs` that are not among those of `others`, ascending and merged. Both must be
/// ascending.
[[nodiscard]] std::vector<OffsetRun> outside(const PointRuns& runs, const PointRuns& others);

/// Checks a rank's map alone and converts it to the order of the file: 1 to 7 lengths, none of them
/// 0; indices within the index space or equal to the hole; either indices or runs; points listed
/// twice according to `repeats`. Errors name the decomposition, the element and the value. Time O(n
/// log n), O(n) if the list is already ascending.
Result<PointRuns> make_point_runs(std::string_view name, const Map& map, Repeats repeats);

/// Two elements of a rank's array that are the same point. `counts` is the one that is written.
struct ElementTwin {
  std::uint32_t counts = 0;
  std::uint32_t other = 0;
};

/// A rank's points in the order of the file, and in the order of its array if that differs.
struct ListedRuns {
  PointRuns ascending;
  std::optional<PointRuns> list;
  std::vector<ElementTwin> twins;  ///< for points that the rank lists more than once
};
/// Like make_point_runs. If points are listed twice, `list` has only those that count.
Result<ListedRuns> make_listed_runs(std::string_view name, const Map& map, Repeats repeats);

/// The same runs for the servers, which need no elements: about two bytes per run, one pattern for
/// all levels.
std::vector<std::byte> encode_offsets(const PointRuns& runs);

/// Reads the result of encode_offsets, run by run.
class OffsetReader {
 public:
  explicit OffsetReader(std::span<const std::byte> encoded);
  /// The next run; length 0 at the end. Adjacent runs are not merged.
  OffsetRun next();
  /// False if the bytes are invalid.
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  std::uint64_t number();
  std::uint64_t difference();

  std::span<const std::byte> encoded_;
  std::size_t at_ = 0;
  std::size_t pattern_at_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t repeats_left_ = 0;  ///< repetitions of the pattern after the current one
  std::uint64_t shift_ = 0;
  std::uint64_t end_ = 0;   ///< end of the last run, without shift
  std::uint64_t same_ = 0;  ///< number of further runs with `gap_` and `length_`
  std::uint64_t gap_ = 0;
  std::uint64_t length_ = 0;
  bool good_ = true;
};

}  // namespace afterbay::model
