// SPDX-License-Identifier: Apache-2.0
// PieceSet: a set of pieces of a file's layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace afterbay::storage {

/// One bit per piece, by its index in FileLayout::pieces.
class PieceSet {
 public:
  PieceSet() = default;
  explicit PieceSet(std::size_t pieces) : words_((pieces + 63) / 64) {}

  [[nodiscard]] bool contains(std::size_t piece) const { return (words_[piece / 64] >> piece % 64 & 1) != 0; }
  void insert(std::size_t piece) {
    if (contains(piece)) return;
    words_[piece / 64] |= std::uint64_t{1} << piece % 64;
    ++count_;
  }
  void erase(std::size_t piece) {
    if (!contains(piece)) return;
    words_[piece / 64] &= ~(std::uint64_t{1} << piece % 64);
    --count_;
  }
  /// Adds all pieces of a set of the same size that has none in common with this one.
  void insert(const PieceSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    count_ += other.count_;
  }
  /// The first piece that both sets contain, or a number beyond all pieces.
  [[nodiscard]] std::size_t first_common(const PieceSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if ((words_[i] & other.words_[i]) != 0)
        return i * 64 + static_cast<std::size_t>(__builtin_ctzll(words_[i] & other.words_[i]));
    return words_.size() * 64;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  friend bool operator==(const PieceSet& a, const PieceSet& b) {
    return a.count_ == b.count_ && a.words_ == b.words_;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t count_ = 0;
};

}  // namespace afterbay::storage
