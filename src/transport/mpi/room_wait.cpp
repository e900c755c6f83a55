// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/room_wait.hpp"

#include "transport/shm/frame_table.hpp"

namespace afterbay::transport::network {

tl::expected<FrameView, shm::Refusal> RoomWait::acquire(shm::Pool& pool, const FrameSlot& slot,
                                                        std::uint64_t progress, Millis deadline) {
  // As for ranks on this node: a rank that is behind, but puts nothing for a long time, no longer
  // reserves the last blocks.
  const bool last_too = parked_ && parked_->clock.stalled_ns(progress) > parked_->clock.limit_ns() / 2;
  auto view = pool.try_acquire(slot, last_too ? shm::Blocks::all : shm::Blocks::by_order);
  if (view) {
    end(pool);
  } else if (!parked_) {
    parked_ = Parked{StallClock(deadline, progress), {shm::order_of(slot.position, slot.frame), slot.seq}};
    pool.begin_to_wait();
  }
  return view;
}

void RoomWait::end(shm::Pool& pool) {
  if (!parked_) return;
  parked_.reset();
  pool.end_to_wait();
}

}  // namespace afterbay::transport::network
