// SPDX-License-Identifier: Apache-2.0
// The server's implementation of FrameMemory::Host, and the writes of queued frames by workers.
#include "base/caller_terms.hpp"
#include "server/server.hpp"

namespace afterbay::server {

FrameMemory::Host Server::memory_host() {
  return {
      identity_.number, [this] { executor_.post([] {}); }, [this](const std::string& text) { warn(text); },
      [this](const Overflow::RecordKey& record) AFTERBAY_REQUIRES(ingest_thread) { note_dropped(record); }};
}

bool Server::is_droppable(const ServedCollection& collection) {
  return config_.when_full == config::WhenFull::drop && collection.split == model::Split::none &&
         space_.of(collection).droppable;
}

/// Called while ranks may be waiting for room.
void Server::relieve() {
  if (!failure_.happened()) memory_.relieve();
}

/// Warns once per file.
void Server::note_dropped(const Overflow::RecordKey& key) {
  const Record* const record = records_.find(key.first, key.second);
  OutputFile* const file = record == nullptr ? nullptr : files_.find(record->file);
  if (file == nullptr || file->records_dropped++ > 0) return;
  warn(fmt::format(
      "collection \"{}\": the server's memory is full, and records of {} are dropped, the first of "
      "them number {}; they will hold fill values",
      file->collection->name, file->path, said_index(record->record)));
}

Result<storage::WriteCost> Server::write_queued(const Overflow::Handle& frame, const OutputFile& file,
                                                const CollectionTimers& timers) {
  return memory_.take(*frame, [&](const FrameTask& task, ScratchBuffers& scratch) {
    auto cost = [&]() -> Result<storage::WriteCost> {
      AFTERBAY_TRY(check_wanted(file));
      return write_frame_task(task, *file.file, scratch, {timers.fill, timers.stages});
    }();
    if (!cost) cost.error().in_file(file.path);
    return cost;
  });
}

/// All its frames have been written or dropped.
void Server::erase_record(const ServedCollection& collection, std::uint64_t seq) {
  records_.erase(collection.id, seq);
  memory_.record_ended({collection.id, seq});
}

}  // namespace afterbay::server
