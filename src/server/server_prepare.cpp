// SPDX-License-Identifier: Apache-2.0
// Preparations before the first file of a collection is opened: they take no time from the model's
// first step, and while the ranks wait for the answer to their definitions the cores are idle.
#include <algorithm>
#include <utility>

#include "server/server.hpp"

namespace afterbay::server {

/// Lets a worker make the structure that the files of a collection share before the first of them
/// is opened. Without workers, this would only use this thread's time earlier, and perhaps in vain.
/// Files that are appended to are not known to benefit.
void Server::prepare(const ServedCollection& collection) {
  const bool makes_files = collection.split == model::Split::none ||
                           collection.first == static_cast<std::uint32_t>(identity_.number);
  if (!makes_files || !workers_.has_threads()) return;
  if (collection.existing != Existing::append) {
    preparations_.structures.push_back(&collection);
    prepare_structure();
  }
  if (traits_of(collection.format).publishes) prepare_journal();
}

/// One after the other, so that a file that is opened meanwhile need not wait for all.
void Server::prepare_structure() {
  if (preparations_.making_structure || preparations_.structures.empty()) return;
  preparations_.making_structure = true;
  const ServedCollection& next = *preparations_.structures.front();
  preparations_.structures.pop_front();
  storage::FileRequest request;
  request.schema = next.schema;
  request.layout = next.sink->file_layout();
  submit_preparation(
      [this, format = next.format, request = std::move(request)]() -> Result<> {
        const observe::Timed timed(profile_.preparation());
        requests_.store(format).prepare(request);
        return {};
      },
      [this]() AFTERBAY_REQUIRES(ingest_thread) {
        preparations_.making_structure = false;
        prepare_structure();
      });
}

/// The first line of the journal waits for the disk several times.
void Server::prepare_journal() {
  if (!journal_ || std::exchange(preparations_.has_journal, true)) return;
  submit_preparation([this] { return journal_->begin(); });
}

/// Each worker puts packed frames in order, and computes stages, in its own memory, which the
/// system provides slowly: 3 ms for 4 MiB were measured.
void Server::prepare_scratch(const wire::Defined& defined) {
  if (preparations_.has_scratch) return;
  std::uint64_t bytes = 0;
  for (const wire::Defined::Base& base : defined.bases) {
    const ServedCollection& collection = *catalog_.find(base.collection);
    for (const model::Piece& piece : collection.layout->pieces)
      if (collection.packed[piece.variable] != nullptr || collection.sink->takes_scratch())
        bytes = std::max(bytes, collection.layout->frames[piece.frame].bytes + model::page_bytes);
  }
  if (bytes == 0) return;
  preparations_.has_scratch = true;
  for (std::size_t i = 0; i < workers_.threads(); ++i)
    submit_preparation([this, bytes]() -> Result<> {
      memory_.prepare_buffer(bytes);
      return {};
    });
}

/// `then` runs in the server's thread when the task has ended.
void Server::submit_preparation(AnyThreadFunction<Result<>()> task, IngestFunction<void()> then) {
  ++preparations_.under_way;
  workers_.submit([this, task = std::move(task), then = std::move(then)] {
    auto made = task();
    executor_.post([this, then, made = std::move(made)]() AFTERBAY_REQUIRES(ingest_thread) {
      --preparations_.under_way;
      if (!made && !failure_.happened()) fail(made.error());
      if (then) then();
      tell_defined();
    });
  });
}

/// The ranks continue when everything is ready. Later definitions are answered at once: workers may
/// have much to write.
void Server::tell_defined() {
  if (!preparations_.answer || failure_.happened() || (preparations_.under_way > 0 && files_.all().empty())) return;
  const auto bytes = wire::encode(*std::exchange(preparations_.answer, std::nullopt));
  for (std::size_t p = 0; p < catalog_.ranks(); ++p) {
    if (identity_.number == 0)  // all servers get the same result
      for (const wire::MapLosses& lost : catalog_.losses(p)) port_->send(p, wire::encode(lost));
    for (const wire::MapPacking& packing : catalog_.packings(p)) port_->send(p, wire::encode(packing));
    port_->send(p, bytes);
  }
}

}  // namespace afterbay::server
