// SPDX-License-Identifier: Apache-2.0
#include "decomp/repetition.hpp"

#include <algorithm>

namespace afterbay::decomp {
namespace {

/// A segment costs as much as one or two runs, and may split another segment.
constexpr std::size_t least_saving = 4;

class Search {
 public:
  Search(std::vector<Run>& runs, std::span<const std::uint64_t> global) : runs_(runs) {
    std::int64_t distance = 1;
    for (std::size_t d = global.size(); d-- > 1;) {
      distance *= static_cast<std::int64_t>(global[d]);
      if (distance > 1) steps_.insert(steps_.end(), {{distance, 0, 0}, {-distance, 0, 0}});
    }
  }

  std::vector<Segment> run() {
    const bool many = runs_.size() > least_saving;
    if (many && !steps_.empty()) sort();
    std::size_t kept = 0;  // runs that remain, moved to the front
    for (std::size_t i = 0; i < runs_.size();) {
      const Found found = many ? best(i) : Found{};
      if (found.saving() < least_saving) {
        if (!plain_) segments_.push_back({0, 1, 0});
        plain_ = true;
        ++segments_.back().runs;
        runs_[kept++] = runs_[i++];
        continue;
      }
      segments_.push_back({found.period, found.repeats, found.step});
      plain_ = false;
      for (std::size_t t = 0; t < found.period; ++t) runs_[kept++] = runs_[i + t];
      i += found.period * found.repeats;
    }
    runs_.resize(kept);
    return std::move(segments_);
  }

 private:
  struct Found {
    std::size_t period = 0;
    std::size_t repeats = 1;
    std::int64_t step = 0;
    [[nodiscard]] std::size_t saving() const { return period * (repeats - 1); }
  };

  /// A distance to try, and the reason for its last failure: runs[failed] differs from the run at +
  /// period.
  struct Step {
    std::int64_t distance = 0;
    std::size_t period = 0;
    std::size_t failed = 0;
  };

  void sort() {
    sorted_.reserve(runs_.size());
    for (std::uint32_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].offset != hole) sorted_.push_back({runs_[i].offset, i});
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// The first run after `i` with that offset, or 0. Runs before `i` are never requested, so that
  /// runs_ may be overwritten there.
  [[nodiscard]] std::size_t next(std::int64_t offset, std::size_t i) const {
    const auto found =
        std::upper_bound(sorted_.begin(), sorted_.end(), std::pair{offset, static_cast<std::uint32_t>(i)});
    return found != sorted_.end() && found->first == offset ? found->second : 0;
  }

  [[nodiscard]] bool alike(std::size_t a, std::size_t b, std::int64_t distance) const {
    if (runs_[a].length != runs_[b].length) return false;
    if (runs_[a].offset == hole || runs_[b].offset == hole) return runs_[a].offset == runs_[b].offset;
    return runs_[b].offset - runs_[a].offset == distance;
  }

  Found best(std::size_t i) {
    const std::size_t anchor = runs_[i].offset == hole ? i + 1 : i;
    Found best;
    if (anchor >= runs_.size()) return best;
    if (anchor == i) best = in_a_row(i);
    for (Step& step : steps_) {
      const std::size_t like = next(runs_[anchor].offset + step.distance, anchor);
      if (like == 0) continue;
      const Found found = extend(i, like - anchor, step);
      if (found.saving() > best.saving()) best = found;
    }
    return best;
  }

  /// Runs of equal length that follow each other at an equal distance. Few comparisons fail.
  [[nodiscard]] Found in_a_row(std::size_t i) const {
    if (i + 1 >= runs_.size() || runs_[i + 1].offset == hole) return {};
    const std::int64_t distance = runs_[i + 1].offset - runs_[i].offset;
    std::size_t last = i;
    while (last + 1 < runs_.size() && alike(last, last + 1, distance)) ++last;
    return {1, 1 + last - i, distance};
  }

  /// The number of repetitions of the `period` runs at `i`. Failed comparisons are not repeated, so
  /// the work stays linear.
  Found extend(std::size_t i, std::size_t period, Step& step) {
    if (i + 2 * period > runs_.size()) return {};
    if (step.period == period && i <= step.failed && step.failed < i + period) return {};
    std::size_t matched = 0;
    while (i + matched + period < runs_.size() && alike(i + matched, i + matched + period, step.distance))
      ++matched;
    if (matched < period) {
      step.period = period;
      step.failed = i + matched;
      return {};
    }
    return {period, 1 + matched / period, step.distance};
  }

  std::vector<Run>& runs_;
  std::vector<Step> steps_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted_;  ///< offsets of runs, and their
                                                                ///< indices
  std::vector<Segment> segments_;
  bool plain_ = false;  ///< the last segment can take more runs
};

}  // namespace

std::vector<Segment> find_repetition(std::vector<Run>& runs, std::span<const std::uint64_t> global) {
  return Search(runs, global).run();
}

}  // namespace afterbay::decomp
