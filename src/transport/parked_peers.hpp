// SPDX-License-Identifier: Apache-2.0
// ParkedPeers: peers whose data wait for room in the server's memory, grouped by the frame instance
// that they need: one attempt answers for all of a group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "transport/peer_end.hpp"

namespace afterbay::transport {

class ParkedPeers {
 public:
  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return peers_.size(); }

  /// The peer needs this instance from now on; nullopt: none.
  void set(std::size_t peer, const std::optional<AwaitedRoom>& room) {
    if (peers_.empty() && !room) return;
    const auto at = peers_.find(peer);
    if (at != peers_.end()) {
      if (room && at->second.room == *room) return;
      remove(at->second);
      peers_.erase(at);
    }
    if (!room) return;
    peers_.emplace(peer, Parked{*room, serial_});
    groups_[*room].emplace(serial_++, peer);
  }

  /// Calls `retry(peer)`, which returns whether the peer found room, for the first peer of some
  /// groups, and `go_on(peer)` for the others of a group whose instance exists now. Groups are
  /// tried in the order of requests, whose first one may take reserved memory, until
  /// `most_refusals_in_order` were refused, and from there on as many in turn, `most_refusals` in
  /// one pass: every group is tried after a bounded number of passes.
  template <class Retry, class GoOn>
  void try_again(Retry retry, GoOn go_on) {
    std::size_t refusals = try_from(AwaitedRoom{}, most_refusals_in_order, retry, go_on);
    if (refusals < most_refusals_in_order) return;  // all groups were tried
    next_ = std::max(next_, reached_);
    const AwaitedRoom begin = next_;
    refusals = try_from(begin, most_refusals, retry, go_on);
    next_ = refusals < most_refusals ? AwaitedRoom{} : reached_;
  }

  static constexpr std::size_t most_refusals_in_order = 16;
  static constexpr std::size_t most_refusals = 64;

 private:
  struct Parked {
    AwaitedRoom room;
    std::uint64_t serial = 0;  ///< in its group
  };
  using Group = std::map<std::uint64_t, std::size_t>;  ///< peers, in the order in which they came

  void remove(const Parked& parked) {
    const auto group = groups_.find(parked.room);
    group->second.erase(parked.serial);
    if (group->second.empty()) groups_.erase(group);
  }

  /// Tries groups from `from` on; afterwards `reached_` is the place after the last one.
  template <class Retry, class GoOn>
  std::size_t try_from(const AwaitedRoom& from, std::size_t most, Retry& retry, GoOn& go_on) {
    std::size_t refusals = 0;
    for (auto it = groups_.lower_bound(from); it != groups_.end() && refusals < most;
         it = groups_.lower_bound(reached_)) {
      const AwaitedRoom room = it->first;
      reached_ = {room.order, room.seq + 1};
      const std::size_t first = it->second.begin()->second;
      if (!retry(first)) {
        ++refusals;
        continue;
      }
      const auto group = groups_.find(room);  // `retry` may have changed it
      if (group == groups_.end()) continue;
      const Group others = std::move(group->second);
      groups_.erase(group);
      for (const auto& [serial, peer] : others) peers_.erase(peer);
      for (const auto& [serial, peer] : others) go_on(peer);
    }
    return refusals;
  }

  std::map<AwaitedRoom, Group> groups_;
  std::unordered_map<std::size_t, Parked> peers_;
  std::uint64_t serial_ = 0;
  AwaitedRoom next_;     ///< where the next pass goes on
  AwaitedRoom reached_;  ///< by the last attempts
};

}  // namespace afterbay::transport
