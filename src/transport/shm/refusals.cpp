// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/refusals.hpp"

#include <algorithm>
#include <array>
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
  using Frames = std::array<std::uint64_t, most_cuts>;
  Frames frames{}, of_reserve{};  // by cut
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i > 0 && slots[i].frame == slots[i - 1].frame) continue;  // several pieces lie in it
    const std::uint32_t frame = slots[i].frame;
    const std::uint32_t cut =
        geometry.cut_for(slots[i].bytes, table_.is_frame(frame) ? segment_.frame(frame).pieces : 0);
    if (cut == geometry.cuts) continue;
    ++frames[cut];
    ++of_reserve[std::min(cut, geometry.reserve_cut)];
  }
  const auto blocks_of = [&](const Frames& of) {
    std::uint64_t blocks = 0;
    for (std::uint32_t cut = 0; cut < geometry.cuts; ++cut)
      blocks += (of[cut] + geometry.cut[cut].parts - 1) / geometry.cut[cut].parts;
    return blocks;
  };
  const bool two_kinds = geometry.reserve_cut != uncut && geometry.reserve > 1;
  const std::uint64_t blocks = blocks_of(of_reserve);
  if (blocks + (two_kinds ? 1 : 0) <= geometry.blocks ||
      blocks_of(frames) <= geometry.blocks - geometry.reserve)
    return {};
  return fail(ErrorCode::resources,
              "{}: to put this without waiting takes {} blocks of {} bytes at once; the server's memory has "
              "{}: use put, which fills them one after the other, or raise memory.server",
              server_, blocks, geometry.sizes.block_bytes, geometry.blocks);
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
  const Cut& large = segment_.geometry().cut[uncut];
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
