// SPDX-License-Identifier: Apache-2.0
// Refusals: why a rank gets no room in a server's memory, in words.
#pragma once

#include <string>

#include "transport/link.hpp"
#include "transport/shm/frame_table.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

/// Whether waiting can help.
[[nodiscard]] constexpr bool passes(Refusal refusal) noexcept {
  return refusal == Refusal::older_instance || refusal == Refusal::no_block ||
         refusal == Refusal::slower_rank;
}

/// Any thread. Refers to the segment.
class Refusals {
 public:
  /// `server`: as named in errors.
  Refusals(Segment& segment, std::string server)
      : segment_(segment), table_(segment), server_(std::move(server)) {}

  /// The error for a refusal that does not pass.
  [[nodiscard]] Error error(Refusal refusal, const FrameSlot& slot) const;
  /// What a rank that waits is waiting for.
  [[nodiscard]] std::string reason(Refusal refusal, const FrameSlot& slot) const;
  /// A part that needs more blocks at once than exist can never be put without waiting.
  [[nodiscard]] Result<void> check_fits(std::span<const FrameSlot> slots) const;
  /// The error for a rank whose part was counted twice.
  [[nodiscard]] Error counted_twice(const FrameSlot& slot, std::uint32_t piece) const;

 private:
  Segment& segment_;
  FrameTable table_;
  std::string server_;
};

}  // namespace afterbay::transport::shm
