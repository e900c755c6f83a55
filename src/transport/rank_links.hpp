// SPDX-License-Identifier: Apache-2.0
// RankLinks: the links of one model rank know each other. While the rank waits on one link, the
// others must not delay other ranks: their staged data are sent, and their servers are informed of
// the rank's position. Otherwise ranks that wait on different servers could wait for each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace afterbay::transport {

/// Used only by the rank's thread.
class RankLinks {
 public:
  class Member {
   public:
    virtual ~Member() = default;
    /// States that the rank will reserve nothing before `position`. True: this link must be called
    /// again soon.
    virtual bool catch_up(std::uint64_t position) = 0;
  };

  void add(Member& member) { members_.push_back(&member); }
  void remove(const Member& member) { std::erase(members_, &member); }

  /// Positions are counted per rank, in common for all its links.
  void note(std::uint64_t position) noexcept { position_ = std::max(position_, position); }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  /// Called by the member that waits. True: call again soon.
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
