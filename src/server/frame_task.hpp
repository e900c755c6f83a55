// SPDX-License-Identifier: Apache-2.0
// Completes a frame for its sink: puts packed contributions in order, and gives points that no rank wrote the
// fill value.
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
  std::vector<std::uint32_t> pieces;  ///< pieces to write, as indices in the layout, ascending
  std::uint64_t epochs = 0;           ///< number of the last epoch before its puts
  bool in_scratch = false;            ///< the view's buffer is one of the worker's own, which may be changed
};

struct FrameTimers {
  observe::Timer* fill = nullptr;
  observe::Timer* stages = nullptr;
};

/// Runs in a worker. Takes at most one buffer of `scratch`: for frames that were handed over packed, and for
/// stages.
Result<storage::WriteCost> write_frame_task(const FrameTask& task, storage::File& file,
                                            ScratchBuffers& scratch, const FrameTimers& timers);

}  // namespace afterbay::server
