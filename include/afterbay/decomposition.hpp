// SPDX-License-Identifier: Apache-2.0
/// @file
/// Decomposition: which global points a rank holds; MemoryLayout: where they lie in its memory.
/// Objects share no state: any thread may use them, one at a time for the same object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "afterbay/export.h"

namespace afterbay {

inline constexpr std::size_t max_rank = 7;  ///< largest number of dimensions of a decomposition
                                            ///< (Fortran 2003)

/// Any integer type except bool, and enums that convert to integers.
template <typename T>
concept CountingType = (std::is_integral_v<T> && !std::is_same_v<T, bool>) ||
                       (std::is_enum_v<T> && std::is_convertible_v<T, long long>);

/// Lengths or indices, one per dimension, from integers of any type: a braced list or a container.
/// Keeps signs, so that a negative value is refused instead of becoming a large positive one.
class AFTERBAY_API Integers {
 public:
  /// One integer of any type.
  struct Value {
    /// Any integer, with its sign.
    template <CountingType T>
    Value(T given) : bits(static_cast<std::uint64_t>(given)), negative(given < T{}) {}  // NOLINT: implicit
    std::uint64_t bits;                                                                 ///< bits of the value
    bool negative;  ///< whether the value was below 0
  };

  /// No values.
  Integers() = default;
  /// A braced list.
  Integers(std::initializer_list<Value> values) : values_(values) {}
  /// A container.
  template <typename Container>
    requires CountingType<typename Container::value_type>
  Integers(const Container& values) : values_(std::begin(values), std::end(values)) {}  // NOLINT: implicit

  /// The values; throws Failure (invalid_argument) if one is negative. `what` names them in the
  /// message.
  [[nodiscard]] std::vector<std::uint64_t> counts(const char* what) const;

 private:
  std::vector<Value> values_;
};

/// A rank's part of a global index space as a box: `start` and `count` per dimension, C order,
/// 0-based. A rank that holds nothing gives a count of 0 in any dimension.
struct AFTERBAY_API Block {
  /// No dimensions.
  Block() = default;
  /// Integers of any type, signed or not; throws Failure (invalid_argument) if one is negative.
  Block(const Integers& global_lengths, const Integers& starts, const Integers& counts)
      : global(global_lengths.counts("global length")),
        start(starts.counts("start")),
        count(counts.counts("count")) {}

  std::vector<std::uint64_t> global;  ///< lengths of the index space
  std::vector<std::uint64_t> start;   ///< this rank's first index
  std::vector<std::uint64_t> count;   ///< lengths of this rank's box
  friend bool operator==(const Block&, const Block&) = default;
};

/// How a linear index counts the points of a global index space.
enum class AFTERBAY_API Order {
  row_major,    ///< the last dimension runs fastest (C)
  column_major  ///< the first dimension runs fastest
};

/// A rank's part of a global index space as a list of points, in the order of the rank's array:
/// element k of the array is the point indices[k]. For unstructured grids, land points and PIO's
/// degree-of-freedom lists. A rank that holds nothing has no indices. At most 2^32 - 1 elements per
/// rank.
struct AFTERBAY_API Map {
  /// Consecutive points: linear indices [offset, offset + length).
  struct Run {
    std::int64_t offset = 0;   ///< linear index of the first point
    std::uint64_t length = 0;  ///< number of points
    friend bool operator==(const Run&, const Run&) = default;
  };

  /// Explicit, so that a braced list is a Block.
  explicit Map() = default;

  std::vector<std::uint64_t> global;  ///< 1 to 7 lengths, C order as in the variable, whatever `order` is
  std::vector<std::int64_t> indices;  ///< linear indices into `global`
  std::vector<Run> runs;              ///< instead of `indices`: consecutive runs
  std::int64_t base = 0;              ///< the linear index of the first point: 0, or 1 as in Fortran and PIO
  /// Marks elements of the array that belong to no point and are not written; in `runs` as the
  /// offset. It must not be the index of a point.
  std::int64_t hole = -1;
  Order order = Order::row_major;  ///< how `indices` and `runs` count the points

  /// PIO's list for `PIO_initdecomp`: 1-based, 0 for a hole, the first of PIO's dimensions running
  /// fastest. `fastest_first`: the lengths in PIO's order.
  static Map from_pio(const std::vector<std::uint64_t>& fastest_first,
                      std::vector<std::int64_t> degrees_of_freedom) {
    Map map;
    map.global.assign(fastest_first.rbegin(), fastest_first.rend());
    map.indices = std::move(degrees_of_freedom);
    map.base = 1;
    map.hole = 0;
    return map;
  }
  friend bool operator==(const Map&, const Map&) = default;
};

/// What happens to a point that is listed more than once, by one rank or by several.
enum class AFTERBAY_API Repeats {
  refuse,  ///< an error that names the point and the ranks
  first,   ///< the first value of the lowest rank is written
  last     ///< the last value of the highest rank is written
};

/// Whether points of a decomposition may be missing or held several times.
struct AFTERBAY_API Coverage {
  bool gaps_allowed = false;          ///< points that no rank holds get the fill value
  Repeats repeats = Repeats::refuse;  ///< maps only: blocks must not overlap
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// A section of a caller's part of a variable: a box in the indices of the caller's array, without
/// the record dimension, counted from 0. On a map the array has one dimension, its list of points,
/// instead of the map's. Empty lists stand for the whole part.
struct AFTERBAY_API Section {
  /// The whole part.
  Section() = default;
  /// Integers of any type, signed or not; throws Failure (invalid_argument) if one is negative.
  Section(const Integers& starts, const Integers& counts)
      : start(starts.counts("start")), count(counts.counts("count")) {}

  std::vector<std::uint64_t> start;  ///< the first index in each dimension
  std::vector<std::uint64_t> count;  ///< lengths of the box
  /// Whether it is the whole part.
  [[nodiscard]] bool whole() const noexcept { return start.empty() && count.empty(); }
  friend bool operator==(const Section&, const Section&) = default;
};

/// Where a rank's part lies in memory, in elements of the model's array, C order. Empty: dense.
/// With `shape` and `offset`, the part starts at `offset` inside an array of `shape` (halos). With
/// `strides` (elements between neighbours along each dimension), `shape` may be empty. For a
/// variable on a Map, the dimensions of the map count as one: the list of points, including holes.
struct AFTERBAY_API MemoryLayout {
  std::vector<std::uint64_t> shape;   ///< lengths of the whole array
  std::vector<std::uint64_t> offset;  ///< where the part begins in it
  std::vector<std::int64_t> strides;  ///< elements between neighbours, per dimension
  /// True if no member is set: the part's elements are contiguous.
  [[nodiscard]] bool dense() const noexcept { return shape.empty() && offset.empty() && strides.empty(); }
  friend bool operator==(const MemoryLayout&, const MemoryLayout&) = default;
};

}  // namespace afterbay
