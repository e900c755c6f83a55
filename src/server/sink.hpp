// SPDX-License-Identifier: Apache-2.0
// Sink: writes the complete frames of a collection to its files. Ranks, intake and assembly use the
// handover layout, a File uses the file layout; only the sink knows both.
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

/// Sees the pieces that are written to the files of a collection, as the files have them before
/// filters. Any thread; does not wait.
class ChunkSampler {
 public:
  ChunkSampler() = default;
  ChunkSampler(const ChunkSampler&) = delete;
  ChunkSampler& operator=(const ChunkSampler&) = delete;
  virtual ~ChunkSampler() = default;
  virtual void take(std::span<const storage::PieceWrite> pieces) = 0;
};

/// A frame, or those of its pieces that were put. Every point has its value or the fill value.
/// Order of pieces and byte order are those of the handover layout.
struct CompleteFrame {
  std::byte* base = nullptr;              ///< start of the frame in its buffer
  std::span<const std::uint32_t> pieces;  ///< indices in the handover layout, ascending; not empty
  std::uint64_t record = 0;
  std::uint64_t epochs = 0;         ///< number of the last epoch before its puts
  bool in_scratch = false;          ///< the buffer is a scratch buffer, and the sink may overwrite the values
  ChunkSampler* sampler = nullptr;  ///< gets what is written; null: none
};

/// The sink of one collection. Immutable: any number of workers may write frames at the same time.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// The layout of the collection's files.
  [[nodiscard]] const std::shared_ptr<const model::FileLayout>& file_layout() const noexcept {
    return layout_;
  }
  /// Whether `write` needs a scratch buffer for frames that are not in one.
  [[nodiscard]] virtual bool takes_scratch() const noexcept { return false; }
  /// Writes a frame to a file of the collection. Called by workers; errors name the variables.
  /// `stage_timer` measures computation; may be null.
  virtual Result<storage::WriteCost> write(const CompleteFrame& frame, storage::File& file,
                                           ScratchBuffers& scratch, observe::Timer* stage_timer) const = 0;

 protected:
  explicit Sink(std::shared_ptr<const model::FileLayout> layout) : layout_(std::move(layout)) {}

  /// Writes the pieces of `frame` from a copy at `base` in the order and byte order of the file
  /// layout.
  Result<storage::WriteCost> pass_on(std::byte* base, const CompleteFrame& frame, storage::File& file) const;

 private:
  std::shared_ptr<const model::FileLayout> layout_;
};

/// A sink whose handover layout and file layout are the same object: frames are written without a
/// copy.
std::shared_ptr<const Sink> make_direct_sink(std::shared_ptr<const model::FileLayout> layout);

}  // namespace afterbay::server
