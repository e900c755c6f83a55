// SPDX-License-Identifier: Apache-2.0
// StagedSegments: the segments of one link, from the moment that they are taken from the carrier's
// memory until they have been sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "transport/mpi/carrier.hpp"
#include "transport/mpi/stated_order.hpp"
#include "transport/rank_links.hpp"

namespace afterbay::transport::network {

/// Refers to the carrier. Used by one thread.
class StagedSegments {
 public:
  enum class Stage { filling, ready, sending, sent };
  struct Segment {
    SegmentMemory memory;
    std::uint64_t used = alignment;  ///< including the header
    std::uint32_t open = 0;          ///< parts reserved but not yet committed
    std::uint64_t order = 0;         ///< when ready: the order of the rank's next reservation in
                                     ///< another segment
    Stage stage = Stage::filling;
    bool flush = false;  ///< to be sent although it is not full
    /// The frame and record whose parts it holds, and whether it also holds parts of others.
    std::optional<std::pair<std::uint32_t, std::uint64_t>> frame = {};
    bool mixed = false;
    /// Whether it would hold parts of several frames, and more than `most` bytes. `slot`: of a
    /// part; null: of a message.
    [[nodiscard]] bool would_mix(std::uint64_t bytes, const FrameSlot* slot,
                                 std::uint64_t most) const noexcept {
      const bool another = slot != nullptr && frame && *frame != std::pair(slot->frame, slot->seq);
      return (mixed || another) && used + bytes > most;
    }
    [[nodiscard]] bool holds_items() const noexcept { return used > alignment; }
    [[nodiscard]] std::uint64_t room() const noexcept { return memory.capacity - used; }
    [[nodiscard]] bool unsent() const noexcept { return stage == Stage::filling || stage == Stage::ready; }
    /// Whether it is to be sent as soon as there is a credit.
    [[nodiscard]] bool is_due() const noexcept {
      return open == 0 && (stage == Stage::ready || (stage == Stage::filling && flush));
    }
  };

  explicit StagedSegments(Carrier& carrier) : carrier_(carrier) {}

  /// The segment that is being filled; null: none.
  [[nodiscard]] Segment* filling() noexcept;
  /// Whether any is being sent.
  [[nodiscard]] bool sending() const noexcept;
  /// Whether data are staged that have not been passed to the carrier.
  [[nodiscard]] bool staged() const noexcept;
  /// Whether segments are being sent or are due.
  [[nodiscard]] bool under_way() const noexcept;
  /// What it holds of memory that links share; without `server` and `progress`.
  [[nodiscard]] HeldSegments held() const noexcept;

  /// Begins another segment with room for items of `bytes`; false: there is none now. `may_wait`:
  /// it is called again until it succeeds.
  Result<bool> begin_another(std::uint64_t bytes, bool may_wait);
  /// It is full. `order`: of the rank's next reservation.
  void end_filling(Segment& segment, std::uint64_t order) noexcept;
  /// Appends an item, for which there is room, to the segment that was begun last. Returns where
  /// its payload goes.
  std::byte* append(const ItemHeader& header);
  /// Likewise, for a part that the caller fills; until `close_part` its segment is not sent.
  std::byte* append_open_part(const FrameSlot& slot, std::uint32_t piece, std::uint64_t packed_bytes);
  /// The segment of the part; null: there is no such open part.
  const Segment* close_part(const FrameSlot& slot, std::uint32_t piece);

  /// Sends those that are due, in order, at most `credits`, with the rank's order in their headers.
  /// Returns their number.
  Result<std::uint32_t> send_ready(std::uint32_t credits, StatedOrder& order);
  /// Makes progress on what is being sent, and forgets segments that have been sent. `eagerly`: the
  /// link waits for that.
  Result<void> complete(bool eagerly);
  /// Takes segments of at least `bytes` for the next put; false: there are not as many now.
  bool set_aside(std::size_t segments, std::uint64_t bytes);
  /// Gives back segments that were taken but hold nothing.
  void release_unused();

 private:
  struct OpenPart {
    std::uint32_t frame = 0;
    std::uint64_t seq = 0;
    std::uint32_t piece = 0;
    std::uint64_t segment = 0;  ///< its running number
  };

  void note_sending(Segment& segment) noexcept;
  [[nodiscard]] SegmentRequest request_for(std::uint64_t bytes) const;

  Carrier& carrier_;
  std::deque<Segment> segments_;    ///< in the order of the stream; the last may be filled
  std::uint64_t first_number_ = 0;  ///< the running number of the first
  std::vector<OpenPart> open_;
  unsigned bulk_ = 0;                 ///< segments to come that probably hold more than a small one can
  std::vector<SegmentMemory> aside_;  ///< taken for the next put
};

}  // namespace afterbay::transport::network
