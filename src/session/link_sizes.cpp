// SPDX-License-Identifier: Apache-2.0
#include "session/link_sizes.hpp"

namespace afterbay::session {

transport::LinkSizes link_sizes(const config::MemorySettings& memory) {
  transport::LinkSizes sizes;
  sizes.memory_bytes = memory.frame_bytes();
  sizes.block_bytes = memory.block_bytes;
  sizes.small_block_bytes = memory.small_block_bytes;
  sizes.small_share = memory.small_share;
  sizes.max_frames = static_cast<std::uint32_t>(memory.frames);
  sizes.ring_bytes = memory.ring_bytes;
  sizes.segment_bytes = memory.block_bytes;
  sizes.segments = static_cast<std::uint32_t>(memory.link_bytes / memory.block_bytes);
  sizes.receive_bytes = memory.receive_bytes;
  return sizes;
}

std::uint64_t frontend_bytes(const config::Config& config) {
  const bool is_set = config.origin("memory.frontend").source != config::Source::fallback;
  return is_set ? config.memory.frontend_bytes : 0;
}

}  // namespace afterbay::session
