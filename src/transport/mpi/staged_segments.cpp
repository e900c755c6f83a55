// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/staged_segments.hpp"

#include <cstring>

namespace afterbay::transport::network {
namespace {

constexpr unsigned bulk_memory = 8;  // segments for which a large one is remembered

}  // namespace

StagedSegments::Segment* StagedSegments::filling() noexcept {
  if (segments_.empty() || segments_.back().stage != Stage::filling) return nullptr;
  return &segments_.back();
}

bool StagedSegments::sending() const noexcept {
  return std::ranges::any_of(segments_, [](const Segment& it) { return it.stage == Stage::sending; });
}

bool StagedSegments::staged() const noexcept {
  return std::ranges::any_of(segments_, [](const Segment& it) { return it.unsent() && it.holds_items(); });
}

bool StagedSegments::under_way() const noexcept {
  return std::ranges::any_of(segments_,
                             [](const Segment& it) { return it.stage == Stage::sending || it.is_due(); });
}

HeldSegments StagedSegments::held() const noexcept {
  HeldSegments all;
  bool waits_for_caller = false;
  for (const Segment& it : segments_) {
    waits_for_caller = waits_for_caller || (it.unsent() && it.open != 0);
    if (!it.memory.large || it.stage == Stage::sent || !it.holds_items()) continue;
    ++all.segments;
    all.by_caller += waits_for_caller ? 1 : 0;
  }
  return all;
}

SegmentRequest StagedSegments::request_for(std::uint64_t bytes) const {
  const auto large = std::ranges::count_if(
      segments_, [](const Segment& it) { return it.memory.large && it.stage != Stage::sent; });
  return {std::min(alignment + bytes, carrier_.capacity()), bulk_ > 0, static_cast<std::size_t>(large)};
}

Result<bool> StagedSegments::begin_another(std::uint64_t bytes, bool may_wait) {
  SegmentRequest request = request_for(bytes);
  request.may_wait = may_wait;
  std::optional<SegmentMemory> memory;
  const auto ready =
      std::ranges::find_if(aside_, [&](const SegmentMemory& it) { return it.capacity >= request.bytes; });
  if (ready != aside_.end()) {
    memory = *ready;
    aside_.erase(ready);
  } else {
    memory = carrier_.take(request);
  }
  if (!memory) return false;
  if (auto allocated = carrier_.allocate(*memory, request.bytes); !allocated) {
    carrier_.give_back(*memory);
    return fail(std::move(allocated).error());
  }
  segments_.push_back({.memory = *memory});
  return true;
}

void StagedSegments::end_filling(Segment& segment, std::uint64_t order) noexcept {
  segment.stage = Stage::ready;
  segment.order = order;
  bulk_ = bulk_memory;  // it was too small
}

std::byte* StagedSegments::append(const ItemHeader& header) {
  Segment& segment = segments_.back();
  std::byte* at = segment.memory.data + segment.used;
  std::memcpy(at, &header, sizeof header);
  segment.used += item_bytes(header.bytes);
  return at + alignment;
}

std::byte* StagedSegments::append_open_part(const FrameSlot& slot, std::uint32_t piece,
                                            std::uint64_t packed_bytes) {
  Segment& segment = segments_.back();
  open_.push_back({slot.frame, slot.seq, piece, first_number_ + segments_.size() - 1});
  const std::pair of(slot.frame, slot.seq);
  segment.mixed = segment.mixed || (segment.frame && *segment.frame != of);
  segment.frame = of;
  ++segment.open;
  return append({ItemKind::contribution, piece, packed_bytes, slot});
}

const StagedSegments::Segment* StagedSegments::close_part(const FrameSlot& slot, std::uint32_t piece) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const OpenPart& part) {
    return part.frame == slot.frame && part.seq == slot.seq && part.piece == piece;
  });
  if (found == open_.rend()) return nullptr;
  Segment& segment = segments_[found->segment - first_number_];
  --segment.open;
  open_.erase(std::next(found).base());
  return &segment;
}

Result<std::uint32_t> StagedSegments::send_ready(std::uint32_t credits, StatedOrder& order) {
  std::uint32_t sent = 0;
  for (Segment& segment : segments_) {
    if (!segment.unsent()) continue;
    if (sent == credits || !segment.is_due()) break;
    // Segments that are sent later may contain parts of an earlier order than the latest.
    const std::uint64_t its = segment.stage == Stage::ready ? segment.order : order.latest();
    const SegmentHeader header{SegmentKind::data, 0, segment.used - alignment, its};
    std::memcpy(segment.memory.data, &header, sizeof header);
    AFTERBAY_TRY(carrier_.send(segment.memory, segment.used));
    note_sending(segment);
    order.note_stated(its);
    ++sent;
  }
  return sent;
}

void StagedSegments::note_sending(Segment& segment) noexcept {
  segment.stage = Stage::sending;
  segment.flush = false;
  if (segment.used > small_segment_bytes)
    bulk_ = bulk_memory;
  else if (bulk_ > 0)
    --bulk_;
}

Result<void> StagedSegments::complete(bool eagerly) {
  for (Segment& segment : segments_) {
    if (segment.stage != Stage::sending) continue;
    AFTERBAY_TRY_ASSIGN(const bool done, carrier_.sent(segment.memory, eagerly));
    if (done) segment.stage = Stage::sent;
  }
  for (; !segments_.empty() && segments_.front().stage == Stage::sent; ++first_number_) segments_.pop_front();
  AFTERBAY_TRY(carrier_.header_sent());
  return {};
}

bool StagedSegments::set_aside(std::size_t segments, std::uint64_t bytes) {
  const auto suffice = [&](const SegmentMemory& it) { return it.capacity >= bytes; };
  while (static_cast<std::size_t>(std::ranges::count_if(aside_, suffice)) < segments) {
    const auto memory =
        carrier_.take({.bytes = std::min(bytes, carrier_.capacity()), .prefers_large = bulk_ > 0});
    if (!memory) {
      release_unused();
      return false;
    }
    aside_.push_back(*memory);
  }
  return true;
}

void StagedSegments::release_unused() {
  for (const SegmentMemory& memory : aside_) carrier_.give_back(memory);
  aside_.clear();
  const Segment* const last = filling();
  if (last == nullptr || last->holds_items()) return;
  carrier_.give_back(last->memory);
  segments_.pop_back();
}

}  // namespace afterbay::transport::network
