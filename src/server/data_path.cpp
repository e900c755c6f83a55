// SPDX-License-Identifier: Apache-2.0
// Messages of model ranks about files, records, strings and epochs. The
// steps that follow the tasks of workers are in data_path_steps.cpp.
#include "server/data_path.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"

namespace afterbay::server {
namespace {

/// Waiting strings may take this share of memory.server, in addition to it.
constexpr std::uint64_t strings_share = 8;

}  // namespace

DataPath::DataPath(const config::Config& config, const ServerIdentity& identity, Host host)
    : config_(config),
      host_(std::move(host)),
      catalog_(host_.definitions.catalog()),
      puts_(catalog_, config.memory.server_bytes / strings_share, puts_host()),
      shared_(config.deadline, shared_host(identity)),
      epochs_(epoch_host(identity)),
      files_(files_host(identity)),
      reducer_(config.memory.statistics_bytes,
               {.tasks = host_.tasks,
                .frames = [this]() AFTERBAY_REQUIRES(ingest_thread) -> const transport::FramePool& {
                  return host_.peers.frames();
                },
                .submit = [this](WorkerTask task)
                              AFTERBAY_REQUIRES(ingest_thread) { host_.submit(std::move(task), 0); },
                .hold = [](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { ++file.pending; },
                .submit_of_file =
                    [this](std::uint64_t id, std::uint64_t epochs, WorkerTask task)
                        AFTERBAY_REQUIRES(ingest_thread) {
                          OutputFile& file = *files_.find(id);  // it is held
                          OutputFiles::task_done(file);
                          submit(file, epochs, std::move(task));
                        }}) {}

// ---- opening

Result<> DataPath::open(std::size_t peer, wire::OpenFile message) {
  const ServedCollection* collection = catalog_.find(message.collection);
  if (collection == nullptr)
    return fail(ErrorCode::internal, "model rank {} opens '{}' of a collection that is not defined here",
                peer, message.path);
  (void)host_.space.of(*collection);
  if (auto opened = files_.open(peer, *collection, std::move(message), epochs_.reached(peer)); !opened)
    return fail(std::move(opened).error().at_rank(catalog_.session_rank(peer)));
  return {};
}

// ---- records and frames

Result<> DataPath::begin_record(std::size_t peer, const wire::BeginRecord& message) {
  const auto path_of = [this](std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread) {
    const OutputFile* const file = files_.find(id);
    return file != nullptr ? file->path : fmt::format("file number {}, which is not open here", id);
  };
  AFTERBAY_TRY(puts_.records().begin(peer, message, epochs_.reached(peer), path_of));
  if (reducer_.has(message.collection))
    reducer_.note(message.collection, puts_.records().of(message.collection));
  return {};
}

/// The lowest model rank reports every put, even if it holds no points.
Result<> DataPath::put(std::size_t peer, const wire::Put& message) {
  AFTERBAY_TRY(puts_.records().put(peer, message));
  const Record* record = puts_.records().find(message.collection, message.seq);
  OutputFile* const file = files_.find(record->file);
  if (file == nullptr) return {};
  file->variables_put[message.variable] = true;
  if (message.largest_error >= 0)
    model::merge(file->errors, std::array{model::LargestError{message.variable, message.largest_error}});
  if (catalog_.find(message.collection)->layout->variables[message.variable].record)
    file->records_put = std::max(file->records_put, record->record + 1);
  return {};
}

Result<> DataPath::frame_ready(const wire::FrameReady& message) {
  const auto [pool_frame, seq] = std::pair(message.frame, message.seq);
  transport::FramePool& frames = host_.peers.frames();
  const ServedCollection* collection = catalog_.owner(pool_frame);
  const auto view = frames.find(pool_frame, seq);
  if (collection == nullptr || !view)
    return fail(ErrorCode::internal, "frame {} number {} is ready but unknown", pool_frame, seq);
  Record* record = puts_.records().find(collection->id, seq);
  if (record == nullptr || files_.ignores(record->file)) {
    frames.release(*view);
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

/// Queues what is to be done with a frame of a record, with the pieces of these indices in the
/// layout.
Result<> DataPath::take_frame(const ServedCollection& collection, std::uint64_t seq, std::uint32_t number,
                              const transport::FrameView& view, std::vector<std::uint32_t> pieces) {
  Record& record = *puts_.records().find(collection.id, seq);
  record.scheduled[number] = true;
  for (const std::uint32_t p : pieces)
    host_.observation.telemetry().totals().take(collection.id, collection.layout->pieces[p].bytes);
  FrameTask frame{&collection, record.record, view, std::move(pieces), record.epochs};
  if (record.is_sample()) {
    reducer_.take(std::move(frame), seq, record, number);
    return {};
  }
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(record.file));
  ++record.writes;
  const bool droppable = !record.fixed && host_.tasks.is_droppable(collection);
  submit(*file, record.epochs, host_.tasks.write(*file, std::move(frame), seq, droppable));
  return {};
}

/// Existing values can be replaced: the order of writes decides which of them belong to an epoch.
void DataPath::submit(OutputFile& file, std::uint64_t epochs, WorkerTask task) {
  if (file.collection->existing == Existing::append)
    epochs_.submit_after(epochs, file, std::move(task));
  else
    files_.submit(file, std::move(task));
}

Result<> DataPath::put_strings(std::size_t peer, wire::PutStrings message) {
  if (files_.ignores(message.file)) {
    puts_.strings().written(puts_.strings().add(0));
    return {};
  }
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(message.file));
  if (message.variable >= file->collection->schema.variables.size())
    return fail(ErrorCode::internal,
                "model rank {} put strings into variable number {}, which does not exist", peer,
                message.variable);
  std::uint64_t bytes = 0;
  for (const std::string& text : message.values) bytes += sizeof text + text.capacity();
  const std::uint64_t number = puts_.strings().add(bytes);
  puts_.records().put_strings(peer, *file->collection, message);
  file->variables_put[message.variable] = true;
  host_.observation.backlog(host_.peers.frames().used_bytes() + puts_.strings().bytes());
  epochs_.submit_after(epochs_.reached(peer), *file,
                       host_.tasks.write_strings(*file, number, std::move(message)));
  return {};
}

// ---- ends

Result<> DataPath::end_records(std::size_t peer, const wire::EndRecords& message) {
  Telemetry& telemetry = host_.observation.telemetry();
  telemetry.step_ended(message.step);
  telemetry.totals().waited(peer, message.waited_for_room_ns, message.waited_for_files_ns);
  for (const auto& bound : message.bounds) {
    const ServedCollection* collection = catalog_.find(bound.collection);
    if (collection == nullptr) continue;  // served by another server
    for (const std::uint64_t seq :
         puts_.records().end(peer, bound.collection, bound.next_seq, message.within_step != 0))
      AFTERBAY_TRY(end_record(*collection, seq));
  }
  return {};
}

/// Every rank has handed over all of its data: checks that no rank is missing, and writes frames
/// that are only partly filled.
Result<> DataPath::end_record(const ServedCollection& collection, std::uint64_t seq) {
  Record& record = *puts_.records().find(collection.id, seq);
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
  if (const std::string missing = puts_.records().missing(collection, record); !missing.empty()) {
    if (file != nullptr) files_.end(*file, Ending::incomplete);
    const std::vector<int> absent = puts_.records().absent(collection, record);
    return fail(
        make_error(ErrorCode::conflict, "{} before the step ended or the file was closed{}", missing,
                   puts_.records().cut_text(record, absent))
            .in_file(file != nullptr ? file->path : fmt::format("the samples of '{}'", collection.name))
            .in_variable(puts_.records().missing_variable(collection, record))
            .at_rank(catalog_.session_rank(static_cast<std::size_t>(absent.front()))));
  }
  transport::FramePool& frames = host_.peers.frames();
  for (std::uint32_t f = 0; f < record.scheduled.size(); ++f) {
    if (record.scheduled[f]) continue;
    const auto view = frames.find(collection.first_frame + f, seq);
    if (!view) continue;
    const model::Frame frame = collection.layout->frames[collection.frame(f)];
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t p = 0; p < frame.piece_count; ++p)
      if (frames.state(*view, p) == transport::PieceState::complete) pieces.push_back(frame.first_piece + p);
    AFTERBAY_TRY(take_frame(collection, seq, f, *view, std::move(pieces)));
  }
  if (file != nullptr) host_.observation.taken(*file, record);
  if (reducer_.has(collection.id)) {
    if (file != nullptr) reducer_.write_results(*file, seq, record);
    reducer_.note(collection.id, puts_.records().of(collection.id));
  }
  if (record.writes == 0) written(collection.id, seq);
  return {};
}

Result<> DataPath::close(std::size_t peer, const wire::CloseFile& message) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.close(peer, message));
  if (file == nullptr) return {};
  // A rank hands over everything with a lower number before: samples, too, from which results are
  // computed.
  std::vector<std::uint64_t> of_file;
  std::size_t with_samples = 0;
  for (const auto& [seq, record] : puts_.records().of(file->collection->id)) {
    if (record.file == file->id || record.is_sample()) of_file.push_back(seq);
    if (record.file == file->id) with_samples = of_file.size();
  }
  of_file.resize(with_samples);
  for (const std::uint64_t seq : of_file) AFTERBAY_TRY(end_record(*file->collection, seq));
  files_.all_closed(*file);
  return {};
}

/// All ranks have ended the record, and all its frames are in the file.
void DataPath::written(std::uint32_t collection, std::uint64_t seq) {
  host_.observation.written(collection, *puts_.records().find(collection, seq));
  erase_record(collection, seq);
}

/// All its frames have been written or dropped.
void DataPath::erase_record(std::uint32_t collection, std::uint64_t seq) {
  puts_.records().erase(collection, seq);
  host_.tasks.memory().record_ended({collection, seq});
}

/// Releases the frames of a record that will not be written.
void DataPath::forget_record(const ServedCollection& collection, std::uint64_t seq) {
  transport::FramePool& frames = host_.peers.frames();
  Record& record = *puts_.records().find(collection.id, seq);
  for (std::uint32_t f = 0; f < record.scheduled.size(); ++f) {
    if (record.scheduled[f]) continue;
    if (const auto view = frames.find(collection.first_frame + f, seq)) frames.release(*view);
  }
  if (record.writes == 0) erase_record(collection.id, seq);
}

void DataPath::note_dropped(const Overflow::RecordKey& key) {
  const Record* const record = puts_.records().find(key.first, key.second);
  OutputFile* const file = record == nullptr ? nullptr : files_.find(record->file);
  if (file == nullptr || file->records_dropped++ > 0) return;
  host_.observation.warn(fmt::format(
      "collection \"{}\": the server's memory is full, and records of {} are dropped, the first of "
      "them number {}; they will hold fill values",
      file->collection->name, file->path, said_index(record->record)));
}

// ---- epochs

Result<> DataPath::reach_epoch(std::size_t peer, const wire::EndEpoch& message) {
  AFTERBAY_TRY(puts_.records().check_epoch(peer, message.number, message.name));
  OpenTicket before = puts_.ticket_for(peer, message.ticket, message.strings);
  if (auto reached = epochs_.reach(message, std::move(before)); !reached)
    return fail(std::move(reached).error().at_rank(catalog_.session_rank(peer)));
  return {};
}

void DataPath::advance() {
  puts_.answer_written();
  epochs_.advance();
}

}  // namespace afterbay::server
