// SPDX-License-Identifier: Apache-2.0
// Full memory: frames are spilled or dropped so that the ranks can continue.
#include <cstring>

#include "base/caller_terms.hpp"
#include "base/units.hpp"
#include "server/server.hpp"

namespace afterbay::server {

Overflow::Hooks Server::overflow_hooks() {
  return {[this](const transport::FrameView& view) { port_->frames().release(view); },
          [this] { executor_.post([] {}); }, [this](const std::string& text) { warn(text); }};
}

bool Server::no_room() const { return port_->frames().is_short(); }

/// Reports once if the system refuses configured memory, and once if it provides it again.
void Server::report_memory() {
  const int error = port_->frames().memory_error();
  if (failure_ || (error != 0) == memory_refused_) return;
  memory_refused_ = error != 0;
  const std::string configured = print_bytes(config_.memory.server_bytes);
  const std::uint64_t capacity = port_->frames().capacity_bytes();
  std::string text =
      memory_refused_
          ? fmt::format(
                "I/O server {}: this node has no memory for more than {} of its {} (memory.server): {}. "
                "Output continues, and model ranks wait for room sooner. Give the job more memory per "
                "node, lower memory.server, or use fewer I/O servers per node",
                identity_.number, print_bytes(capacity), configured, std::strerror(error))
          : fmt::format("I/O server {}: all of its {} of memory (memory.server) can be used again",
                        identity_.number, configured);
  warn(text);
}

bool Server::is_droppable(const ServedCollection& collection) {
  return config_.when_full == config::WhenFull::drop && collection.split == model::Split::none &&
         space_.of(collection).droppable;
}

/// Called while ranks may be waiting for room.
void Server::relieve() {
  if (!overflow_.active() || failure_ || !no_room()) return;
  for (const auto& [id, seq] : overflow_.relieve()) {
    const Record* const record = records_.find(id, seq);
    OutputFile* const file = record == nullptr ? nullptr : files_.find(record->file);
    if (file == nullptr || file->records_dropped++ > 0) continue;
    const std::string text = fmt::format(
        "collection \"{}\": the server's memory is full, and records of {} are dropped, the first of them "
        "number {}; they will hold fill values",
        file->collection->name, file->path, said_index(record->record));
    warn(text);
  }
}

Result<storage::WriteCost> Server::write_queued(const Overflow::Handle& frame, const OutputFile& file,
                                                const CollectionTimers& timers) {
  Overflow::Taken taken;
  if (auto back = overflow_.take(*frame, scratch_, taken); !back)
    return afterbay::fail(std::move(back).error());
  if (taken.dropped) return storage::WriteCost{};
  auto cost = [&]() -> Result<storage::WriteCost> {
    AFTERBAY_TRY(check_wanted(file));
    return write_frame_task(taken.task, *file.file, scratch_, {timers.fill, timers.stages});
  }();
  if (!cost) cost.error().in_file(file.path);
  if (!taken.buffer) port_->frames().release(taken.task.view);
  return cost;
}

/// All its frames have been written or dropped.
void Server::erase_record(const ServedCollection& collection, std::uint64_t seq) {
  records_.erase(collection.id, seq);
  overflow_.ended({collection.id, seq});
}

}  // namespace afterbay::server
