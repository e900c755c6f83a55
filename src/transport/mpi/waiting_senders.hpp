// SPDX-License-Identifier: Apache-2.0
// WaitingSenders: ends whose segments wait for memory, one entry per segment. Finds the one with
// the earliest order without a look at the others. Orders only grow, so that a sender is never
// before the place that it has in the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace afterbay::transport::network {

/// `Sender` has `order()`.
template <class Sender>
class WaitingSenders {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  void add(Sender& sender) { push({sender.order(), added_++, &sender}); }
  /// The sender with the earliest order; of several, the one that has waited longest. There must be
  /// one.
  [[nodiscard]] Sender& first() {
    for (;;) {
      const std::uint64_t order = heap_.front().sender->order();
      if (order <= heap_.front().order) return *heap_.front().sender;
      Entry entry = pop();
      entry.order = order;
      push(entry);
    }
  }
  /// Removes what `first` returned last.
  void remove_first() { pop(); }
  /// Removes and returns the first sender for which `condition` holds, of at most `most`; null:
  /// none.
  template <class Condition>
  [[nodiscard]] Sender* take_first_that(Condition condition, std::size_t most) {
    Sender* found = nullptr;
    for (passed_.clear(); found == nullptr && !empty() && passed_.size() < most;) {
      Sender& sender = first();
      if (condition(sender)) found = &sender;
      const Entry entry = pop();
      if (found == nullptr) passed_.push_back(entry);
    }
    for (const Entry& entry : passed_) push(entry);
    return found;
  }

 private:
  struct Entry {
    std::uint64_t order = 0;  ///< at most that of the sender
    std::uint64_t number = 0;
    Sender* sender = nullptr;
    [[nodiscard]] bool operator<(const Entry& other) const noexcept {  // the greatest is taken first
      return order != other.order ? order > other.order : number > other.number;
    }
  };
  void push(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end());
  }
  Entry pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
  }
  std::vector<Entry> heap_;
  std::vector<Entry> passed_;  ///< empty except in take_first_that
  std::uint64_t added_ = 0;
};

}  // namespace afterbay::transport::network
