// SPDX-License-Identifier: Apache-2.0
// RecordSet: a set of records, for example those that were put, written or stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace afterbay::model {

/// Record numbers, stored as runs: records that are added in order are one run, and need no memory
/// in addition to the set's own.
class RecordSet {
 public:
  [[nodiscard]] bool contains(std::uint64_t record) const {
    if (runs_.empty()) return first_ <= record && record < end_;
    const auto after = runs_.upper_bound(record);
    return after != runs_.begin() && record < std::prev(after)->second;
  }

  void insert(std::uint64_t record) {
    if (contains(record)) return;
    if (runs_.empty()) {
      if (first_ == end_) first_ = end_ = record;
      if (record == end_) {
        ++end_;
        return;
      }
      runs_.emplace(first_, end_);
    }
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

  /// Adds a record to a set to which only records near the largest one are added: what is missing
  /// more than `reach` records before it counts as added, so that the set stays small.
  void insert_recent(std::uint64_t record, std::uint64_t reach) {
    insert(record);
    if (runs_.size() > 2 * reach && record > reach) fill_before(record - reach);
  }

  /// Adds records [first, end), none of which may be in the set or adjacent to a record in it.
  void insert(std::uint64_t first, std::uint64_t end) {
    if (first >= end) return;
    if (runs_.empty() && first_ != end_) runs_.emplace(first_, end_);
    if (!runs_.empty()) {
      runs_.emplace(first, end);
    } else {
      first_ = first;
      end_ = end;
    }
  }

  void erase(std::uint64_t record) {
    if (!contains(record)) return;
    if (runs_.empty()) runs_.emplace(first_, end_);
    const auto run = std::prev(runs_.upper_bound(record));
    const std::uint64_t end = std::exchange(run->second, record);
    if (run->first == record) runs_.erase(run);
    if (record + 1 != end) runs_.emplace(record + 1, end);
    if (runs_.empty()) first_ = end_ = 0;
  }

  /// Number of runs of records without a gap. The memory of the set is in proportion to it.
  [[nodiscard]] std::size_t runs() const { return runs_.empty() ? 1 : runs_.size(); }

  /// One past the largest record; 0 if the set is empty.
  [[nodiscard]] std::uint64_t end() const { return runs_.empty() ? end_ : runs_.rbegin()->second; }

 private:
  /// Adds all records before this one. There are several runs.
  void fill_before(std::uint64_t record) {
    const auto after = runs_.upper_bound(record);
    const std::uint64_t end = after == runs_.begin() ? record : std::max(record, std::prev(after)->second);
    runs_.erase(runs_.begin(), after);
    runs_.emplace(0, end);
    const auto next = std::next(runs_.begin());
    if (next == runs_.end() || next->first != end) return;
    runs_.begin()->second = next->second;
    runs_.erase(next);
  }

  std::uint64_t first_ = 0;  ///< start of the only run, while `runs_` is empty
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, std::uint64_t> runs_;  ///< first record -> one past the last
};

}  // namespace afterbay::model
