// SPDX-License-Identifier: Apache-2.0
// PointSet: one bit per point of an index space.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace afterbay::decomp {

class PointSet {
 public:
  explicit PointSet(std::uint64_t points) : points_(points), words_((points + 63) / 64) {}

  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
  [[nodiscard]] bool has(std::uint64_t point) const noexcept {
    return (words_[point / 64] >> (point % 64) & 1) != 0;
  }

  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::uint64_t>(std::popcount(word));
    return sum;
  }

  /// Adds `length` points from `offset`; those already in the set are added to `again`, if it is
  /// given.
  void add(std::uint64_t offset, std::uint64_t length, PointSet* again = nullptr) noexcept {
    for (std::uint64_t end = offset + length; offset < end;) {
      const std::uint64_t first = offset % 64;
      const std::uint64_t many = std::min<std::uint64_t>(64 - first, end - offset);
      const std::uint64_t bits = (many == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << many) - 1) << first;
      std::uint64_t& word = words_[offset / 64];
      if (again != nullptr) again->words_[offset / 64] |= word & bits;
      word |= bits;
      offset += many;
    }
  }

  void add(const PointSet& other) noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

  /// Moves those of the `length` points from `offset` that are in this set; those already in `to`
  /// are added to `again`.
  void move_to(PointSet& to, std::uint64_t offset, std::uint64_t length, PointSet& again) noexcept {
    for (std::uint64_t i = offset / 64; i <= (offset + length - 1) / 64; ++i) {
      again.words_[i] |= to.words_[i] & words_[i];
      to.words_[i] |= std::exchange(words_[i], 0);
    }
  }

  /// The first point from `from` on that is (or is not) in the set; points() if there is none.
  [[nodiscard]] std::uint64_t next(std::uint64_t from, bool in) const noexcept {
    while (from < points_) {
      const std::uint64_t word = (in ? words_[from / 64] : ~words_[from / 64]) >> (from % 64);
      if (word != 0) return std::min(from + static_cast<std::uint64_t>(std::countr_zero(word)), points_);
      from = (from / 64 + 1) * 64;
    }
    return points_;
  }

 private:
  std::uint64_t points_;
  std::vector<std::uint64_t> words_;
};

}  // namespace afterbay::decomp
