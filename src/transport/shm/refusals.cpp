// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/refusals.hpp"

#include <cstring>

#include "base/caller_terms.hpp"

namespace afterbay::transport::shm {

Error Refusals::counted_twice(const FrameSlot& slot, std::uint32_t piece) const {
  return make_error(
      ErrorCode::conflict,
      "{}: piece {} of frame {} of record number {} received more parts than the ranks hold; was "
      "a variable put "
      "twice for one record?",
      server_, piece, slot.frame, said_index(slot.seq));
}

Result<void> Refusals::check_fits(std::span<const FrameSlot> slots) const {
  const Geometry& geometry = segment_.geometry();
  std::uint64_t frames = 0;
  std::uint64_t large = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i > 0 && slots[i].frame == slots[i - 1].frame) continue;  // several pieces lie in it
    ++frames;
    if (slots[i].bytes > geometry.classes[small_blocks].bytes) ++large;
  }
  if (large <= geometry.classes[large_blocks].count && frames <= geometry.blocks()) return {};
  return fail(
      ErrorCode::resources,
      "{}: to put this without waiting takes {} blocks at once, {} of them large; the server's memory "
      "has {} of {} bytes and {} of {}: use put, which fills them one after the other, or raise "
      "memory.server",
      server_, frames, large, geometry.classes[large_blocks].count, geometry.classes[large_blocks].bytes,
      geometry.classes[small_blocks].count, geometry.classes[small_blocks].bytes);
}

Error Refusals::error(Refusal refusal, const FrameSlot& slot) const {
  if (refusal == Refusal::unknown_frame)
    return make_error(ErrorCode::internal, "{} has not declared frame {}", server_, slot.frame);
  if (refusal == Refusal::newer_instance)
    return make_error(
        ErrorCode::bad_state,
        "{}: record number {} is {} or more records behind what other ranks put, and was given up (frame {})",
        server_, said_index(slot.seq), segment_.frame(slot.frame).places, slot.frame);
  if (refusal == Refusal::no_memory) return table_.no_memory(server_);
  const BlockClassGeometry& large = segment_.geometry().classes[large_blocks];
  return make_error(
      ErrorCode::resources,
      "{}: frame {} needs {} bytes and {} pieces and begins {} bytes into its page; a block holds {} "
      "bytes and {} pieces",
      server_, slot.frame, slot.bytes, segment_.frame(slot.frame).pieces, slot.phase, large.bytes,
      large.pieces);
}

std::string Refusals::reason(Refusal refusal, const FrameSlot& slot) const {
  if (refusal == Refusal::older_instance)
    return fmt::format("frame {} of the record {} before number {} is not yet written", slot.frame,
                       segment_.frame(slot.frame).places, said_index(slot.seq));
  const std::string who = refusal == Refusal::slower_rank
                              ? "the last of them are reserved for ranks that are behind"
                              : "all of them are in use";
  const std::uint64_t configured = segment_.geometry().block_memory_bytes();
  const std::uint64_t capacity = table_.capacity_bytes();
  const std::string limited =
      capacity == configured ? ""
                             : fmt::format(" ({} are configured, but the node has no memory for more: {})",
                                           configured, std::strerror(segment_.header().memory_error.load()));
  return fmt::format(
      "{} of {} bytes of the server's memory hold frames{}, {}; if the server writes, give it more memory, "
      "else some rank has not put its part",
      table_.used_bytes(), capacity, limited, who);
}

}  // namespace afterbay::transport::shm
