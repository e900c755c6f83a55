// SPDX-License-Identifier: Apache-2.0
// Files, records and frames: the work that the ingest thread schedules and the workers do.
#include <algorithm>

#include "model/changes.hpp"
#include "server/frame_task.hpp"
#include "server/server.hpp"

namespace afterbay::server {

// ---- opening

Result<> Server::open(std::size_t peer, wire::OpenFile message) {
  const ServedCollection* collection = catalog_.find(message.collection);
  if (collection == nullptr)
    return afterbay::fail(ErrorCode::internal,
                          "model rank {} opens '{}' of a collection that is not defined here", peer,
                          message.path);
  (void)space_.of(*collection);
  if (auto opened = files_.open(peer, *collection, std::move(message), epochs_.reached(peer)); !opened)
    return afterbay::fail(std::move(opened).error().at_rank(catalog_.session_rank(peer)));
  return {};
}

void Server::note_striping(const ServedCollection& collection, const storage::File& file) {
  const storage::Striping striping = file.striping();
  if (striping.file_system.empty()) return;
  profile_.count_created(collection, file, striping);
  if (striping.warning.empty()) return;
  const std::string warning = fmt::format(
      "collection \"{}\": the stripes of a file could not be set; it is written with the striping of its "
      "directory: {}",
      collection.name, striping.warning);
  warn(warning);
}

storage::FileRequest Server::request_for(const OutputFile& file) {
  return requests_.request(file, space_.disk(), space_.of(*file.collection).readable);
}

void Server::create(OutputFile& file, SchemaChanges changes) {
  profile_.of(*file.collection);
  workers_.submit([this, id = file.id, request = request_for(file),
                   shared = file.role == OutputFile::Role::leader, collection = file.collection,
                   changes = std::move(changes)]() mutable {
    observe::Timed timed(profile_.timers().create);
    FileCreated result{.file = id};
    const auto make = [&]() -> Result<> {
      // Without the run in the journal, a part file could not be attributed to a run if this
      // process were killed now.
      if (journal_.records(*collection)) AFTERBAY_TRY(journal_.begin());
      AFTERBAY_TRY_ASSIGN(request.schema, model::apply(collection->schema, changes));
      AFTERBAY_TRY_ASSIGN(result.created, requests_.store(collection->format).create(request));
      note_striping(*collection, *result.created);
      if (!shared) return {};
      AFTERBAY_TRY_ASSIGN(result.share, result.created->share());
      return {};
    };
    if (auto made = make(); !made) result.error = std::move(made).error();
    timed.stop();  // before the ingest thread can end the run
    post(std::move(result));
  });
}

// ---- frames

Result<> Server::begin_record(std::size_t peer, const wire::BeginRecord& message) {
  AFTERBAY_TRY(records_.begin(peer, message, epochs_.reached(peer)));
  if (reducer_.has(message.collection)) reducer_.note(message.collection, records_.of(message.collection));
  return {};
}

Result<> Server::frame_ready(std::uint32_t pool_frame, std::uint64_t seq) {
  const ServedCollection* collection = catalog_.owner(pool_frame);
  const auto view = port_->frames().find(pool_frame, seq);
  if (collection == nullptr || !view)
    return afterbay::fail(ErrorCode::internal, "frame {} number {} is ready but unknown", pool_frame, seq);
  Record* record = records_.find(collection->id, seq);
  if (record == nullptr || files_.ignores(record->file)) {
    port_->frames().release(*view);
    return {};
  }
  const std::uint32_t number = pool_frame - collection->first_frame;
  const std::uint32_t frame = collection->frame(number);
  const auto expected = collection->expected_in(frame);
  const std::uint32_t first_piece = collection->layout->frames[frame].first_piece;
  std::vector<std::uint32_t> pieces;
  for (std::uint32_t p = 0; p < expected.size(); ++p)
    if (expected[p] > 0) pieces.push_back(first_piece + p);
  return take_frame(*collection, seq, number, *view, std::move(pieces));
}

Result<> Server::take_frame(const ServedCollection& collection, std::uint64_t seq, std::uint32_t number,
                            const transport::FrameView& view, std::vector<std::uint32_t> pieces) {
  Record& record = *records_.find(collection.id, seq);
  record.scheduled[number] = true;
  if (!record.is_sample()) {
    AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(record.file));
    write_frame(*file, collection, seq, view, std::move(pieces));
    return {};
  }
  for (const std::uint32_t p : pieces)
    telemetry_.tally().take(collection.id, collection.layout->pieces[p].bytes);
  FrameTask task{&collection, record.record, view, std::move(pieces), record.epochs};
  reducer_.take(collection, seq, record, number, memory_.add(std::move(task), {collection.id, seq}, false),
                profile_.of(collection));
  return {};
}

void Server::write_frame(OutputFile& file, const ServedCollection& collection, std::uint64_t seq,
                         const transport::FrameView& view, std::vector<std::uint32_t> pieces) {
  Record& record = *records_.find(collection.id, seq);
  ++record.writes;
  for (const std::uint32_t p : pieces)
    telemetry_.tally().take(collection.id, collection.layout->pieces[p].bytes);
  const CollectionTimers timers = profile_.of(collection);
  FrameTask task{&collection, record.record, view, std::move(pieces), record.epochs};
  const bool droppable = !record.fixed && is_droppable(collection);
  auto frame = memory_.add(std::move(task), {collection.id, seq}, droppable);
  const auto write = [this, timers, frame = std::move(frame), id = collection.id, &file, seq] {
    observe::Timed timed(timers.write);
    FrameWritten result{.file = file.id, .collection = id, .seq = seq};
    auto cost = write_queued(frame, file, timers);
    if (cost) {
      timed.bytes(cost->bytes_in);
      account(*cost, timers);
    } else {
      result.error = std::move(cost).error();
    }
    timed.stop();
    post(std::move(result));
  };
  // Existing values can be replaced: the order of writes decides which of them belong to an epoch.
  if (collection.existing == Existing::append)
    epochs_.submit_after(record.epochs, file, write);
  else
    files_.submit(file, write);
}

/// Called by a worker.
void Server::account(const storage::WriteCost& cost, const CollectionTimers& timers) {
  profile_.add(cost, timers);
  telemetry_.tally().written(cost.bytes_in, cost.bytes_out);
}

Result<> Server::put_strings(std::size_t peer, wire::PutStrings message) {
  if (files_.ignores(message.file)) {
    strings_.written(strings_.add(0));
    return {};
  }
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(message.file));
  if (message.variable >= file->collection->schema.variables.size())
    return afterbay::fail(ErrorCode::internal,
                          "model rank {} put strings into variable number {}, which does not exist", peer,
                          message.variable);
  std::uint64_t bytes = 0;
  for (const std::string& text : message.values) bytes += sizeof text + text.capacity();
  const std::uint64_t number = strings_.add(bytes);
  records_.put_strings(peer, *file->collection, message);
  file->variables_put[message.variable] = true;
  observe::peak(profile_.timers().backlog, port_->frames().used_bytes() + strings_.bytes());
  const CollectionTimers timers = profile_.of(*file->collection);
  const auto write = [this, file, timers, number, message = std::move(message)] {
    observe::Timed timed(timers.write);
    StringsWritten result{.file = file->id, .number = number};
    auto cost = [&]() -> Result<storage::WriteCost> {
      AFTERBAY_TRY(check_wanted(*file));
      return file->file->write_strings(message.variable, message.record, message.values);
    }();
    if (cost) {
      timed.bytes(cost->bytes_in);
      account(*cost, timers);
    } else {
      result.error =
          std::move(cost).error().in_variable(file->collection->schema.variables[message.variable].name);
    }
    timed.stop();
    post(std::move(result));
  };
  epochs_.submit_after(epochs_.reached(peer), *file, write);
  return {};
}

// ---- ends

Result<> Server::end_records(std::size_t peer, const wire::EndRecords& message) {
  telemetry_.step_ended(message.step);
  telemetry_.tally().waited(peer, message.waited_for_room_ns, message.waited_for_files_ns);
  for (const auto& bound : message.bounds) {
    const ServedCollection* collection = catalog_.find(bound.collection);
    if (collection == nullptr) continue;  // served by another server
    for (const std::uint64_t seq : records_.end(peer, bound.collection, bound.next_seq))
      AFTERBAY_TRY(end_record(*collection, seq));
  }
  return {};
}

/// The lowest model rank reports every put, even if it holds no points.
Result<> Server::put(std::size_t peer, const wire::Put& message) {
  AFTERBAY_TRY(records_.put(peer, message));
  const Record* record = records_.find(message.collection, message.seq);
  OutputFile* const file = files_.find(record->file);
  if (file == nullptr) return {};
  file->variables_put[message.variable] = true;
  if (catalog_.find(message.collection)->layout->variables[message.variable].record)
    file->records_put = std::max(file->records_put, record->record + 1);
  return {};
}

/// Every rank has handed over all of its data: checks that no rank is missing, and writes frames
/// that are only partly filled.
Result<> Server::end_record(const ServedCollection& collection, std::uint64_t seq) {
  Record& record = *records_.find(collection.id, seq);
  if (record.ended) return {};
  record.ended = true;
  record.ended_ns = now_ns();
  if (files_.ignores(record.file)) {
    forget_record(collection, seq);
    return {};
  }
  OutputFile* file = nullptr;
  if (!record.is_sample()) {
    AFTERBAY_TRY_ASSIGN(file, files_.require(record.file));
  }
  if (const std::string missing = records_.missing(collection, record); !missing.empty()) {
    if (file != nullptr) files_.end(*file, Ending::incomplete);
    return afterbay::fail(
        make_error(ErrorCode::conflict, "{} before the step ended or the file was closed", missing)
            .in_file(file != nullptr ? file->path : fmt::format("the statistics of '{}'", collection.name))
            .in_variable(records_.missing_variable(collection, record))
            .at_rank(catalog_.session_rank(
                static_cast<std::size_t>(records_.absent(collection, record).front()))));
  }
  for (std::uint32_t f = 0; f < record.scheduled.size(); ++f) {
    if (record.scheduled[f]) continue;
    const auto view = port_->frames().find(collection.first_frame + f, seq);
    if (!view) continue;
    const model::Frame frame = collection.layout->frames[collection.frame(f)];
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t p = 0; p < frame.piece_count; ++p)
      if (port_->frames().state(*view, p) == transport::PieceState::complete)
        pieces.push_back(frame.first_piece + p);
    AFTERBAY_TRY(take_frame(collection, seq, f, *view, std::move(pieces)));
  }
  if (file != nullptr) note_taken(*file, record);
  if (reducer_.has(collection.id)) {
    if (file != nullptr)
      reducer_.write_results(collection, seq, record, *file, profile_.of(collection));
    reducer_.note(collection.id, records_.of(collection.id));
  }
  if (record.writes == 0) {
    note_written(collection.id, record);
    erase_record(collection, seq);
  }
  return {};
}

Result<> Server::close(std::size_t peer, const wire::CloseFile& message) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.close(peer, message));
  if (file == nullptr) return {};
  // A rank hands over everything with a lower number before: samples, too, from which results are computed.
  std::vector<std::uint64_t> of_file;
  std::size_t with_samples = 0;
  for (const auto& [seq, record] : records_.of(file->collection->id)) {
    if (record.file == file->id || record.is_sample()) of_file.push_back(seq);
    if (record.file == file->id) with_samples = of_file.size();
  }
  of_file.resize(with_samples);
  for (const std::uint64_t seq : of_file) AFTERBAY_TRY(end_record(*file->collection, seq));
  files_.all_closed(*file);
  return {};
}

}  // namespace afterbay::server
