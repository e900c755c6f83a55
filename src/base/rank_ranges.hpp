// SPDX-License-Identifier: Apache-2.0
// A set of ranks as ranges: the sets of ranks with a role have few ranges, however many ranks they
// have.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace afterbay {

class RankRanges {
 public:
  RankRanges() = default;
  /// `ranks` ascending.
  explicit RankRanges(const std::vector<int>& ranks) {
    for (const int rank : ranks) add(rank, rank);
  }

  /// Adds the ranks from `first` to `last`, which are higher than all others.
  void add(int first, int last);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The rank with `index` ranks of the set below it; `index` is less than size().
  [[nodiscard]] int at(std::size_t index) const noexcept;
  /// The number of ranks of the set that are lower; nothing: `rank` is not in the set.
  [[nodiscard]] std::optional<std::size_t> index_of(int rank) const noexcept;
  /// All ranks, ascending.
  [[nodiscard]] std::vector<int> ranks() const;
  struct Range {
    int first = 0;
    int last = 0;
    std::size_t before = 0;  ///< ranks in the ranges before it
  };
  [[nodiscard]] const std::vector<Range>& ranges() const noexcept { return ranges_; }

 private:
  std::vector<Range> ranges_;
  std::size_t size_ = 0;
};

}  // namespace afterbay
