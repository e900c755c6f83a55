// SPDX-License-Identifier: Apache-2.0
// Continuations in the ingest thread after a worker's task on an output file has ended.
#include <utility>

#include "server/server.hpp"

namespace afterbay::server {

Result<> Server::complete(FileCreated& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  if (it.created && it.share) shared_.share(*file, std::move(*it.share));
  files_.created(*file, std::move(it.created));
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(OpeningNoted& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  file->noted = true;
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(FrameWritten& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  if (it.turn) reducer_.done(*it.turn);
  Record* const record = records_.find(it.collection, it.seq);
  if (record != nullptr && --record->writes == 0 && record->ended) {
    note_written(it.collection, *record);
    erase_record(*file->collection, it.seq);
  }
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(SampleTaken& it) {
  reducer_.done(it.frame);
  const std::uint32_t collection = it.frame.collection;
  Record* const record = records_.find(collection, it.seq);
  if (record != nullptr && --record->writes == 0 && record->ended) erase_record(*catalog_.find(collection), it.seq);
  if (it.error) return afterbay::fail(std::move(*it.error));
  return {};
}

Result<> Server::complete(StringsWritten& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  strings_.written(it.number);
  files_.task_ended(*file, std::move(it.error));
  return {};
}

Result<> Server::complete(EpochMarked& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  OutputFiles::task_done(*file);
  epochs_.marked(*file, it.epoch, std::move(it.part));
  // If the leader is gone, this has ended the session, and perhaps the file.
  if (OutputFile* const still = files_.find(it.file)) files_.task_ended(*still, std::move(it.error));
  return {};
}

Result<> Server::complete(PartHandedOver& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  if (it.error)
    files_.not_published(*file, std::move(*it.error));
  else
    handed_over(*file, std::move(it.account));
  return {};
}

Result<> Server::complete(FilePublished& it) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, files_.require(it.file));
  file->published_bytes = it.bytes;
  file->published_checksum = it.checksum;
  if (!it.warning.empty()) warn(it.warning);
  if (it.error)
    files_.not_published(*file, std::move(*it.error));
  else
    files_.end(*file, Ending::published);
  return {};
}

}  // namespace afterbay::server
