// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/port.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/polling.hpp"

namespace afterbay::transport::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
// The time between two looks at the network: an eighth of the time it has been quiet, a 64th while
// data are in transit. A wake-up costs about 30 us of processor time on all measured machines, a
// look 1 us: only infrequent wake-ups keep an idle server below 1 % of a core.
constexpr nanoseconds shortest_pause = microseconds(50);
constexpr nanoseconds longest_pause = microseconds(10'000);

}  // namespace

Port::Port(std::shared_ptr<Segment> segment)
    : segment_(std::move(segment)),
      pool_(segment_),
      bell_seen_(segment_->header().doorbell.count()),
      quiet_since_ns_(now_ns()) {}

Port::~Port() {
  segment_->header().life.store(Life::ended, std::memory_order_seq_cst);
  ring_all();
}

/// Wakes all ranks, whatever they are waiting for.
void Port::ring_all() {
  segment_->header().space.ring();
  for (std::uint32_t i = 0; i < segment_->header().peers; ++i) segment_->peer(i).bell.ring();
}

void Port::fail() {
  segment_->header().failed.store(1, std::memory_order_seq_cst);
  for (auto& peer : peers_) peer->fail();
  ring_all();
}

std::size_t Port::waiting_for_room() const {
  return segment_->header().room_waiters.load(std::memory_order_relaxed);
}

bool Port::pump() {
  bool moved = false;
  for (auto& network : networks_) moved = network->progress() || moved;
  for (auto& peer : peers_) moved = peer->pump() || moved;
  if (moved && !networks_.empty()) quiet_since_ns_ = now_ns();
  return moved;
}

nanoseconds Port::pause(std::uint64_t now) {
  const bool transferring = std::ranges::any_of(networks_, [](const auto& it) { return it->transferring(); });
  if (transferring && !transferring_) quiet_since_ns_ = now;
  transferring_ = transferring;
  return pause_between_looks(nanoseconds(now - quiet_since_ns_), transferring, shortest_pause, longest_pause);
}

/// Sleeps unless the doorbell has rung since the last sleep ended.
void Port::sleep(nanoseconds most) {
  EventCount& bell = segment_->header().doorbell;
  const std::uint32_t count = bell.prepare();
  if (count == bell_seen_)
    bell.wait(count, most);
  else
    bell.cancel();
}

void Port::wait(Millis most) {
  EventCount& bell = segment_->header().doorbell;
  const std::uint64_t end =
      now_ns() + static_cast<std::uint64_t>(std::max<Millis::rep>(most.count(), 0)) * 1'000'000;
  for (;;) {
    if (pump()) break;
    const std::uint64_t now = now_ns();
    if (now >= end) break;
    const nanoseconds left(end - now);
    sleep(networks_.empty() ? left : std::min(left, pause(now)));
    if (bell.count() != bell_seen_) break;
  }
  bell_seen_ = bell.count();
}

void Port::wake() { segment_->header().doorbell.ring(); }

std::optional<LostPeer> Port::lost_peer() {
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (auto alive = peers_[i]->check_alive(); !alive)
      return LostPeer{i, std::move(alive).error(), peers_[i]->has_ended()};
  return std::nullopt;
}

void Port::mark_progress() { segment_->header().progress.fetch_add(1, std::memory_order_relaxed); }

bool Port::sending() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->sending(); });
}

std::uint64_t Port::messages() const {
  std::uint64_t sum = 0;
  for (const auto& peer : peers_) sum += peer->messages();
  return sum;
}

}  // namespace afterbay::transport::shm
