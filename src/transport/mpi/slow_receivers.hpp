// SPDX-License-Identifier: Apache-2.0
// Ends whose last batch their rank has not received for a while: the rank computes. A server may
// have many thousands of them for minutes, so that they are not visited at each look.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.hpp"
#include "mpi/request.hpp"

namespace afterbay::transport::network {

/// `End` has `mpi::Request* awaited_batch(const SlowReceivers&)`, null if it does not belong into
/// this list any more: then it is no longer listed; and `received()`, called when its rank has
/// received the batch. Used by one thread.
template <class End>
class SlowReceivers {
 public:
  /// `most_tested`: ends that one look tests, which takes about half a microsecond for each.
  explicit SlowReceivers(std::size_t most_tested) : most_tested_(most_tested) {}

  /// `end` is not listed yet, and stays until it is told.
  void add(End& end) { ends_.push_back(&end); }
  /// Whether the rank of any of the next ends has received its batch. Lets MPI progress.
  Result<bool> look();
  template <class Condition>
  [[nodiscard]] bool any_of(Condition condition) const {
    for (const End* end : ends_)
      if (condition(*end)) return true;
    return false;
  }

 private:
  /// The next ends of the turn, whose batches are in `requests`; others are no longer listed.
  void take_next(std::vector<mpi::Request*>& requests);

  std::size_t most_tested_;
  std::vector<End*> ends_;
  std::size_t next_ = 0;
  std::vector<End*> looked_at_;
};

template <class End>
void SlowReceivers<End>::take_next(std::vector<mpi::Request*>& requests) {
  looked_at_.clear();
  while (looked_at_.size() < most_tested_ && next_ < ends_.size()) {
    End* const end = ends_[next_];
    mpi::Request* const batch = end->awaited_batch(*this);
    if (batch == nullptr) {
      ends_[next_] = ends_.back();
      ends_.pop_back();
      continue;
    }
    looked_at_.push_back(end);
    requests.push_back(batch);
    ++next_;
  }
}

template <class End>
Result<bool> SlowReceivers<End>::look() {
  if (ends_.empty()) return false;
  if (next_ >= ends_.size()) next_ = 0;
  std::vector<mpi::Request*> requests;
  take_next(requests);
  AFTERBAY_TRY_ASSIGN(const bool any, mpi::test_some(requests));
  for (std::size_t i = 0; any && i < requests.size(); ++i)
    if (!requests[i]->active()) looked_at_[i]->received();
  return any;
}

}  // namespace afterbay::transport::network
