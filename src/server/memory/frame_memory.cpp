// SPDX-License-Identifier: Apache-2.0
#include "server/memory/frame_memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/units.hpp"
#include "model/handover_layout.hpp"

namespace afterbay::server {

FrameMemory::FrameMemory(const config::Config& config, transport::FramePool& frames, Host host)
    : frames_(frames),
      configured_bytes_(config.memory.server_bytes),
      host_(std::move(host)),
      scratch_(config.memory.block_bytes + model::page_bytes),
      overflow_(config, {[this](const transport::FrameView& view) { frames_.release(view); }, host_.moved,
                         host_.warn}) {}

void FrameMemory::relieve() {
  if (!overflow_.active() || !frames_.is_short()) return;
  for (const Overflow::RecordKey& record : overflow_.relieve()) host_.dropped(record);
}

void FrameMemory::watch() {
  const int error = frames_.memory_error();
  if ((error != 0) == refused_) return;
  refused_ = error != 0;
  const std::string configured = print_bytes(configured_bytes_);
  host_.warn(
      refused_
          ? fmt::format("I/O server {}: this node has no memory for more than {} of its {} "
                        "(memory.server): {}. Output continues, and model ranks wait for room sooner. Give "
                        "the job more memory per node, lower memory.server, or use fewer I/O servers per "
                        "node",
                        host_.server, print_bytes(frames_.capacity_bytes()), configured, std::strerror(error))
          : fmt::format("I/O server {}: all of its {} of memory (memory.server) can be used again",
                        host_.server, configured));
}

}  // namespace afterbay::server
