// SPDX-License-Identifier: Apache-2.0
// StatedOrder: the position before which a model rank requests nothing, and what its server knows
// of it. Segments and words state it; a rank that sends none states it in pings, which also ask the
// server whether it is alive. One ping is under way at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/result.hpp"
#include "transport/mpi/carrier.hpp"

namespace afterbay::transport::network {

class StagedSegments;

/// Belongs to one link, whose carrier and segments its calls get. Used by one thread.
class StatedOrder {
 public:
  [[nodiscard]] std::uint64_t latest() const noexcept { return latest_; }
  /// The latest that was sent to the server.
  [[nodiscard]] std::uint64_t stated() const noexcept { return stated_; }
  /// Whether it rises with puts to other servers, too; see ClientLink::rest.
  [[nodiscard]] bool follows() const noexcept { return follows_; }

  /// The rank is at `order`, or further; from now on it rises with puts to other servers.
  void follow(std::uint64_t order) noexcept {
    follows_ = true;
    latest_ = std::max(latest_, order);
  }
  void rest() noexcept { follows_ = false; }
  void note_stated(std::uint64_t order) noexcept { stated_ = std::max(stated_, order); }
  void note_pong() noexcept { answered_ = true; }

  /// States the latest order in a ping, unless the server knows it or staged segments will state
  /// it.
  Result<void> state(Carrier& carrier, const StagedSegments& segments);
  /// While the rank waits: asks the server periodically whether it is alive and working.
  Result<void> ping_if_due(Carrier& carrier, const StagedSegments& segments);

 private:
  Result<void> ping(Carrier& carrier, const StagedSegments& segments);

  std::uint64_t latest_ = 0;
  std::uint64_t stated_ = 0;
  std::uint64_t pinged_ns_ = 0;
  bool follows_ = false;
  bool answered_ = true;  ///< the last ping
};

}  // namespace afterbay::transport::network
