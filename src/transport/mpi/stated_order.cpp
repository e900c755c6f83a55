// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/stated_order.hpp"

#include "base/clock.hpp"
#include "transport/mpi/staged_segments.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t ping_every_ns = 250'000'000;

}  // namespace

/// Staged messages are sent first: with them the server learns the latest order.
Result<void> StatedOrder::ping(Carrier& carrier, const StagedSegments& segments) {
  AFTERBAY_TRY_ASSIGN(const bool left, carrier.header_sent());
  if (!left) return {};
  const std::uint64_t order = segments.staged() ? stated_ : latest_;
  AFTERBAY_TRY(carrier.send_header({SegmentKind::ping, 0, 0, order}));
  answered_ = false;
  pinged_ns_ = now_ns();
  stated_ = order;
  return {};
}

Result<void> StatedOrder::state(Carrier& carrier, const StagedSegments& segments) {
  if (segments.staged() || latest_ == stated_ || !answered_) return {};
  return ping(carrier, segments);
}

Result<void> StatedOrder::ping_if_due(Carrier& carrier, const StagedSegments& segments) {
  if (!answered_ || now_ns() - pinged_ns_ < ping_every_ns) return {};
  return ping(carrier, segments);
}

}  // namespace afterbay::transport::network
