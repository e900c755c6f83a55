// SPDX-License-Identifier: Apache-2.0
// Completes a frame for its sink: puts packed contributions in order, and gives points that no rank
// wrote the fill value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
  ChunkSampler* sampler = nullptr;    ///< see CompleteFrame
};

struct FrameTimers {
  observe::Timer* fill = nullptr;
  observe::Timer* stages = nullptr;
};

/// Sets the points of a piece that no rank writes to a value: gaps of the decomposition, and the
/// padding of edge chunks. `at`: start of the piece, in the layout's order.
void fill_gaps(const ServedCollection& collection, std::uint32_t piece, std::span<const std::byte> value,
               std::byte* at);
/// Sets the gaps of several pieces to the fill value. `frame`: its start.
void fill_gaps(const ServedCollection& collection, std::span<const std::uint32_t> pieces, std::byte* frame);

/// A frame in the layout's order, with its gaps filled. Made by a worker.
class OrderedFrame {
 public:
  /// Takes a buffer of `scratch` if the frame was handed over packed. The task has pieces.
  OrderedFrame(const FrameTask& task, ScratchBuffers& scratch, observe::Timer* timer);
  /// Valid as long as this and the task.
  [[nodiscard]] const CompleteFrame& frame() const noexcept { return frame_; }

 private:
  /// Buffer in which the frame lies; nullopt: in the task's own.
  std::optional<ScratchBuffers::Lease> buffer_;
  CompleteFrame frame_;
};

/// "T", or "T, ps and 3 more", for messages.
std::string variables_of(const ServedCollection& collection, std::span<const std::uint32_t> pieces);

/// Runs in a worker. Takes at most one buffer of `scratch`: for frames that were handed over
/// packed, and for stages.
Result<storage::WriteCost> write_frame_task(const FrameTask& task, storage::File& file,
                                            ScratchBuffers& scratch, const FrameTimers& timers);

}  // namespace afterbay::server
