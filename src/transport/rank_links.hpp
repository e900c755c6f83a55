// SPDX-License-Identifier: Apache-2.0
// RankLinks: the links of one model rank know of each other. While the rank waits on one of them,
// the others must not hold anybody up: what they have staged is sent, and their servers hear how
// far the rank has come. Else ranks that wait on different servers could wait for each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace afterbay::transport {

/// Used by the rank's thread only.
class RankLinks {
 public:
  class Member {
   public:
    virtual ~Member() = default;
    /// The rank will reserve nothing before `position`. True: this link must be called again soon.
    virtual bool catch_up(std::uint64_t position) = 0;
  };

  void add(Member& member) { members_.push_back(&member); }
  void remove(const Member& member) { std::erase(members_, &member); }

  /// Positions are the rank's, the same count for all its links.
  void note(std::uint64_t position) noexcept { position_ = std::max(position_, position); }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  /// For the member that waits. True: call again soon.
  bool keep_moving(const Member& waiting) {
    bool again = false;
    for (Member* member : members_)
      if (member != &waiting && member->catch_up(position_)) again = true;
    return again;
  }

 private:
  std::vector<Member*> members_;
  std::uint64_t position_ = 0;
};

}  // namespace afterbay::transport
