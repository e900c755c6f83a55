// SPDX-License-Identifier: Apache-2.0
// RoomWait: a part that a model rank sent over MPI, and for whose frame there is no room yet. The
// rank's stream stops meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/link.hpp"
#include "transport/peer_end.hpp"
#include "transport/shm/pool.hpp"

namespace afterbay::transport::network {

class RoomWait {
 public:
  /// Room for the frame; without it, the wait begins or goes on. `progress`: counts the server's
  /// work. `deadline`: after half of it without progress, the last blocks, which are reserved for
  /// slower ranks, may be used.
  tl::expected<FrameView, shm::Refusal> acquire(shm::Pool& pool, const FrameSlot& slot,
                                                std::uint64_t progress, Millis deadline);
  /// The room that is waited for; nullopt: none.
  [[nodiscard]] std::optional<AwaitedRoom> awaited() const {
    return parked_ ? std::optional(parked_->room) : std::nullopt;
  }
  /// The part is given up.
  void end(shm::Pool& pool);

 private:
  struct Parked {
    StallClock clock;
    AwaitedRoom room;
  };
  std::optional<Parked> parked_;
};

}  // namespace afterbay::transport::network
