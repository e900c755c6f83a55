// SPDX-License-Identifier: Apache-2.0
// RecordSet: which records were put, written, stored.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace afterbay::model {

/// Record numbers, kept as runs: records put in order take the memory of one.
class RecordSet {
 public:
  [[nodiscard]] bool contains(std::uint64_t record) const {
    const auto after = runs_.upper_bound(record);
    return after != runs_.begin() && record < std::prev(after)->second;
  }
  void insert(std::uint64_t record) {
    if (contains(record)) return;
    auto run = runs_.upper_bound(record);
    if (run != runs_.begin() && std::prev(run)->second == record) {
      --run;
      ++run->second;
    } else {
      run = runs_.emplace(record, record + 1).first;
    }
    const auto next = std::next(run);
    if (next == runs_.end() || next->first != run->second) return;
    run->second = next->second;
    runs_.erase(next);
  }

  /// Records [first, end) of a set that has none of them nor any beside them.
  void insert(std::uint64_t first, std::uint64_t end) {
    if (first < end) runs_.emplace(first, end);
  }
  /// First record of each run -> one past its last.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& runs() const { return runs_; }

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;
};

}  // namespace afterbay::model
