// SPDX-License-Identifier: Apache-2.0
// RankLinks: the links of one model rank know each other. While the rank waits on one link, the
// others must not delay other ranks: their staged data are sent, and their servers are informed of
// the rank's position. Otherwise ranks that wait on different servers could wait for each other.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace afterbay::transport {

/// Large staging segments that hold data.
struct HeldSegments {
  std::size_t segments = 0;
  /// Segments that are sent only after the caller has committed parts that it acquired.
  std::size_t by_caller = 0;
  std::string server = {};     ///< server that most of them are for, as named in errors
  std::size_t most = 0;        ///< number of segments for that server
  std::uint64_t progress = 0;  ///< progress of all servers for which segments are held
};

/// Used only by the rank's thread.
class RankLinks {
 public:
  class Member {
   public:
    virtual ~Member() = default;
    /// States that the rank will reserve nothing before `position`. True: this link must be called
    /// again soon.
    virtual bool catch_up(std::uint64_t position) = 0;
    /// What this link holds of a staging memory that several links share.
    [[nodiscard]] virtual HeldSegments held(const void* /*memory*/) const { return {}; }
    /// Fails if the server for which it holds segments has failed or is gone.
    [[nodiscard]] virtual Result<void> check_holding(const void* /*memory*/) { return {}; }
  };

  void add(Member& member) { members_.push_back(&member); }
  void remove(const Member& member) { std::erase(members_, &member); }

  /// Positions are counted per rank, in common for all its links.
  void note(std::uint64_t position) noexcept { position_ = std::max(position_, position); }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  /// What all links hold of a staging memory.
  [[nodiscard]] HeldSegments held(const void* memory) const {
    HeldSegments all;
    for (const Member* member : members_) {
      const HeldSegments its = member->held(memory);
      if (its.segments > all.most) {
        all.most = its.segments;
        all.server = its.server;
      }
      all.segments += its.segments;
      all.by_caller += its.by_caller;
      all.progress += its.progress;
    }
    return all;
  }
  [[nodiscard]] Result<void> check_holding(const void* memory) const {
    for (Member* member : members_) AFTERBAY_TRY(member->check_holding(memory));
    return {};
  }

  /// Called by the member that waits. True: call again soon.
  bool keep_moving(const Member& waiting) {
    bool again = false;
    for (Member* member : members_)
      if (member != &waiting && member->catch_up(position_)) again = true;
    return again;
  }

  /// The end of a wait of all links together, however many there are.
  class CommonEnd {
   public:
    /// `most` after the first call.
    std::uint64_t after(std::chrono::milliseconds most) noexcept {
      if (end_ns_ == 0) end_ns_ = now_ns() + static_cast<std::uint64_t>(most.count()) * 1'000'000;
      return end_ns_;
    }

   private:
    std::uint64_t end_ns_ = 0;
  };
  CommonEnd& end_of_last_words() noexcept { return last_words_; }
  CommonEnd& end_of_departure() noexcept { return departure_; }

 private:
  std::vector<Member*> members_;
  std::uint64_t position_ = 0;
  CommonEnd last_words_;  ///< in sessions that end in order
  CommonEnd departure_;
};

}  // namespace afterbay::transport
