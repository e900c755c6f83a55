// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/port.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/polling.hpp"

namespace afterbay::transport::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
// The time between two looks at the network: an eighth of the time it has been quiet, a 64th while
// data are in transit. A wake-up costs about 30 us of processor time on all measured machines, a
// look 1 us: only infrequent wake-ups keep an idle server below half a percent of a core.
constexpr nanoseconds shortest_pause = microseconds(50);
constexpr nanoseconds longest_pause = milliseconds(16);

constexpr nanoseconds farewell = milliseconds(200);  // for all ends together, to send what is left
constexpr nanoseconds farewell_pause = milliseconds(2);

}  // namespace

Port::Port(std::shared_ptr<Segment> segment)
    : segment_(std::move(segment)),
      pool_(segment_),
      bell_seen_(segment_->header().doorbell.count()),
      quiet_since_ns_(now_ns()) {}

Port::~Port() {
  segment_->header().life.store(Life::ended, std::memory_order_seq_cst);
  ring_all();
  take_leave();
}

/// One wait for all ends: after a failure many ranks may no longer receive anything.
void Port::take_leave() {
  std::vector<PeerEnd*> leaving;
  for (const auto& peer : peers_)
    if (!peer->leave()) leaving.push_back(peer.get());
  const std::uint64_t begin = now_ns();
  while (!leaving.empty()) {
    const nanoseconds waited(now_ns() - begin);
    if (waited >= farewell) return;
    std::this_thread::sleep_for(pause_between_looks(waited, false, shortest_pause, farewell_pause));
    std::erase_if(leaving, [](PeerEnd* peer) { return peer->leave(); });
  }
}

/// Wakes all ranks, whatever they are waiting for.
void Port::ring_all() {
  segment_->header().space.ring();
  for (std::uint32_t i = 0; i < segment_->header().rings; ++i) segment_->slot(i).bell.ring();
}

void Port::fail() {
  segment_->header().failed.store(1, std::memory_order_seq_cst);
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    peers_[peer]->fail();
    note_needs(peer);
  }
  ring_all();
}

// ---- which ends are visited

void Port::note_needs(std::size_t peer) {
  const PeerNeeds needs = peers_[peer]->needs();
  if (needs.pump) pumping_.add(peer);
  if (needs.message) note_message(peer);
  if (needs.check) suspects_.add(peer);
  parked_.set(peer, needs.room);
}

void Port::note_message(std::size_t peer) {
  if (peer >= drained_.size()) drained_.resize(peers_.size());
  drained_[peer] = false;
  ready_.add(peer);
}

void Port::ready(std::size_t first, std::size_t last, std::vector<std::size_t>& peers) {
  segment_->marks().take([this](std::size_t peer) {
    if (peer < peers_.size()) note_message(peer);
  });
  const auto begin = static_cast<std::ptrdiff_t>(peers.size());
  ready_.visit([&](std::size_t peer) {
    if (drained_[peer]) return false;
    if (peer >= first && peer < last) peers.push_back(peer);
    return true;
  });
  std::sort(peers.begin() + begin, peers.end());
}

/// A mark that is set after `peek` found nothing lists the peer again.
std::optional<std::span<const std::byte>> Port::peek(std::size_t peer) {
  const auto message = peers_[peer]->peek();
  note_needs(peer);
  if (!message && peer < drained_.size()) drained_[peer] = true;
  return message;
}

void Port::pop(std::size_t peer) {
  peers_[peer]->pop();
  note_needs(peer);
}

void Port::send(std::size_t peer, std::span<const std::byte> message) {
  peers_[peer]->send(message);
  note_needs(peer);
}

void Port::send_data(std::size_t peer, std::span<const std::byte> message, OutgoingData data) {
  peers_[peer]->send_data(message, std::move(data));
  note_needs(peer);
}

void Port::forget(std::size_t peer) {
  peers_[peer]->forget();
  note_needs(peer);
}

// ---- the loop

std::size_t Port::waiting_for_room() const {
  return segment_->header().room_waiters.load(std::memory_order_relaxed);
}

bool Port::pump() {
  bool moved = false;
  for (auto& network : networks_) moved = network->progress() || moved;
  pumping_.visit([&](std::size_t peer) {
    moved = peers_[peer]->pump() || moved;
    note_needs(peer);  // which keeps it here, or not
    return false;
  });
  moved = retry_parked() || moved;
  if (moved && !networks_.empty()) quiet_since_ns_ = now_ns();
  return moved;
}

void Port::begin_messages() {
  if (std::ranges::none_of(networks_, [](const auto& it) { return it->holds_back(); })) return;
  pumping_.visit([&](std::size_t peer) {
    peers_[peer]->begin_messages();
    note_needs(peer);
    return false;
  });
}

/// Room may have appeared: a block was released, another rank has created the instance, or the
/// slower ranks have caught up.
bool Port::retry_parked() {
  if (parked_.empty()) return false;
  bool moved = false;
  parked_.try_again(
      [&](std::size_t peer) {
        const auto awaited = peers_[peer]->needs().room;
        moved = peers_[peer]->pump() || moved;
        note_needs(peer);
        return !awaited || peers_[peer]->needs().room != awaited;
      },
      [&](std::size_t peer) {
        pumping_.add(peer);
        moved = true;
      });
  return moved;
}

nanoseconds Port::pause(std::uint64_t now) {
  const bool transferring =
      std::ranges::any_of(networks_, [](const auto& it) { return it->transferring(); }) ||
      pumping_.any_of([this](std::size_t peer) { return peers_[peer]->needs().transferring; });
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

/// A rank that died after it had written to its ring, and before it marked it, is found here: its
/// end then has a message.
std::optional<LostPeer> Port::check(std::size_t peer) {
  auto alive = peers_[peer]->check_alive();
  note_needs(peer);
  if (alive) return std::nullopt;
  return LostPeer{peer, std::move(alive).error(), peers_[peer]->has_ended()};
}

std::optional<LostPeer> Port::lost_peer() {
  std::optional<LostPeer> lost;
  if (peers_.size() > most_checked)
    suspects_.visit([&](std::size_t peer) {
      if (!lost) lost = check(peer);
      return peers_[peer]->needs().check;
    });
  else
    next_check_ = 0;  // all, always in the same order
  for (std::size_t left = std::min(peers_.size(), most_checked); left > 0 && !lost; --left) {
    lost = check(next_check_);
    if (!lost) next_check_ = (next_check_ + 1) % peers_.size();
  }
  return lost;
}

void Port::mark_progress() { segment_->header().progress.fetch_add(1, std::memory_order_relaxed); }

bool Port::sending() const {
  return std::ranges::any_of(networks_, [](const auto& it) { return it->sending(); }) ||
         pumping_.any_of([this](std::size_t peer) { return peers_[peer]->needs().sending; });
}

std::uint64_t Port::receive_peak_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& network : networks_) sum += network->peak_bytes();
  return sum;
}

std::uint64_t Port::messages() const {
  std::uint64_t sum = 0;
  for (const auto& peer : peers_) sum += peer->messages();
  return sum;
}

}  // namespace afterbay::transport::shm
