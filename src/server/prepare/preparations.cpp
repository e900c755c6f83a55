// SPDX-License-Identifier: Apache-2.0
#include "server/prepare/preparations.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::server {

/// Lets a worker make the structure that the files of a collection share before the first of them
/// is opened. Without workers, this would only use this thread's time earlier, and perhaps in vain.
/// Files that are appended to are not known to benefit.
void Preparations::begin(const ServedCollection& collection) {
  const bool makes_files = collection.sharing == model::FileSharing::none || collection.first == host_.server;
  if (!makes_files || host_.workers == 0) return;
  if (collection.existing != Existing::append) {
    structures_.push_back(&collection);
    make_structures();
  }
  if (traits_of(collection.format).publishes) begin_journal();
}

void Preparations::complete(const Catalog& catalog, wire::Defined answer) {
  make_buffers(catalog, answer);
  answer_ = std::move(answer);
  answer_if_ready();
}

/// One after the other, so that a file that is opened meanwhile need not wait for all.
void Preparations::make_structures() {
  if (making_structure_ || structures_.empty()) return;
  making_structure_ = true;
  const ServedCollection& next = *structures_.front();
  structures_.pop_front();
  storage::FileRequest request;
  request.schema = next.schema;
  request.layout = next.sink->file_layout();
  submit(
      [this, format = next.format, request = std::move(request)]() -> Result<> {
        host_.make_structure(format, request);
        return {};
      },
      [this]() AFTERBAY_REQUIRES(ingest_thread) {
        making_structure_ = false;
        make_structures();
      });
}

/// The first line of the journal waits for the disk several times.
void Preparations::begin_journal() {
  if (!host_.begin_journal || std::exchange(has_journal_, true)) return;
  submit([this] { return host_.begin_journal(); });
}

/// Each worker puts packed frames in order, and computes stages, in its own memory, which the
/// system provides slowly: 3 ms for 4 MiB were measured.
void Preparations::make_buffers(const Catalog& catalog, const wire::Defined& defined) {
  if (has_buffers_) return;
  std::uint64_t bytes = 0;
  for (const wire::Defined::Base& base : defined.bases) {
    const ServedCollection& collection = *catalog.find(base.collection);
    const model::Cutting& cutting = *collection.layout->cutting;
    for (const model::PieceRun& run : cutting.piece_runs()) {
      const model::PieceGrid& grid = cutting.grids()[run.grid];
      if (collection.packed[grid.variable] == nullptr && !collection.sink->takes_scratch()) continue;
      // In a run of frames with one piece each, the first piece may be shorter than others.
      const std::uint64_t most =
          std::max(cutting.frame(run.first_frame).bytes, grid.part.product() * grid.element_bytes);
      bytes = std::max(bytes, most + model::page_bytes);
    }
  }
  if (bytes == 0) return;
  has_buffers_ = true;
  for (std::size_t i = 0; i < host_.workers; ++i)
    submit([this, bytes]() -> Result<> {
      host_.make_buffer(bytes);
      return {};
    });
}

/// `then` runs when the task has ended.
void Preparations::submit(Task task, IngestFunction<void()> then) {
  ++under_way_;
  host_.submit(std::move(task),
               [this, then = std::move(then)](Result<> made) AFTERBAY_REQUIRES(ingest_thread) {
                 --under_way_;
                 if (!made && !host_.session_failed()) host_.fail(std::move(made).error());
                 if (then) then();
                 answer_if_ready();
               });
}

/// The ranks continue when everything is ready, or files are open.
void Preparations::answer_if_ready() {
  if (!answer_ || host_.session_failed() || (under_way_ > 0 && !host_.has_files())) return;
  host_.answer(*std::exchange(answer_, std::nullopt));
}

}  // namespace afterbay::server
