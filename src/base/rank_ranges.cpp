// SPDX-License-Identifier: Apache-2.0
#include "base/rank_ranges.hpp"

#include <algorithm>
#include <cassert>

namespace afterbay {

void RankRanges::add(int first, int last) {
  assert(first <= last && (ranges_.empty() || first > ranges_.back().last));
  if (!ranges_.empty() && ranges_.back().last + 1 == first)
    ranges_.back().last = last;
  else
    ranges_.push_back({first, last, size_});
  size_ += static_cast<std::size_t>(last - first) + 1;
}

int RankRanges::at(std::size_t index) const noexcept {
  assert(index < size_);
  const auto after = std::ranges::upper_bound(ranges_, index, {}, &Range::before);
  const Range& range = *std::prev(after);
  return range.first + static_cast<int>(index - range.before);
}

std::optional<std::size_t> RankRanges::index_of(int rank) const noexcept {
  const auto after = std::ranges::upper_bound(ranges_, rank, {}, &Range::first);
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = *std::prev(after);
  if (rank > range.last) return std::nullopt;
  return range.before + static_cast<std::size_t>(rank - range.first);
}

std::vector<int> RankRanges::ranks() const {
  std::vector<int> all;
  all.reserve(size_);
  for (const Range& range : ranges_)
    for (int rank = range.first; rank <= range.last; ++rank) all.push_back(rank);
  return all;
}

}  // namespace afterbay
