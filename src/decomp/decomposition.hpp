// SPDX-License-Identifier: Apache-2.0
// Decomposition: the points of a global index space that each rank holds, for all ranks, in compact
// form: the contents of one map of a decomposition file (docs/reference/decomposition-files.md).
// Points are row-major, 0-based.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/result.hpp"

namespace afterbay::decomp {

using Run = Map::Run;

inline constexpr std::int64_t hole = -1;  ///< the offset of a run of holes
/// Maximum number of elements of a rank's list, as for afterbay::Map.
inline constexpr std::uint64_t most_elements = (std::uint64_t{1} << 32) - 1;

/// `runs` runs of a list that occur `repeats` times, with offsets that grow by `step` each time.
struct Segment {
  std::uint64_t runs = 0;
  std::uint64_t repeats = 1;
  std::int64_t step = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Whether `next` continues `run`, so that both form one run.
inline bool continues(const Run& run, std::int64_t next_offset) {
  return run.offset == hole ? next_offset == hole
                            : next_offset == run.offset + static_cast<std::int64_t>(run.length);
}

/// Passes runs on after joining neighbours that continue each other. `flush` passes on the last
/// one.
template <class Visit>
class Joiner {
 public:
  explicit Joiner(Visit& visit) : visit_(visit) {}
  void add(const Run& run) {
    if (pending_.length > 0 && continues(pending_, run.offset)) {
      pending_.length += run.length;
      return;
    }
    flush();
    pending_ = run;
  }
  void flush() {
    if (pending_.length > 0) visit_(std::as_const(pending_));
    pending_ = {};
  }

 private:
  Visit& visit_;
  Run pending_;
};

/// A rank's list while it is built: runs that no neighbour continues.
class RunList {
 public:
  void add(std::int64_t offset, std::uint64_t length = 1) {
    if (!runs_.empty() && continues(runs_.back(), offset)) {
      runs_.back().length += length;
    } else {
      runs_.push_back({offset, length});
    }
  }
  void add_holes(std::uint64_t length) {
    if (length > 0) add(hole, length);
  }
  [[nodiscard]] std::vector<Run>& runs() noexcept { return runs_; }

 private:
  std::vector<Run> runs_;
};

class Decomposition {
 public:
  Decomposition() = default;
  /// `global`: 1 to 7 lengths of at least 1 with a product below 2^63, as verified by check_global.
  Decomposition(std::string name_in, std::vector<std::uint64_t> global)
      : name(std::move(name_in)), global_(std::move(global)) {}

  std::string name;

  [[nodiscard]] const std::vector<std::uint64_t>& global() const noexcept { return global_; }
  [[nodiscard]] std::uint64_t points() const noexcept;  ///< number of points in the index space
  [[nodiscard]] std::size_t ranks() const noexcept { return first_segment_.size() - 1; }

  /// Adds the list of the next rank, whose runs must be valid. Repetition is detected and stored
  /// once; `runs` is consumed.
  void add_rank(RunList list);
  /// The same from segments that the caller knows.
  void add_rank(std::span<const Segment> segments, std::span<const Run> runs);

  [[nodiscard]] std::span<const Segment> segments(std::size_t rank) const;  ///< segments of the rank
  [[nodiscard]] std::span<const Run> runs(std::size_t rank) const;          ///< runs of the rank's segments
  [[nodiscard]] std::span<const Segment> segments() const noexcept { return segments_; }
  [[nodiscard]] std::span<const Run> runs() const noexcept { return runs_; }

  struct Count {
    std::uint64_t elements = 0;  ///< number of elements in the list, including holes
    std::uint64_t holes = 0;
  };
  /// The largest number stands for all larger ones: requested lists may be that large.
  [[nodiscard]] Count count(std::size_t rank) const;

  /// Calls `visit(Run)` for the rank's runs in list order; no run continues the previous one.
  template <class Visit>
  void for_each_run(std::size_t rank, Visit&& visit) const {
    Joiner<Visit> joiner(visit);
    std::span<const Run> rest = runs(rank);
    for (const Segment& segment : segments(rank)) {
      const std::span<const Run> pattern = rest.first(segment.runs);
      rest = rest.subspan(segment.runs);
      std::int64_t shift = 0;
      for (std::uint64_t i = 0; i < segment.repeats; ++i) {
        if (i > 0) shift += segment.step;
        for (const Run& run : pattern)
          joiner.add({run.offset == hole ? hole : run.offset + shift, run.length});
      }
    }
    joiner.flush();
  }

  /// The rank's list as an afterbay::Map of runs.
  [[nodiscard]] Map map_of(std::size_t rank) const;

 private:
  std::vector<std::uint64_t> global_;
  std::vector<Segment> segments_;
  std::vector<Run> runs_;
  std::vector<std::size_t> first_segment_{0};  ///< per rank, and the end
  std::vector<std::size_t> first_run_{0};      ///< per rank, and the end
};

/// Refuses lengths that form no index space: no or more than 7 dimensions, a length below 1, 2^63
/// points.
Result<> check_global(std::span<const std::int64_t> lengths);

/// "72 x 866", "1 point", "12 points".
std::string text_of_lengths(std::span<const std::uint64_t> lengths);

}  // namespace afterbay::decomp
