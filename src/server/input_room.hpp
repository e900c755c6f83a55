// SPDX-License-Identifier: Apache-2.0
// InputRoom: allocates parts of a memory of fixed size, first fit. Used by one thread.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "base/rounding.hpp"

namespace afterbay::server {

class InputRoom {
 public:
  explicit InputRoom(std::uint64_t bytes) {
    if (bytes > 0) free_[0] = bytes;
  }

  /// The offset of `bytes` (rounded up to whole pages) of free memory; nullopt if there is no room
  /// now.
  std::optional<std::uint64_t> take(std::uint64_t bytes) {
    bytes = rounded(bytes);
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < bytes) continue;
      const std::uint64_t offset = it->first;
      const std::uint64_t rest = it->second - bytes;
      free_.erase(it);
      if (rest > 0) free_[offset + bytes] = rest;
      return offset;
    }
    return std::nullopt;
  }

  void give_back(std::uint64_t offset, std::uint64_t bytes) {
    auto at = free_.emplace(offset, rounded(bytes)).first;
    if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    const auto before = std::prev(at);
    if (before->first + before->second != at->first) return;
    before->second += at->second;
    free_.erase(at);
  }

 private:
  static std::uint64_t rounded(std::uint64_t bytes) {
    constexpr std::uint64_t page = 4096;  // so that direct I/O can read into it
    return rounded_up(bytes, page);
  }

  std::map<std::uint64_t, std::uint64_t> free_;  ///< bytes, by offset; adjacent ranges are merged
};

}  // namespace afterbay::server
