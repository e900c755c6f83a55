// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/peer.hpp"

#include <utility>

namespace afterbay::transport::shm {

ShmPeer::ShmPeer(std::shared_ptr<Segment> segment, std::size_t peer, std::string transport, std::string rank)
    : segment_(std::move(segment)),
      peer_(peer),
      transport_(std::move(transport)),
      rank_(std::move(rank)),
      slot_(segment_->peer(peer)),
      up_(slot_.up, segment_->up_ring(peer), slot_.up_is_full, slot_.bell),
      down_(slot_.down, segment_->down_ring(peer)) {}

void ShmPeer::pop() {
  up_.pop();
  ++messages_;
  segment_->header().progress.fetch_add(1, std::memory_order_relaxed);
}

void ShmPeer::send(std::span<const std::byte> message) {
  kept_.emplace_back(message.begin(), message.end());
  ++messages_;
  pump();
}

bool ShmPeer::pump() {
  if (kept_.empty()) return false;
  bool moved = false;
  slot_.down_is_full.store(1, std::memory_order_seq_cst);  // from now on the rank rings when it has
                                                           // read
  while (!kept_.empty()) {
    const std::size_t before = std::exchange(kept_sent_, down_.write(kept_.front(), kept_sent_));
    moved = moved || kept_sent_ != before || down_.message_done();
    if (!down_.message_done()) break;
    kept_.pop_front();
    kept_sent_ = 0;
  }
  if (kept_.empty()) slot_.down_is_full.store(0, std::memory_order_relaxed);
  if (!moved) return false;
  segment_->header().progress.fetch_add(1, std::memory_order_relaxed);
  slot_.bell.ring();
  return true;
}

bool ShmPeer::gone() {
  const Life life = slot_.life.load(std::memory_order_acquire);
  if (life == Life::absent) return false;
  if (life == Life::ended) return true;
  if (!process_) process_.emplace(slot_.process);
  return !process_->running();
}

Result<void> ShmPeer::check_alive() {
  if (forgotten_ || !gone() || up_.front()) return {};
  if (has_ended())
    return afterbay::fail(ErrorCode::peer_lost, "{} has ended without finalizing its session", rank_);
  return afterbay::fail(
      ErrorCode::peer_lost,
      "{}, process {} on this node, has died; see its output and the kernel log (out of memory?)", rank_,
      slot_.process.pid);
}

bool ShmPeer::has_ended() const { return slot_.life.load(std::memory_order_acquire) == Life::ended; }

void ShmPeer::forget() {
  forgotten_ = true;
  FrameTable(*segment_).publish(peer_, order_end);
}

}  // namespace afterbay::transport::shm
