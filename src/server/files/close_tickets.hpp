// SPDX-License-Identifier: Apache-2.0
// CloseTickets: which model ranks have closed a file, and the tickets that they get an answer to
// when it has ended. Ranks call the same functions in the same order, so that nearly all have the
// same number: a bit per rank suffices for these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/thread_safety.hpp"

namespace afterbay::server {

/// Used by the ingest thread.
class CloseTickets {
 public:
  explicit CloseTickets(std::size_t ranks = 0) : closed_(ranks) {}

  /// A rank closes the file; true: for the first time.
  bool add(std::size_t peer, std::uint64_t ticket) {
    if (!common_) {
      common_ = ticket;
      has_common_.resize(closed_.size());
    }
    if (ticket == *common_)
      has_common_[peer] = true;
    else
      others_.emplace(peer, ticket);
    if (closed_[peer]) return false;
    closed_[peer] = true;
    ++count_;
    return true;
  }
  [[nodiscard]] bool by_all() const noexcept { return count_ == closed_.size(); }
  /// Number of ranks that have closed it.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] bool by(std::size_t peer) const { return closed_[peer]; }
  [[nodiscard]] std::vector<int> not_closed() const {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < closed_.size(); ++r)
      if (!closed_[r]) ranks.push_back(static_cast<int>(r));
    return ranks;
  }
  [[nodiscard]] bool has(std::size_t peer, std::uint64_t ticket) const {
    if (ticket == common_) return has_common_[peer];
    return others_.contains({peer, ticket});
  }
  /// Calls answer(peer, ticket) for all, in the caller's thread, whose role this class cannot name.
  template <class Answer>
  void for_each(Answer&& answer) const AFTERBAY_NO_THREAD_SAFETY_ANALYSIS {
    for (std::size_t r = 0; r < has_common_.size(); ++r)
      if (has_common_[r]) answer(r, *common_);
    for (const auto& [peer, ticket] : others_) answer(peer, ticket);
  }

  /// Memory with that many ranks, if all have the same number.
  [[nodiscard]] static constexpr std::uint64_t bytes_of(std::uint64_t ranks) noexcept {
    constexpr std::uint64_t allocation = 16;  // malloc's header, with rounding
    return 2 * ((ranks + 63) / 64 * 8 + allocation);
  }

 private:
  std::vector<bool> closed_;  ///< by rank
  std::size_t count_ = 0;
  std::optional<std::uint64_t> common_;                     ///< the first ticket
  std::vector<bool> has_common_;                            ///< by rank
  std::set<std::pair<std::size_t, std::uint64_t>> others_;  ///< (model rank, ticket)
};

}  // namespace afterbay::server
