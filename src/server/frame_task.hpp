// SPDX-License-Identifier: Apache-2.0
// The last steps of a frame before its sink: packed contributions are put in order, and what no rank wrote
// gets the fill value.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/profile.hpp"
#include "server/catalog.hpp"
#include "server/scratch_buffers.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

struct FrameTask {
  const ServedCollection* collection = nullptr;
  std::uint64_t record = 0;
  transport::FrameView view;
  std::vector<std::uint32_t> pieces;  ///< to be written, by index in the layout, ascending
  std::uint64_t epochs = 0;           ///< number of the last epoch before its puts
};

struct FrameTimers {
  observe::Timer* fill = nullptr;
  observe::Timer* stages = nullptr;
};

/// Runs in a worker, which takes at most one buffer of `scratch`: for frames that were handed over packed,
/// and for stages.
Result<storage::WriteCost> write_frame_task(const FrameTask& task, storage::File& file,
                                            ScratchBuffers& scratch, const FrameTimers& timers);

}  // namespace afterbay::server
