// SPDX-License-Identifier: Apache-2.0
// Sink: stands between the complete frames of a collection and its files. Ranks, intake and assembly know the
// handover layout; a File knows the file layout; only the sink knows both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/result.hpp"
#include "model/layout.hpp"
#include "observe/profile.hpp"
#include "server/scratch_buffers.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

/// A frame, or what there is of it, in which every point has its value: ranks put it, or it is the fill
/// value. In the order of pieces and the byte order of the handover layout.
struct CompleteFrame {
  std::byte* base = nullptr;              ///< where the frame begins in its buffer
  std::span<const std::uint32_t> pieces;  ///< by index in the handover layout, ascending; not empty
  std::uint64_t record = 0;
  std::uint64_t epochs = 0;  ///< number of the last epoch before its puts
  bool in_scratch = false;   ///< the buffer is a scratch buffer, and the sink may overwrite the values
};

/// Of one collection. Constant: any number of workers write frames at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// What the files of the collection look like.
  [[nodiscard]] const std::shared_ptr<const model::FileLayout>& file_layout() const noexcept {
    return layout_;
  }
  /// Whether `write` takes a scratch buffer for frames that are not in one.
  [[nodiscard]] virtual bool takes_scratch() const noexcept { return false; }
  /// Passes a frame on to a file of the collection. In a worker; errors name the variables. `stage_timer`:
  /// for computing; may be null.
  virtual Result<storage::WriteCost> write(const CompleteFrame& frame, storage::File& file,
                                           ScratchBuffers& scratch, observe::Timer* stage_timer) const = 0;

 protected:
  explicit Sink(std::shared_ptr<const model::FileLayout> layout) : layout_(std::move(layout)) {}

  /// Writes the pieces of `frame`, in the order and byte order of the file layout, from a frame at `base`.
  Result<storage::WriteCost> pass_on(std::byte* base, const CompleteFrame& frame, storage::File& file) const;

 private:
  std::shared_ptr<const model::FileLayout> layout_;
};

/// Handover layout and file layout are one object: frames go to the file as they lie, without a copy.
std::shared_ptr<const Sink> make_direct_sink(std::shared_ptr<const model::FileLayout> layout);

}  // namespace afterbay::server
