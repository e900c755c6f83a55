// SPDX-License-Identifier: Apache-2.0
// What follows in the ingest thread when a worker's task on an output file has ended.
#include <utility>

#include "server/server.hpp"

namespace afterbay::server {

Result<> Server::complete(FileCreated& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  if (it.created) {
    file->file = std::move(it.created);
    if (it.share)
      fellows_.send_all(file->collection->servers, wire::FileShared{file->id, std::move(*it.share)});
    file->state = OutputFile::State::open;
    tell_records(*file);
    submit_opened_note(*file);
    submit_waiting(*file);
  } else {
    file->state = OutputFile::State::announced;  // it could not be made
  }
  task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(OpeningNoted& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  --file->pending;
  file->noted = true;
  task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(FrameWritten& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  --file->pending;
  Record* const record = records_.find(it.collection, it.seq);
  if (record != nullptr && --record->writes == 0 && record->ended) {
    note_written(it.collection, *record);
    erase_record(*file->collection, it.seq);
  }
  task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(StringsWritten& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  --file->pending;
  strings_.written(it.number);
  task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(EpochMarked& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  --file->pending;
  epochs_.marked(*file, it.epoch, std::move(it.part));
  // If the leader is gone, that has ended the session, and perhaps the file.
  if (const auto at = files_.find(it.file); at != files_.end()) task_ended(at->second, std::move(it.error));
  return {};
}

Result<> Server::complete(PartHandedOver& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  if (it.error)
    not_published(*file, std::move(*it.error));
  else
    handed_over(*file, std::move(it.account));
  return {};
}

Result<> Server::complete(FilePublished& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, file_of(it.file));
  file->published_bytes = it.bytes;
  file->published_checksum = it.checksum;
  if (it.error)
    not_published(*file, std::move(*it.error));
  else
    published(*file);
  return {};
}

/// A task other than publication. The file may be published now, or given up, or lost; it may be gone after
/// this.
void Server::task_ended(OutputFile& file, std::optional<Error> error) {
  const std::uint64_t id = file.id;
  if (error) {
    error->file = file.path;  // the final name, not that of the part file
    if (!failure_ && can_do_without(file, *error)) return lose(file, error->message);
  }
  if (file.dropped && !failure_) return finish_dropped(file);
  if (error) {
    file.failed = true;
    fail(std::move(*error));
  }
  if (failure_) give_up_files();
  if (const auto at = files_.find(id); at != files_.end() && !at->second.failed)
    publish_if_complete(at->second);
}

/// A file in the state `publishing` that never gets its final name.
void Server::not_published(OutputFile& file, Error error) {
  error.file = file.path;
  if (!failure_ && can_do_without(file, error)) return lose(file, error.message);
  note_given_up(file, error.message);
  forget_file(file.id, false);
  fail(std::move(error));
}

}  // namespace afterbay::server
