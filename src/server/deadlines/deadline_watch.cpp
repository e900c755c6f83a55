// SPDX-License-Identifier: Apache-2.0
#include "server/deadlines/deadline_watch.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t watch_interval_ns = 250'000'000;

}  // namespace

bool DeadlineWatch::is_due(std::uint64_t now_ns) noexcept {
  if (now_ns < next_ns_) return false;
  next_ns_ = now_ns + watch_interval_ns;
  return true;
}

bool DeadlineWatch::has_expired(const Waits& waits, std::uint64_t now_ns) noexcept {
  const bool stalled = is_stalled(now_ns);
  const bool room_awaited = waited_for_room(waits.ranks_for_room, now_ns);
  if (waits.writing) return false;
  return waits.overdue_ticket || (stalled && (room_awaited || waits.others));
}

bool DeadlineWatch::waited_for_room(std::size_t ranks, std::uint64_t now_ns) noexcept {
  if (ranks == 0) {
    room_awaited_since_ns_.reset();
    return false;
  }
  if (!room_awaited_since_ns_) room_awaited_since_ns_ = now_ns;
  return now_ns - *room_awaited_since_ns_ > limit_ns();
}

}  // namespace afterbay::server
