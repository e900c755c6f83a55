// SPDX-License-Identifier: Apache-2.0
// Marks: a bit per rank in a server's segment, set when the rank has written to its ring, so that
// the server reads only those rings. A second level has a bit per word of the first: an idle server
// with 100 000 ranks reads 25 words.
//
// A rank writes to its ring, sets its bit, then the bit of that word, and then rings the doorbell
// if the server must be woken. The server clears in the opposite order, word bits first, and reads
// the ring last. No message is overlooked:
//   * All accesses to marks are sequentially consistent. If the rank finds the word's bit set, the
//     server has yet to clear it, and then finds the rank's bit. If not, the rank sets it.
//   * Whoever clears a rank's bit has synchronized with the write to the ring before it.
//   * The doorbell is rung after the marks: a server that missed them finds that the bell has rung
//     since its last sleep, and does not sleep.
//   * A rank that is stopped between these steps goes on later. For one that has died there,
//     PeerEnd::check_alive looks into the ring itself.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace afterbay::transport::shm {

class Marks {
 public:
  static constexpr std::size_t bits = 64;  ///< per word
  static constexpr std::size_t words_for(std::size_t count) noexcept { return (count + bits - 1) / bits; }
  /// Size of both levels.
  static constexpr std::size_t bytes_for(std::size_t ranks) noexcept {
    return (words_for(ranks) + words_for(words_for(ranks))) * sizeof(std::uint64_t);
  }

  /// `words`: bytes_for(ranks) bytes, zero at first.
  Marks(std::atomic<std::uint64_t>* words, std::size_t ranks) noexcept
      : words_(words), of_words_(words + words_for(ranks)), words_of_words_(words_for(words_for(ranks))) {}

  void set(std::size_t rank) noexcept {
    const std::size_t word = rank / bits;
    words_[word].fetch_or(bit(rank), std::memory_order_seq_cst);
    std::atomic<std::uint64_t>& above = of_words_[word / bits];
    // A rank that set another bit of the word may have died before it set this one.
    if ((above.load(std::memory_order_seq_cst) & bit(word)) == 0)
      above.fetch_or(bit(word), std::memory_order_seq_cst);
  }

  /// Clears all marks and calls `visit(rank)` for each.
  template <class Visit>
  void take(Visit visit) {
    for (std::size_t above = 0; above < words_of_words_; ++above)
      for_each_bit(of_words_[above], above,
                   [&](std::size_t word) { for_each_bit(words_[word], word, visit); });
  }

 private:
  static constexpr std::uint64_t bit(std::size_t index) noexcept {
    return std::uint64_t{1} << (index % bits);
  }
  template <class Visit>
  static void for_each_bit(std::atomic<std::uint64_t>& word, std::size_t number, Visit visit) {
    if (word.load(std::memory_order_seq_cst) == 0) return;  // without taking the cache line
    for (std::uint64_t set = word.exchange(0, std::memory_order_seq_cst); set != 0; set &= set - 1)
      visit(number * bits + static_cast<std::size_t>(std::countr_zero(set)));
  }

  std::atomic<std::uint64_t>* words_;
  std::atomic<std::uint64_t>* of_words_;
  std::size_t words_of_words_;
};

}  // namespace afterbay::transport::shm
