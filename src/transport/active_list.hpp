// SPDX-License-Identifier: Apache-2.0
// ActiveList: the few of many indexes that need a visit. Costs depend on their number only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace afterbay::transport {

class ActiveList {
 public:
  /// No effect if it is in the list.
  void add(std::size_t index) {
    if (index >= listed_.size()) listed_.resize(std::max(index + 1, 2 * listed_.size()), false);
    if (listed_[index]) return;
    listed_[index] = true;
    list_.push_back(index);
  }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
  template <class Condition>
  [[nodiscard]] bool any_of(Condition condition) const {
    return std::ranges::any_of(list_, condition);
  }

  /// Calls `visit` once for each index that is in the list now, in the order in which they were
  /// added. An index stays if `visit` returns true or adds it again. Not to be nested.
  template <class Visit>
  void visit(Visit visit) {
    visited_.swap(list_);
    for (const std::size_t index : visited_) {
      listed_[index] = false;
      if (visit(index)) add(index);
    }
    visited_.clear();
  }

 private:
  std::vector<std::size_t> list_;
  std::vector<std::size_t> visited_;  ///< empty except in `visit`
  std::vector<bool> listed_;          ///< by index
};

}  // namespace afterbay::transport
